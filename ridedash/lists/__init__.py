"""Reads a list of guests: a pasted text or a file, as a table, then line by line. No database."""
