"""Stories of a hotel's day: a ride from its booking to the receipt, and a change of driver."""

from datetime import time
from typing import Final

from ridedash.demo.stories.model import (
    ONE_RIDE,
    PLATE,
    Act,
    Book,
    EndsAs,
    Happens,
    HasStatus,
    PressAction,
    Pressed,
    Reached,
    Scenario,
    Settled,
    StageScreen,
    Story,
    StoryStep,
)
from ridedash.wire import (
    ALLOTMENT_RETRYING,
    CALL_DRIVER,
    CLIENT_LOCATED,
    COMPLETED,
    IN_PROGRESS,
)
from ridedash.wording import lazy

CODE: Final = "[data-show='code']"  # where the guest's phone shows the start code

START_TO_RECEIPT: Final = Story(
    id="receipt",
    title=lazy("A ride, start to receipt"),
    proves=lazy("Six of the eight operations in one ride."),
    seconds=90,
    weekday=3,
    at=time(17, 40),
    steps=(
        StoryStep(
            lazy("A guest at the desk needs a car to the airport. The desk books a Mini."),
            Book("Kestrel", "412", "Meridian Airport", "mini"),
            Settled(),
        ),
        StoryStep(
            lazy("The booking stands. The ride company looks for a driver; the board says so."),
        ),
        StoryStep(
            lazy("The guest gets a link: the same ride, on the guest's own phone."),
            Act(PressAction.LINK),
            show=StageScreen.PHONE,
        ),
        StoryStep(
            lazy("A driver has accepted. Plate, car and minutes are there, for desk and guest."),
            until=Reached(CALL_DRIVER),
            point=PLATE,
        ),
        StoryStep(
            lazy("The car waits at the door. The guest tells the driver the start code."),
            until=Reached(CLIENT_LOCATED),
            show=StageScreen.PHONE,
            point=CODE,
        ),
        StoryStep(
            lazy("The ride has begun."),
            until=Reached(IN_PROGRESS),
        ),
        StoryStep(
            lazy("On the way the guest wants to go to the stadium instead. One press at the desk."),
            Act(PressAction.CHANGE_DROP, "Lode Stadium"),
        ),
        StoryStep(
            lazy("They have arrived. The receipt shows each part of the fare."),
            until=Reached(COMPLETED),
        ),
        StoryStep(
            lazy("The guest was content: five stars go to the ride company."),
            Act(PressAction.FEEDBACK, "5"),
            point="[data-action='feedback']",
        ),
    ),
    ends=(
        *ONE_RIDE,
        Pressed(PressAction.CHANGE_DROP, "done", lazy("The new place was taken on")),
        Pressed(PressAction.FEEDBACK, "done", lazy("The feedback has arrived")),
        EndsAs(COMPLETED),
    ),
)

DRIVER_CANCELS: Final = Story(
    id="driver_cancels",
    title=lazy("The driver cancels"),
    proves=lazy("Staff and guest are told at once, and another driver comes."),
    seconds=60,
    weekday=4,
    at=time(8, 5),
    steps=(
        StoryStep(
            lazy("A guest takes an auto to the station. The driver will not keep the promise."),
            Scenario("driver_leaves"),
        ),
        StoryStep(
            lazy("The desk books as always."),
            Book("Wren", "207", "Port Meridian Central Station", "auto"),
            Settled(),
        ),
        StoryStep(
            lazy("A driver has accepted and is on the way. Remember the plate."),
            until=Reached(CALL_DRIVER),
            point=PLATE,
        ),
        StoryStep(
            lazy("The driver has cancelled. The old plate is gone at once: nobody waits for it."),
            until=Reached(ALLOTMENT_RETRYING),
        ),
        StoryStep(
            lazy("Another driver has accepted: a new plate, and new minutes."),
            until=HasStatus((CALL_DRIVER, CLIENT_LOCATED, IN_PROGRESS)),
            point=PLATE,
        ),
        StoryStep(
            lazy("The guest is brought to the station after all."),
            until=Reached(COMPLETED),
        ),
    ),
    ends=(
        *ONE_RIDE,
        Happens("driver_lost", lazy("The loss of the driver stands in the history")),
        EndsAs(COMPLETED),
    ),
)
