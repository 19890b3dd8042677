"""Changes of a list by its page: how it is read, single lines, its trip, shared cars, prices."""

from typing import Any, Final

from flask import abort, request
from sqlalchemy.orm import Session

from ridedash.extensions import services
from ridedash.inputs import row_id, whole_number
from ridedash.lists.decoding import ENCODINGS, read_again
from ridedash.lists.lines import DAY_FIRST, EDITABLE, MONTH_FIRST
from ridedash.lists.table import CELL_MAX, Field, Out
from ridedash.rides.guest_lists.press import open_again
from ridedash.rides.times.typed_words import TIME_CHARS
from ridedash.store.accounts import account_of, accounts_of
from ridedash.store.guest_lists import (
    GuestList,
    LineState,
    ListLine,
    lines_of,
    list_of,
    locked_list,
    touch,
)
from ridedash.store.models.people import Property
from ridedash.store.properties import cost_centre_of, cost_centres_of
from ridedash.text import one_line
from ridedash.views.lists import cars
from ridedash.views.lists import trip as trips
from ridedash.views.lists.days import when_refused
from ridedash.views.lists.fitting import split
from ridedash.views.lists.lines import (
    DITTO,
    MEANT,
    UNREAD,
    cells_from_above,
    fields_of,
)
from ridedash.views.lists.view_model import ListPage, list_page
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.formatting import zone
from ridedash.views.web.responses import locale
from ridedash.wire import CASH, SVC_MONEY
from ridedash.wording import gettext as _
from ridedash.wording.time_words import time_words

MOST_SEATS: Final = 20


def owned(s: Session, list_id: int) -> GuestList:
    """A list of the property; 404 for another one."""
    found = list_of(s, current_staff().property_id, list_id)
    if found is None:
        abort(404)
    return found


def locked(s: Session, list_id: int) -> GuestList:
    """The list, locked; 404 for another property's."""
    owned(s, list_id)
    found = locked_list(s, list_id)
    if found is None:
        abort(404)
    return found


def page_of(list_id: int) -> ListPage:
    """The page of a list; 404 for another property's."""
    with services().db.read() as s:
        found = owned(s, list_id)
        home = s.get_one(Property, found.property_id)
        people = (
            accounts_of(s, home.id),
            [each for each in cost_centres_of(s, home.id) if each.closed_at is None],
        )
        return list_page(s, found, home, services().clock(), people)


def set_columns(found: GuestList) -> None:
    """Set what the columns contain, how dates are meant, and that the same file is meant again."""
    known = set(Field)
    fields = list(found.sheet.get("fields", []))
    for at in range(len(fields)):
        wanted = request.form.get(f"column_{at}")
        if wanted is not None and wanted in known:
            fields[at] = wanted
    sheet = {**found.sheet, "fields": fields}
    if request.form.get("date_order") in (DAY_FIRST, MONTH_FIRST):
        sheet["date_order"] = request.form["date_order"]
    if "has_again" in request.form:
        sheet["again_ok"] = bool(request.form.get("again_ok"))
    found.sheet = sheet


def set_encoding(found: GuestList, lines: list[ListLine]) -> None:
    """Read the cells again in another encoding; the bytes of the file are not needed for that."""
    old = str(found.sheet.get("encoding", ""))
    new_one = request.form.get("encoding", "")
    if not old or new_one == old or new_one not in ENCODINGS:
        return
    for line in lines:
        cells = [read_again(cell, old, new_one) for cell in line.data.get("cells", ())]
        line.data = {**line.data, "cells": cells}
    found.sheet = {**found.sheet, "encoding": new_one}


