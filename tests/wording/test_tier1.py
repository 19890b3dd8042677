"""translations/tier1.txt lists each text that guests can meet; all of them are shown to check it.

If the list differs, `make words` writes it anew.
"""

import html
import itertools
import os
import re
from collections.abc import Iterable, Iterator
from datetime import timedelta
from gettext import NullTranslations
from typing import Any

import pytest
from flask import Flask, Response, request

from ridedash.extensions import babel, limiter
from ridedash.rides.orders.fields import SPOKEN_LANGUAGES
from ridedash.rides.share_links import LinkKind, make_link
from ridedash.rides.state import transitions
from ridedash.rides.tracking.merge import DRIVER_LOST
from ridedash.service_time import ServiceTime, Turn
from ridedash.store.actors import by_staff
from ridedash.store.orders import Order, Ride
from ridedash.views.web import formatting
from ridedash.wire import Kind
from ridedash.wording import codes, followers, payment, states
from ridedash.wording.attention import not_started_words
from tests.views.ride_pages import (
    ENDS,
    NOON,
    ORDER_STATES,
    STATUSES,
    Desk,
    snapshot_facts,
    token,
)
from tools import words

# Texts don't depend on the kind of database, and it takes long to show all of them.
pytestmark = [pytest.mark.database, pytest.mark.sqlite_only]

LIST = words.TIER_1
KINDS = {"point_to_point": Kind.POINT_TO_POINT, "share": Kind.SHARE, "auto": Kind.AUTO}
# only guests read the texts of these files: they are in the list even if no case here shows them
GUESTS_ALONE = (
    "ridedash/views/guest/",
    "ridedash/views/kiosk/",
    "ridedash/views/rides/messages.py",
    "ridedash/wording/followers.py",
    "ridedash/wording/kiosk.py",
    "templates/guest/",
    "templates/kiosk/",
    "templates/rides/_to_guest.html",
)
SHEETS = ("/card", "/receipt")  # staff's pages, of which the sheet is printed for guests
FACT = re.compile(r"[\[\]]|\{\w+\}|%\(\w+\)[a-z]")


