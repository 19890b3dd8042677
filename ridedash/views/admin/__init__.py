"""Settings of a property: places, staff, accounts, the audit log; and the list of properties."""
