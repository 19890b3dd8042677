"""The story of the rush hour: the price of the same trip rises, and the offer says why."""

from datetime import time
from typing import Final

from ridedash.demo.stories.model import (
    ONE_RIDE,
    Ask,
    Book,
    Dearer,
    SetClock,
    Settled,
    Story,
    StoryStep,
)
from ridedash.wording import lazy

AIRPORT: Final = "Meridian Airport"
CHANGED: Final = "[data-changed]"  # where the desk says that a price has changed
BEFORE = "before"
AFTER = "after"

RUSH_HOUR: Final = Story(
    id="rush_hour",
    title=lazy("Rush hour"),
    proves=lazy("A higher price is said in words, before anybody presses."),
    seconds=40,
    weekday=3,
    at=time(17, 55),
    steps=(
        StoryStep(
            lazy("Five minutes to six. A guest asks what a Mini to the airport costs."),
            Ask(BEFORE, AIRPORT),
        ),
        StoryStep(
            lazy("The guest takes the time for a coffee. Now it is twenty past six."),
            SetClock(time(18, 20)),
        ),
        StoryStep(
            lazy("The same car and the same way once more. What does the desk read now?"),
            Ask(AFTER, AIRPORT),
            point=CHANGED,
        ),
        StoryStep(
            lazy("The guest knows the price, and why. Only now the desk presses Book."),
            Book("Lapwing", "226", AIRPORT, "mini"),
            Settled(),
        ),
        StoryStep(
            lazy("The ride is booked at the price that was read out."),
            point="[data-slot='fare']",
        ),
    ),
    ends=(
        Dearer(BEFORE, AFTER),
        *ONE_RIDE,
    ),
)
