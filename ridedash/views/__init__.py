"""Pages: one blueprint a file, one template folder each."""
