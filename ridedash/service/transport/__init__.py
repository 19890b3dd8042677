"""Outgoing HTTP: the only package that imports httpx and httpcore."""
