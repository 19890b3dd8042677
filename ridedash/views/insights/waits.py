"""Figures of waits from how many rides waited how long: medians, shares, averages. Pure.

Waits are in whole seconds, and so are the figures, to the nearest second, half a second up: page
and file show the same ones. `waits` is the number of rides by their wait (store/insights.py).
"""

from collections import Counter
from typing import Final

MINUTE_S: Final = 60


def median(waits: Counter[int]) -> int | None:
    """The median; for an even number of rides, half-way between the two in the middle.

    None without waits.

    >>> median(Counter([60, 64, 90])), median(Counter([64, 65]))
    (64, 65)
    """
    rides = waits.total()
    if not rides:
        return None
    return mean(_nth(waits, (rides + 1) // 2) + _nth(waits, rides // 2 + 1), 2)


def within(waits: Counter[int], part: int, of: int) -> int | None:
    """The least wait that `part` of `of` rides did not exceed; None without waits.

    >>> within(Counter([60, 64, 90]), 1, 2)
    64
    """
    rides = waits.total()
    return _nth(waits, -(-rides * part // of)) if rides else None


def mean(seconds: int, rides: int) -> int | None:
    """The average of this many rides, whose waits have this sum; None without rides."""
    return (2 * seconds + rides) // (2 * rides) if rides else None


def by_minutes(waits: Counter[int], most: int) -> Counter[int]:
    """The number of rides by whole minutes; `most` minutes and longer waits are one."""
    found = Counter[int]()
    for seconds, rides in waits.items():
        found[min(seconds // MINUTE_S, most)] += rides
    return found


def _nth(waits: Counter[int], number: int) -> int:
    """The wait of the ride with this number, counted from 1 in the order of waits."""
    for seconds in sorted(waits):
        number -= waits[seconds]
        if number <= 0:
            return seconds
    return 0
