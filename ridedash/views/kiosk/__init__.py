"""Paired devices: the kiosk on which guests book by themselves."""
