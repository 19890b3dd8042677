"""What a story of the demo is made of. Data only: the interpreter acts, and a story is also a test.

A step is shown as one moment of the story: the line to say, one deed, and what must then be seen
before the story goes on. Rides are named within a story.
"""

from dataclasses import dataclass
from datetime import time
from enum import StrEnum
from typing import Final

from ridedash.store.models.orders import OrderState
from ridedash.wording.say import Text

PLATE: Final = "[data-slot='cab.plate']"  # where the desk shows the car's plate
PLATE_OF_GUEST: Final = "[data-slot='plate']"  # and where the guest's phone does
HOTEL_RIDE: Final = "ride"  # the name of the ride in a story with one


class Surface(StrEnum):
    """The screen on which a step is seen."""

    DESK = "desk"
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
    seats: int | None = None  # of a shared ride
    language: str | None = None  # that the guest speaks
    typed: bool = True  # at the desk of the stage, where there is one
    account: str = ""  # the label of the linked account; "" for the property's usual one
    ride: str = HOTEL_RIDE


class Press(StrEnum):
    """What a member of staff can press about a ride."""

    ABORT = "abort"
    CANCEL = "cancel"
    ARM_CANCEL = "arm_cancel"
    RELEASE_CANCEL = "release_cancel"
    CHANGE_DROP = "change_drop"  # `text`: the place
    FEEDBACK = "feedback"  # `text`: 1 to 5
    LINK = "link"  # a link for the guest
    SETTLE = "settle"  # an unknown outcome, with the number that the ledger has


@dataclass(frozen=True)
class Act:
    """Press something about a ride."""

    press: Press
    text: str = ""
    ride: str = HOTEL_RIDE


@dataclass(frozen=True)
class Scenario:
    """Let the next booking that it fits go like this."""

    name: str


@dataclass(frozen=True)
class Fault:
    """Let something go wrong, as the director names it; `lasts_s` of wall time for an outage."""

    name: str
    lasts_s: float | None = None


@dataclass(frozen=True)
class Ask:
    """Ask for the price of a trip from the property; `name` is that of the answer in the story."""

    name: str
    to: str
    car: str = "mini"


@dataclass(frozen=True)
class Clock:
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
    code: bool = False  # and lets the kiosk show the start code
    ride: str = HOTEL_RIDE


Deed = Book | Act | Scenario | Fault | Ask | Clock | KioskBook | KioskLook


@dataclass(frozen=True)
class Settled:
    """The order is in one of these states."""

    states: tuple[OrderState, ...] = (OrderState.BOOKED, OrderState.MATCHING)
    ride: str = HOTEL_RIDE


@dataclass(frozen=True)
class Reached:
    """The ride has had this booking_status, or is past it."""

    status: str
    ride: str = HOTEL_RIDE


@dataclass(frozen=True)
class AllReached:
    """Each of these rides has had this booking_status, or is past it."""

    status: str
    rides: tuple[str, ...]


@dataclass(frozen=True)
class Stands:
    """The ride has one of these booking_statuses now."""

    statuses: tuple[str, ...]
    ride: str = HOTEL_RIDE


@dataclass(frozen=True)
class Happened:
    """An event stands in the ride's timeline, such as "car_swapped"."""

    event: str
    ride: str = HOTEL_RIDE


@dataclass(frozen=True)
class Answering:
    """The service answers, so that every live ride was seen just now; or, if false, it doesn't."""

    answers: bool


Seen = Settled | Reached | AllReached | Stands | Happened | Answering


@dataclass(frozen=True)
class Step:
    """One moment: what the presenter says, what is done, what must be seen, and where."""

    say: Text
    do: Deed | None = None
    until: Seen | None = None
    show: Surface = Surface.DESK
    point: str = ""  # a CSS selector on that screen


class Counted(StrEnum):
    """What can be counted at the end of a story."""

    BOOKINGS = "bookings"  # in the sandbox's ledger
    ORDERS = "orders"  # here
    UNKNOWN = "unknown"  # orders of unknown outcome here
    CALLS = "calls"  # to the service during the story's outage
    REFUSED = "refused"  # orders that the service refused


@dataclass(frozen=True)
class Count:
    """A line of the list at the end: there must be from `least` to `most` of these."""

    what: Counted
    least: int
    most: int

    @classmethod
    def exactly(cls, what: Counted, n: int) -> "Count":
        """No more and no fewer than `n`."""
        return cls(what, n, n)


@dataclass(frozen=True)
class EndsAs:
    """A line of the list at the end: the ride ends in this booking_status."""

    status: str
    ride: str = HOTEL_RIDE


@dataclass(frozen=True)
class Happens:
    """A line of the list at the end: this event stands in the ride's timeline, once or more."""

    event: str
    words: Text
    ride: str = HOTEL_RIDE


@dataclass(frozen=True)
class Refused:
    """A line of the list at the end: the service refused the order with this code."""

    code: str
    ride: str = HOTEL_RIDE


@dataclass(frozen=True)
class NotOffered:
    """A line of the list at the end: asked for the price of this trip, it offered no car."""

    name: str


@dataclass(frozen=True)
class Dearer:
    """A line of the list at the end: the same trip cost more the second time, and it was said."""

    before: str
    after: str


@dataclass(frozen=True)
class Pressed:
    """A line of the list at the end: what a press came to, as ActionResult names it."""

    press: Press
    outcome: str
    words: Text
    ride: str = HOTEL_RIDE


@dataclass(frozen=True)
class Fresh:
    """A line of the list at the end: so soon after the outage every live ride was fresh again."""

    within_s: int


@dataclass(frozen=True)
class Noted:
    """A line of the list at the end: a deed has noted this."""

    name: str
    words: Text


Check = Count | EndsAs | Happens | Refused | NotOffered | Dearer | Pressed | Fresh | Noted
# of a story with one ride, whatever happens in it
ONE_RIDE: Final = (
    Count.exactly(Counted.BOOKINGS, 1),
    Count.exactly(Counted.ORDERS, 1),
    Count.exactly(Counted.UNKNOWN, 0),
)


@dataclass(frozen=True)
class Story:
    """A story: it begins on a weekday (0: Monday) at a time of the property."""

    id: str
    title: Text
    proves: Text
    seconds: int  # about as long as it takes
    weekday: int
    at: time
    steps: tuple[Step, ...]
    ends: tuple[Check, ...]
