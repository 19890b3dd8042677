"""What is said about a running ridedash: logs without secrets, and measured figures.

Knows nothing of rides.
"""
