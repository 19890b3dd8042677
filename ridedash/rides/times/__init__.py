"""Times as people type them and as the program keeps them: one ride, or a series."""
