"""The story of a guest at the kiosk, without help, from the first question to the start code."""

from datetime import time
from typing import Final

from ridedash.demo.stories.model import (
    ONE_RIDE,
    EndsAs,
    KioskBook,
    KioskLook,
    Noted,
    Reached,
    Settled,
    StageScreen,
    Story,
    StoryStep,
)
from ridedash.wire import CALL_DRIVER, CLIENT_LOCATED, COMPLETED
from ridedash.wording import lazy

GUEST_ALONE: Final = Story(
    id="alone",
    title=lazy("A guest alone"),
    proves=lazy("A guest books without the desk, in their own language."),
    seconds=80,
    weekday=5,
    at=time(22, 10),
    steps=(
        StoryStep(
            lazy(
                "Late in the evening nobody is at the desk. A guest books at the kiosk, in Arabic."
            ),
            KioskBook("Lapwing", "Meridian Airport", "mini", "ar"),
            Settled(),
            StageScreen.KIOSK,
        ),
        StoryStep(
            lazy(
                "The kiosk shows a number, a PIN and a code to scan: the ride on the guest's phone."
            ),
            KioskLook(),
            show=StageScreen.PHONE,
        ),
        StoryStep(
            lazy("The guest walks away. The desk sees the same ride, in its own language."),
            until=Reached(CALL_DRIVER),
        ),
        StoryStep(
            lazy("Somebody else tries the number with another PIN. The kiosk shows nothing."),
            KioskLook(right=False),
            show=StageScreen.KIOSK,
        ),
        StoryStep(
            lazy("The driver is at the door. The guest comes back to the kiosk."),
            until=Reached(CLIENT_LOCATED),
            show=StageScreen.KIOSK,
        ),
        StoryStep(
            lazy("Number and PIN open the ride, and the kiosk shows the start code."),
            KioskLook(code=True),
            show=StageScreen.KIOSK,
        ),
        StoryStep(
            lazy("The guest has arrived, and nobody had to be asked."),
            until=Reached(COMPLETED),
        ),
    ),
    ends=(
        *ONE_RIDE,
        Noted("opened", lazy("Number and PIN opened the ride at the kiosk")),
        Noted("wrong_pin", lazy("A wrong PIN opened nothing")),
        Noted("code", lazy("The kiosk showed the start code to the guest alone")),
        EndsAs(COMPLETED),
    ),
)
