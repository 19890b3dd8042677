"""Bookings: creation, actions, snapshots, bills."""
