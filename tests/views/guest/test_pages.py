"""The page behind a link: contents for guest and follower, hidden data, and traces of the link."""

import gzip
import logging
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import brotli
import numpy as np
import pytest
from flask.testing import FlaskClient
from sqlalchemy.exc import OperationalError

from ridedash.extensions import limiter
from ridedash.face import Logo
from ridedash.face.logo import make_logo
from ridedash.rides.share_links import LinkKind, find_link, make_link, replace_rider_links
from ridedash.service_time import ServiceTime, Turn
from ridedash.store import properties
from ridedash.store.actors import by_staff
from ridedash.store.audit import AuditRow
from ridedash.store.database.database import DatabaseBusy
from ridedash.store.encryption import TokenVault, new_key
from ridedash.store.models.desk import Link
from ridedash.store.models.people import Guest, Property
from ridedash.store.orders import Order, Ride
from ridedash.views.guest import pages
from ridedash.views.ops.lean_files import lean
from tests.face.pictures import encoded
from tests.views.ride_pages import (
    ENDS,
    NOON,
    ORDER_STATES,
    STATUSES,
    Desk,
    make_desk,
    without_tokens,
)

pytestmark = pytest.mark.database

CASES = [(kind, status) for kind, statuses in STATUSES.items() for status in [*statuses, *ENDS]]
OPEN_STATES = [
    state
    for state in ORDER_STATES
    if state not in ("REJECTED", "NOT_SENT", "CLOSED_NOT_BOOKED", "FAILED")
]
CODE = "4821"


@pytest.fixture(scope="module")
def shared_desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    made = make_desk(tmp_path_factory.mktemp("desk"))
    yield made
    made.close()


@pytest.fixture
def desk(shared_desk: Desk) -> Desk:
    shared_desk.now = NOON
    with shared_desk.app.app_context():
        limiter.reset()
    return shared_desk


@pytest.fixture
def phone(desk: Desk) -> FlaskClient:
    """A browser without cookies."""
    return desk.client(signed_in=False)


def link(desk: Desk, order_id: int, kind: str = "rider") -> str:
    property_id = desk.ids["desk.property"]
    return make_link(
        desk.services.db,
        desk.now,
        property_id,
        order_id,
        LinkKind(kind),
        by_staff(desk.ids["desk"]),
    )


def replacing_link(desk: Desk, order_id: int) -> str:
    """A link for the guest; making it ends the guest's earlier links."""
    property_id, staff = desk.ids["desk.property"], by_staff(desk.ids["desk"])
    return replace_rider_links(desk.services.db, desk.now, property_id, order_id, staff)


def change(desk: Desk, table: Any, order_id: int, **facts: Any) -> None:
    def rows(s: Any) -> None:
        row = (
            s.get(Order, order_id)
            if table is Order
            else s.query(table).filter(table.order_id == order_id).one()
        )
        for name, value in facts.items():
            setattr(row, name, value)

    desk.add(rows)


def both(phone: FlaskClient, token: str) -> tuple[str, dict[str, Any]]:
    page, snapshot = phone.get(f"/t/{token}"), phone.get(f"/t/{token}/snapshot.json")
    assert (page.status_code, snapshot.status_code) == (200, 200)
    return page.text, snapshot.json  # type: ignore[return-value]


@pytest.mark.parametrize(("kind", "status"), CASES)
@pytest.mark.parametrize("who", ["rider", "follower"])
def test_every_status_has_a_page_for_both(
    desk: Desk, phone: FlaskClient, kind: str, status: str, who: str
) -> None:
    order_id = desk.order(
        "BOOKED", status, kind, otp=CODE if status in ("CLIENT_LOCATED", "INVOICE") else None
    )
    text, snapshot = both(phone, link(desk, order_id, who))
    headline = re.findall(r'data-slot="headline">([^<]+)<', text)
    assert headline
    assert snapshot["headline"] in text or "&" in headline[0]
    assert not re.search(
        r"\{\w+\}|None|\[|Tell the guest", headline[0] + snapshot.get("detail", "")
    )


