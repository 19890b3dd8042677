"""The text of a ride page and its JSON, for each state and kind, and for any facts."""

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ridedash.rides.state.transitions import add_event
from ridedash.service_time import ServiceTime, Turn
from ridedash.store.orders import Order, Ride, order_page
from ridedash.views.rides.view_model import RideView, ride_view
from ridedash.views.web.formatting import (
    age,
    initials,
    minutes,
    money,
    plate,
    spelled,
    time_left,
)
from ridedash.wording import Audience
from tests.views.ride_pages import (
    ENDS,
    NOON,
    ORDER_STATES,
    SNAPSHOT_BYTES,
    STATUSES,
    Desk,
    make_desk,
    snapshot_facts,
    without_tokens,
)

pytestmark = pytest.mark.database

CASES = [(kind, status) for kind, statuses in STATUSES.items() for status in [*statuses, *ENDS]]


@pytest.fixture(scope="module")
def shared_desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    made = make_desk(tmp_path_factory.mktemp("desk"))
    yield made
    made.close()


@pytest.fixture
def desk(shared_desk: Desk) -> Iterator[Desk]:
    shared_desk.now = NOON
    with shared_desk.app.test_request_context():
        yield shared_desk


def view_of(
    desk: Desk,
    order_id: int,
    audience: Audience = Audience.STAFF,
    pace: float = 1.0,
    locale: str = "en",
) -> RideView:
    with desk.services.db.read() as s:
        page = order_page(s, desk.ids["desk.property"], order_id)
    assert page is not None
    return ride_view(page, desk.now, ServiceTime(pace=pace), locale, audience)


def ride(desk: Desk, kind: str, status: str, **more: Any) -> RideView:
    return view_of(desk, desk.order("BOOKED", status, kind, **more))


@pytest.mark.parametrize(("kind", "status"), CASES)
def test_every_status_of_every_kind_has_a_small_complete_view(
    desk: Desk, kind: str, status: str
) -> None:
    order_id = desk.order(
        "BOOKED", status, kind, otp="4821" if status in ("CLIENT_LOCATED", "INVOICE") else None
    )
    for audience in Audience:
        body = view_of(desk, order_id, audience).as_json()
        assert body["booking_status"] == status
        assert body["kind"] == kind
        assert body["headline"]
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
        assert len(text.encode()) < SNAPSHOT_BYTES, len(text)
        assert "4821" not in without_tokens(text)


@pytest.mark.parametrize("state", ORDER_STATES)
def test_every_order_state_has_a_view_before_there_is_a_ride(desk: Desk, state: str) -> None:
    view = view_of(desk, desk.order(state))
    assert view.order_state == state
    assert view.headline
    assert view.stop is (state in ("REJECTED", "NOT_SENT", "CLOSED_NOT_BOOKED", "FAILED"))


def test_the_view_has_the_car_its_driver_and_the_remaining_distance(desk: Desk) -> None:
    view = ride(desk, "point_to_point", "CALL_DRIVER")
    assert view.headline == "Driver on the way\u00a0· 4 min"
    assert view.cab is not None
    assert (view.cab.plate, view.cab.spelled) == ("KA 01 AB 1234", "K A 0 1 A B 1 2 3 4")
    assert view.cab.car == "White · Mini · Tata Tiago"
    assert view.driver is not None
    assert (view.driver.rating, view.driver.initials) == ("4.7", "DC")
    german = view_of(desk, desk.order("BOOKED", "CALL_DRIVER"), locale="de").driver
    assert german is not None
    assert german.rating == "4,7"
    assert view.distance == "1.4 km"
    assert view.position is not None
    assert view.position.bearing == 73.0


def test_the_view_mentions_the_start_code_while_it_is_valid_and_never_has_it(desk: Desk) -> None:
    here = ride(desk, "share", "CLIENT_LOCATED", otp="4821")
    assert here.otp is not None
    assert ride(desk, "share", "IN_PROGRESS", otp="4821").otp is None
    assert ride(desk, "share", "CLIENT_LOCATED").otp is None


