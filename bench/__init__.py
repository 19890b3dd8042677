"""Benches: what the program withstands (faults) and how fast it is, measured beside plain
baselines.
"""
