"""Whether our clock may be trusted to order planned rides: it is compared with the service's.

See docs/booking-protocol.md 3.6. On PostgreSQL all processes have the database's clock, on SQLite
that of their one machine: the only other witness is the header Date of the service's answers.
"""

from typing import Final

from ridedash.rides.runtime import Runtime

APART_S: Final = 60.0  # a Date has whole seconds, and an answer takes some


def ahead_s(runtime: Runtime) -> float | None:
    """By how many seconds our clock is ahead of the service's, where they are too far apart.

    Below zero it is behind. None while they agree, and where nothing is known to compare with.
    """
    if not runtime.compares_clock:
        return None
    ahead = runtime.client.clock_ahead_s(runtime.clock())
    return None if ahead is None or abs(ahead) <= APART_S else ahead
