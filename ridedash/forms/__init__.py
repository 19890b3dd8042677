"""What people type into the forms of the pages, read and checked."""
