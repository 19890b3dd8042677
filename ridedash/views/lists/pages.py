"""`/lists`: a list of guests is read, corrected, priced and booked.

Each press is a POST that ends with a redirect to the list's page. A script gets the part of the
page that changed as JSON instead.
"""

import contextlib
from typing import Any

import sqlalchemy as sa
from flask import Blueprint, Response, jsonify, redirect, render_template, request
from werkzeug.wrappers import Response as BaseResponse

from ridedash.extensions import limiter, services
from ridedash.forms.booking import new_form_token
from ridedash.inputs import whole_number
from ridedash.lists.columns import Knows
from ridedash.lists.decoding import ENCODINGS
from ridedash.lists.lines import EDITABLE
from ridedash.lists.reading import digest_of, read_file, read_text
from ridedash.lists.table import MOST_BYTES, ListRefused, ListTable
from ridedash.rides.guest_lists import press
from ridedash.rides.orders.request import new_group, new_reference
from ridedash.store import audit
from ridedash.store.accounts import accounts_of
from ridedash.store.database.database import CommitUnknown, DatabaseBusy
from ridedash.store.guest_lists import (
    GuestList,
    ListLine,
    ListState,
    NewLine,
    lines_of,
    recent,
    store_list,
    touch,
)
from ridedash.store.models.people import Property
from ridedash.text import normalised, one_line
from ridedash.views.lists import trip as trips
from ridedash.views.lists.changes import (
    change_line,
    correct_line,
    locked,
    look_further,
    owned,
    page_of,
    set_columns,
    set_encoding,
    set_trip,
    share,
)
from ridedash.views.lists.days import set_day
from ridedash.views.lists.view_model import (
    POLL_MS,
    RIDES_MS,
    ListPage,
    field_names,
    oddity_words,
    plans,
)
from ridedash.views.web.current_user import by_staff_key, current_staff
from ridedash.views.web.formatting import day_text, planned_time, zone
from ridedash.views.web.permissions import BOOK, SEE, needs
from ridedash.views.web.responses import locale, wants_json
from ridedash.wording import gettext as _
from ridedash.wording.time_words import time_words

bp = Blueprint("lists", __name__)
Answer = str | BaseResponse | tuple[str | BaseResponse, int]
ATTEMPTS = 5  # of a press, while a worker changes the list


@bp.get("/lists/new")
@needs(BOOK)
def new() -> Answer:
    """Where a list is pasted or a file is chosen; and the lists of the last days."""
    return _new_page()


@bp.post("/lists/new")
@needs(BOOK)
@limiter.limit("60/hour", key_func=by_staff_key)
def read() -> Answer:
    """Read a list, which is stored line by line; the file itself is not."""
    file = request.files.get("file")
    text = request.form.get("text", "")
    label = ""
    try:
        if file is not None and file.filename:
            table = read_file(file.read(MOST_BYTES + 1), _knows())
            label = one_line(file.filename, 120)
        else:
            table = read_text(text, _knows())
    except ListRefused as error:
        return _new_page(str(error), text), 422
    try:
        list_id = _store(table, label)
    except (DatabaseBusy, CommitUnknown):
        words = _("The list could not be saved. Nothing was booked: try again.")
        return _new_page(words, text), 503
    return redirect(f"/lists/{list_id}", 303)


@bp.get("/lists/<int:list_id>")
@needs(SEE)
def show(list_id: int) -> Answer:
    """The table of a list, or how far its booking has come."""
    page = page_of(list_id)
    if not wants_json():
        return render_template("lists/page.html", **_context(page))
    answer = _part(page)
    answer.add_etag()
    answer.headers["Cache-Control"] = "private, no-cache"
    return answer.make_conditional(request)


@bp.post("/lists/<int:list_id>")
@needs(BOOK)
@limiter.limit("600/minute", key_func=by_staff_key)
def save(list_id: int) -> Answer:
    """Change how the list is read, or its trip; the button `do` says what else is done."""
    word, _colon, rest = request.form.get("do", "").partition(":")
    said = ""
    with services().db.write() as s:
        found = locked(s, list_id)
        set_columns(found)
        set_encoding(found, lines_of(s, list_id))
        number, _colon, code = rest.partition(":")
        line = next((e for e in lines_of(s, list_id) if str(e.number) == number), None)
        if line is not None:
            change_line(s, found, line, (word, code))
        elif word == "day":
            set_day(found, rest)
        elif word == "seats":
            share(s, found)
        touch(found, services().clock())
    if "pickup" in request.form:
        said = set_trip(list_id)
    if word in ("price", "cars"):
        said = said or look_further(list_id)
    return _done(list_id, said)