def test_stops_of_other_passengers_are_for_staff_only(desk: Desk) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER", "share")
    assert [stop.name for stop in view_of(desk, order_id).route] == [
        "Guest Heron",
        "Rider Wren",
        "Rider Wren",
        "Guest Heron",
    ]
    assert "Rider Wren" not in json.dumps(view_of(desk, order_id, Audience.GUEST).as_json())


def test_the_services_own_page_and_the_passengers_are_for_staff_while_the_ride_lasts(
    desk: Desk,
) -> None:
    page = "https://rides.example/follow/CRN1"
    facts = snapshot_facts(
        "share", "CALL_DRIVER", share_ride_url=page, passengers=["Rider Wren", "Guest Heron"]
    )
    order_id = desk.order("BOOKED", "CALL_DRIVER", "share", ride={"facts": facts})
    view = view_of(desk, order_id)
    assert (view.share_url, view.passengers) == (page, "Rider Wren and Guest Heron")
    guest = view_of(desk, order_id, Audience.GUEST)
    assert (guest.share_url, guest.passengers) == ("", "")
    desk.add(lambda s: follow(s, order_id, "COMPLETED"))
    assert view_of(desk, order_id).share_url == ""


def test_a_share_invoice_is_added_up_and_marked_as_our_sum(desk: Desk) -> None:
    bill = ride(desk, "share", "INVOICE").invoice
    assert bill is not None
    assert [(line.label, line.amount) for line in bill.lines] == [
        ("Fare", "₹210.00"),
        ("Service tax", "₹18.50"),
        ("Tolls", "₹35.00"),
        ("Discount (10 %)", "−₹23.50"),
        ("Total", "₹240.00"),
    ]
    assert bill.notes == ("Total: the sum of the lines above.",)


def test_a_bill_stays_in_the_currency_of_its_day_when_the_property_gets_another(desk: Desk) -> None:
    order_id = desk.order("BOOKED", "COMPLETED", "share", currency=None)
    with desk.services.db.write() as s:
        order = s.get_one(Order, order_id)
        order.currency, order.version = "USD", order.version + 1
    bill = view_of(desk, order_id).invoice
    assert bill is not None
    assert (bill.lines[-1].amount, view_of(desk, order_id).fare) == ("$240.00", "$240")


def test_a_bill_in_thousandths_loses_no_digit(desk: Desk) -> None:
    price = {"fare": "2.125", "service_tax": "0.125", "toll_charges": "1"}
    facts = {"ride": {"facts": {"price": price}}, "currency": "KWD"}
    bill = ride(desk, "share", "COMPLETED", **facts).invoice
    assert bill is not None
    assert [line.amount for line in bill.lines] == [
        "KWD\u00a02.125",
        "KWD\u00a00.125",
        "KWD\u00a01.000",
        "KWD\u00a03.250",
    ]


def test_all_lines_of_a_bill_have_decimals_also_in_a_currency_without_coins(desk: Desk) -> None:
    price = {"fare": "900", "service_tax": "0.5"}
    facts = {"ride": {"facts": {"price": price}}, "currency": "JPY"}
    bill = ride(desk, "share", "COMPLETED", **facts).invoice
    assert bill is not None
    assert [line.amount for line in bill.lines] == ["¥900.00", "¥0.50", "¥900.50"]


def test_a_discount_above_the_fare_makes_a_ride_free(desk: Desk) -> None:
    price = {"fare": "100", "toll_charges": "5", "discount_value": "120"}
    bill = ride(desk, "share", "COMPLETED", ride={"facts": {"price": price}}).invoice
    assert bill is not None
    assert [line.amount for line in bill.lines] == ["₹100", "₹5", "−₹120", "₹0"]
    assert bill.notes == (), "the total is not the sum of its lines"


def test_an_auto_bill_shows_the_payable_amount_and_then_the_paid_one(desk: Desk) -> None:
    bill = ride(desk, "auto", "INVOICE").invoice
    paid = ride(desk, "auto", "COMPLETED").invoice
    assert bill is not None
    assert paid is not None
    assert (bill.lines[-1].label, bill.lines[-1].amount, bill.lines[-1].total) == (
        "To pay",
        "₹186",
        True,
    )
    assert (paid.lines[-1].label, paid.lines[-1].amount) == ("Paid in cash", "₹186")
    assert bill.notes == (
        "7.2 km · 23 min",
        "Night charge included × 1.5.",
        "Wallet balance ₹42.50.",
    )


