"""Following a ride: claims, polls, and how an answer changes it."""
