"""The page of one ride, the actions on it, and what is printed of it."""
