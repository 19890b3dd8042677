"""The OAuth server of the sandbox."""