def change_line(s: Session, found: GuestList, line: ListLine, press: tuple[str, str]) -> None:
    """Leave a line out, take it in again, say yes to a question, choose its place or time, or
    share the guests of its car out.
    """
    word, code = press
    if line.state == LineState.ORDERED:
        return
    if word == "out":
        open_again(s, found, {line.number}, services().clock())
        line.out = Out.PERSON
    elif word == "in":
        line.out = None
    elif word == "yes" and code == DITTO:
        cells = cells_from_above(lines_of(s, found.id), fields_of(found))[line.number]
        line.data = {**line.data, "cells": cells}
    elif word == "yes" and code in MEANT:
        line.data = {**line.data, "meant": sorted({*line.data.get("meant", ()), code})}
    elif word == "time":
        typed = {**line.data.get("typed", {}), Field.TIME: one_line(code, TIME_CHARS)}
        typed_at = services().clock().isoformat()
        line.data = {**line.data, "typed": typed, "typed_at": typed_at}
    elif word == "phone":
        number = one_line(code, CELL_MAX).replace(";ext=", " ext. ")
        line.data = {
            **line.data,
            "typed": {**line.data.get("typed", {}), Field.PHONE: number},
        }
    elif word == "split":
        page = _read_page(s, found)
        split(s, found, page.reads, line.number, page.capacity)
    elif word == "place":
        _choose_place(s, found, line, code)


def _choose_place(s: Session, found: GuestList, line: ListLine, code: str) -> None:
    """Choose one of the places that a line's drop may mean, also for lines with the same words.

    `code` is "lat,lng,name". A line of which the place is chosen already keeps it.
    """
    lat, _comma, more = code.partition(",")
    lng, _comma, name = more.partition(",")
    looked = line.data.get("looked", {})
    for place in looked.get("choices", ()):
        if (str(place["lat"]), str(place["lng"]), place["name"]) != (lat, lng, name):
            continue
        chosen = {**place, "for": looked["for"]}
        for each in lines_of(s, found.id):
            theirs = each.data.get("looked", {})
            same = theirs.get("for") == looked["for"] and place in theirs.get("choices", ())
            is_free = each.state == LineState.OPEN and not _has_place(each, looked["for"])
            if each.number == line.number or (same and is_free):
                each.data = {**each.data, "place": chosen}


def _has_place(line: ListLine, text: str) -> bool:
    return bool((line.data.get("place") or {}).get("for") == text)


def _read_page(s: Session, found: GuestList) -> ListPage:
    """The page of a list that is being changed, without accounts and cost centres."""
    home = s.get_one(Property, found.property_id)
    return list_page(s, found, home, services().clock(), ((), ()))


def share(s: Session, found: GuestList) -> None:
    """Put lines with the same time and drop into one car, as far as its seats go."""
    seats = whole_number(request.form.get("seats", ""), 1, MOST_SEATS) or 1
    found.trip = {**found.trip, "seats": seats if seats > 1 else 0}
    page = _read_page(s, found)
    free: dict[object, tuple[int, int]] = {}  # by time and drop: a car, and its free seats
    for line in page.reads:
        if not line.is_inside or line.row.state != LineState.OPEN:
            continue
        at = line.reading.at
        goes = (at.at if at else None, line.reading.drop.casefold())
        car, left = free.get(goes, (0, 0))
        if left < line.reading.persons:
            car = line.row.number
            left = seats
        line.row.car = car
        free[goes] = car, left - line.reading.persons


def set_trip(list_id: int) -> str:
    """Set what all lines share. Returns what is wrong with it."""
    with services().db.read() as s:
        found = owned(s, list_id)
        favourites = trips.favourite_drops(s)
    trip = dict(found.trip)
    said = ""
    near = trips.pickup_point(trip)
    for end in ("pickup", "drop"):
        text = one_line(request.form.get(end, ""), 200)
        chosen = request.form.get(f"{end}_choice", "")
        old = trip.get(end)
        if not text:
            trip[end] = None if end == "drop" else old
            for note in ("choices", "text"):
                trip.pop(f"{end}_{note}", None)
        elif old is None or text != old["name"] or chosen:
            answered = trips.look_up(text, near, favourites)
            picked = (p for p in answered.choices if f"{p['lat']},{p['lng']}" == chosen)
            place = answered.place or next(picked, None)
            trip[end] = place and dict(place)
            trip[f"{end}_text"] = text
            trip[f"{end}_choices"] = [] if place else [dict(p) for p in answered.choices]
            said = said or _place_said(text, answered, place)
    trip |= _when(trip)
    said = said or _when_said(list_id, str(trip.get("when", "")))
    category = one_line(request.form.get("category", ""), 64)
    if category and category != trip.get("category"):
        trip |= {"category": category, "car_by_person": True}
    trip |= _money_side()
    with services().db.write() as s:
        row = locked(s, list_id)
        row.trip = trip
        touch(row, services().clock())
    return said


