"""A list of guests: the presses on it, and its cars, booked in waves."""
