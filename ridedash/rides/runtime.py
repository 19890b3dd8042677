"""Values that acting functions share: the clock and moments in time."""

from collections.abc import Callable
from datetime import datetime

Clock = Callable[[], datetime]
At = Callable[[str], None]


def nothing(_name: str) -> None:
    """The fail point of production: does nothing."""