@pytest.mark.parametrize(
    ("sent", "note"),
    [
        ("1.5x", "Night charge included × 1.5."),
        ("N/A", "Night charge included."),
        ("25%", "Night charge included."),
        ("1e999999", "Night charge included."),
    ],
)
def test_a_night_charge_in_any_words_leaves_the_bill_readable(
    desk: Desk, sent: str, note: str
) -> None:
    facts = snapshot_facts("auto", "COMPLETED")
    facts["trip"] |= {"night_charge_ratio": sent}
    bill = ride(desk, "auto", "COMPLETED", ride={"facts": facts}).invoice
    assert bill is not None
    assert note in bill.notes


UNBILLED = {
    "billing_enabled": False,
    "discount": "0",
    "advance": "0",
    "convenience_charge": "15",
}


def unbilled(status: str, payment: str | None) -> dict[str, Any]:
    """The facts and the payment of an auto for which the service sends no amount."""
    facts = snapshot_facts("auto", status, trip=UNBILLED)
    return {"ride": {"facts": facts}, "payment": payment}


@pytest.mark.parametrize("status", ["INVOICE", "COMPLETED"])
def test_an_auto_without_billing_in_cash_is_paid_by_the_meter(desk: Desk, status: str) -> None:
    view = ride(desk, "auto", status, **unbilled(status, "cash"))
    assert view.invoice is not None
    assert view.invoice.title == "Payment"
    assert [(line.label, line.amount) for line in view.invoice.lines] == [
        ("Meter fare", "as the meter shows"),
        ("Convenience charge", "₹15"),
    ]
    assert view.detail == (
        "The ride company sends no amount: the guest pays the driver what the meter shows."
    )
    assert view.invoice.notes == ("Wallet balance ₹42.50.",)
    assert "bill ready" not in view.headline


@pytest.mark.parametrize("audience", list(Audience))
@pytest.mark.parametrize("payment", ["svc_money", None])
@pytest.mark.parametrize("status", ["INVOICE", "COMPLETED"])
def test_an_auto_without_billing_by_wallet_asks_no_one_to_pay_the_driver(
    desk: Desk, status: str, payment: str | None, audience: Audience
) -> None:
    order_id = desk.order("BOOKED", status, "auto", **unbilled(status, payment))
    view = view_of(desk, order_id, audience)
    assert view.invoice is not None
    assert view.invoice.lines[0].amount == "not sent"
    words = " ".join([view.headline, view.detail, *view.invoice.notes])
    assert "ride wallet, not to the driver" in words
    assert not re.search("meter shows|in cash|[Pp]ay the driver|pays the driver|line", words)
    assert ("Wallet balance ₹42.50." in view.invoice.notes) == (audience is Audience.STAFF)


@pytest.mark.parametrize("audience", list(Audience))
@pytest.mark.parametrize("status", ["INVOICE", "COMPLETED"])
def test_the_payment_of_an_order_lost_in_a_restore_is_not_known(
    desk: Desk, status: str, audience: Audience
) -> None:
    order_id = desk.order("BOOKED", status, "auto", **unbilled(status, None))
    desk.add(lambda s: setattr(s.get(Order, order_id), "recovered_at", NOON))
    view = view_of(desk, order_id, audience)
    assert view.invoice is not None
    words = " ".join([view.headline, view.detail, *view.invoice.notes])
    assert "how this ride is paid" in words
    assert not re.search("from (our|the) ride wallet|in cash|meter shows", words)


@pytest.mark.parametrize(
    ("payment", "label", "detail"),
    [
        ("cash", "To pay", "The guest pays the driver ₹186 in cash."),
        (
            "svc_money",
            "From the ride wallet",
            "₹186 is paid from the ride wallet, not to the driver.",
        ),
    ],
)
def test_a_bill_says_how_it_is_paid(desk: Desk, payment: str, label: str, detail: str) -> None:
    view = ride(desk, "auto", "INVOICE", payment=payment)
    assert view.invoice is not None
    assert (view.invoice.title, view.invoice.lines[-1].label) == ("", label)
    assert view.detail == detail


