"""Chance that repeats itself: dice that follow from the seed and from what they are thrown for."""

from random import Random


def dice_of(*what: object) -> Random:
    """The dice for something, the same each time. Not for secrets."""
    return Random(":".join(str(each) for each in what))  # noqa: S311 - play, not secrets