@pytest.mark.parametrize("who", ["rider", "follower"])
def test_while_a_demos_clock_is_held_the_page_and_its_poll_say_so(
    desk: Desk, phone: FlaskClient, who: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = link(desk, desk.order("BOOKED", "CALL_DRIVER"), who)
    text, snapshot = both(phone, made)
    assert 'data-slot="held"></span>' in text
    assert "held" not in snapshot
    monkeypatch.setattr(desk.services, "time", lambda: ServiceTime((Turn(NOON, NOON, 0.0),)))
    text, snapshot = both(phone, made)
    assert snapshot["held"] == "The demo's clock is held at 14:00. All rides stand still."
    assert snapshot["held"].replace("'", "&#39;") in text
    german = phone.get(f"/t/{made}/snapshot.json?lang=de").json
    assert german
    assert german["held"].startswith("Die Uhr der Demo ist bei 14:00")


@pytest.mark.parametrize("state", OPEN_STATES)
@pytest.mark.parametrize("who", ["rider", "follower"])
def test_every_order_state_has_a_page_for_both(
    desk: Desk, phone: FlaskClient, state: str, who: str
) -> None:
    text, snapshot = both(phone, link(desk, desk.order(state), who))
    assert snapshot["headline"] in text
    assert "position" not in snapshot
    assert "code" not in snapshot


@pytest.mark.parametrize("state", ["REJECTED", "NOT_SENT", "CLOSED_NOT_BOOKED", "FAILED"])
def test_a_link_of_an_order_that_failed_shows_that(
    desk: Desk, phone: FlaskClient, state: str
) -> None:
    order_id = desk.order("SENDING")
    rider, follower = link(desk, order_id), link(desk, order_id, "follower")
    change(desk, Order, order_id, state=state, resolved_at=desk.now)
    unmatched = "No shared ride was found" if state == "FAILED" else ""
    assert both(phone, rider)[1]["headline"] == (unmatched or "Not booked")
    assert both(phone, follower)[1]["headline"] == (unmatched or "No ride was booked")


def test_an_unknown_outcome_asks_the_guest_not_to_book_again(
    desk: Desk, phone: FlaskClient
) -> None:
    snapshot = both(phone, link(desk, desk.order("UNKNOWN")))[1]
    assert snapshot["headline"] == "We are checking your booking with our team"
    assert snapshot["detail"] == "Please don't book again"


def test_the_guest_sees_the_code_only_while_the_driver_is_there(
    desk: Desk, phone: FlaskClient
) -> None:
    order_id = desk.order("BOOKED", "CLIENT_LOCATED", otp=CODE)
    token = link(desk, order_id)
    text, snapshot = both(phone, token)
    assert snapshot["code"] == CODE
    assert CODE in text
    assert CODE not in re.findall(r"<title>(.*?)</title>", text)[0]
    change(desk, Ride, order_id, status="IN_PROGRESS")
    text, snapshot = both(phone, token)
    assert "code" not in snapshot
    assert CODE not in without_tokens(text)


def test_while_the_key_of_a_code_is_missing_the_guest_sees_the_rest(
    desk: Desk, phone: FlaskClient
) -> None:
    token = link(desk, desk.order("BOOKED", "CLIENT_LOCATED", otp=CODE))
    desk.services.vault = TokenVault(f"k9:{new_key()}")
    snapshot = both(phone, token)[1]
    assert "code" not in snapshot
    assert snapshot["headline"]


def test_a_follower_sees_no_code_phone_name_address_price_or_whole_plate(
    desk: Desk, phone: FlaskClient
) -> None:
    for status in ("CALL_DRIVER", "CLIENT_LOCATED", "IN_PROGRESS", "COMPLETED"):
        order_id = desk.order(
            "BOOKED",
            status,
            otp=CODE,
            guest="Heron Meadow",
            room="412",
            note="Two suitcases",
            pickup_name="12 Lantern Street",
            drop_name="7 Anchor Lane",
        )
        page = phone.get(f"/t/{link(desk, order_id, 'follower')}")
        text, snapshot = both(phone, link(desk, order_id, "follower"))
        for secret in (
            CODE,
            "12345",
            "+91",
            "tel:",
            "Meadow",
            "412",
            "suitcase",
            "Cedar",
            "Lantern",
            "Anchor",
            "KA 01",
            "KA01",
            "AB 1234",
            "Tata",
            "₹",
            "-38.5,",
            "-38.48",
            "-127.97",
            "CRN",
            "House account",
            "Grand Meridian",
        ):
            assert secret not in text.split("<main")[1], (status, secret)
            assert secret not in str(snapshot), (status, secret)
        assert "Heron" in snapshot["headline"] or status == "CLIENT_LOCATED"
        assert snapshot["plate"] == "… 1234"
        assert snapshot["car"] == "White · Mini"
        assert ("position" in snapshot) == (status != "COMPLETED")
        assert page.status_code == 200


def test_the_map_of_a_follower_shows_the_cab_and_never_the_address(
    desk: Desk, phone: FlaskClient
) -> None:
    searching = phone.get(
        f"/t/{link(desk, desk.order('BOOKED', 'ALLOTMENT_PENDING'), 'follower')}"
    ).text
    assert '"center": [0.0, 0.0]' in searching or "[0.0, 0.0]" in searching
    assert "-38.5" not in searching
    coming = phone.get(f"/t/{link(desk, desk.order('BOOKED', 'CALL_DRIVER'), 'follower')}").text
    assert "-38.505" in coming
    assert "-128.0]" not in coming


def test_the_guest_sees_plate_car_driver_and_both_calls(desk: Desk, phone: FlaskClient) -> None:
    text, snapshot = both(phone, link(desk, desk.order("BOOKED", "CALL_DRIVER")))
    assert snapshot["plate"] == "KA 01 AB 1234"
    assert snapshot["car"] == "White · Mini · Tata Tiago"
    assert snapshot["driver"] == "Driver Cedar"
    assert 'href="tel:+910000012345"' in text
    assert 'href="tel:+910000000000"' in text
    assert "Updated just now" in text


def test_the_guest_gets_a_message_about_another_car(desk: Desk, phone: FlaskClient) -> None:
    order_id = desk.order(
        "BOOKED", "CALL_DRIVER", ride={"previous_plate": "KA05XY9876", "swapped_at": NOON}
    )
    text, snapshot = both(phone, link(desk, order_id))
    assert snapshot["changed"] == "Your car has changed"
    assert snapshot["was"] == "KA 05 XY 9876"
    assert "Tell the guest" not in text
    follower = both(phone, link(desk, order_id, "follower"))[1]
    assert follower["changed"] == "The car has changed"
    assert "was" not in follower


def test_the_guests_bill_shows_nothing_of_the_account_that_pays(
    desk: Desk, phone: FlaskClient
) -> None:
    text, snapshot = both(phone, link(desk, desk.order("BOOKED", "COMPLETED", "auto")))
    assert "₹186" in text
    assert "allet balance" not in text
    assert "42.5" not in str(snapshot)
    assert "position" not in snapshot
    assert "pickup" not in snapshot


@pytest.mark.parametrize("path", ["", "/snapshot.json"])
def test_a_link_sets_no_cookie_and_is_not_cached_referred_or_indexed(
    desk: Desk, phone: FlaskClient, path: str
) -> None:
    token = link(desk, desk.order("BOOKED", "CALL_DRIVER"))
    answers = [phone.get(f"/t/{each}{path}") for each in (token, "x" * 22)]
    answers += [phone.post(f"/t/{token}{path}"), phone.get(f"/t/{token}/other/{path}")]
    pressed = 405 if path else 303  # a POST without the page's key only redirects to the page
    assert [answer.status_code for answer in answers] == [200, 404, pressed, 404]
    for answer in answers:
        assert "Set-Cookie" not in answer.headers
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert "noindex" in answer.headers["X-Robots-Tag"]
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


def test_a_missing_address_sets_no_cookie(phone: FlaskClient) -> None:
    assert "Set-Cookie" not in phone.get("/tiles/1/2/3.svg").headers


def test_the_page_is_the_same_for_a_signed_in_user(desk: Desk, phone: FlaskClient) -> None:
    token, staff = link(desk, desk.order("BOOKED", "CALL_DRIVER")), desk.client()
    pages = [re.sub(r'nonce="[^"]+"', "", each.get(f"/t/{token}").text) for each in (phone, staff)]
    assert pages[0] == pages[1]
    assert "Concierge" not in pages[1]
    assert staff.get("/").status_code == 200  # and the sign-in is still valid


def test_unknown_expired_and_revoked_links_give_the_same_answer(
    desk: Desk, phone: FlaskClient
) -> None:
    revoked_order = desk.order("BOOKED", "CALL_DRIVER")
    revoked = link(desk, revoked_order)
    replacing_link(desk, revoked_order)
    ended = desk.order("BOOKED", "COMPLETED", ride={"ended_at": NOON, "next_poll_at": None})
    expired = link(desk, ended, "follower")
    desk.now = NOON + timedelta(minutes=31)
    for path in ("", "/snapshot.json"):
        answers = [
            phone.get(f"/t/{token}{path}")
            for token in ("A" * 22, expired, revoked, "short", "é" * 22)
        ]
        assert {answer.status_code for answer in answers} == {404}
        assert len({answer.data for answer in answers}) == 1
        headers = [
            {k: v for k, v in a.headers if k not in ("X-Request-Id", "Content-Security-Policy")}
            for a in answers
        ]
        assert all(each == headers[0] for each in headers)


def test_a_link_ends_after_its_time_and_the_receipt_is_shown_for_a_day(
    desk: Desk, phone: FlaskClient
) -> None:
    order_id = desk.order("BOOKED", "COMPLETED", ride={"ended_at": NOON, "next_poll_at": None})
    rider, follower = link(desk, order_id), link(desk, order_id, "follower")

    def open_at(minutes: float) -> tuple[int, int]:
        desk.now = NOON + timedelta(minutes=minutes)
        return phone.get(f"/t/{rider}").status_code, phone.get(f"/t/{follower}").status_code

    assert open_at(29.9) == (200, 200)
    assert open_at(30) == (200, 404)
    assert open_at(24 * 60 - 0.1) == (200, 404)
    assert open_at(24 * 60) == (404, 404)


def test_links_of_a_ride_that_is_not_polled_any_more_end_too(
    desk: Desk, phone: FlaskClient
) -> None:
    token = link(desk, desk.order("BOOKED", "CALL_DRIVER"))
    desk.now = NOON + timedelta(days=6, hours=23)
    assert phone.get(f"/t/{token}").status_code == 200
    desk.now = NOON + timedelta(days=7)
    assert phone.get(f"/t/{token}").status_code == 404


def test_guesses_of_one_address_close_no_link_behind_it_and_are_logged(
    desk: Desk, phone: FlaskClient, caplog: pytest.LogCaptureFixture
) -> None:
    tokens = [link(desk, desk.order("BOOKED", "CALL_DRIVER")) for _ in range(2)]
    for n in range(20):
        assert phone.get(f"/t/{n:022d}{'/snapshot.json' * (n % 2)}").status_code == 404
    assert "unknown links" not in caplog.text
    assert [phone.get(f"/t/{n:022d}").status_code for n in range(20, 25)] == [404] * 5
    assert caplog.text.count("many unknown links from one address") == 5
    for token in tokens:
        assert phone.get(f"/t/{token}").status_code == 200
        assert phone.get(f"/t/{token}/snapshot.json").status_code == 200
    assert phone.get(f"/t/{99:022d}").data == phone.get("/t/short").data


def test_links_that_have_ended_do_not_count_as_guesses(desk: Desk, phone: FlaskClient) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    old, new = link(desk, order_id), replacing_link(desk, order_id)
    for _ in range(25):
        assert phone.get(f"/t/{old}").status_code == 404
    assert phone.get(f"/t/{new}").status_code == 200


def test_one_address_can_request_a_link_sixty_times_a_minute(tmp_path: Path) -> None:
    desk = make_desk(tmp_path, SERVICE_URL="http://127.0.0.1:9/tunnel")  # not our own sandbox
    phone = desk.client(signed_in=False)
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    token, other = link(desk, order_id), link(desk, order_id, "follower")
    codes = [phone.get(f"/t/{token}/snapshot.json").status_code for _ in range(61)]
    assert codes == [200] * 60 + [429]
    assert phone.get(f"/t/{other}/snapshot.json").status_code == 200
    page = phone.get(f"/t/{token}")
    assert page.status_code == 429
    assert "tries again by itself" in page.text
    desk.close()


def test_an_unchanged_poll_has_no_body(desk: Desk, phone: FlaskClient) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    address = f"/t/{link(desk, order_id)}/snapshot.json"
    first = phone.get(address)
    again = phone.get(address, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    assert again.headers["X-Seen-At"] == first.headers["X-Seen-At"]
    change(desk, Ride, order_id, status="CLIENT_LOCATED")
    assert phone.get(address, headers={"If-None-Match": first.headers["ETag"]}).status_code == 200


def test_the_token_is_neither_logged_nor_stored(
    desk: Desk, phone: FlaskClient, caplog: pytest.LogCaptureFixture
) -> None:
    token = link(desk, desk.order("BOOKED", "CALL_DRIVER"))
    with caplog.at_level(logging.DEBUG):
        for address in (f"/t/{token}", f"/t/{token}/snapshot.json", f"/t/{token[:-1]}x"):
            phone.get(address)
    assert "/t/<token>" in caplog.text
    assert token[4:] not in caplog.text
    assert token[4:-1] not in caplog.text
    with desk.services.db.read() as s:
        rows = [vars(row) for table in (Link, AuditRow) for row in s.query(table)]
    assert rows
    assert token[4:] not in str(rows)


def test_making_and_ending_links_is_in_the_audit_log(desk: Desk) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    link(desk, order_id)
    replacing_link(desk, order_id)
    with desk.services.db.read() as s:
        rows = s.query(AuditRow).filter(AuditRow.subject == f"orders:{order_id}").all()
    assert [(row.what, row.facts) for row in rows] == [
        ("link.made", {"kind": "rider"}),
        ("link.made", {"kind": "rider", "replaced": 1}),
    ]
    assert {row.who for row in rows} == {f"staff:{desk.ids['desk']}"}


@pytest.mark.parametrize(
    ("name", "named"),
    [("Heron Meadow", "Heron"), ("Mr Meadow", "The guest"), ("Dr. Wren Lark", "Wren")],
)
def test_a_follower_sees_the_first_name_alone(
    desk: Desk, phone: FlaskClient, name: str, named: str
) -> None:
    snapshot = both(phone, link(desk, desk.order("BOOKED", "IN_PROGRESS", guest=name), "follower"))[
        1
    ]
    assert snapshot["headline"] == f"{named} is on the way"


def test_foreign_text_is_escaped(desk: Desk, phone: FlaskClient) -> None:
    markup = (
        "<img src=x onerror=window.__x=1>${7*191}{{7*191}}</script><script>window.__x=1</script>"
    )
    facts = {
        "driver_name": markup,
        "car_model": markup,
        "vehicle_number": markup,
        "vehicle_type": markup,
    }
    order_id = desk.order(
        "BOOKED", "CALL_DRIVER", guest=markup, pickup_name=markup, drop_name=markup
    )
    with desk.services.db.write() as s:
        ride = s.query(Ride).filter(Ride.order_id == order_id).one()
        ride.facts = {**ride.facts, **facts}
    for who in ("rider", "follower"):
        text, snapshot = both(phone, link(desk, order_id, who))
        assert "1337" not in without_tokens(text + str(snapshot))
        assert "<img src=x" not in text
        assert "<script>window" not in text


def test_an_erased_guest_has_no_name(desk: Desk, phone: FlaskClient) -> None:
    order_id = desk.order("BOOKED", "IN_PROGRESS")
    with desk.services.db.write() as s:
        order = s.get(Order, order_id)
        s.get(Guest, order.guest_id).name = ""
    assert both(phone, link(desk, order_id, "follower"))[1]["headline"] == "The guest is on the way"


def show_face(desk: Desk, logo: Logo | None, colour: str | None) -> None:
    with desk.services.db.write() as s:
        prop = s.get_one(Property, desk.ids["desk.property"])
        properties.keep_logo(s, prop, logo)
        prop.colour = colour


def test_the_whole_page_weighs_less_than_75_kilobytes_with_a_logo(
    desk: Desk, phone: FlaskClient
) -> None:
    noise = np.random.default_rng(5).integers(0, 256, (120, 300, 4), dtype=np.uint8)
    show_face(desk, make_logo(encoded(noise | 128)), "#7a1f3d")
    page = phone.get(f"/t/{link(desk, desk.order('BOOKED', 'CLIENT_LOCATED', otp=CODE))}").text
    wanted = set(re.findall(r'(?:href|src|data-library)="(/(?:static|face)/[^"#]+)', page))
    assert len([name for name in wanted if name.startswith("/face/")]) == 2
    for script in list(wanted):
        if script.endswith(".js") and "leaflet" not in script:
            wanted |= imported(phone, script)
    sent = {name: lean(name.split("/", 3)[-1], file(phone, name)) for name in sorted(wanted)}
    sizes = {name: len(brotli.compress(each)) for name, each in sent.items()}
    total = sum(sizes.values()) + len(gzip.compress(page.encode(), 6))
    assert any("leaflet.js" in name for name in sizes)
    show_face(desk, None, None)  # other tests share this desk
    assert total <= 75_000, (total, sizes)


def file(phone: FlaskClient, name: str) -> bytes:
    with phone.get(name) as answer:
        assert answer.status_code == 200
        return bytes(answer.data)


def imported(phone: FlaskClient, script: str) -> set[str]:
    """The modules that a script imports, directly or through other modules."""
    found: set[str] = set()
    names = re.findall(r'(?:from |import\()"\./([\w./]+)"', file(phone, script).decode())
    for name in names:
        address = script.rsplit("/", 1)[0] + "/" + name
        found |= {address} | imported(phone, address)
    return found


@pytest.mark.parametrize(
    "error", [DatabaseBusy("locked"), OperationalError("SELECT", {}, Exception("gone"))]
)
@pytest.mark.parametrize("path", ["", "/snapshot.json"])
def test_a_busy_database_is_a_page_that_asks_again_by_itself(
    desk: Desk, phone: FlaskClient, monkeypatch: pytest.MonkeyPatch, error: Exception, path: str
) -> None:
    token = link(desk, desk.order("BOOKED", "CALL_DRIVER"))

    def fails(*_args: object) -> None:
        raise error

    monkeypatch.setattr(pages, "find_link", fails)
    answer = phone.get(f"/t/{token}{path}")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "15")
    assert "Traceback" not in answer.text
    assert token not in answer.text


def test_the_map_is_as_near_as_people_walk(desk: Desk, phone: FlaskClient) -> None:
    text = phone.get(f"/t/{link(desk, desk.order('BOOKED', 'CALL_DRIVER'))}").text
    assert '"zoom": 15,' in text
    over = phone.get(f"/t/{link(desk, desk.order('BOOKED', 'COMPLETED'))}").text
    assert '"zoom":' not in over, "nothing moves any more"


def test_an_answer_with_a_start_code_is_not_cached_for_anyone_else(desk: Desk) -> None:
    for otp, cached in ((CODE, False), (None, True)):
        token = link(desk, desk.order("BOOKED", "CLIENT_LOCATED", otp=otp))
        with desk.services.db.read() as s:
            shared, _known = find_link(s, token, desk.now)
        assert shared is not None
        with desk.app.test_request_context(f"/t/{token}/snapshot.json"):
            made = pages._make_entry(shared, desk.now)
        assert (made.serves_s > 0) is cached
        assert (CODE.encode() in made.value.body) is not cached


def test_a_link_whose_language_was_chosen_leads_back_in_it(desk: Desk) -> None:
    for chosen, address in (("de", "/t/x?lang=de"), ("xx", "/t/x"), ("", "/t/x")):
        with desk.app.test_request_context(f"/t/x?lang={chosen}"):
            assert pages._here("x") == address
