"""The kiosk's single document, and the heartbeat that reports its health (docs/security.md 9).

All screens have the same address. Until the guest presses Book, the answers are stored only in the
page's script.
"""

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Final

from flask import Blueprint, Response, g, jsonify, redirect, render_template, request
from flask_wtf.csrf import generate_csrf
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as BaseResponse

from ridedash.extensions import limiter, reader_language, services
from ridedash.face.colour import kiosk_shades
from ridedash.face.kiosk_look import PATTERNS, stack_of
from ridedash.forms.phones import grouped
from ridedash.inputs import whole_number
from ridedash.rides.kiosk import desk_codes, rules, tickets
from ridedash.rides.kiosk.approvals import waits_in_vain
from ridedash.rides.kiosk.needs import KioskNeed, needs_of
from ridedash.rides.kiosk.opening import Problem, current_problem, is_open
from ridedash.store import kiosks
from ridedash.store.database.database import DatabaseBusy
from ridedash.store.kiosk_visits import KioskScreen
from ridedash.store.models.kiosks import Kiosk, KioskKind, WhoPays
from ridedash.store.models.people import Property
from ridedash.text import one_line
from ridedash.views.kiosk.device import languages_of, pixels, release, the_kiosk
from ridedash.views.kiosk.visit import favourites, soonest_minutes
from ridedash.views.kiosk.visit_requests import minutes_until
from ridedash.views.kiosk.words import choices, words_of
from ridedash.views.web import devices
from ridedash.views.web.compression import compressed
from ridedash.views.web.face import face_of, picture_of
from ridedash.views.web.formatting import stamp, zone
from ridedash.views.web.own_words import speak_as
from ridedash.views.web.permissions import KIOSK, SHARED, needs
from ridedash.views.web.responses import reading
from ridedash.views.web.top_bar import demo_words
from ridedash.wording import in_language
from ridedash.wording.languages import LANGUAGES
from ridedash.wording.readers import Surface
from ridedash.wording.say import critical_shown, speak

bp = Blueprint("kiosk", __name__)
STORED_EVERY: Final = timedelta(seconds=15)  # more frequent heartbeats are answered but not stored
# how long a kiosk that was handed over waits for its guest
HANDED_FOR: Final = timedelta(minutes=2)
TAG: Final = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{2,8}){0,2}")
MOST_TAGS: Final = 40
MOST_SKEW_S: Final = 10**6


@bp.get("/kiosk")
@needs(SHARED)
def show() -> BaseResponse:
    """The document of a kiosk; any other browser is redirected to the page for pairing.

    The document is most of what a kiosk loads. It is compressed, which is safe because its address
    does not influence its contents.
    """
    kiosk = devices.device(KioskKind.KIOSK)
    if kiosk is None:
        return redirect("/kiosk/pair", code=303)
    s = services()
    with s.db.read() as db:
        home = db.get_one(Property, kiosk.property_id)
    speak(reader_language(Surface.GUEST, house=kiosk.default_language or home.language))
    speak_as(home)
    page = render_template(
        "kiosk/page.html",
        face=face_of(home),
        demo_words=demo_words(s.settings),
        document=_document(kiosk, home),
        **reading(),
    )
    return compressed(Response(page))


def by_kiosk_key() -> str:
    """The key of a rate limit per kiosk: several kiosks may share an address."""
    return f"kiosk-{the_kiosk().id}"


@bp.post("/kiosk/beat")
@needs(KIOSK)
@limiter.limit("90/minute", key_func=by_kiosk_key)
def beat() -> Response:
    """The heartbeat, every 20 s: gives the page its state, and stores the page's health.

    In a demo, and while a guest calls for help, it comes every 2 s. The answer has a fresh CSRF
    token.
    """
    kiosk = the_kiosk()
    s = services()
    now = s.clock()
    report = _read_report(now)
    hand = _handed(kiosk, now) if report["health"]["screen"] == KioskScreen.START else None
    with s.db.read() as db:
        home = db.get_one(Property, kiosk.property_id)
        wrong: Problem | KioskNeed = current_problem(db, now)
        needs = needs_of(db, kiosk, home)
        soonest = soonest_minutes(db, kiosk, home, now)
        local = now.astimezone(zone(home.timezone))
        opened = is_open(kiosk, local) and not waits_in_vain(db, kiosk, now)
        limits = _limits(db, kiosk, now)
        rings = kiosks.help_state(db, kiosk.id, request.form.get("visit", "")[:32])
    try:
        # the last heartbeat lies in the future if the clock has stepped back since
        last = kiosk.seen_at
        if hand is not None or last is None or abs(now - last) >= STORED_EVERY:
            with s.db.write() as db:
                _store(db, kiosk.id, now, report, taken=hand is not None)
    except (DatabaseBusy, SQLAlchemyError):
        wrong = Problem.DATABASE
    if needs and not wrong:
        wrong = needs[0]
    answer = jsonify(
        release=release(),
        csrf=generate_csrf(),
        open=opened,
        out_of_order=kiosk.out_of_order,
        trouble=wrong.value,
        soonest_min=soonest,
        help=rings,
        hand=hand,
        clock=_clock(now),
        **limits,
    )
    answer.headers["Cache-Control"] = "no-store"
    return answer


