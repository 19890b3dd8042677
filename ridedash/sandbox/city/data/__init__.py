"""Hand-drawn plans of the two cities, and the words of their street names."""
