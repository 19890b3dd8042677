"""Health, metrics and static assets."""