def _when_said(list_id: int, when: str) -> str:
    """What is wrong with the pickup time of lines without their own."""
    with services().db.read() as s:
        home = s.get_one(Property, owned(s, list_id).property_id)
    words = time_words(locale())
    return when_refused(when, services().clock(), zone(home.timezone), words)


def _when(trip: dict[str, Any]) -> dict[str, Any]:
    """When lines without a time go: at a time, or now; of both, what was changed last counts."""
    when = one_line(request.form.get("when", ""), 60)
    now = bool(request.form.get("when_now"))
    if now and not trip.get("when_now"):
        return {"when": "", "when_now": True}
    if when != trip.get("when", ""):
        return {"when": when, "when_at": services().clock().isoformat(), "when_now": False}
    return {"when_now": now}


def _place_said(text: str, answered: trips.Found, place: Any) -> str:
    if place is not None:
        return ""
    if answered.failed:
        return _("Place search is not answering. Try again, or type coordinates.")
    if answered.choices:
        return _("“%(place)s” may be several places: choose one.", place=text)
    return _("No place of the name “%(place)s” was found. Type another one.", place=text)


def _money_side() -> dict[str, Any]:
    """Account, payment and cost centre, if they are the property's own."""
    property_id = current_staff().property_id
    found: dict[str, Any] = {}
    payment = request.form.get("payment", "")
    with services().db.read() as s:
        account = row_id(request.form.get("account", ""))
        if account and account_of(s, property_id, account) is not None:
            found["account_id"] = account
        centre = row_id(request.form.get("cost_centre", ""))
        found["cost_centre_id"] = None
        if centre and cost_centre_of(s, property_id, centre) is not None:
            found["cost_centre_id"] = centre
    return {**found, "payment": payment if payment in (CASH, SVC_MONEY) else None}


def look_further(list_id: int) -> str:
    """Look up some drops, list the cars, ask for some prices. Returns why one of them failed."""
    page = page_of(list_id)
    if any(line.pending and line.is_inside for line in page.reads):
        if not trips.find_drops(page.row, page.reads):
            return _("Place search is not answering. Try again in a moment.")
        page = page_of(list_id)
        if any(line.pending and line.is_inside for line in page.reads):
            return ""
    if request.form.get("do") == "cars" or not cars.are_current(page.row, page.reads):
        listed, why = cars.cars_for(page.row, page.reads)
        if not listed and why:
            return why
        asked = cars.keep_cars(list_id, listed, cars.cars_key(page.row, page.reads))
        if asked:
            return asked
        page = page_of(list_id)
    return trips.ask_prices(page.row, page.reads)


def correct_line(list_id: int, number: int) -> None:
    """Keep what a person typed for a line; 404 for a line that does not exist."""
    with services().db.write() as s:
        found = locked(s, list_id)
        line = next((each for each in lines_of(s, list_id) if each.number == number), None)
        if line is None:
            abort(404)
        if line.state in (LineState.WAITING, LineState.ASKED):
            open_again(s, found, {number}, services().clock())
        if line.state != LineState.OPEN:
            return
        typed = {str(field): one_line(request.form.get(field, ""), CELL_MAX) for field in EDITABLE}
        kept = [code for code in line.data.get("meant", ()) if code == UNREAD]
        meant = [*kept, *(code for code in MEANT if request.form.get(f"meant_{code}"))]
        now = services().clock()
        line.data = {**line.data, "typed": typed, "meant": meant, "typed_at": now.isoformat()}
        line.car = whole_number(request.form.get("car", ""), 1, 999) or line.number
        line.out = None
        touch(found, services().clock())
