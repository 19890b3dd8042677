"""Following a ride: claims, polls, and how answers change it."""
