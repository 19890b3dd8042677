"""Whether tests notice a wrong line: `python -m tools.mutants --help`."""
