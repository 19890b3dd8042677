"""Health, metrics and files for browsers."""
