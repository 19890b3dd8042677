"""The board of a property: its rides now and later, and what needs attention."""
