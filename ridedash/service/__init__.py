"""The ride booking service, seen by us: one bounded call, eight operations, frozen types.

No Flask, no database.
"""
