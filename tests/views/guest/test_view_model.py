"""What the two kinds of links show: each field, and what a follower never sees."""

import dataclasses
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from ridedash.rides.share_links import LinkKind
from ridedash.service_time import REAL
from ridedash.store.models.orders import Attention
from ridedash.store.orders import OrderPage, order_page
from ridedash.views.guest.view_model import (
    POLL_MS,
    GuestView,
    Ready,
    _capital,
    _car,
    code_is_due,
    guest_view,
)
from ridedash.views.rides.facts import RideFacts
from ridedash.wording.say import in_language
from tests.views.ride_pages import NOON, Desk, make_desk

pytestmark = pytest.mark.database
CODE = "4821"
IN_CASH = "You pay the driver in cash."
SWAPPED = {"swapped_at": NOON, "previous_plate": "KA01ZZ0001"}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    made = make_desk(tmp_path_factory.mktemp("desk"))
    yield made
    made.close()


def page_of(desk: Desk, *given: str, **facts: Any) -> OrderPage:
    order_id = desk.order(*given, **facts)
    with desk.services.db.read() as s:
        found = order_page(s, desk.ids["desk.property"], order_id)
    assert found is not None
    return found


def shown(desk: Desk, page: OrderPage, kind: str = "rider", code: str = "") -> GuestView:
    with desk.app.test_request_context("/"):
        return guest_view(page, LinkKind(kind), desk.now, REAL, "en", code)


def test_a_guest_sees_the_whole_car_and_a_follower_the_end_of_its_plate(desk: Desk) -> None:
    page = page_of(desk, "BOOKED", "CALL_DRIVER")
    rider, follower = shown(desk, page), shown(desk, page, "follower")
    assert rider.plate == "KA 01 AB 1234"
    assert "Tata Tiago" in rider.car
    assert (follower.plate, follower.spelled, follower.car) == ("… 1234", "1 2 3 4", "White · Mini")
    assert (rider.driver_phone, follower.driver_phone) == ("+91 00000 12345", "")
    assert "Cedar" in rider.driver
    assert (follower.driver, follower.pickup, follower.drop) == ("", None, None)
    assert rider.pickup is not None
    assert rider.drop is not None
    assert (rider.pickup.lat, rider.drop.lat) == (-38.5, -38.48)
    assert (rider.pickup.name, rider.drop.name) == (
        "Grand Meridian Hotel, main door",
        "Meridian Airport, Departures",
    )
    assert rider.position == follower.position is not None
    assert rider.steps == follower.steps != ()


def test_a_follower_reads_a_guests_name_as_their_language_says_it(desk: Desk) -> None:
    page = page_of(desk, "BOOKED", "IN_PROGRESS", guest="Wren Meadow")
    with desk.app.test_request_context("/"), in_language("ja"):
        view = guest_view(page, LinkKind.FOLLOWER, desk.now, REAL, "ja")
    assert view.headline == "Wren様は移動中です"


def test_once_the_ride_is_over_nothing_moves_and_no_phone_number_is_shown(desk: Desk) -> None:
    view = shown(desk, page_of(desk, "BOOKED", "COMPLETED"))
    assert (view.live, view.driver_phone, view.pickup, view.drop) == (False, "", None, None)
    assert view.position is None
    assert view.invoice is not None
    assert shown(desk, page_of(desk, "BOOKED", "COMPLETED"), "follower").invoice is None


def test_another_car_is_shown_with_the_plate_that_does_not_come(desk: Desk) -> None:
    page = page_of(desk, "BOOKED", "CALL_DRIVER", ride=SWAPPED)
    rider, follower = shown(desk, page), shown(desk, page, "follower")
    assert (rider.changed, rider.was) == ("Your car has changed", "KA 01 ZZ 0001")
    assert (follower.changed, follower.was) == ("The car has changed", "")
    same = shown(desk, page_of(desk, "BOOKED", "CALL_DRIVER"))
    assert (same.changed, same.was) == ("", "")


