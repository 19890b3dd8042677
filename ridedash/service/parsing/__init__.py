"""Tolerant reading of the service's fields and units."""
