"""The director of a demo: the sandbox's clock, what happens next, and Reset. Demo mode only."""
