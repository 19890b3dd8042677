"""Signing in and out, invitations, and a member of staff's own settings."""
