"""The five minutes: one evening, from one ride to thirty, with everything a partner has to see.

It is one story, so that the card at its end can count all of it. It consists of parts of the
others: a ride from start to receipt with a look through the lens, a guest alone, a lost answer, an
outage, and a full board.
"""

from dataclasses import replace
from datetime import time
from typing import Any, Final

from ridedash.demo.stories.alone import GUEST_ALONE
from ridedash.demo.stories.evening import (
    FIRST,
    LEFT,
    NO_CAB,
    SECOND,
    THIRD,
    TROUBLED,
    WAVE,
    wave,
)
from ridedash.demo.stories.everyday import START_TO_RECEIPT
from ridedash.demo.stories.model import (
    PLATE,
    Act,
    AddFault,
    Answering,
    Book,
    Count,
    CountCheck,
    EndsAs,
    Fresh,
    Happens,
    HasStatus,
    KioskBook,
    Noted,
    PressAction,
    Pressed,
    Reached,
    SetClock,
    Settled,
    StageScreen,
    Story,
    StoryStep,
)
from ridedash.demo.stories.trouble import MOST_CALLS, UNKNOWN
from ridedash.wire import (
    ALLOTMENT_FAILED,
    BOOKING_CANCELLED,
    CALL_DRIVER,
    COMPLETED,
)
from ridedash.wording import lazy

OUTAGE_S: Final = 20.0
FRESH_WITHIN_S: Final = 45
RECEIPT, ALONE, UNSURE = "receipt", "alone", "unsure"  # the rides of the first three parts
STOPPED: Final = "Oriole"  # whose search is stopped: a guest of the last wave
CANCELLED: Final = "Shrike"  # whose car is sent back: another one


def _named(steps: tuple[StoryStep, ...], ride: str) -> tuple[StoryStep, ...]:
    """The steps of a story with one ride, for a ride with this name."""

    def named(part: Any) -> Any:
        return replace(part, ride=ride) if hasattr(part, "ride") else part

    return tuple(replace(each, do=named(each.do), until=named(each.until)) for each in steps)


_RECEIPT: Final = _named(START_TO_RECEIPT.steps, RECEIPT)
_LOOK: Final = (
    StoryStep(
        lazy("Each fact on the screen comes from your interface. This plate came in this line."),
        show=StageScreen.LENS,
        point=PLATE,
    ),
    StoryStep(
        lazy("Every call is kept, with what was asked, what came, and what we made of it."),
        show=StageScreen.LENS,
        point=PLATE,
    ),
)
_ALONE: Final = (
    StoryStep(
        lazy("While the desk is busy, a guest books alone at the kiosk, in Arabic."),
        KioskBook("Crake", "Meridian Airport", "mini", "ar", ALONE),
        Settled(ride=ALONE),
        StageScreen.KIOSK,
    ),
    *_named(GUEST_ALONE.steps[1:3], ALONE),
    *_named(GUEST_ALONE.steps[4:6], ALONE),
)
# another guest than in its own story: the one there has a ride of the evening
_BOOKED_UNSURE: Final = Book("Bittern", "602", "Port Meridian Central Station", "mini", ride=UNSURE)
_UNSURE: Final = tuple(
    replace(each, do=_BOOKED_UNSURE) if isinstance(each.do, Book) else each
    for each in _named(UNKNOWN.steps[:4], UNSURE)
)
_DOWN: Final = (
    StoryStep(
        lazy("Ten cars are on their way, and now the ride company goes down."),
        AddFault("down", OUTAGE_S),
        show=StageScreen.BOARD,
    ),
    StoryStep(
        lazy("Nothing is sent into the dark. Each screen keeps what it knew."),
        show=StageScreen.BOARD,
    ),
    StoryStep(
        lazy("The board says since when nothing is heard. What is shown is what was known."),
        until=Answering(False),
        show=StageScreen.BOARD,
    ),
    StoryStep(
        lazy("The calls are few: nobody hammers a service that is down."),
        show=StageScreen.BOARD,
    ),
    StoryStep(
        lazy("It is back, and every ride is asked about at once."),
        until=Answering(True),
        show=StageScreen.BOARD,
    ),
    StoryStep(
        lazy("All rides are fresh again, and none was lost."),
        show=StageScreen.BOARD,
    ),
)
_CHANGED: Final = lazy("Two guests change their minds: one search is stopped, one car sent back.")

FIVE_MINUTES: Final = Story(
    id="five",
    title=lazy("The five minutes"),
    proves=lazy("One evening with everything: a ride, a guest alone, two failures, thirty rides."),
    seconds=290,
    weekday=3,
    at=time(16, 40),
    counted=True,
    steps=(
        *_RECEIPT[:4],
        *_LOOK,
        *_RECEIPT[4:],
        *_ALONE,
        *_UNSURE,
        StoryStep(
            lazy("It is the one booking that was made. The ride is followed like every other."),
            until=Reached(CALL_DRIVER, UNSURE),
        ),
        StoryStep(FIRST, SetClock(time(18, 30)), show=StageScreen.BOARD),
        *wave(0),
        *_DOWN,
        StoryStep(SECOND, SetClock(time(18, 40)), show=StageScreen.BOARD),
        *wave(1),
        StoryStep(THIRD, SetClock(time(18, 50)), show=StageScreen.BOARD),
        *wave(2),
        StoryStep(
            _CHANGED,
            Act(PressAction.ABORT, ride=STOPPED),
            HasStatus((BOOKING_CANCELLED,), STOPPED),
            StageScreen.BOARD,
        ),
        StoryStep(_CHANGED, until=Reached(CALL_DRIVER, CANCELLED), show=StageScreen.BOARD),
        StoryStep(
            _CHANGED,
            Act(PressAction.CANCEL, ride=CANCELLED),
            HasStatus((BOOKING_CANCELLED,), CANCELLED),
            StageScreen.BOARD,
        ),
        *TROUBLED,
    ),
    ends=(
        Count.exactly(CountCheck.BOOKINGS, 3 * WAVE + 3),
        Count.exactly(CountCheck.ORDERS, 3 * WAVE + 3),
        Count.exactly(CountCheck.UNKNOWN, 1),
        EndsAs(COMPLETED, RECEIPT),
        Noted("opened", lazy("Number and PIN opened the ride at the kiosk")),
        Noted("code", lazy("The kiosk showed the start code to the guest alone")),
        Count(CountCheck.CALLS, 1, MOST_CALLS),
        Fresh(FRESH_WITHIN_S),
        Pressed(PressAction.ABORT, "done", lazy("Stopping the search worked"), STOPPED),
        Pressed(PressAction.CANCEL, "done", lazy("Cancelling before the ride worked"), CANCELLED),
        EndsAs(ALLOTMENT_FAILED, NO_CAB),
        Happens("driver_lost", lazy("The loss of a driver stands in the history"), LEFT),
    ),
)