def test_a_completed_ride_without_a_price_promises_none(desk: Desk) -> None:
    facts = snapshot_facts("point_to_point", "COMPLETED", price=None)
    view = ride(desk, "point_to_point", "COMPLETED", ride={"facts": facts})
    assert view.invoice is None
    assert view.detail == "The ride company has sent no price."


def test_each_state_has_the_right_timer(desk: Desk) -> None:
    soon = NOON + timedelta(seconds=48)
    assert (
        str(ride(desk, "point_to_point", "ALLOTMENT_PENDING", booking_timeout_at=soon).timer.text)
        == "0:42 of 1:30"
    )  # type: ignore[union-attr]
    gone = NOON - timedelta(seconds=2)
    over = ride(desk, "point_to_point", "ALLOTMENT_PENDING", booking_timeout_at=gone)
    assert over.timer is not None
    assert over.timer.text == "0:42"  # not 0:42 of 0:40
    assert ride(desk, "point_to_point", "CLIENT_LOCATED").timer.text == "waiting 0:45"  # type: ignore[union-attr]
    matching = view_of(
        desk,
        desk.order("MATCHING", "ALLOTMENT_PENDING", "share", txn_id="T", booking_timeout_at=soon),
    )
    assert matching.timer is not None
    assert matching.timer.text == "0:48 left"
    assert view_of(desk, desk.order("UNKNOWN")).timer.text == "0:42"  # type: ignore[union-attr]
    assert ride(desk, "point_to_point", "IN_PROGRESS").timer is None


def test_steps_are_those_of_the_kind(desk: Desk) -> None:
    def labels(kind: str, status: str) -> list[tuple[str, str]]:
        return [(step.label, step.state) for step in ride(desk, kind, status).steps]

    assert [name for name, _ in labels("point_to_point", "CALL_DRIVER")] == [
        "Finding",
        "On the way",
        "Here",
        "On trip",
        "Done",
    ]
    assert labels("share", "INVOICE")[2:5] == [
        ("Here", "done"),
        ("Fare set", "now"),
        ("On trip", "todo"),
    ]
    assert labels("auto", "INVOICE")[2:4] == [("On trip", "done"), ("Bill", "now")]
    assert labels("auto", "ALLOTMENT_RETRYING")[0] == ("Finding", "now")
    assert {state for _, state in labels("auto", "COMPLETED")} == {"done"}
    assert labels("share", "ALLOTMENT_FAILED")[1] == ("On the way", "off")


@pytest.mark.parametrize(
    ("kind", "status", "now"),
    [("point_to_point", "INVOICE", "Here"), ("auto", "CLIENT_LOCATED", "On the way")],
)
def test_a_status_without_a_step_never_throws_the_progress_line_back(
    desk: Desk, kind: str, status: str, now: str
) -> None:
    steps = ride(desk, kind, status, ride={"facts": snapshot_facts(kind, status)}).steps
    assert [step.label for step in steps if step.state == "now"] == [now]
    assert len(steps) == len(ride(desk, kind, "CALL_DRIVER").steps)


def test_a_fare_that_was_set_before_the_ride_stays_on_the_page_during_it(desk: Desk) -> None:
    order_id = desk.order("BOOKED", "INVOICE")
    assert view_of(desk, order_id).invoice is not None
    desk.add(lambda s: follow(s, order_id, "IN_PROGRESS"))
    assert view_of(desk, order_id).invoice == view_of(desk, desk.order("BOOKED", "INVOICE")).invoice
    assert ride(desk, "point_to_point", "IN_PROGRESS").invoice is None


def follow(s: Any, order_id: int, status: str) -> None:
    """Give the ride of an order this status."""
    s.query(Ride).filter(Ride.order_id == order_id).one().status = status