def test_the_start_code_has_its_label_and_is_the_guests_alone(desk: Desk) -> None:
    page = page_of(desk, "BOOKED", "CLIENT_LOCATED", otp=CODE)
    view = shown(desk, page, code=CODE)
    assert (view.code, bool(view.code_label)) == (CODE, True)
    hidden = shown(desk, page)
    assert (hidden.code, hidden.code_label) == ("", "")
    follower = shown(desk, page, "follower", CODE)
    assert (follower.code, follower.code_label) == ("", "")


@pytest.mark.parametrize(
    ("status", "otp", "kind", "due"),
    [
        ("CLIENT_LOCATED", CODE, "rider", True),
        ("CLIENT_LOCATED", CODE, "follower", False),
        ("CLIENT_LOCATED", None, "rider", False),
        ("IN_PROGRESS", CODE, "rider", False),
        (None, None, "rider", False),
    ],
)
def test_the_code_is_due_while_the_driver_is_there(
    desk: Desk, status: str | None, otp: str | None, kind: str, due: bool
) -> None:
    order_id = desk.order("BOOKED", status, otp=otp)
    with desk.services.db.read() as s:
        page = order_page(s, desk.ids["desk.property"], order_id)
    assert page is not None
    facts = RideFacts(page, desk.now, REAL, "en")
    assert code_is_due(page, LinkKind(kind), facts) is due


def waiting(desk: Desk, **facts: Any) -> OrderPage:
    return page_of(desk, "WAITING", seat_prices={"": "240"}, **facts)


def test_a_ride_that_waits_for_its_guest_shows_car_price_and_limit(desk: Desk) -> None:
    page = waiting(desk)
    assert shown(desk, page).ready == Ready("Mini", "₹240", "₹300", IN_CASH, "", "")
    assert shown(desk, page, "follower").ready is None
    desk.now = NOON + timedelta(hours=3)
    try:
        assert shown(desk, page).ready is None, "a press would start nothing"
    finally:
        desk.now = NOON


def test_a_follower_reads_what_the_ride_waits_for(desk: Desk) -> None:
    page = waiting(desk)
    view = shown(desk, page, "follower")
    assert view.headline == "A ride waits for Guest Heron"
    assert view.detail == "It is booked only when Guest Heron presses “I'm ready”"
    desk.now = NOON + timedelta(hours=3)
    try:
        assert shown(desk, page).headline == "Not booked"
        missed = shown(desk, page, "follower")
        assert (missed.headline, missed.detail) == ("No ride was booked", "Nobody is on the way")
    finally:
        desk.now = NOON


def test_a_follower_reads_nothing_unproved_of_a_ride_that_a_restore_holds(desk: Desk) -> None:
    page = waiting(desk)
    page.order.held_at = NOON
    view = shown(desk, page, "follower")
    assert view.headline == "The team is checking the booking"
    assert view.detail == "This page tells what comes of it"


@pytest.mark.parametrize(
    ("payment", "reads_so"), [("cash", True), ("svc_money", False), (None, False)]
)
def test_only_who_pays_in_cash_reads_so(desk: Desk, payment: str | None, reads_so: bool) -> None:
    page = waiting(desk)
    page.order.payment = payment
    ready = shown(desk, page).ready
    assert ready is not None
    assert ready.pays == (IN_CASH if reads_so else "")


def test_a_price_by_the_meter_is_described_as_no_limit(desk: Desk) -> None:
    ready = shown(desk, page_of(desk, "WAITING")).ready
    assert ready is not None
    assert ready.meter == "It runs by the meter, which may say more than the estimate."


@pytest.mark.parametrize(("name", "is_shown"), [("not_started", True), ("not_ordered_yet", False)])
def test_the_reason_why_the_last_press_ordered_nothing_is_shown(
    desk: Desk, name: str, is_shown: bool
) -> None:
    page = waiting(desk)
    item = Attention(order_id=page.order.id, name=name, detail="NO_ANSWER", raised_at=NOON)
    ready = shown(desk, dataclasses.replace(page, attention=[item])).ready
    assert ready is not None
    assert ready.refused.startswith("The ride company can't be asked just now.") is is_shown


