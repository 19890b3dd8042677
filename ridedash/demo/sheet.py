"""/demo/sheet: what a presenter does and says, minute by minute, on one printed page."""

from dataclasses import dataclass
from typing import Final

from flask import Blueprint, current_app, render_template

from ridedash.demo.beginning import only_in_a_demo
from ridedash.demo.stories import STORIES
from ridedash.views.ops.static_files import EXTENSION
from ridedash.views.web.permissions import MANAGE, needs
from ridedash.wording import lazy
from ridedash.wording.say import Text

bp: Final = only_in_a_demo(Blueprint("demo_sheet", __name__, url_prefix="/demo"))
LENS: Final = "js/demo/drawer.js"  # the script of the drawer with the calls


@dataclass(frozen=True)
class SheetLine:
    """One thing to do, and what to say with it; `story` is the id of the story that it plays."""

    at: str
    do: Text
    say: Text
    story: str = ""
    lens: bool = False


@dataclass(frozen=True)
class Cut:
    """Lines under one title: a version of the presentation, or what a longer one adds to it."""

    title: Text
    lines: tuple[SheetLine, ...]


OPEN: Final = lazy("Open the stage. Press Play the five minutes. Space holds it.")
ALONE: Final = lazy("It comes by itself.")
PLAY: Final = lazy("Choose it under Presenter. Press Play.")
THEIRS: Final = lazy("Presenter, Reset, Yes. Then give them the mouse.")
YOURS: Final = lazy("Now it is your turn. You can break nothing.")
ON_PAPER: Final = lazy("From a wish to a receipt: the desk on one side, the guest on the other.")
FIVE: Final = Cut(
    lazy("Five minutes"),
    (
        SheetLine("0:00", OPEN, ON_PAPER, "five"),
        SheetLine(
            "0:25",
            lazy("The lens opens by itself. Press Lens to open it at any time."),
            lazy("Each word on the screen comes from your interface. Here is the call."),
            lens=True,
        ),
        SheetLine(
            "1:05",
            ALONE,
            lazy("A guest books alone, in Arabic. The kiosk speaks eight languages."),
            "alone",
        ),
        SheetLine(
            "1:45",
            ALONE,
            lazy("The answer to a booking is lost. We do not guess, and book nothing twice."),
            "unknown",
        ),
        SheetLine(
            "2:20",
            ALONE,
            lazy("Your service is silent. We ask seldom, say so, and come back by ourselves."),
            "down",
        ),
        SheetLine(
            "3:00",
            ALONE,
            lazy("One person, thirty rides. What needs a hand stands above."),
            "evening",
        ),
        SheetLine(
            "3:45",
            lazy("The end card: press Download this demo."),
            lazy("Each number is counted: in your ledger, our database and the calls."),
        ),
        SheetLine("4:15", THEIRS, YOURS),
    ),
)
NINE: Final = Cut(
    lazy("Nine minutes: also"),
    (
        SheetLine(
            "+0:00",
            PLAY,
            lazy("The driver cancels. Desk and guest are told at once."),
            "driver_cancels",
        ),
        SheetLine(
            "+1:00", PLAY, lazy("Another car comes. Three screens say so, and loudly."), "swap"
        ),
        SheetLine(
            "+1:40", PLAY, lazy("A shared ride is searched a second time, and goes well."), "share"
        ),
        SheetLine(
            "+2:40",
            PLAY,
            lazy("Each refusal of your document, in plain words."),
            "no",
        ),
    ),
)
TWO: Final = Cut(
    lazy("Two minutes"),
    (
        SheetLine("0:00", PLAY, ON_PAPER, "receipt"),
        SheetLine(
            "1:10",
            PLAY,
            lazy("And when an answer is lost, nobody gets two cars."),
            "unknown",
        ),
        SheetLine("2:00", THEIRS, YOURS),
    ),
)


@bp.get("/sheet")
@needs(MANAGE)
def show() -> str:
    """Show the sheet. Lines about features that this release lacks are left out."""
    lens = has_lens()
    cuts = [
        (cut.title, [line for line in cut.lines if _is_there(line, lens)])
        for cut in (FIVE, NINE, TWO)
    ]
    return render_template("demo/sheet.html", cuts=cuts, stories=STORIES)


def has_lens() -> bool:
    """Whether pages have the drawer that shows the calls."""
    return LENS in current_app.extensions[EXTENSION].paths


def _is_there(line: SheetLine, lens: bool) -> bool:
    if line.lens and not lens:
        return False
    return not line.story or line.story in STORIES
