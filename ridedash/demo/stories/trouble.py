"""Stories of failures of the ride company: a lost answer, and an outage."""

from datetime import time
from typing import Final

from ridedash.demo.stories.model import (
    ONE_RIDE,
    Act,
    AddFault,
    AllReached,
    Answering,
    Book,
    Count,
    CountCheck,
    EndsAs,
    Fresh,
    PressAction,
    Reached,
    Settled,
    Story,
    StoryStep,
)
from ridedash.store.models.orders import OrderState
from ridedash.wire import CALL_DRIVER, COMPLETED
from ridedash.wording import lazy

OUTAGE_S: Final = 60.0
# calls in the outage: one or two for each ride, then the circuit breaker's probes, which get rarer
MOST_CALLS: Final = 20
FRESH_WITHIN_S: Final = 45
GUESTS: Final = (  # six rides that are under way when the ride company goes down
    ("Heron", "118", "Meridian Airport", "prime"),
    ("Plover", "305", "Port Meridian Central Station", "mini"),
    ("Avocet", "221", "Museum of the Sea", "auto"),
    ("Godwit", "509", "Opera on the Lode", "mini"),
    ("Curlew", "402", "Eastgate Centre", "prime"),
    ("Dunlin", "316", "Meridian General Hospital", "mini"),
)

UNKNOWN: Final = Story(
    id="unknown",
    title=lazy("We don't know"),
    proves=lazy("A lost answer makes neither a second car nor a false promise."),
    seconds=75,
    weekday=3,
    at=time(21, 15),
    steps=(
        StoryStep(
            lazy("Now a line breaks: the ride company books, but its answer is lost."),
            AddFault("lost_answer"),
        ),
        StoryStep(
            lazy("The desk books a car for a guest, as always."),
            Book("Kestrel", "412", "Port Meridian Central Station", "mini"),
            Settled((OrderState.UNKNOWN,)),
        ),
        StoryStep(
            lazy(
                "Nobody knows whether a car comes. The board says so; the guest reads: don't book."
            ),
        ),
        StoryStep(
            lazy("The ride company's ledger has the booking. The desk types its number in."),
            Act(PressAction.SETTLE),
            Settled((OrderState.BOOKED,)),
        ),
        StoryStep(
            lazy("It is the one booking that was made. The ride is followed like every other."),
            until=Reached(COMPLETED),
        ),
    ),
    ends=(
        *ONE_RIDE,
        EndsAs(COMPLETED),
    ),
)

DOWN: Final = Story(
    id="down",
    title=lazy("Their service is down"),
    proves=lazy("An outage is shown, spared further calls, and over within seconds."),
    seconds=105,
    weekday=2,
    at=time(16, 30),
    steps=(
        *(
            StoryStep(
                lazy("Six guests go out this afternoon."),
                Book(guest, room, place, car, ride=guest, typed=guest == GUESTS[0][0]),
                Settled(ride=guest),
            )
            for guest, room, place, car in GUESTS
        ),
        StoryStep(
            lazy("Six cars are on their way. The board follows each of them."),
            until=AllReached(CALL_DRIVER, tuple(guest for guest, *_ in GUESTS)),
        ),
        StoryStep(
            lazy("The ride company goes down, for a minute."),
            AddFault("down", OUTAGE_S),
            Answering(False),
        ),
        StoryStep(
            lazy("The board says since when nothing is heard. What is shown is what was known."),
        ),
        StoryStep(
            lazy("The calls are few: nobody hammers a service that is down. Then it is back."),
            until=Answering(True),
        ),
        StoryStep(
            lazy("All six rides are fresh again, and none was lost."),
        ),
    ),
    ends=(
        Count.exactly(CountCheck.BOOKINGS, len(GUESTS)),
        Count.exactly(CountCheck.ORDERS, len(GUESTS)),
        Count.exactly(CountCheck.UNKNOWN, 0),
        Count(CountCheck.CALLS, 1, MOST_CALLS),
        Fresh(FRESH_WITHIN_S),
    ),
)
