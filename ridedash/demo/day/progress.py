"""The progress of ordering the day's rides, which each page shows in its demo band meanwhile."""

import threading
from dataclasses import dataclass, field
from typing import Final

from flask import Blueprint, Flask, Response, current_app, jsonify, request
from flask.typing import ResponseReturnValue

from ridedash.views.web.errors import page
from ridedash.views.web.permissions import SEE, needs
from ridedash.wording import gettext as _
from ridedash.wording import lazy

EXTENSION: Final = "ridedash.day"  # the key of the progress in `app.extensions`
WAITS_S: Final = 60.0  # how long a press waits at most
NOT_YET: Final = (
    lazy("The day is still being prepared"),
    lazy("Nothing was changed."),
    lazy("Wait until the band says nothing of it, then press again."),
)
bp: Final = Blueprint("demo_day", __name__)


@dataclass
class Progress:
    """How many rides are ordered so far (`done`, `of` how many); set by the thread that does it."""

    done: int = 0
    of: int = 0
    going_on: bool = False
    ended: threading.Event = field(default_factory=threading.Event, repr=False)

    def begin(self, of: int) -> None:
        """Record that the making of the rides has begun, and how many are to be ordered."""
        self.ended.clear()
        self.done = 0
        self.of = of
        self.going_on = True

    def end(self) -> None:
        """Record that the making has ended, whether all rides were ordered or not."""
        self.going_on = False
        self.ended.set()


def init_app(app: Flask) -> None:
    """Register the line of the band, and the address at which pages poll it."""
    app.extensions[EXTENSION] = Progress()
    app.register_blueprint(bp)
    app.context_processor(lambda: {"day_words": words})


def after_the_day() -> Response | None:
    """Let a press of the director wait until the rides are made; 503 after WAITS_S.

    Until they are made, the thread that makes them sets the sandbox's clock.
    """
    now: Progress = current_app.extensions[EXTENSION]
    if not now.going_on or request.method != "POST":
        return None
    if now.ended.wait(WAITS_S):
        return None
    return current_app.make_response(page(503, NOT_YET, back="/demo"))


@bp.get("/demo/day.json")
@needs(SEE)
def show() -> ResponseReturnValue:
    """The line as it is now: {"words": text}; the text is "" once the day is complete."""
    return jsonify(words=words())


def words() -> str:
    """The progress in words; "" when no rides are being made."""
    now: Progress = current_app.extensions[EXTENSION]
    if not now.going_on:
        return ""
    return _("The day is being prepared: %(n)d of %(all)d rides.", n=now.done, all=now.of)
