"""Benches: fault tests of the whole program, and its speed compared with plain baselines."""