@bp.post("/lists/<int:list_id>/lines/<int:line>")
@needs(BOOK)
@limiter.limit("600/minute", key_func=by_staff_key)
def correct(list_id: int, line: int) -> Answer:
    """Correct a line: each text that differs from its cells is kept as typed."""
    correct_line(list_id, line)
    return _done(list_id)


@bp.post("/lists/<int:list_id>/book")
@needs(BOOK)
@limiter.limit("60/minute", key_func=by_staff_key)
def book(list_id: int) -> Answer:
    """Book the lines that can be booked, as the page showed them."""
    try:
        said = _press(list_id)
    except (DatabaseBusy, CommitUnknown):
        return _done(list_id, _("Press again: what was saved is not booked twice."))
    services().wake()
    return _done(list_id, said)


def _press(list_id: int) -> str:
    """Let what the form showed be booked. Returns why nothing was; "" for a press that counted.

    A worker that books other lines changes the list as well: then the page is made again, and
    compared with the form again.
    """
    for _attempt in range(ATTEMPTS):
        page = page_of(list_id)
        cars = plans(page)
        if not cars and page.row.state != ListState.DRAFT:
            return ""  # the same press came before
        if not page.may_book:
            return _("Nothing was booked: look at the lines again.")
        if request.form.get("shown") != page.shown:
            break
        shown = current_staff().property_id, list_id, page.row.version
        with contextlib.suppress(press.ListChanged):
            press.book(services().db, services().clock, shown, current_staff().id, cars)
            return ""
    return _("The list was changed meanwhile. Nothing was booked yet: look, and press again.")


@bp.post("/lists/<int:list_id>/stop")
@needs(BOOK)
def stop(list_id: int) -> Answer:
    """Book no further line."""
    staff = current_staff()
    _page_row(list_id)
    press.stop(services().db, services().clock, staff.property_id, list_id, staff.id)
    return _done(list_id)


@bp.post("/lists/<int:list_id>/continue")
@needs(BOOK)
@limiter.limit("60/minute", key_func=by_staff_key)
def go_on(list_id: int) -> Answer:
    """Book the lines that still wait."""
    staff = current_staff()
    _page_row(list_id)
    press.go_on(services().db, services().clock, staff.property_id, list_id, staff.id)
    services().wake()
    return _done(list_id)


@bp.post("/lists/<int:list_id>/lines/<int:line>/answer")
@needs(BOOK)
@limiter.limit("60/minute", key_func=by_staff_key)
def answer(list_id: int, line: int) -> Answer:
    """Yes to the question of a line."""
    staff = current_staff()
    _page_row(list_id)
    line_of = staff.property_id, list_id, line
    code = request.form.get("code", "")
    if press.answer(services().db, services().clock, line_of, staff.id, code):
        services().wake()
    return _done(list_id)


@bp.post("/lists/<int:list_id>/delete")
@needs(BOOK)
def delete(list_id: int) -> Answer:
    """Delete a list that was never booked, with its guests."""
    with services().db.write() as s:
        found = locked(s, list_id)
        if found.state == ListState.DRAFT:
            s.execute(sa.delete(ListLine).where(ListLine.list_id == list_id))
            s.execute(sa.delete(GuestList).where(GuestList.id == list_id))
            _record(s, found, "list.delete")
    return redirect("/lists/new", 303)


# ---- storing what is read


def _knows() -> Knows:
    """The reader's time words, and the names of the places to which the desk's guests go."""
    with services().db.read() as s:
        names = [normalised(each.name).strip() for each in trips.favourite_drops(s)]
    return Knows(time_words(locale()), frozenset(names))


