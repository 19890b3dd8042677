"""The display at the door: the next cars, for guests who wait."""
