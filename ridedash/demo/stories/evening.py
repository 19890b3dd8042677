"""A story of one evening at the desk: thirty rides, booked in three waves; three rides go wrong.

It ends on a full board: a person in the audience may sort out the rest.
"""

from datetime import time
from typing import Final

from ridedash.demo.cast import CAST, CastGuest
from ridedash.demo.stories.model import (
    Action,
    AddFault,
    Book,
    Count,
    CountCheck,
    EndsAs,
    Happened,
    Happens,
    HasStatus,
    Overview,
    Scenario,
    SetClock,
    Settled,
    StageScreen,
    Story,
    StoryStep,
)
from ridedash.store.models.orders import OrderState
from ridedash.wire import ALLOTMENT_FAILED
from ridedash.wording import lazy
from ridedash.wording.say import Text

WAVE: Final = 10  # rides that are booked at one moment of the evening
CARS: Final = ("mini", "auto", "prime", "mini", "auto", "suv", "mini", "prime", "auto", "mini")
BOOKED: Final = (OrderState.BOOKED, OrderState.MATCHING)
UNSURE: Final = (OrderState.UNKNOWN,)

FIRST: Final = lazy("Half past six. Ten guests want a car at the same time.")
SECOND: Final = lazy("Ten minutes later ten more. The first ones are on their way.")
THIRD: Final = lazy("And the last ten. One person sits at this desk.")
# the guests of three rides that go wrong
NO_CAB: Final = "Dipper"  # no driver is found
LEFT: Final = "Turnstone"  # the driver of the auto leaves on the way
LOST: Final = "Wagtail"  # the answer to the booking is lost
TROUBLES: Final[dict[str, Action]] = {
    NO_CAB: Scenario("no_cab"),
    LEFT: Scenario("driver_leaves"),
    LOST: AddFault("lost_answer"),
}
CAR_OF: Final = {LEFT: "auto"}


def wave(number: int) -> tuple[StoryStep, ...]:
    """Ten bookings, one after the other, so that each has the same driver in every run."""
    say = (FIRST, SECOND, THIRD)[number]
    guests = CAST[number * WAVE : (number + 1) * WAVE]
    return tuple(
        step
        for guest, car in zip(guests, CARS, strict=True)
        for step in _booked(guest, CAR_OF.get(guest.name, car), say)
    )


def _booked(guest: CastGuest, car: str, say: Text) -> tuple[StoryStep, ...]:
    ride = Book(
        guest.name,
        guest.room,
        guest.place,
        car,
        language=guest.language,
        ride=guest.name,
    )
    seen = Settled(UNSURE if guest.name == LOST else BOOKED, guest.name)
    trouble = TROUBLES.get(guest.name)
    board = StageScreen.BOARD
    before = () if trouble is None else (StoryStep(say, trouble, show=board),)
    return (*before, StoryStep(say, ride, seen, board))


TROUBLED: Final = (
    StoryStep(
        lazy("One guest gets no car. The board says it before the guest comes to ask."),
        until=HasStatus((ALLOTMENT_FAILED,), NO_CAB),
        show=StageScreen.BOARD,
    ),
    StoryStep(
        lazy("One driver has left. Another one is looked for, and nobody had to call."),
        until=Happened("driver_lost", LEFT),
        show=StageScreen.BOARD,
    ),
    StoryStep(
        lazy("And one answer was lost. These three stand on top; the others need nobody."),
        Overview(),
        show=StageScreen.BOARD,
    ),
)

EVENING: Final = Story(
    id="evening",
    title=lazy("Thirty rides, one evening"),
    proves=lazy("One person keeps the overview: what needs somebody stands on top."),
    seconds=60,
    weekday=3,
    at=time(18, 30),
    steps=(
        *wave(0),
        StoryStep(SECOND, SetClock(time(18, 40)), show=StageScreen.BOARD),
        *wave(1),
        StoryStep(THIRD, SetClock(time(18, 50)), show=StageScreen.BOARD),
        *wave(2),
        *TROUBLED,
        StoryStep(
            lazy("Now it is your desk. Which ride do you open first?"),
            show=StageScreen.BOARD,
        ),
    ),
    ends=(
        Count.exactly(CountCheck.BOOKINGS, 3 * WAVE),
        Count.exactly(CountCheck.ORDERS, 3 * WAVE),
        Count.exactly(CountCheck.UNKNOWN, 1),
        EndsAs(ALLOTMENT_FAILED, NO_CAB),
        Happens("driver_lost", lazy("The loss of a driver stands in the history"), LEFT),
    ),
)