def _limits(db: Session, kiosk: Kiosk, now: datetime) -> dict[str, Any]:
    """What a guest would meet in vain after five screens, for the start screen to say.

    `full`: why the kiosk books no ride for any guest now (rules.FULL, or "codes" when too many
    wrong desk codes were typed), else ""; `needs_code`: whether it asks for desk codes;
    `pins_min`: for how many minutes it allows no wrong PIN, or None.
    """
    needs_code = rules.rule_now(kiosk, now) is WhoPays.CODE
    full: str = rules.limit_reached(db, kiosk, now) or ""
    if not full and needs_code and desk_codes.tries_stopped(db, kiosk.id, now):
        full = "codes"
    return {
        "full": full,
        "needs_code": needs_code,
        "pins_min": minutes_until(tickets.looks_stopped_until(db, kiosk.id, now), now),
    }


def _read_report(now: datetime) -> dict[str, Any]:
    """The contents of a heartbeat: the page's release, and the health that the settings show."""
    form = request.form
    health: dict[str, Any] = {
        "screen": one_line(form.get("screen", ""), 20),
        "language": next(iter(_tags("lang")), ""),
        "voices": _tags("voices"),
        "skew_s": _skew_s(now),
        "px": pixels(),
    }
    if "fonts" in form:  # the first heartbeat of a page does not have them yet
        health["fonts"] = _tags("fonts")
    return {"release": one_line(form.get("release", ""), 64), "health": health}


def _tags(name: str) -> list[str]:
    """The language tags of a list such as "en,hi"; anything else is left out."""
    given = request.form.get(name, "")[:500].split(",")
    return [tag for tag in given if TAG.fullmatch(tag)][:MOST_TAGS]


def _store(
    db: Session, kiosk_id: int, now: datetime, report: dict[str, Any], *, taken: bool
) -> None:
    kiosks.note_heartbeat(db, kiosk_id, now, report["release"], report["health"])
    if taken:
        kiosks.take_over(db, kiosk_id)


def _skew_s(now: datetime) -> int | None:
    """By how many seconds the page's clock is fast, within bounds; None if it states no time."""
    clock_ms = whole_number(request.form.get("clock_ms", ""), 0, 10**15)
    if clock_ms is None:
        return None
    skew_s = round(clock_ms / 1000 - now.timestamp())
    return max(-MOST_SKEW_S, min(MOST_SKEW_S, skew_s))


def _handed(kiosk: Kiosk, now: datetime) -> dict[str, str] | None:
    """The language tag of the guest to whom the desk has just handed this kiosk, or "".

    None if the desk has handed it to no one in the last two minutes.
    """
    if kiosk.handed_at is None or now - kiosk.handed_at > HANDED_FOR:
        return None
    row = LANGUAGES.get(kiosk.handed_language or "")
    return {"language": row.tag if row else ""}


def _document(kiosk: Kiosk, home: Property) -> dict[str, Any]:
    """The initial data of the page, as JSON."""
    now = services().clock()
    codes = languages_of(kiosk, home)
    return {
        "kiosk": {
            "id": kiosk.id,
            "name": kiosk.name,
            "mm_per_px": kiosk.mm_per_px,
            "bottom_mm": kiosk.bottom_mm,
            "idle_s": kiosk.idle_s,
            "printer": kiosk.printer,
            "own_phone": "/kiosk/cars",
            "rule": kiosk.rule,
            "attended": kiosk.attended,
            "desk_phone": grouped(kiosk.desk_phone or home.phone),
            "languages": [LANGUAGES[code].tag for code in codes],
            "default_language": LANGUAGES[codes[0]].tag,
        },
        "property": {
            "name": home.name,
            "phone": grouped(home.phone),
            "shades": kiosk_shades(home.colour)._asdict() if home.colour else None,
            "timezone": zone(home.timezone).key,
            "picture": picture_of(home),
            "pattern": home.pattern or PATTERNS[0],
            "typeface": stack_of(home.typeface),
        },
        "favourites": favourites(kiosk),
        "words": words_of(codes),
        "demo": _demo_notices(codes),
        # the English of those critical sentences above (about money, or help in need) whose
        # translation no one has read
        "english": critical_shown(),
        "languages": choices(codes),
        "by_machine": [LANGUAGES[code].tag for code in codes if code in g.unread],
        "release": release(),
        "csrf": generate_csrf(),
        "clock": _clock(now),
    }


def _clock(now: datetime) -> dict[str, Any]:
    """The time on the page's clock, and how many seconds it counts per second.

    In a demo it is the time of the rides, which may leap or stand still.
    """
    time = services().time()
    return {"now": stamp(time.shown(now)), "speed": time.shown_speed}


def _demo_notices(codes: Iterable[str]) -> dict[str, str]:
    """The notice of a demo or a rehearsal by language tag; {} for real rides."""
    found = {}
    for row in [LANGUAGES[code] for code in codes]:
        with in_language(row.code):
            found[row.tag] = demo_words(services().settings)
    if not any(found.values()):
        return {}
    return found
