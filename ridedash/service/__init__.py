"""A client of the ride booking service: eight operations, each a call with limits; frozen types.

The package uses neither Flask nor the database.
"""
