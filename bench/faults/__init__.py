"""The fault bench: the rows of the fault matrix (docs/reliability.md 2), repeatable by seed."""