def _store(table: ListTable, label: str) -> int:
    now = services().clock()
    staff = current_staff()
    with services().db.write() as s:
        home = s.get_one(Property, staff.property_id)
        accounts = accounts_of(s, home.id)
        pickup = None
        if home.pickup_lat is not None and home.pickup_lng is not None:
            name = home.pickup_name or home.name
            pickup = {"name": name, "lat": home.pickup_lat, "lng": home.pickup_lng}
        row = GuestList(
            property_id=home.id,
            staff_id=staff.id,
            label=label,
            state=ListState.DRAFT,
            version=0,
            created_at=now,
            changed_at=now,
            digest=digest_of(table),
            form_token=new_form_token(),
            group_key=new_group(),
            sheet={
                "fields": [str(field) for field in table.fields],
                "encoding": table.encoding,
                "oddities": [str(each) for each in table.oddities],
            },
            trip={
                "pickup": pickup,
                "account_id": accounts[0].id if accounts else 0,
                "margin_min": services().settings.schedule_lead_minutes,
                "zone": home.timezone,
            },
        )
        lines = [NewLine(each.number, each.cells, each.out, new_reference()) for each in table.rows]
        list_id = store_list(s, row, lines).id
        _record(s, row, "list.read", lines=len(lines), kind=table.encoding or "text")
        return list_id


def _record(s: Any, found: GuestList, what: str, **facts: Any) -> None:
    audit.record(
        s,
        current_staff().actor,
        what,
        f"guest_lists:{found.id}",
        found.state,
        services().clock(),
        property_id=found.property_id,
        **facts,
    )


# ---- answers


def _page_row(list_id: int) -> GuestList:
    with services().db.read() as s:
        return owned(s, list_id)


def _context(page: ListPage, said: str = "") -> dict[str, Any]:
    with services().db.read() as s:
        favourites = trips.favourite_drops(s)
    edited = whole_number(request.args.get("line", ""), 1)
    return {
        "page": page,
        "said": said,
        "fields": field_names(),
        "editable": EDITABLE,
        "oddities": [oddity_words(each) for each in page.row.sheet.get("oddities", [])],
        "encodings": ENCODINGS,
        "favourites": favourites,
        "edited": next((each for each in page.reads if each.row.number == edited), None),
        "wait_ms": _wait_ms(page),
        "same_at": _read_at(page),
        "days": _days(page),
    }


def _days(page: ListPage) -> dict[str, Any]:
    """The day of times of day alone, in words; and those that can be chosen while lines ask."""
    if not page.reads:
        return {"said": "", "chosen": False, "offered": []}
    first = page.reads[0]
    asked = any(each.code == "no_day" for line in page.reads for each in line.problems)
    offered = first.days if asked and not first.day else ()
    return {
        "said": day_text(first.day, "MMMEd", locale()) if first.day else "",
        "chosen": bool(page.row.sheet.get("day")),
        "offered": [(each.isoformat(), day_text(each, "MMMEd", locale())) for each in offered],
    }


def _read_at(page: ListPage) -> str:
    if page.same is None:
        return ""
    tz = zone(page.home.timezone)
    return planned_time(page.same.created_at, services().clock(), tz, locale())


def _wait_ms(page: ListPage) -> int:
    """After how many milliseconds the page asks again; 0 for a page that does not change."""
    if page.live:
        return POLL_MS
    return RIDES_MS if page.first_order else 0


def _part(page: ListPage, said: str = "") -> Response:
    html = render_template("lists/_list.html", **_context(page, said))
    return jsonify(html=html, wait_ms=_wait_ms(page), pending=page.pending, said=said)


def _done(list_id: int, said: str = "") -> Answer:
    """The list's page again: as JSON, or by a redirect. What was wrong is said on the page."""
    if wants_json():
        return _part(page_of(list_id), said)
    if said:
        return render_template("lists/page.html", **_context(page_of(list_id), said)), 409
    return redirect(f"/lists/{list_id}", 303)


def _new_page(wrong: str = "", text: str = "") -> str:
    with services().db.read() as s:
        home = s.get_one(Property, current_staff().property_id)
        found = recent(s, home.id)
    now = services().clock()
    tz = zone(home.timezone)
    shown = [
        (row, who, guests, ordered, planned_time(row.created_at, now, tz, locale()))
        for row, who, guests, ordered in found
    ]
    return render_template("lists/new.html", wrong=wrong, text=text, recent=shown)