def test_a_link_answers_no_more_often_than_three_devices_may_poll(desk: Desk) -> None:
    for status in ("CALL_DRIVER", "CLIENT_LOCATED"):
        page = page_of(desk, "BOOKED", status)
        assert shown(desk, page).poll_ms >= POLL_MS


def test_the_age_of_the_data_is_shown_or_that_there_is_none(desk: Desk) -> None:
    with desk.app.test_request_context("/"):
        view = shown(desk, page_of(desk, "BOOKED", "CALL_DRIVER"))
        for freshness in ("stale", "lost"):
            old = dataclasses.replace(view, freshness=freshness, updated="2 min ago")
            assert old.age_text == "Not updating · last news 2 min ago"
        fresh = dataclasses.replace(view, freshness="fresh", updated="just now")
        assert fresh.age_text == "Updated just now"
        assert dataclasses.replace(fresh, updated="").age_text == "No news yet"


def test_a_polls_body_has_no_empty_fields_and_no_age(desk: Desk) -> None:
    body = shown(desk, waiting(desk)).as_json()
    assert not {"seen_at", "updated", "freshness", "spelled", "driver", "code"} & set(body)
    assert list(body["ready"]) == sorted(body["ready"])
    rider = shown(desk, page_of(desk, "BOOKED", "CALL_DRIVER"))
    assert rider.as_json()["steps"] == [[step.state, step.time] for step in rider.steps]


def test_every_shown_field_changes_the_digest(desk: Desk) -> None:
    view = shown(desk, page_of(desk, "BOOKED", "CALL_DRIVER"))
    others = [
        dataclasses.replace(view, version=view.version + 1),
        dataclasses.replace(view, headline="Another"),
        dataclasses.replace(view, plate="… 9999"),
    ]
    assert len({each.digest() for each in (view, *others)}) == 4
    assert dataclasses.replace(view, updated="later").digest() == view.digest()


@pytest.mark.parametrize(
    ("words", "car"),
    [
        (("white", "mini"), "White · Mini"),
        (("WHITE", "SUV"), "White · SUV"),
        (("ROT", None), "ROT"),
        ((None, ""), ""),
        (("dark Blue", "SEDAN"), "Dark Blue · Sedan"),
    ],
)
def test_a_cars_words_begin_with_a_capital_and_do_not_shout(
    words: tuple[str | None, ...], car: str
) -> None:
    assert _car(*words) == car


def test_a_headline_begins_with_a_capital() -> None:
    assert [_capital(each) for each in ("driver Cedar", "", "é")] == ["Driver Cedar", "", "É"]


def test_a_planned_ride_shows_its_pickup_time_and_not_when_it_is_ordered(desk: Desk) -> None:
    page = page_of(desk, "SCHEDULED")
    page.order.pickup_at = NOON + timedelta(hours=4)  # 18:00 in Kolkata
    page.order.due_at = NOON + timedelta(hours=3, minutes=40)
    view = shown(desk, page, "follower")
    assert "18:00" in f"{view.headline} {view.detail}"
    page.order.pickup_at = None
    view = shown(desk, page, "follower")
    assert "17:40" in f"{view.headline} {view.detail}"


def test_the_previous_plate_is_shown_only_while_the_change_is(desk: Desk) -> None:
    page = page_of(desk, "BOOKED", "IN_PROGRESS", ride={"previous_plate": "KA01ZZ0001"})
    assert (shown(desk, page).changed, shown(desk, page).was) == ("", "")


def test_before_a_car_is_known_nothing_is_shown_of_one(desk: Desk) -> None:
    page = page_of(desk, "BOOKED", "ALLOTMENT_PENDING")
    for kind in ("rider", "follower"):
        view = shown(desk, page, kind, CODE)
        assert (view.plate, view.spelled, view.car, view.driver) == ("", "", "", "")
        assert (view.driver_phone, view.code_label) == ("", "")
        assert view.live


def test_the_age_of_an_order_without_a_ride_is_that_of_the_page(desk: Desk) -> None:
    assert shown(desk, page_of(desk, "READY")).updated == "just now"
    page = page_of(desk, "BOOKED", "CALL_DRIVER", ride={"seen_at": NOON - timedelta(seconds=42)})
    assert "42" in shown(desk, page).updated
