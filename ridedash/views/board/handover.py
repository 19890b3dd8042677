"""The shift hand-over: one printed sheet with open rides and notes for the next shift."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from flask import Blueprint, abort, redirect, render_template, request
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as BaseResponse

from ridedash.extensions import limiter, services
from ridedash.rides.actions.acknowledge import LONG_SEARCH, NOT_BOOKED
from ridedash.store.handover import (
    How,
    Left,
    Note,
    add_note,
    ahead,
    left_needs,
    notes,
    settle_note,
)
from ridedash.store.history import records
from ridedash.store.models.people import Property
from ridedash.text import one_line
from ridedash.views.board.state import Shown, needs_now
from ridedash.views.history.rows import RecordLine, lines
from ridedash.views.web.current_user import by_staff_key, current_staff
from ridedash.views.web.formatting import day_time, full_time, zone
from ridedash.views.web.permissions import BOOK, SEE, needs
from ridedash.views.web.responses import locale
from ridedash.views.web.top_bar import StaffBar, bar_facts, staff_bar
from ridedash.wording import gettext as _
from ridedash.wording.attention import attention_words, seen_verb

bp = Blueprint("handover", __name__, url_prefix="/handover")

Answer = str | tuple[str, int] | BaseResponse
ROOM: Final = 26  # lines on a sheet of A4 without its headings; a note takes two
NOTE_LINES: Final = 2
# the most lines for a layout, and its CSS class; with more lines, letters are the smallest
SIZES: Final = ((8, "is-roomy"), (13, "is-close"))
LONGEST: Final = 500
# messages about the whole property; the bar shows them too, but not on paper
MOST_MESSAGES: Final = 5
MESSAGE_LINES: Final = 3  # two, and the space below


@dataclass(frozen=True)
class LeftLine:
    """What needed somebody and does no more: what it was, and why not."""

    ride: RecordLine
    at: str
    what: str
    how: str


@dataclass(frozen=True)
class Section:
    """One part of the sheet: its rides, and a sentence about rides that it does not list, or ""."""

    name: str
    title: str
    icon: str
    lines: tuple[RecordLine, ...]
    more: str
    empty: str
    reasons: dict[int, str] = field(default_factory=dict)  # why a ride needs somebody, by its id
    left: tuple[LeftLine, ...] = ()  # what needed somebody in this shift
    left_more: str = ""
    messages: tuple[str, ...] = ()  # about the whole property


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
    s = services()
    staff = current_staff()
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
    s = services()
    staff = current_staff()
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
    s = services()
    staff = current_staff()
    language = locale()
    now = s.clock()
    with s.db.read() as db:
        prop = db.get_one(Property, staff.property_id)
        tz = zone(prop.timezone)
        written = notes(db, prop.id, now)
        waiting = [note for note in written if note.done_at is None]
        sections, room = _sections(db, prop, len(waiting), now)
    lines = [_note(note, now, tz, language) for note in waiting]
    rides = sum(len(each.lines) + len(each.left) for each in sections)
    messages = MESSAGE_LINES * len(sections[0].messages)
    printed = rides + messages + NOTE_LINES * min(room, len(waiting))
    return render_template(
        "board/handover.html",
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


def _sections(db: Session, prop: Property, notes_: int, now: datetime) -> tuple[list[Section], int]:
    """The parts with rides, and the number of notes for which there is room below them."""
    found = ahead(db, prop.id, now)
    gone = left_needs(db, prop.id, now)
    bar = staff_bar(bar_facts(db, now))
    messages = _messages(bar)
    reasons = _reasons(db, prop.id, now, paused=bar.updates_stopped)
    going = tuple(number for number in found.going if number not in reasons)
    kinds = (tuple(reasons), found.unknown, going, found.planned)
    *given, for_left, for_notes = fair(
        [*map(len, kinds), len(gone), notes_],
        [1, 1, 1, 1, 1, NOTE_LINES],
        ROOM - MESSAGE_LINES * len(messages),
    )
    words = (
        ("needs", _("Needs you"), "needs", _("Nothing needs you.")),
        ("unknown", _("We don't know"), "unknown", _("Every booking has a clear answer.")),
        ("going", _("Under way"), "riding", _("No ride is under way.")),
        (
            "planned",
            _("Planned for the next 12 hours"),
            "waiting",
            _("Nothing is planned for the next 12 hours."),
        ),
    )
    tz = zone(prop.timezone)
    sections = []
    for ids, most, (name, title, icon, empty) in zip(kinds, given, words, strict=True):
        shown = records(db, prop.id, ids[:most])
        texts = tuple(lines(shown, now, tz, locale()))
        more = _more(len(ids) - most, found.later if name == "planned" else 0)
        sections.append(Section(name, title, icon, texts, more, empty))
    first = replace(
        sections[0],
        reasons=reasons,
        left=_left(db, prop.id, gone[:for_left], now, tz),
        left_more=_more_left(len(gone) - for_left),
        messages=messages,
    )
    return [first, *sections[1:]], for_notes


def _messages(bar: StaffBar) -> tuple[str, ...]:
    """What the bar says of the whole property, as one sentence each."""
    alerts = (f"{each.title}. {each.detail}" for each in bar.alerts)
    said = tuple(filter(None, (bar.stopped, bar.silent, bar.restored, *alerts)))
    if len(said) <= MOST_MESSAGES:
        return said
    more = _("And %(n)d more: see the board.", n=len(said) - MOST_MESSAGES)
    return (*said[:MOST_MESSAGES], more)


def _reasons(db: Session, property_id: int, now: datetime, *, paused: bool) -> dict[int, str]:
    """The rides that need somebody now, as on the board, each with the reason.

    `paused`: the sheet says already that no ride is being updated.
    """
    s = services()
    rows = needs_now(db, Shown(property_id, now, s.time(), locale(), paused), s.past_until)
    return {row.id: " · ".join(filter(None, (row.headline, row.why))) for row in rows}


def _left(
    db: Session, property_id: int, gone: Sequence[Left], now: datetime, tz: ZoneInfo
) -> tuple[LeftLine, ...]:
    shown = records(db, property_id, [each.order_id for each in gone])
    rides = {line.id: line for line in lines(shown, now, tz, locale())}
    return tuple(
        LeftLine(ride, day_time(each.at, now, tz, locale()), _what(each, ride), _how(each))
        for each in gone
        if (ride := rides.get(each.order_id)) is not None
    )


def _what(gone: Left, ride: RecordLine) -> str:
    if gone.name == NOT_BOOKED:
        return ride.state.words
    if gone.name == LONG_SEARCH:
        return _("Long search")
    return attention_words(gone.name, gone.detail)[0]


def _how(gone: Left) -> str:
    by = gone.by or _("somebody")
    words = {
        How.SEEN: f"{seen_verb(gone.name)} · {by}",
        How.DECIDED: _("Dealt with by %(name)s", name=by),
        How.AGAIN: _("Booked again by %(name)s", name=by),
        How.ITSELF: _("It ended by itself"),
        How.UNSEEN: _("Nobody has seen it"),
    }
    return words[gone.how]


def _more_left(n: int) -> str:
    if not n:
        return ""
    return _("And %(n)d more: see the audit log.", n=n)


def _more(here: int, later: int) -> str:
    sentences = []
    if here:
        sentences.append(_("And %(n)d more: see the board.", n=here))
    if later:
        sentences.append(_("%(n)d planned for later than that.", n=later))
    return " ".join(sentences)


def _note(note: Note, now: datetime, tz: ZoneInfo, language: str) -> NoteLine:
    by = f"{note.by} · {day_time(note.made_at, now, tz, language)}"
    done = ""
    if note.done_at:
        at = day_time(note.done_at, now, tz, language)
        done = _("done %(at)s by %(name)s", at=at, name=note.done_by or "")
    return NoteLine(note.id, note.text, by, done)