class Recorder(NullTranslations):
    """English texts; `found` holds those that were requested."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[words.Key] = set()

    def gettext(self, message: str) -> str:
        self.found.add(("", message))
        return message

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        self.found.add(("", msgid1))
        return msgid1 if n == 1 else msgid2

    def pgettext(self, context: str, message: str) -> str:
        self.found.add((context, message))
        return message


def recording(app: Flask, recorder: Recorder) -> set[words.Key]:
    """A set of the texts that guests see on the pages that are served from now on.

    A text of `recorder` counts if it is on the page, which also asks for labels of staff's buttons.
    """
    seen: set[words.Key] = set()

    @app.after_request
    def keep(answer: Response) -> Response:
        found, recorder.found = recorder.found, set()
        shown = answer.get_data(as_text=True)
        if request.path.endswith(SHEETS):
            shown = shown.partition("<article")[2].partition("</article>")[0]
        elif not request.path.startswith("/t/"):
            return answer
        shown = html.unescape(shown)
        seen.update(key for key in found if longest_part(key[1]) in shown)
        return answer

    return seen


@pytest.fixture
def recorder(desk: Desk) -> Iterator[Recorder]:
    """Records the texts for which this process asks Flask-Babel in English."""
    with desk.app.app_context():
        domain, found = babel.domain_instance, Recorder()
    cache, domain.cache = domain.cache, {("en", "messages"): found}
    yield found
    domain.cache = cache


def longest_part(text: str) -> str:
    """The longest part of a text that is on a page whatever the facts are."""
    return max(FACT.split(text), key=len)


def link(desk: Desk, order_id: int, kind: LinkKind) -> str:
    found = make_link(
        desk.services.db,
        desk.now,
        desk.ids["desk.property"],
        order_id,
        kind,
        by_staff(desk.ids["desk"]),
    )
    return f"/t/{found}"


def orders(desk: Desk) -> Iterator[int]:
    """A ride in each status of each kind, an order in each state, and the unusual ones."""
    for kind, statuses in STATUSES.items():
        for status in [*statuses, *ENDS]:
            otp = "4821" if status in ("CLIENT_LOCATED", "INVOICE") else None
            yield desk.order("BOOKED", status, kind, otp=otp)
            bare = {"pickup": [-38.5, -128.0]}
            wallet = {"payment": "svc_money", "guest": "Dr", "drop_name": None}
            yield desk.order("BOOKED", status, kind, **wallet, ride={"facts": bare})
    lost = desk.order("BOOKED", "ALLOTMENT_RETRYING", "auto")
    desk.add(lambda s: transitions.add_event(s, s.get(Order, lost), "ride", DRIVER_LOST, desk.now))
    yield lost
    for state in ORDER_STATES:
        yield desk.order(state)
        yield desk.order(state, held_at=desk.now)
    moved = snapshot_facts("point_to_point", "CALL_DRIVER")
    swapped = {"previous_plate": "KA05MN4455", "swapped_at": desk.now, "facts": moved}
    yield desk.order("BOOKED", "CALL_DRIVER", ride=swapped)
    for age in (30, 90, 900):
        seen = desk.now - timedelta(seconds=age)
        yield desk.order("BOOKED", "CALL_DRIVER", ride={"seen_at": seen, "facts": moved})


def show_all(desk: Desk) -> None:
    """Open all that guests see, in each state: links of both kinds, the card, the receipt."""
    staff, phone = desk.client(), desk.client(signed_in=False)
    csrf = token(staff)
    paths = ["/t/unknown", "/t/unknown/snapshot.json"]
    for order_id in orders(desk):
        kinds = [LinkKind.FOLLOWER, LinkKind.RIDER]
        paths += [made for kind in kinds if (made := _open(desk, order_id, kind))]
        for path in (f"/rides/{order_id}/card", f"/rides/{order_id}/receipt"):
            assert staff.get(path).status_code == 200
        staff.post(f"/rides/{order_id}/card", data={"csrf_token": csrf, "code": "1"})
    for path in paths:
        with desk.app.app_context():
            limiter.reset()
        assert phone.get(path).status_code in (200, 404)
    desk.services.time = lambda: ServiceTime((Turn(NOON, NOON, 0.0),))
    assert "held at" in phone.get(paths[2]).text


def _open(desk: Desk, order_id: int, kind: LinkKind) -> str:
    """A link to an order in any state; "" if its ride has ended."""
    with desk.services.db.write() as s:
        order = s.get(Order, order_id)
        before, order.state = order.state, "READY" if order.state != "BOOKED" else "BOOKED"
        ended = [ride for ride in s.query(Ride).filter(Ride.order_id == order_id) if ride.ended_at]
    made = "" if ended else link(desk, order_id, kind)
    with desk.services.db.write() as s:
        s.get(Order, order_id).state = before
    return made


def texts_of(entry: Any, names: Iterable[str]) -> Iterator[Any]:
    for name in names:
        given = getattr(entry, name)
        yield from given if isinstance(given, tuple) else (given,)


def format_all() -> None:
    """Use each sentence for guests in the tables of words, and formats of short and long times."""
    guests = ("guest", "guest_detail")
    entries = [
        *states._STATUSES.values(),
        *states._ORDERS.values(),
        *states._RESTORED.values(),
        states._NO_STATUS_YET,
        states._BILL,
    ]
    texts = [text for entry in entries for text in texts_of(entry, guests)]
    refusals = [*codes._CREATE.values(), *codes._RIDE.values(), codes._OTHER, codes._OTHER_RIDE]
    texts += [entry.guest for entry in refusals]
    texts += itertools.chain.from_iterable(payment._BY_DRIVER.values())
    texts += [payment._HOUSE, payment._WALLET, payment._ASK, payment._NOTHING]
    sentences = [*followers._STATUSES.values(), *followers._ORDERS.values()]
    texts += list(itertools.chain.from_iterable(sentences))
    texts += list(states._STEPS.values())
    for text in texts:
        assert str(text)
    states.status_step("INVOICE", Kind.AUTO)
    not_started_words("PRICE", "₹300", "₹250")
    for seconds in (0, 30, 240, 1200, 4000, 28_000, 90_000):
        at = NOON + timedelta(seconds=seconds * 3)
        tz = formatting.zone("Asia/Kolkata")
        formatting.minutes(seconds)
        formatting.age(seconds)
        formatting.planned_time(at, NOON, tz)
        formatting.time_in_full(at, NOON, tz)


def found_by_running(desk: Desk, recorder: Recorder) -> set[words.Key]:
    seen = recording(desk.app, recorder)
    show_all(desk)
    with desk.app.test_request_context("/"):
        recorder.found = set()
        format_all()
    return seen | recorder.found


def test_each_file_for_guests_alone_has_texts() -> None:
    messages = words.messages(words.extract())
    files = {name for message in messages for name, _line in message.locations}
    assert [
        start for start in GUESTS_ALONE if not any(each.startswith(start) for each in files)
    ] == []


def test_the_list_of_what_guests_meet_is_what_they_meet(desk: Desk, recorder: Recorder) -> None:
    template = {words.key_of(each): each for each in words.messages(words.extract())}
    shown = found_by_running(desk, recorder)
    own_names = {("", name) for _code, name in SPOKEN_LANGUAGES}
    unknown = sorted(shown - set(template) - own_names)
    assert unknown == [], "texts that no translator ever sees"
    met = {
        key
        for key, message in template.items()
        for files in [{name for name, _line in message.locations}]
        if key in shown or any(name.startswith(GUESTS_ALONE) for name in files)
    }
    ordered = [words.listed(key) for key in template if key in met]
    text = "".join(f"{line}\n" for line in ordered)
    if os.environ.get("RIDEDASH_WORDS") == "write":
        LIST.write_text(text)
    assert LIST.read_text() == text, "run make words"
    assert len(ordered) > 200
