"""Baselines for the comparison: each a plain first implementation by a good engineer."""
