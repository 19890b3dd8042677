"""The version, read by the build and shown by `ridedash --version`."""

__version__ = "0.1.0"
