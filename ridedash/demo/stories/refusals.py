"""The story of eight attempts: six fail, with the reason in plain words; two succeed."""

from datetime import time
from typing import Final

from ridedash.demo.stories.model import (
    Act,
    Ask,
    Book,
    Count,
    CountCheck,
    EndsAs,
    HasStatus,
    NotOffered,
    PressAction,
    Pressed,
    Reached,
    RefusedCheck,
    Scenario,
    Settled,
    Story,
    StoryStep,
)
from ridedash.store.models.orders import OrderState
from ridedash.wire import (
    ALLOTMENT_FAILED,
    BANNED_USER,
    BOOKING_CANCELLED,
    CALL_DRIVER,
    IN_PROGRESS,
    OUTSTANDING_DUE,
)
from ridedash.wording import lazy

STATION: Final = "Port Meridian Central Station"
REJECTED: Final = (OrderState.REJECTED,)
BANNED, OWING, EMPTY, STOPPED, CANCELLED, RIDING = (
    *("banned", "owing", "no_cab"),
    *("stopped", "cancelled", "riding"),
)
ELSEWHERE = "other_city"
SAME = "same_place"

NO: Final = Story(
    id="no",
    title=lazy("No"),
    proves=lazy("Each refusal is said in plain words, with what to do next."),
    seconds=75,
    weekday=1,
    at=time(14, 0),
    steps=(
        StoryStep(
            lazy("One: the account of this booking is blocked at the ride company."),
            Book("Teal", "424", STATION, "mini", account="Banned account", ride=BANNED),
            Settled(REJECTED, BANNED),
        ),
        StoryStep(
            lazy("Two: this account owes money. The desk reads which one, and what to do."),
            Book(
                "Tern",
                "415",
                STATION,
                "mini",
                account="Account with an outstanding due",
                ride=OWING,
            ),
            Settled(REJECTED, OWING),
        ),
        StoryStep(
            lazy("Three: a place in another city. It is said before anybody can press Book."),
            Ask(ELSEWHERE, "Saltmere Station"),
        ),
        StoryStep(
            lazy("Four: from the hotel to the hotel. Nobody needs a car for that."),
            Ask(SAME, "Grand Meridian Hotel"),
        ),
        StoryStep(
            lazy("Five: no driver will be found for the next guest."),
            Scenario("no_cab"),
        ),
        StoryStep(
            lazy("The search goes on for minutes. Then the desk and the guest read it at once."),
            Book("Siskin", "301", STATION, "mini", ride=EMPTY),
            HasStatus((ALLOTMENT_FAILED,), EMPTY),
        ),
        StoryStep(
            lazy("Six: the guest changes their mind while a driver is looked for."),
            Book("Pipit", "511", STATION, "mini", ride=STOPPED),
            Settled(ride=STOPPED),
        ),
        StoryStep(
            lazy("The desk stops the search. That works, and costs nothing."),
            Act(PressAction.ABORT, ride=STOPPED),
            HasStatus((BOOKING_CANCELLED,), STOPPED),
        ),
        StoryStep(
            lazy("Seven: another guest changes their mind when the driver has accepted."),
            Book("Merlin", "514", STATION, "mini", ride=CANCELLED),
            Reached(CALL_DRIVER, CANCELLED),
        ),
        StoryStep(
            lazy("The desk cancels. The minutes without a fee stood on the page."),
            Act(PressAction.CANCEL, ride=CANCELLED),
            HasStatus((BOOKING_CANCELLED,), CANCELLED),
        ),
        StoryStep(
            lazy("Eight: a guest is on the way already."),
            Book("Osprey", "517", STATION, "mini", ride=RIDING),
            Reached(IN_PROGRESS, RIDING),
        ),
        StoryStep(
            lazy("Cancelling is over now. The page says so, and asks the ride company nothing."),
            Act(PressAction.CANCEL, ride=RIDING),
            point="[data-action='cancel']",
        ),
    ),
    ends=(
        RefusedCheck(BANNED_USER, BANNED),
        RefusedCheck(OUTSTANDING_DUE, OWING),
        NotOffered(ELSEWHERE),
        NotOffered(SAME),
        EndsAs(ALLOTMENT_FAILED, EMPTY),
        Pressed(PressAction.ABORT, "done", lazy("Stopping the search worked"), STOPPED),
        Pressed(PressAction.CANCEL, "done", lazy("Cancelling before the ride worked"), CANCELLED),
        Pressed(PressAction.CANCEL, "not_now", lazy("Cancelling in the ride was not sent"), RIDING),
        Count.exactly(CountCheck.BOOKINGS, 4),
        Count.exactly(CountCheck.ORDERS, 6),
        Count.exactly(CountCheck.UNKNOWN, 0),
    ),
)
