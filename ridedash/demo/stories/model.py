"""The parts of a story. A story is only data; the interpreter and a test play it.

A step is one moment of the story: a line to say, one action (such as Book or Act), and what must be
seen before the story goes on. The name of a ride is unique in its story.
"""

from dataclasses import dataclass
from datetime import time
from enum import StrEnum
from typing import Final

from ridedash.store.models.orders import OrderState
from ridedash.wording.say import Text

PLATE: Final = "[data-slot='cab.plate']"  # where the desk shows the number plate
PLATE_OF_GUEST: Final = "[data-slot='plate']"  # where the guest's phone shows the number plate
HOTEL_RIDE: Final = "ride"  # the name of the ride in a story with only one


class StageScreen(StrEnum):
    """The screen on which a step is seen."""

    DESK = "desk"
    BOARD = "board"  # the desk alone, with room for many rides
    PHONE = "phone"
    KIOSK = "kiosk"
    LENS = "lens"


@dataclass(frozen=True)
class Book:
    """Order a ride from the property to a place, as its desk does."""

    guest: str
    room: str
    to: str  # a place by its name in the sandbox's city
    car: str  # a category
    payment: str = "cash"
    seats: int | None = None  # only for a shared ride
    language: str | None = None  # spoken by the guest
    typed: bool = True  # typed visibly, if the desk is on the stage
    account: str = ""  # the label of the linked account; "" for the property's default one
    ride: str = HOTEL_RIDE


class PressAction(StrEnum):
    """The actions on a ride that a member of staff has buttons for."""

    ABORT = "abort"
    CANCEL = "cancel"
    ARM_CANCEL = "arm_cancel"
    RELEASE_CANCEL = "release_cancel"
    CHANGE_DROP = "change_drop"  # `text`: the place
    FEEDBACK = "feedback"  # `text`: 1 to 5
    LINK = "link"  # a link for the guest
    SETTLE = "settle"  # links an order of unknown outcome to the booking in the ledger


@dataclass(frozen=True)
class Act:
    """Press a button of a ride."""

    press: PressAction
    text: str = ""
    ride: str = HOTEL_RIDE


@dataclass(frozen=True)
class Scenario:
    """Apply a scenario to the next booking that it fits."""

    name: str


@dataclass(frozen=True)
class AddFault:
    """Add a fault, named as on the director's page; an outage lasts `lasts_s` wall seconds."""

    name: str
    lasts_s: float | None = None


@dataclass(frozen=True)
class Ask:
    """Ask for the price of a trip from the property; `name` identifies the answer in the story."""

    name: str
    to: str
    car: str = "mini"


@dataclass(frozen=True)
class SetClock:
    """Set the ride company's clock to a later time of the same day, and hold it there."""

    at: time


@dataclass(frozen=True)
class KioskBook:
    """A guest books alone at the property's kiosk, in their language."""

    guest: str
    to: str
    car: str
    language: str
    ride: str = HOTEL_RIDE


@dataclass(frozen=True)
class KioskLook:
    """A guest types the number of their ride at the kiosk, with the right PIN or a wrong one."""

    right: bool = True
    code: bool = False  # whether the guest also lets the kiosk show the start code
    ride: str = HOTEL_RIDE


@dataclass(frozen=True)
class Overview:
    """Count how many rides of the board need somebody, and how many need nobody."""


Action = Overview | Book | Act | Scenario | AddFault | Ask | SetClock | KioskBook | KioskLook


@dataclass(frozen=True)
class Settled:
    """The order is in one of these states."""

    states: tuple[OrderState, ...] = (OrderState.BOOKED, OrderState.MATCHING)
    ride: str = HOTEL_RIDE


@dataclass(frozen=True)
class Reached:
    """The ride has this booking_status or a later one."""

    status: str
    ride: str = HOTEL_RIDE


@dataclass(frozen=True)
class AllReached:
    """Each of these rides has this booking_status or a later one."""

    status: str
    rides: tuple[str, ...]


@dataclass(frozen=True)
class HasStatus:
    """The ride now has one of these booking_statuses."""

    statuses: tuple[str, ...]
    ride: str = HOTEL_RIDE


@dataclass(frozen=True)
class Happened:
    """The ride's timeline has an event such as "car_swapped"."""

    event: str
    ride: str = HOTEL_RIDE


@dataclass(frozen=True)
class Answering:
    """Every live ride was polled a moment ago; if `answers` is false: at least one was not."""

    answers: bool


Seen = Settled | Reached | AllReached | HasStatus | Happened | Answering


@dataclass(frozen=True)
class StoryStep:
    """One moment: what the presenter says, what is done, what must be seen, and on which screen."""

    say: Text
    do: Action | None = None
    until: Seen | None = None
    show: StageScreen = StageScreen.DESK
    point: str = ""  # a CSS selector on that screen, to highlight


class CountCheck(StrEnum):
    """Numbers that are checked at the end of a story."""

    BOOKINGS = "bookings"  # bookings in the sandbox's ledger
    ORDERS = "orders"  # orders in the dashboard's database
    UNKNOWN = "unknown"  # orders of unknown outcome in the dashboard's database
    CALLS = "calls"  # calls to the service that failed during the story's outage
    REFUSED = "refused"  # orders that the service refused


@dataclass(frozen=True)
class Count:
    """A check at the end: the number is from `least` to `most`."""

    what: CountCheck
    least: int
    most: int

    @classmethod
    def exactly(cls, what: CountCheck, n: int) -> "Count":
        """A check that the number is exactly `n`."""
        return cls(what, n, n)


@dataclass(frozen=True)
class EndsAs:
    """A check at the end: the ride ends in this booking_status."""

    status: str
    ride: str = HOTEL_RIDE


@dataclass(frozen=True)
class Happens:
    """A check at the end: the ride's timeline has this event at least once."""

    event: str
    words: Text
    ride: str = HOTEL_RIDE


@dataclass(frozen=True)
class RefusedCheck:
    """A check at the end: the service refused the order with this code."""

    code: str
    ride: str = HOTEL_RIDE


@dataclass(frozen=True)
class NotOffered:
    """A check at the end: the service offered no car for the trip of the Ask with this name."""

    name: str


@dataclass(frozen=True)
class Dearer:
    """A check at the end: the second price was higher, and only it was marked as a surge price.

    `before` and `after` are the names of the two Asks.
    """

    before: str
    after: str


@dataclass(frozen=True)
class Pressed:
    """A check at the end: the outcome of an action, as ActionResult names it."""

    press: PressAction
    outcome: str
    words: Text
    ride: str = HOTEL_RIDE


@dataclass(frozen=True)
class Fresh:
    """A check at the end: within this time after the outage every live ride was polled again."""

    within_s: int


@dataclass(frozen=True)
class Noted:
    """A check at the end: an action has added this name to the "noted" names of the run."""

    name: str
    words: Text


Check = Count | EndsAs | Happens | RefusedCheck | NotOffered | Dearer | Pressed | Fresh | Noted
# checks for any story with one ride
ONE_RIDE: Final = (
    Count.exactly(CountCheck.BOOKINGS, 1),
    Count.exactly(CountCheck.ORDERS, 1),
    Count.exactly(CountCheck.UNKNOWN, 0),
)


@dataclass(frozen=True)
class Story:
    """A story. It begins on a weekday (0: Monday) at a local time of the property."""

    id: str
    title: Text
    proves: Text
    seconds: int  # approximate duration
    weekday: int
    at: time
    steps: tuple[StoryStep, ...]
    ends: tuple[Check, ...]
    counted: bool = False  # whether a card with the figures of the run follows its end
