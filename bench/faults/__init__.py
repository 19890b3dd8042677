"""The fault bench: one row for each fault of the matrix, each a proof that can be run again by its
seed.
"""
