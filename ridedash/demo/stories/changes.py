"""Stories of a changed ride: a shared ride found at the second try, and a car that is swapped."""

from datetime import time
from typing import Final

from ridedash.demo.stories.model import (
    ONE_RIDE,
    PLATE,
    PLATE_OF_GUEST,
    Act,
    Book,
    EndsAs,
    Happened,
    Happens,
    HasStatus,
    PressAction,
    Reached,
    Scenario,
    Settled,
    StageScreen,
    Story,
    StoryStep,
)
from ridedash.store.models.orders import OrderState
from ridedash.wire import CALL_DRIVER, CLIENT_LOCATED, COMPLETED, IN_PROGRESS
from ridedash.wording import lazy

SHARE: Final = Story(
    id="share",
    title=lazy("Share, with a retry"),
    proves=lazy("The ride is followed from its first number to its last; no search ends unseen."),
    seconds=60,
    weekday=3,
    at=time(12, 10),
    steps=(
        StoryStep(
            lazy("A guest shares a cab to the Conservatoire. No shared cab is free just now."),
            Scenario("share_retry"),
        ),
        StoryStep(
            lazy(
                "The desk books one seat. The ride company keeps looking, under a temporary number."
            ),
            Book("Sparrow", "314", "Conservatoire", "share", seats=1),
            Settled((OrderState.MATCHING,)),
        ),
        StoryStep(
            lazy("The guest hesitates. There is no booking to cancel yet, so the cancel waits."),
            Act(PressAction.ARM_CANCEL),
            point="[data-notices]",
        ),
        StoryStep(
            lazy("Now the guest wants the ride after all. One press withdraws the cancel."),
            Act(PressAction.RELEASE_CANCEL),
            point="[data-action='arm']",
        ),
        StoryStep(
            lazy("A cab is found. The booking number takes over from the first one by itself."),
            until=Reached(CALL_DRIVER),
            point=PLATE,
        ),
        StoryStep(
            lazy("It is the same ride, with its history. Nothing was cancelled."),
            until=Settled((OrderState.BOOKED,)),
        ),
        StoryStep(
            lazy("The guest arrives, and pays the price of one seat."),
            until=Reached(COMPLETED),
        ),
    ),
    ends=(
        *ONE_RIDE,
        Happens("handover", lazy("The booking number took over from the first number")),
        EndsAs(COMPLETED),
    ),
)

SWAP: Final = Story(
    id="swap",
    title=lazy("The car changes"),
    proves=lazy("A changed plate is plain to see on every screen, and the old one is struck out."),
    seconds=40,
    weekday=1,
    at=time(14, 20),
    steps=(
        StoryStep(
            lazy(
                "A guest goes to the hospital for a visit. Before it arrives, the car is replaced."
            ),
            Scenario("driver_swaps"),
        ),
        StoryStep(
            lazy("The desk books a Mini."),
            Book("Lapwing", "226", "Meridian General Hospital", "mini"),
            Settled(),
        ),
        StoryStep(
            lazy("The guest follows the ride on a phone."),
            Act(PressAction.LINK),
            show=StageScreen.PHONE,
        ),
        StoryStep(
            lazy("A driver has accepted. The guest looks out for this plate."),
            until=Reached(CALL_DRIVER),
            point=PLATE,
        ),
        StoryStep(
            lazy("Another car comes instead. The desk sees both plates, and says so to the guest."),
            until=Happened("car_swapped"),
            point=PLATE,
        ),
        StoryStep(
            lazy("The guest's phone says it too: forget the old plate, this is the new one."),
            show=StageScreen.PHONE,
            point=PLATE_OF_GUEST,
        ),
        StoryStep(
            lazy("The guest gets into the right car."),
            until=HasStatus((CLIENT_LOCATED, IN_PROGRESS)),
        ),
        StoryStep(
            lazy("The guest has arrived, as if nothing had happened."),
            until=Reached(COMPLETED),
        ),
    ),
    ends=(
        *ONE_RIDE,
        Happens("car_swapped", lazy("The change of the car is in the history")),
        EndsAs(COMPLETED),
    ),
)
