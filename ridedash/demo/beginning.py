"""Starts the demo anew, for Reset or for a story: clears the database and the sandbox together."""

import logging
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from flask import Blueprint, Flask, abort, current_app
from sqlalchemy.orm import Session

from ridedash.demo.day.progress import after_the_day
from ridedash.demo.emptying import empty
from ridedash.demo.sandbox_control import SandboxControl
from ridedash.extensions import services
from ridedash.observability.exceptions import reason
from ridedash.rides.tracking import claims
from ridedash.turns import SandboxTime
from ridedash.views.poll_cache.cache import polls

EXTENSION: Final = "ridedash.director"  # the key of the sandbox's control in `app.extensions`
SUBJECT: Final = "sandbox:0"  # the subject of audit entries; a demo has one sandbox
# the key of the functions that a Reset calls at its end
EMPTIED_TOO: Final = "ridedash.director.emptied"
# held while a demo starts anew or a story does a step: only one of them at a time
ALONE: Final = threading.RLock()
# Every story plays in this week, so that its drivers are the same each time: which drivers come,
# and how they drive, depends on the time of the booking.
MONDAY: Final = date(2026, 3, 2)


log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Start:
    """What a demo begins with: the time at which the sandbox's clock is held, and the seed."""

    at: datetime
    seed: int


def starts(weekday: int, at: time, zone: ZoneInfo) -> datetime:
    """The moment at which a story begins: a weekday (0: Monday) and a local time of a property."""
    return datetime.combine(MONDAY + timedelta(days=weekday), at, zone).astimezone(UTC)


def only_in_a_demo(bp: Blueprint) -> Blueprint:
    """Let pages answer beside our own sandbox alone, and presses wait until the day is made.

    Every blueprint of the director, the lens and the stage is made by it.
    """
    bp.before_request(_only_with_our_sandbox)
    bp.before_request(after_the_day)
    return bp


def _only_with_our_sandbox() -> None:
    """Answer 404 if the service may be a real one."""
    if not services().settings.sandboxed:
        abort(404)


def control() -> SandboxControl:
    """The control of the sandbox that belongs to the present app."""
    found: SandboxControl = current_app.extensions[EXTENSION]
    return found


def empty_too(app: Flask, clear: Callable[[], None]) -> None:
    """Register `clear`, which deletes other records of a demo: each Reset calls it at its end."""
    app.extensions.setdefault(EMPTIED_TOO, []).append(clear)


def begin(note: Callable[[Session], None], start: Start | None = None) -> None:
    """Delete the rides in the database and the sandbox; with `start`, set and hold the clock.

    The seed of the sandbox is set with the clock. `note` writes the audit entry in the same
    transaction. Raises StillSending and NotDone; nothing is deleted then.
    """
    sandbox = control()
    at, seed = (None, None) if start is None else (start.at, start.seed)
    here = services()
    with ALONE:
        empty(here.db, here.clock, lambda: sandbox.reset(seed, at), note)
        cache = polls()
        if cache is not None:
            cache.forget()
        here.client.traffic.forget()  # closes a circuit breaker that was opened before
        for clear in current_app.extensions.get(EMPTIED_TOO, ()):
            _cleared(clear)
        follow()


def _cleared(clear: Callable[[], None]) -> None:
    """Call `clear`; log its failure, for the rides are deleted already and the Reset must go on."""
    try:
        clear()
    except (sqlite3.Error, OSError) as error:
        log.warning("a Reset has not emptied all: %s", reason(error))


def follow() -> None:
    """Read the sandbox's new time at once, and let the worker poll every ride now."""
    s = services()
    if isinstance(s.time, SandboxTime):
        s.time.read()
    claims.make_due(s.db, s.clock())
    s.wake()
