"""Frozen values that the service sends and takes. No I/O."""
