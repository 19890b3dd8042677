"""The hand-over: open rides and notes for the next shift, which are printed on one sheet."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from playwright.sync_api import Browser, Page, expect
from sqlalchemy.orm import Session

from ridedash.extensions import limiter
from ridedash.store.models.orders import Attention
from ridedash.store.models.people import Account, Staff
from ridedash.store.orders import Order
from ridedash.views.board.handover import fair
from tests.views.ride_pages import NOON, Desk, make_desk, token
from tests.views.served import Served, served_desk, violations

pytestmark = pytest.mark.database

LONG = "Guest with a very long name that goes on and on, and is cut on paper, " * 2


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = make_desk(tmp_path)
    with made.app.app_context():
        limiter.reset()
    yield made
    made.close()


@pytest.fixture
def client(desk: Desk) -> FlaskClient:
    return desk.client()


def plan(desk: Desk, hours: float, **facts: str) -> int:
    order_id = desk.order("SCHEDULED", **facts)
    desk.add(lambda s: setattr(s.get(Order, order_id), "pickup_at", NOON + timedelta(hours=hours)))
    return order_id


def part(client: FlaskClient, name: str) -> str:
    text = client.get("/handover").text
    return text.split(f'class="handover-part part-{name}"')[1].split("</section>")[0]


def rides(client: FlaskClient, name: str) -> list[int]:
    return [int(found) for found in re.findall(r'href="/rides/(\d+)"', part(client, name))]


def write(client: FlaskClient, text: str) -> int:
    form = {"text": text, "csrf_token": token(client)}
    return client.post("/handover/notes", data=form).status_code


def only_note(client: FlaskClient) -> int:
    """The id of the one note of the page."""
    (found,) = set(re.findall(r'action="/handover/notes/(\d+)"', client.get("/handover").text))
    return int(found)


def settle(client: FlaskClient, note: int, what: str) -> int:
    form = {"what": what, "csrf_token": token(client)}
    return client.post(f"/handover/notes/{note}", data=form).status_code


def test_each_open_ride_is_listed_in_its_part(desk: Desk, client: FlaskClient) -> None:
    unknown = desk.order("UNKNOWN")
    going = [desk.order("READY"), desk.order("MATCHING"), desk.order("BOOKED", "IN_PROGRESS")]
    going.append(desk.order("WAITING"))
    desk.order("BOOKED", "COMPLETED", ride={"ended_at": NOON})  # ended, still polled for its price
    failed = [desk.order("REJECTED"), desk.order("BOOKED", "ALLOTMENT_FAILED")]
    desk.order("UNKNOWN", prop="other")
    late, soon = plan(desk, -0.5), plan(desk, 11.9)
    plan(desk, 12)
    plan(desk, 1, prop="other")
    assert sorted(rides(client, "needs")) == failed
    assert rides(client, "unknown") == [unknown]
    assert rides(client, "going") == going
    assert "Waiting for the guest" in part(client, "going")
    assert rides(client, "planned") == [late, soon]
    assert "1 planned for later than that." in part(client, "planned")


def press(client: FlaskClient, order_id: int, item: str) -> None:
    form = {"item": item, "csrf_token": token(client)}
    assert client.post(f"/rides/{order_id}/acknowledge", data=form).status_code == 303


def words(client: FlaskClient) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", part(client, "needs").split(">", 1)[1]).split())


def test_the_first_part_is_what_needs_somebody_with_its_reason(
    desk: Desk, client: FlaskClient
) -> None:
    swapped = desk.order(
        "BOOKED", "CALL_DRIVER", ride={"previous_plate": "KA 1"}, attention=["car_swapped"]
    )
    desk.order("BOOKED", "CALL_DRIVER", prop="other", attention=["late"])
    first = client.get("/handover").text.split("handover-part part-")[1]
    assert first.startswith("needs")
    assert rides(client, "needs") == [swapped]
    assert "Car changed: now" in words(client)
    assert rides(client, "going") == []  # no ride twice


def test_messages_about_the_property_are_on_the_sheet(desk: Desk, client: FlaskClient) -> None:
    desk.add(lambda s: s.query(Account).update({"state": "reconnect"}))
    found = part(client, "needs")
    assert "House account needs reconnecting. Ask a manager: rides show their last facts." in found
    assert "Nothing needs you." not in found


def test_what_somebody_has_seen_is_named_with_who_saw_it(desk: Desk, client: FlaskClient) -> None:
    lost = desk.order("BOOKED", "CALL_DRIVER", attention=["driver_lost"])
    failed = desk.order("BOOKED", "ALLOTMENT_FAILED")
    old = desk.order("BOOKED", "CALL_DRIVER", attention=["late"])
    press(client, lost, "driver_lost")
    press(client, failed, "not_booked")
    desk.add(lambda s: s.query(Attention).filter_by(order_id=old).update({"cleared_at": NOON}))
    assert sorted(rides(client, "needs")) == sorted([lost, failed, old])
    said = words(client)
    assert said.startswith("Needs you Nothing needs you. Needed somebody in this shift 14:00")
    for each in (
        "The driver cancelled",
        "Guest told · Concierge desk",
        "No driver found",
        "Seen · Concierge desk",
        "It ended by itself",
    ):
        assert each in said, (each, said)
    desk.now += timedelta(hours=13)
    assert "in this shift" not in words(desk.client())


def failed_at(desk: Desk, at: datetime) -> int:
    order_id = desk.order("BOOKED", "ALLOTMENT_FAILED", ride={"ended_at": at, "next_poll_at": None})

    def set_back(s: Session) -> None:
        order = s.get_one(Order, order_id)
        order.created_at = order.due_at = order.resolved_at = at
        order.ended_as = "ALLOTMENT_FAILED"

    desk.add(set_back)
    return order_id


def test_no_driver_found_stays_until_seen_or_for_a_shift_and_then_the_sheet_names_it(
    desk: Desk,
) -> None:
    failed = failed_at(desk, NOON)
    for _ in range(35):  # it is not among the newest
        desk.order("BOOKED", "COMPLETED", age_s=7200, ride={"ended_at": NOON, "next_poll_at": None})
    for hours, left in ((0.6, ""), (11.9, ""), (12.1, "Nobody has seen it"), (23.9, "Nobody")):
        desk.now = NOON + timedelta(hours=hours)
        client = desk.client()
        board = client.get("/board.json").json or {}
        groups = {row["id"]: row["group"] for row in board["rows"]}
        assert (groups.get(failed) == "needs") is not bool(left), hours
        assert left in words(client)
        assert rides(client, "needs") == [failed]
    desk.now = NOON + timedelta(hours=24.1)
    assert rides(desk.client(), "needs") == []


def test_a_failed_order_that_was_booked_again_is_named_with_who_did_it(
    desk: Desk, client: FlaskClient
) -> None:
    failed = failed_at(desk, NOON)
    desk.order("BOOKED", "CALL_DRIVER", supersedes=failed)
    assert rides(client, "needs") == [failed]
    assert "Booked again by Concierge desk" in words(client)


def test_the_page_shows_its_time_and_its_reader(desk: Desk, client: FlaskClient) -> None:
    desk.order("BOOKED", "CALL_DRIVER", ride={"plate": "KA01AB1234"})
    text = client.get("/handover").text
    for words in (
        "As it stood 4 May 2026, 14:00",
        "Concierge desk",
        "Grand Meridian Hotel",
        "KA 01 AB 1234",
        "412",
        "Two suitcases",
        "Driver on the way",
        "Every booking has a clear answer.",
        "No notes.",
    ):
        assert words in text, words


def test_rides_that_do_not_fit_are_counted_and_each_part_has_space(
    desk: Desk, client: FlaskClient
) -> None:
    unknown = [desk.order("UNKNOWN") for _ in range(3)]
    going = [desk.order("BOOKED", "IN_PROGRESS") for _ in range(40)]
    plans = [plan(desk, n / 10) for n in range(10)]
    assert write(client, "Mind the lift") == 303
    assert rides(client, "unknown") == unknown
    assert rides(client, "going") == going[:11]
    assert rides(client, "planned") == plans
    assert "And 29 more: see the board." in part(client, "going")


@pytest.mark.parametrize(
    ("wanted", "given"),
    [
        ([0, 0, 0, 0], [0, 0, 0, 0]),
        ([50, 50, 50, 50], [6, 6, 6, 6]),
        ([1, 50, 0, 2], [1, 25, 0, 2]),
        ([0, 0, 0, 50], [0, 0, 0, 15]),
        ([29, 0, 0, 1], [28, 0, 0, 1]),
    ],
)
def test_kinds_share_the_page_fairly(wanted: list[int], given: list[int]) -> None:
    assert fair(wanted, [1, 1, 1, 2], 30) == given


def test_a_note_is_added_done_and_reopened(desk: Desk, client: FlaskClient) -> None:
    assert write(client, "  Spa guest\r\nwaits for <b>a call</b>  ") == 303
    assert "Spa guest\nwaits for &lt;b&gt;a call&lt;/b&gt;</bdi>" in part(client, "notes")
    assert "Concierge desk · 14:00" in part(client, "notes")
    note = only_note(client)
    assert settle(client, note, "done") == 303
    desk.now = NOON + timedelta(minutes=5)
    settle(client, note, "done")  # the time of the first press counts
    assert "No notes." in part(client, "notes")
    assert "done 14:00 by Concierge desk" in client.get("/handover").text
    settle(client, note, "open")
    assert "Spa guest" in part(client, "notes")
    settle(client, note, "done")
    desk.now = NOON + timedelta(hours=13)
    assert "Spa guest" not in client.get("/handover").text


@pytest.mark.parametrize(
    ("text", "message"),
    [(" \n ", "Write what the next shift"), ("x" * 501, "under 500 characters")],
)
def test_a_note_that_can_not_be_stored_stays_in_the_field(
    client: FlaskClient, text: str, message: str
) -> None:
    answer = client.post("/handover/notes", data={"text": text, "csrf_token": token(client)})
    assert answer.status_code == 422
    assert message in answer.text
    assert text.strip() in answer.text.split("<textarea")[1].split("</textarea>")[0]


def test_a_note_of_another_property_gets_404(desk: Desk, client: FlaskClient) -> None:
    other = desk.client(name="other")
    write(other, "Theirs")
    assert "Theirs" not in client.get("/handover").text
    assert settle(client, only_note(other), "done") == 404
    assert "Theirs" in part(other, "notes")


@pytest.fixture
def served(tmp_path: Path, browser: Browser) -> Iterator[Served]:
    with served_desk(tmp_path, browser) as found:
        yield found


def fill(served: Served, page: Page, times: int) -> None:
    desk = served.desk
    desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), "name", "Desk Otter"))
    for n in range(times):
        failed = desk.order("BOOKED", "ALLOTMENT_FAILED", guest=LONG[:119], drop_name=LONG)
        if n % 2:
            press(served.desk.client(), failed, "not_booked")
        desk.order("UNKNOWN", guest=LONG[:119], room="Penthouse North Wing 1204", drop_name=LONG)
        desk.order(
            "BOOKED", "CALL_DRIVER", guest=LONG[:119], drop_name=LONG, ride={"plate": "KA01AB1234"}
        )
        plan(desk, n / 10, guest=LONG[:119], display_name=LONG, drop_name=LONG)
        page.goto("/handover")
        page.fill("[name=text]", (LONG * 4)[:500])
        page.get_by_role("button", name="Add the note").click()
        page.wait_for_url("**/handover#notes")


def sheets(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


@pytest.mark.browser
@pytest.mark.parametrize("times", [0, 1, 9])
def test_the_printed_page_is_always_one_sheet(served: Served, times: int) -> None:
    page = served.staff(viewport={"width": 1280, "height": 800})
    fill(served, page, times)
    needy = {"state": "reconnect", "label": LONG[:119]}
    served.desk.add(lambda s: s.query(Account).update(needy))
    page.goto("/handover")
    expect(page.locator(".handover-message")).to_have_count(1)
    assert [sheets(page.pdf(format=size)) for size in ("A4", "Letter")] == [1, 1]


def searched(page: Page, words: str) -> str:
    """The address of the search results."""
    page.goto("/search")
    page.fill("#search", words)
    page.press("#search", "Enter")
    page.wait_for_url("**/search?q=*")
    return page.url


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["dark"])
def test_axe_finds_nothing_on_hand_over_history_and_search(served: Served, scheme: str) -> None:
    page = served.staff(
        scheme=scheme, viewport={"width": 1280, "height": 800}, reduced_motion="reduce"
    )
    paths = (
        "/handover",
        "/history?from=2026-05-01&to=2026-05-05",
        "/history?state=cancelled",
        searched(page, "guest"),
        "/search",
    )
    for _ in range(2):
        for path in paths:
            page.goto(path)
            assert violations(page) == [], path
        fill(served, page, 1)
        page.get_by_role("button", name=re.compile("^Done:")).click()
        page.wait_for_url("**/handover#notes")
    for width in (1024, 390, 320):
        page.set_viewport_size({"width": width, "height": 800})
        for path in paths:
            page.goto(path)
            assert not page.evaluate("document.documentElement.scrollWidth > innerWidth"), (
                path,
                width,
            )
    assert violations(page) == []
