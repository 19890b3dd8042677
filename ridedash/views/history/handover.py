"""The shift hand-over: one printed sheet with open rides and notes for the next shift."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from flask import Blueprint, abort, redirect, render_template, request
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as BaseResponse

from ridedash.extensions import limiter, services
from ridedash.store.handover import Ahead, Note, add_note, ahead, notes, settle_note
from ridedash.store.history import records
from ridedash.store.models.people import Property
from ridedash.text import one_line
from ridedash.views.history.rows import RecordLine, lines
from ridedash.views.web.current_user import by_staff_key, current_staff
from ridedash.views.web.formatting import day_time, full_time, zone
from ridedash.views.web.permissions import BOOK, SEE, needs
from ridedash.views.web.responses import locale
from ridedash.wording import gettext as _

bp = Blueprint("handover", __name__, url_prefix="/handover")

Answer = str | tuple[str, int] | BaseResponse
ROOM: Final = 30  # lines on a sheet of A4 without its headings; a note takes two
NOTE_LINES: Final = 2
# the most lines for a layout, and its CSS class; with more lines, letters are the smallest
SIZES: Final = ((10, "is-roomy"), (15, "is-close"))
LONGEST: Final = 500


@dataclass(frozen=True)
class Section:
    """One part of the sheet: its rides, and a sentence about rides that it does not list, or ""."""

    name: str
    title: str
    icon: str
    lines: tuple[RecordLine, ...]
    more: str
    empty: str


@dataclass(frozen=True)
class NoteLine:
    """A note as it is shown."""

    id: int
    text: str
    by: str
    done: str  # who marked it as done, and when; "" if it is open


@bp.get("")
@needs(SEE)
def show() -> str:
    """Show the sheet with the present rides and notes."""
    return _page()


@bp.post("/notes")
@needs(BOOK)
@limiter.limit("60/hour", key_func=by_staff_key)
def add() -> Answer:
    """Add a note."""
    typed = request.form.get("text", "")[: 4 * LONGEST]
    text = "\n".join(one_line(each, LONGEST + 1) for each in typed.splitlines()).strip()
    s, staff = services(), current_staff()
    if not text or len(text) > LONGEST:
        wrong = _("Write what the next shift must know.")
        if text:
            wrong = _("Keep the note under 500 characters.")
        return _page(text, wrong), 422
    with s.db.write() as db:
        add_note(db, staff.property_id, staff.id, text, s.clock())
    return redirect("/handover#notes", code=303)


@bp.post("/notes/<int:note_id>")
@needs(BOOK)
def settle(note_id: int) -> Answer:
    """Mark a note as done, or as open again."""
    s, staff = services(), current_staff()
    with s.db.write() as db:
        done = request.form.get("what") != "open"
        if not settle_note(db, staff.property_id, note_id, staff.id, s.clock(), done=done):
            abort(404)
    return redirect("/handover#notes", code=303)


def fair(wanted: Sequence[int], costs: Sequence[int], room: int) -> list[int]:
    """How many of each kind fit into `room` lines, if the kinds get lines in turn.

    `wanted` is how many there are of each kind, `costs` how many lines one of them takes.

    >>> fair([1, 40, 2], [1, 1, 2], 10)
    [1, 5, 2]
    """
    given = [0] * len(wanted)
    while True:
        before = sum(given)
        for n, (most, cost) in enumerate(zip(wanted, costs, strict=True)):
            if given[n] < most and cost <= room:
                given[n] += 1
                room -= cost
        if sum(given) == before:
            return given


def _page(typed: str = "", wrong: str = "") -> str:
    s, staff, language = services(), current_staff(), locale()
    now = s.clock()
    with s.db.read() as db:
        prop = db.get_one(Property, staff.property_id)
        tz = zone(prop.timezone)
        written = notes(db, prop.id, now)
        waiting = [note for note in written if note.done_at is None]
        sections, room = _sections(db, prop.id, ahead(db, prop.id, now), len(waiting), now, tz)
    lines = [_note(note, now, tz, language) for note in waiting]
    printed = sum(len(each.lines) for each in sections) + NOTE_LINES * min(room, len(waiting))
    return render_template(
        "history/handover.html",
        property=prop,
        sections=sections,
        at=full_time(now, tz, language),
        by=staff.name,
        notes=lines,
        on_paper=room,
        size=next((name for most, name in SIZES if printed <= most), ""),
        done=[_note(note, now, tz, language) for note in written if note.done_at],
        typed=typed,
        wrong=wrong,
        longest=LONGEST,
    )


def _sections(
    db: Session, property_id: int, found: Ahead, notes_: int, now: datetime, tz: ZoneInfo
) -> tuple[list[Section], int]:
    """The parts with rides, and the number of notes for which there is room below them."""
    kinds = (found.unknown, found.going, found.planned)
    *given, for_notes = fair([*map(len, kinds), notes_], [1, 1, 1, NOTE_LINES], ROOM)
    words = (
        ("unknown", _("We don't know"), "unknown", _("Every booking has a clear answer.")),
        ("going", _("Under way"), "riding", _("No ride is under way.")),
        (
            "planned",
            _("Planned for the next 12 hours"),
            "waiting",
            _("Nothing is planned for the next 12 hours."),
        ),
    )
    sections = []
    for ids, most, (name, title, icon, empty) in zip(kinds, given, words, strict=True):
        shown = records(db, property_id, ids[:most])
        texts = tuple(lines(shown, now, tz, locale()))
        more = _more(len(ids) - most, found.later if name == "planned" else 0)
        sections.append(Section(name, title, icon, texts, more, empty))
    return sections, for_notes


def _more(here: int, later: int) -> str:
    sentences = []
    if here:
        sentences.append(_("And %(n)d more: see the board.", n=here))
    if later:
        sentences.append(_("%(n)d planned for later than that.", n=later))
    return " ".join(sentences)


def _note(note: Note, now: datetime, tz: ZoneInfo, language: str) -> NoteLine:
    done = _(
        "done %(at)s by %(name)s",
        at=day_time(note.done_at, now, tz, language),
        name=note.done_by or "",
    )
    by = f"{note.by} · {day_time(note.made_at, now, tz, language)}"
    return NoteLine(note.id, note.text, by, done if note.done_at else "")
