"""Pages: a blueprint for each file, a folder here and one of templates for each feature."""
