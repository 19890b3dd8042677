"""Checks whether tests notice a wrong line: `python -m tools.mutants --help`."""
