"""What workers write to disk beside the database, and what a restored database learns from it."""