def test_actions_are_those_that_the_state_allows(desk: Desk) -> None:
    def names(view: RideView) -> dict[str, bool]:
        return {action.name: action.allowed for action in view.actions}

    assert names(ride(desk, "auto", "PENDING"))["abort"] is True
    assert names(ride(desk, "share", "CALL_DRIVER")) == {"cancel": True, "drop": True}
    assert names(ride(desk, "share", "INVOICE")) == {"cancel": True, "drop": True}
    assert names(ride(desk, "point_to_point", "INVOICE")) == {"cancel": True, "drop": True}
    assert names(ride(desk, "auto", "INVOICE")) == {}
    assert names(ride(desk, "share", "IN_PROGRESS")) == {"cancel": False, "drop": True}
    assert names(ride(desk, "share", "COMPLETED")) == {"feedback": True}
    assert names(view_of(desk, desk.order("UNKNOWN"))) == {"resolve": True}
    given = desk.order("BOOKED", "COMPLETED", actions=[("feedback", "done", {})])
    assert view_of(desk, given).actions[0].note == "Feedback was sent."


def test_cancelling_costs_from_an_instant_that_follows_the_pace(desk: Desk) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER", ride={"allotted_at": NOON})
    assert view_of(desk, order_id).fee_from == "2026-05-04T08:35:00.000Z"
    assert view_of(desk, order_id, pace=60).fee_from == "2026-05-04T08:30:05.000Z"


def seen_by(desk: Desk, order_id: int, *turns: Turn) -> RideView:
    with desk.services.db.read() as s:
        page = order_page(s, desk.ids["desk.property"], order_id)
    assert page is not None
    return ride_view(page, desk.now, ServiceTime(turns))


def test_in_a_turned_clock_a_ride_shows_the_times_of_its_service(desk: Desk) -> None:
    """Ten seconds ago the clock was set to 17:40, at 20 times the speed."""
    evening = datetime(2026, 5, 7, 12, 10, tzinfo=UTC)  # 17:40 at the property
    fast = Turn(NOON - timedelta(seconds=10), evening, 20.0)
    waits = {"allotted_at": None}
    searching = desk.order("BOOKED", "ALLOTMENT_PENDING", ride=waits)
    view = seen_by(desk, searching, fast)
    assert view.timer is not None
    assert view.timer.speed == view.speed == 20
    assert view.timer.until == "2026-05-04T08:30:04.500Z"  # 90 service seconds after the answer
    assert "{total}" not in view.timer.pattern
    driving = desk.order("BOOKED", "CALL_DRIVER", ride={"allotted_at": NOON - timedelta(seconds=5)})
    view = seen_by(desk, driving, fast)
    assert view.fee_from == "2026-05-04T08:30:10.000Z"  # 300 service seconds take 15 s
    hours = [step.time[:2] for step in view.steps if step.time]
    assert hours == ["16", "17"]  # counted back from 17:40, at the same speed


def test_while_the_clock_is_held_timers_are_words(desk: Desk) -> None:
    fast = Turn(NOON - timedelta(seconds=10), NOON, 20.0)
    held = Turn(NOON - timedelta(seconds=2), NOON + timedelta(seconds=160), 0.0)
    waits = {"allotted_at": None}
    searching = desk.order("BOOKED", "ALLOTMENT_PENDING", ride=waits)
    before = seen_by(desk, searching, fast, held)
    desk.now += timedelta(minutes=5)
    after = seen_by(desk, searching, fast, held)
    assert before.timer == after.timer
    assert before.timer is not None
    assert (before.timer.since, before.timer.until, before.timer.speed) == ("", "", None)
    assert "{" not in before.timer.pattern
    assert (before.held, before.speed) == (after.held, None) == ("14:02", None)


def test_while_the_clock_is_held_cancelling_stays_free(desk: Desk) -> None:
    held = Turn(NOON - timedelta(seconds=1), NOON, 0.0)
    late = {"allotted_at": NOON - timedelta(seconds=60)}
    driving = desk.order("BOOKED", "CALL_DRIVER", ride=late)
    desk.now += timedelta(minutes=20)
    view = seen_by(desk, driving, Turn(NOON - timedelta(hours=1), NOON, 1.0), held)
    assert view.fee_from == ""
    ended = desk.order("BOOKED", "BOOKING_CANCELLED", ride=late, actions=[("cancel", "done", {})])
    detail = seen_by(desk, ended, Turn(NOON - timedelta(hours=1), NOON, 1.0), held).detail
    assert "fee" not in detail


