"""How many people fit into a car: one fact, for its words on a kiosk and for "Most room".

The service tells no number of seats and no size, so the property says it, for each kind of car, in
its own words (Settings, Own words: "Up to 6"). What they do not say is not guessed, but for one
thing: a car that is called an SUV or a van has more room than the others.
"""

import re
from collections.abc import Iterable
from typing import Final

from ridedash.wording.say import own_words

LARGE: Final = "suv"  # the drawing of SUVs and vans: views/booking/product_cards.py
_NUMBER: Final = re.compile(r"\d{1,3}")  # digits of any script


def size_words(drawing: str) -> str:
    """Who fits in, as the property says it to this guest; "" where it says nothing."""
    return own_words(f"kiosk_size_{drawing}")


def people_in(words: str) -> int | None:
    """The number of people in the property's words, the largest one; None without a number."""
    return max((int(found) for found in _NUMBER.findall(words)), default=None)


def with_most_room(drawings: Iterable[str]) -> frozenset[str]:
    """Which of these cars have most room; none where nobody knows, or where all have the same."""
    offered = frozenset(drawings)
    told = {each: people_in(size_words(each)) for each in offered}
    known = [people for people in told.values() if people is not None]
    if len(known) < len(offered):
        return offered & {LARGE} if len(offered) > 1 else frozenset()
    most = max(known, default=0)
    return frozenset(each for each, people in told.items() if people == most and min(known) < most)
