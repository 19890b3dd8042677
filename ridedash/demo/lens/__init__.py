"""The lens of a demo: shows which calls to the ride service are behind each thing on the screen."""