def test_a_fee_is_mentioned_after_a_cancel_only_if_it_can_apply(desk: Desk) -> None:
    late = {"allotted_at": NOON - timedelta(minutes=9)}
    assert (
        ride(desk, "point_to_point", "BOOKING_CANCELLED", ride=late, in_state_s=1).detail
        == "A fee of ₹30 may be charged."
    )
    assert (
        ride(desk, "point_to_point", "BOOKING_CANCELLED", ride={"allotted_at": None}).detail
        == "This ride is over."
    )


def test_a_ride_that_had_lost_its_driver_costs_nothing_when_it_is_cancelled(desk: Desk) -> None:
    late = {"allotted_at": NOON - timedelta(minutes=9)}
    order_id = desk.order("BOOKED", "BOOKING_CANCELLED", ride=late, in_state_s=1)

    def event(name: str, kind: str, ago_s: int) -> None:
        at = NOON - timedelta(seconds=ago_s)
        desk.add(lambda s: add_event(s, s.get_one(Order, order_id), kind, name, at))

    assert "fee" in (view_of(desk, order_id).detail or "")
    event("driver_lost", "event", 4)
    assert "fee" not in (view_of(desk, order_id).detail or "")
    event("CALL_DRIVER", "ride", 3)
    assert "fee" in (view_of(desk, order_id).detail or "")


def test_a_swapped_car_is_announced_and_the_old_plate_stays_for_half_a_minute(desk: Desk) -> None:
    order_id = desk.order(
        "BOOKED", "CALL_DRIVER", ride={"previous_plate": "KA05MN9876", "swapped_at": NOON}
    )
    view = view_of(desk, order_id)
    assert view.notices[0].title == "Car changed: now KA 01 AB 1234"
    assert view.cab is not None
    assert view.cab.was == "KA 05 MN 9876"
    desk.now = NOON + timedelta(seconds=31)
    later = view_of(desk, order_id)
    assert later.cab is not None
    assert later.cab.was == ""


def test_an_unknown_status_is_reported_beside_the_last_known_one(desk: Desk) -> None:
    view = ride(desk, "point_to_point", "CALL_DRIVER", ride={"reported": "TELEPORTING"})
    assert view.headline.startswith("Driver on the way")
    assert view.notices[0].title == "The ride company reports “TELEPORTING”"


def test_refused_orders_show_the_reason_and_the_next_step(desk: Desk) -> None:
    view = view_of(desk, desk.order("REJECTED", code="BANNED USER"))
    assert view.headline == "Not booked: the ride company blocked this account"
    assert (
        view.detail
        == "That is the ride company's decision. Use the house account, or contact partner support."
    )
    guest = view_of(desk, desk.order("REJECTED", code="OUTSTANDING_DUE"), Audience.GUEST)
    assert guest.detail == "Please ask our staff about payment"
    share = view_of(desk, desk.order("REJECTED", kind="share", message="No cabs headed there"))
    assert share.headline == "Not booked: no shared ride that way now"
    assert "“No cabs headed there”" in share.detail


def test_the_newest_refusal_of_an_action_is_shown_until_the_status_changes(desk: Desk) -> None:
    refused = ("cancel", "refused", {"code": "CANCELLATION_NOT_ALLOWED", "text": "Not now"})
    view = ride(desk, "point_to_point", "CLIENT_LOCATED", actions=[refused])
    assert [n.title for n in view.notices] == ["Can't be cancelled now"]
    moved = ride(desk, "point_to_point", "CLIENT_LOCATED", actions=[refused], in_state_s=-5)
    assert moved.notices == ()


@pytest.mark.parametrize(
    ("age_s", "how"), [(2, "fresh"), (25, "aging"), (70, "stale"), (400, "lost"), (None, "stale")]
)
def test_freshness_has_four_steps(desk: Desk, age_s: int | None, how: str) -> None:
    seen = None if age_s is None else NOON - timedelta(seconds=age_s)
    assert ride(desk, "point_to_point", "CALL_DRIVER", ride={"seen_at": seen}).freshness == how


