"""The lens of a demo: what was asked of the ride service for each thing on the screen."""
