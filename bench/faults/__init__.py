"""The fault bench: one row for each fault of the matrix, repeatable by its seed."""
