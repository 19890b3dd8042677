"""Observability: logs without secrets, metrics, instrumentation hooks. Knows nothing of rides."""
