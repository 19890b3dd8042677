"""Observability: logs without secrets, metrics. Knows nothing of rides."""
