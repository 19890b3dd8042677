"""Past rides: filters, search, export, and the hand-over sheet."""
