"""The settings of a property, tab by tab; its audit log; and the list of all properties."""
