"""A list of guests: read, corrected, priced, booked in waves and followed."""