def test_the_poll_interval_is_the_workers_and_polling_ends_with_the_ride(desk: Desk) -> None:
    assert ride(desk, "auto", "CALL_DRIVER", ride={"interval_s": 0.2}).poll_ms == 500
    assert ride(desk, "auto", "CALL_DRIVER", ride={"interval_s": 4.0}).poll_ms == 4000
    over = {"next_poll_at": None, "interval_s": 60.0}
    assert ride(desk, "auto", "COMPLETED", ride=over).stop is True
    assert ride(desk, "auto", "COMPLETED").stop is False
    assert (
        ride(desk, "auto", "COMPLETED", ride=over, actions=[("feedback", "unconfirmed", {})]).stop
        is False
    )


@pytest.mark.parametrize(
    "facts", [{}, {"position": "nonsense", "price": 7}, {"vehicle_number": "x" * 300}, None]
)
@pytest.mark.parametrize(("kind", "status"), CASES)
def test_missing_or_odd_facts_never_break_the_page(
    desk: Desk, kind: str, status: str, facts: dict[str, Any] | None
) -> None:
    odd = {
        "facts": facts if facts is not None else {},
        "seen_at": None,
        "allotted_at": None,
        "position_at": None,
    }
    view = ride(
        desk,
        kind,
        status,
        ride=odd,
        currency=None,
        cancellation={"charge": "x"},
        drop_lat=None,
        drop_lng=None,
        drop_name=None,
        pickup_name=None,
        price_text=None,
        phone=None,
        room=None,
    )
    assert view.headline


@pytest.mark.parametrize("written", [str, lambda due: due.replace("T", " ").replace("+", ",0 +")])
def test_the_next_attempt_of_a_match_is_shown_until_it_has_passed(
    desk: Desk, written: Callable[[str], str]
) -> None:
    """Times are also read in spellings that are seen in practice (docs/field-notes.md 5)."""
    due = written((NOON + timedelta(seconds=30)).isoformat())
    order_id = desk.order("MATCHING", "ALLOTMENT_PENDING", "share", txn_id="T", next_retry=due)
    assert "next try 14:00:30" in view_of(desk, order_id).headline
    desk.now = NOON + timedelta(seconds=31)
    assert "next try" not in view_of(desk, order_id).headline


def test_short_formats_of_values() -> None:
    from decimal import Decimal

    assert money(Decimal("240.00"), "INR") == "₹240"
    assert money(Decimal("1240.5"), "EUR") == "€1,240.50"
    assert money(Decimal(5), None) == "5"
    assert money(Decimal(5), "<b>") == "5"
    assert money(None, "INR") == ""
    assert plate("ka-01 ab1234") == "KA 01 AB 1234"
    assert plate("TAXI  7") == "TAXI 7"
    assert spelled("KA 01") == "K A 0 1"
    assert initials("Driver Cedar") == "DC"
    assert initials(None) == ""


def test_a_short_rest_of_a_trip_is_not_about_under_a_minute(desk: Desk) -> None:
    assert [time_left(s) for s in (30, 60, 61, None, -5)] == [
        "under a minute left",
        "about 1 min left",
        "about 2 min left",
        "",
        "",
    ]
    short, longer = (
        {"facts": snapshot_facts("point_to_point", "IN_PROGRESS", eta={"seconds": seconds})}
        for seconds in (40, 240)
    )
    for facts, words in ((short, "under a minute left"), (longer, "about 4 min left")):
        order_id = desk.order("BOOKED", "IN_PROGRESS", ride=facts)
        assert view_of(desk, order_id).headline == f"On trip\u00a0· {words}"
        assert view_of(desk, order_id, Audience.GUEST).detail.lower() == words


def test_times_are_formatted_without_translations(desk: Desk) -> None:
    assert [age(s) for s in (1, 25, 130, 7300)] == ["just now", "25 s ago", "2 min ago", "2 h ago"]
    assert [minutes(s) for s in (30, 60, 61, None, -5)] == [
        "under a minute",
        "1 min",
        "2 min",
        "",
        "",
    ]


@pytest.mark.parametrize(
    "text", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "soon", "2026-13-45"]
)
def test_an_unreadable_next_attempt_is_shown_unchanged(desk: Desk, text: str) -> None:
    view = view_of(desk, desk.order("MATCHING", kind="share", txn_id="T", next_retry=text))
    assert text in f"{view.headline} {view.detail}"
