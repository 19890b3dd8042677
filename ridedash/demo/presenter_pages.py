"""/demo/presenter: a presenter's own window or phone, so that the wall shows only the screens.

Its presses are wishes, which the stage fetches with its next poll: the stage alone plays a story.
Both are remembered in this process, because a demo has one (`ridedash up`).
"""

import threading
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from flask import Blueprint, Flask, Response, abort, current_app, jsonify, render_template, request

from ridedash.demo.beginning import only_in_a_demo
from ridedash.demo.stories import STORIES
from ridedash.demo.stories.interpreter import RunState, runs
from ridedash.demo.story_pages import facts
from ridedash.demo.words import clock_now
from ridedash.extensions import services
from ridedash.store.models.people import Property
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.permissions import MANAGE, needs

bp: Final = only_in_a_demo(Blueprint("demo_presenter", __name__, url_prefix="/demo/presenter"))
EXTENSION: Final = "ridedash.presenter"
WISHES: Final = ("play", "pause", "step", "skip", "drop")
HERE_FOR: Final = timedelta(seconds=4)  # a page that has not polled for longer is closed


@dataclass
class Prompter:
    """What passes between the presenter's window and the stage."""

    number: int = 0  # of the latest wish
    wish: str = ""
    plays: bool = False  # whether the stage plays a story
    staged_at: datetime | None = None  # the last poll of a stage
    presented_at: datetime | None = None  # the last poll of a presenter's window
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def press(self, wish: str) -> None:
        """Note a wish; it replaces one that no stage has fetched."""
        with self.lock:
            self.number += 1
            self.wish = wish

    def for_stage(self, now: datetime, *, plays: bool) -> dict[str, Any]:
        """Note a poll of the stage. Returns the latest wish, and whether a presenter is there."""
        with self.lock:
            self.staged_at = now
            self.plays = plays
            return {
                "wish": {"number": self.number, "do": self.wish},
                "presented": _is_here(self.presented_at, now),
            }

    def for_presenter(self, now: datetime) -> dict[str, bool]:
        """Note a poll of the presenter's window. Returns whether a stage is there, and plays."""
        with self.lock:
            self.presented_at = now
            return {"plays": self.plays, "staged": _is_here(self.staged_at, now)}


def init_app(app: Flask) -> None:
    """Register the pages."""
    app.extensions[EXTENSION] = Prompter()
    app.register_blueprint(bp)


def prompter() -> Prompter:
    """What passes between the windows of this app."""
    found: Prompter = current_app.extensions[EXTENSION]
    return found


@bp.get("")
@needs(MANAGE)
def show() -> str:
    """The window: the sentence, the next one, the clock, and a few large buttons."""
    return render_template("demo/presenter.html", now=_state())


@bp.get("/state.json")
@needs(MANAGE)
def state() -> Response:
    """What the window shows, as it polls it."""
    return jsonify(_state())


@bp.post("/press")
@needs(MANAGE)
def press() -> Response:
    """Note a wish of WISHES, which the stage fulfils."""
    wish = request.form.get("do", "")
    if wish not in WISHES:
        abort(400)
    prompter().press(wish)
    return jsonify(_state())


def _state() -> dict[str, Any]:
    mine = current_staff().property_id
    with services().db.read() as s:
        prop = s.get_one(Property, mine)
    found: dict[str, Any] = {"clock": clock_now(prop, named=False), "run": None}
    run = runs().latest(mine)
    if run is not None and run.story in STORIES:
        found["run"] = facts(RunState(run, STORIES[run.story]))
    return found | prompter().for_presenter(services().clock())


def _is_here(polled_at: datetime | None, now: datetime) -> bool:
    return polled_at is not None and now - polled_at < HERE_FOR
