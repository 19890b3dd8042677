"""Linked accounts of the service: tokens, linking, keys."""
