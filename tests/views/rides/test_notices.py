"""Notices of a ride page that depend on facts: prices, fees, stops, payments and typed text."""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from ridedash.rides.tracking.merge import merged_facts
from ridedash.service.types.bookings import DOCUMENT_OPTIONS, Done
from ridedash.service.types.tracking import Snapshot
from ridedash.service_time import REAL
from ridedash.store.orders import order_page
from ridedash.views.rides.view_model import RideView, ride_view
from ridedash.wording import Audience, refusal
from tests.views.ride_pages import NOON, Desk, compact, make_desk, snapshot_facts, token

pytestmark = pytest.mark.database

STATION = {"lat": -38.51, "lng": -127.99, "name": "Central Station"}
MINUTE = timedelta(minutes=1)


class Service:
    """Accepts every call."""

    def cancel_booking(self, *_args: Any) -> Done:
        return Done()

    abort_booking = update_drop_location = cancel_booking

    def feedback_options(self, *_args: Any) -> Any:
        return DOCUMENT_OPTIONS


class Tokens:
    def bearer(self, _account_id: int) -> str:
        return "token"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = make_desk(tmp_path)
    made.services.tokens, made.services.client = Tokens(), Service()
    yield made
    made.close()


@pytest.fixture
def client(desk: Desk) -> FlaskClient:
    return desk.client()


def without_scripts(page: str) -> str:
    return re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)


def view(desk: Desk, order_id: int) -> RideView:
    with desk.app.test_request_context(), desk.services.db.read() as s:
        page = order_page(s, desk.ids["desk.property"], order_id)
        assert page is not None
        return ride_view(page, desk.now, REAL, "en", Audience.STAFF)


def post(client: FlaskClient, path: str, **form: Any) -> Any:
    return client.post(path, data={"csrf_token": token(client), **form})


# ---- forms with errors


@pytest.mark.parametrize(
    ("action", "order", "form", "field"),
    [
        ("drop", ("BOOKED", "CALL_DRIVER"), {"name": "Paris"}, 'value="Paris"'),
        (
            "feedback",
            ("BOOKED", "COMPLETED"),
            {"comments": "Very kind", "rating": "9"},
            ">Very kind</textarea>",
        ),
        (
            "resolve/booked",
            ("UNKNOWN",),
            {"booking_id": "\t", "reason": "I called"},
            'value="I called"',
        ),
        (
            "resolve/not-booked",
            ("UNKNOWN",),
            {"reason": "no", "booking_id": "CRN7"},
            'value="CRN7"',
        ),
    ],
)
def test_a_form_with_errors_preserves_typed_text_and_refreshes_to_the_ride_page(
    desk: Desk,
    client: FlaskClient,
    action: str,
    order: tuple[str, ...],
    form: dict[str, str],
    field: str,
) -> None:
    order_id = desk.order(*order)
    answer = post(client, f"/rides/{order_id}/{action}", **form)
    assert answer.status_code == 422
    assert field in answer.text
    refresh = re.search(r'http-equiv="refresh" content="\d+; url=([^"]+)"', compact(answer.text))
    assert refresh is not None
    assert refresh.group(1) == f"/rides/{order_id}"


def test_a_page_that_is_no_answer_to_a_form_has_empty_fields(
    desk: Desk, client: FlaskClient
) -> None:
    page = client.get(f"/rides/{desk.order('BOOKED', 'CALL_DRIVER')}?name=Paris&reason=x").text
    assert "Paris" not in page


@pytest.mark.parametrize(
    "action", ["abort", "drop", "feedback", "withdraw", "resolve", "resolve/booked", "reopen"]
)
def test_a_get_of_a_forms_address_leads_back_to_the_ride(
    desk: Desk, client: FlaskClient, action: str
) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    answer = client.get(f"/rides/{order_id}/{action}")
    assert answer.status_code == 405
    assert f'href="/rides/{order_id}"' in answer.text


# ---- signed out elsewhere


def test_a_form_sent_after_signing_out_elsewhere_gets_a_message_and_a_link_back(
    desk: Desk, client: FlaskClient
) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    held = token(client)
    client.post("/sign-out", data={"csrf_token": held})
    answer = client.post(f"/rides/{order_id}/cancel", data={"csrf_token": held, "reason": "x"})
    assert answer.status_code == 401
    assert "You are signed out" in answer.text
    assert f'href="/sign-in?next=%2Frides%2F{order_id}"' in answer.text
    assert "open for too long" not in answer.text


def test_a_form_of_an_ended_sign_in_leads_to_the_ride_after_signing_in_again(
    desk: Desk, client: FlaskClient
) -> None:
    from ridedash.store.models.people import SignIn

    order_id = desk.order("BOOKED", "CALL_DRIVER")
    held = token(client)
    desk.add(lambda s: s.query(SignIn).delete())
    answer = client.post(f"/rides/{order_id}/drop", data={"csrf_token": held, "name": "x"})
    assert (answer.status_code, answer.headers["Location"]) == (
        303,
        f"/sign-in?next=%2Frides%2F{order_id}",
    )


def test_a_form_without_its_token_of_a_signed_in_user_gets_400(
    desk: Desk, client: FlaskClient
) -> None:
    answer = client.post(f"/rides/{desk.order('BOOKED', 'CALL_DRIVER')}/cancel")
    assert answer.status_code == 400
    assert "open for too long" in answer.text


def test_each_error_page_has_its_own_nonce(desk: Desk, client: FlaskClient) -> None:
    path = f"/rides/{desk.order('BOOKED', 'CALL_DRIVER')}/cancel"
    policies = [client.post(path).headers["Content-Security-Policy"] for _ in range(2)]
    nonces = [re.findall(r"'nonce-([^']*)'", policy) for policy in policies]
    assert all(len(set(found)) == 1 and len(found[0]) > 15 for found in nonces)
    assert nonces[0] != nonces[1]


# ---- cancelling, and its fee


def test_a_confirmed_cancel_is_the_headline_at_once_and_is_free_in_time(
    desk: Desk, client: FlaskClient
) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER", ride={"allotted_at": NOON - MINUTE})
    page = client.get(
        post(client, f"/rides/{order_id}/cancel", reason="x").headers["Location"]
    ).text
    shown = view(desk, order_id)
    assert (shown.headline, shown.detail) == ("Cancelled by our desk", "Cancelled in time: free.")
    assert (shown.booking_status, shown.cab, shown.live, shown.stop) == (
        "BOOKING_CANCELLED",
        None,
        False,
        False,
    )
    assert "Driver on the way" not in without_scripts(page)
    assert [action.name for action in shown.actions] == ["again"]


def test_a_late_cancel_may_cost_and_one_by_the_service_is_not_called_free(desk: Desk) -> None:
    late = {"allotted_at": NOON - 9 * MINUTE}
    actions = [("cancel", "done", {})]
    shown = view(desk, desk.order("BOOKED", "BOOKING_CANCELLED", ride=late, actions=actions))
    assert (shown.detail, shown.fare, shown.fare_note) == (
        "A fee of ₹30 may be charged.",
        "–",
        "A fee of ₹30 may be charged",
    )
    theirs = view(desk, desk.order("BOOKED", "BOOKING_CANCELLED", ride={"allotted_at": None}))
    assert (theirs.detail, theirs.fare, theirs.fare_note) == ("This ride is over.", "–", "")


def test_a_stopped_search_is_free_and_without_a_policy_no_fee_is_stated(desk: Desk) -> None:
    facts = {"ride": {"allotted_at": None}, "actions": [("abort", "done", {})]}
    free = view(desk, desk.order("BOOKED", "BOOKING_CANCELLED", **facts))
    # a driver accepted nine minutes ago and left again
    left = facts | {"ride": {"allotted_at": NOON - 9 * MINUTE}}
    again = view(desk, desk.order("BOOKED", "BOOKING_CANCELLED", **left))
    assert again.detail == "Cancelled in time: free."
    unsaid = view(desk, desk.order("BOOKED", "BOOKING_CANCELLED", cancellation=None, **facts))
    assert (free.detail, unsaid.detail) == ("Cancelled in time: free.", "This ride is over.")


CHARGE = "Your booking CRN000001 is cancelled. A cancellation charge of INR 25 applies."


def test_what_the_service_says_of_a_cancel_stands_below_the_outcome_and_overrules_free(
    desk: Desk, client: FlaskClient
) -> None:
    actions = [("cancel", "done", {"text": CHARGE})]
    order_id = desk.order("BOOKED", "BOOKING_CANCELLED", actions=actions)
    shown = view(desk, order_id)
    assert shown.detail == f"This ride is over. The ride company said: “{CHARGE}”"
    assert shown.fare_note == ""
    assert "INR 25" in client.get(f"/rides/{order_id}/receipt").text
    with desk.app.test_request_context(), desk.services.db.read() as s:
        page = order_page(s, desk.ids["desk.property"], order_id)
        assert page is not None
        guest = ride_view(page, desk.now, REAL, "en", Audience.GUEST)
    assert "INR 25" not in str(guest)


def test_a_confirmation_without_a_number_but_the_bookings_leaves_a_cancel_free(desk: Desk) -> None:
    actions = [("cancel", "done", {"text": "Your booking CRN000001 is cancelled."})]
    shown = view(desk, desk.order("BOOKED", "BOOKING_CANCELLED", actions=actions))
    assert shown.detail.startswith("Cancelled in time: free. The ride company said: “Your booking")


def test_a_cancel_through_the_desk_quotes_the_service(desk: Desk, client: FlaskClient) -> None:
    desk.services.client.cancel_booking = lambda *_args: Done(text=CHARGE)
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    page = client.get(post(client, f"/rides/{order_id}/cancel", reason="x").headers["Location"])
    assert without_scripts(page.text).count("INR 25") == 1


def test_what_the_service_says_of_a_new_drop_stands_below_the_outcome_and_stays(
    desk: Desk, client: FlaskClient
) -> None:
    done = Done(text="The fare is now <b>INR 410</b>")
    desk.services.client.update_drop_location = lambda *_args: done
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    form = {"lat": "-38.49", "lng": "-127.98", "name": "Pier"}
    answer = post(client, f"/rides/{order_id}/drop", **form)
    page = without_scripts(client.get(answer.headers["Location"]).text)
    assert page.count("said: “The fare is now &lt;b&gt;INR 410&lt;/b&gt;”") == 2
    assert view(desk, order_id).as_json()["said_drop"].endswith("“The fare is now <b>INR 410</b>”")


def test_the_services_own_page_of_a_ride_is_a_link_without_referrer(
    desk: Desk, client: FlaskClient
) -> None:
    page = "https://rides.example/follow/CRN1"
    facts = snapshot_facts("point_to_point", "CALL_DRIVER", share_ride_url=page)
    order_id = desk.order("BOOKED", "CALL_DRIVER", ride={"facts": facts})
    html = client.get(f"/rides/{order_id}").text
    link = html.split('data-slot="share_url"')[1].split(">")[0]
    assert f'href="{page}"' in link
    assert 'rel="noopener noreferrer"' in link


@pytest.mark.parametrize(
    ("message", "code", "quote"),
    [
        ("A booking fee of INR 20 applies", None, "INR 20"),
        ("SUCCESS", None, ""),
        ("NoAnswer", "NO_ANSWER", ""),
    ],
)
def test_what_the_service_says_of_a_booking_is_on_its_page_for_staff(
    desk: Desk, client: FlaskClient, message: str, code: str | None, quote: str
) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER", message=message, code=code)
    assert quote in view(desk, order_id).said_create
    assert bool(view(desk, order_id).said_create) == bool(quote)
    assert quote in client.get(f"/rides/{order_id}").text


def test_a_later_poll_with_a_driver_overrules_the_cancel(desk: Desk, client: FlaskClient) -> None:
    done = [("cancel", "done", {"settled_at": NOON - 10 * timedelta(seconds=1)})]
    order_id = desk.order("BOOKED", "CALL_DRIVER", actions=done, ride={"seen_at": NOON})
    assert view(desk, order_id).booking_status == "CALL_DRIVER"


def test_the_snapshot_changes_when_only_seen_at_changed_its_text(
    desk: Desk, client: FlaskClient
) -> None:
    from ridedash.store.orders import Ride

    order_id = desk.order("BOOKED", "CALL_DRIVER", actions=[("cancel", "done", {})])
    path = f"/rides/{order_id}/snapshot.json"
    first = client.get(path)
    later = NOON + timedelta(seconds=6)
    desk.add(lambda s: s.query(Ride).filter(Ride.order_id == order_id).update({"seen_at": later}))
    again = client.get(path, headers={"If-None-Match": first.headers["ETag"]})
    assert (first.json or {})["booking_status"] == "BOOKING_CANCELLED"
    assert (again.status_code, (again.json or {})["booking_status"]) == (200, "CALL_DRIVER")


# ---- prices


@pytest.mark.parametrize("state", ["REJECTED", "NOT_SENT", "CLOSED_NOT_BOOKED", "FAILED"])
def test_an_order_without_a_ride_shows_no_price(
    desk: Desk, client: FlaskClient, state: str
) -> None:
    order_id = desk.order(state)
    assert (client.get(f"/rides/{order_id}/snapshot.json").json or {})["fare"] == "–"


@pytest.mark.parametrize("status", ["BOOKING_CANCELLED", "ALLOTMENT_FAILED"])
def test_a_ride_without_a_passenger_shows_no_price(
    desk: Desk, client: FlaskClient, status: str
) -> None:
    order_id = desk.order("BOOKED", status, seat_prices={"": "249"})
    assert (client.get(f"/rides/{order_id}/snapshot.json").json or {})["fare"] == "–"


@pytest.mark.parametrize(
    ("seat_prices", "fare", "note"),
    [
        ({}, "meter fare, about ₹210–260", "Estimated for the old drop; the meter decides"),
        ({"": "249"}, "₹249", "Fixed for the old drop; the ride company may set another price"),
    ],
)
def test_a_price_for_the_old_drop_is_marked_as_such(
    desk: Desk, seat_prices: dict[str, str], fare: str, note: str
) -> None:
    moved = [("drop", "done", {"payload": STATION})]
    shown = view(desk, desk.order("BOOKED", "CALL_DRIVER", seat_prices=seat_prices, actions=moved))
    assert (shown.fare, shown.fare_note) == (fare, note)


@pytest.mark.parametrize(
    ("age_s", "note"), [(-2, "From the ride company"), (2, "From before the drop was changed")]
)
def test_the_services_price_is_shown_once_it_is_newer_than_the_change(
    desk: Desk, age_s: int, note: str
) -> None:
    moved = [("drop", "done", {"payload": STATION})]
    seen = {"seen_at": NOON - timedelta(seconds=age_s)}
    assert (
        view(desk, desk.order("BOOKED", "IN_PROGRESS", actions=moved, ride=seen)).fare_note == note
    )


# ---- an auto's bill


def bill(desk: Desk, **trip: Any) -> tuple[list[tuple[str, str]], tuple[str, ...], str]:
    facts = snapshot_facts(
        "auto", "COMPLETED", trip={"billing_enabled": True, "amount": "31.5", **trip}
    )
    shown = view(desk, desk.order("BOOKED", "COMPLETED", "auto", ride={"facts": facts}))
    assert shown.invoice is not None
    return (
        [(line.label, line.amount) for line in shown.invoice.lines if line.total],
        shown.invoice.notes,
        shown.headline,
    )


def test_a_bill_not_paid_in_cash_requests_no_payment(
    desk: Desk,
) -> None:
    lines, notes, headline = bill(desk, payable_amount="36.5", cash_paid="0")
    assert lines == [("Total", "₹36.50")]
    assert (
        notes[0] == "Not paid in cash: from the wallet, or not yet. The ride company does not say."
    )
    assert headline.endswith("₹36.50")


def test_a_bill_paid_in_cash_shows_the_paid_part(desk: Desk) -> None:
    lines, notes, _ = bill(desk, payable_amount="36.5", cash_paid="36.5")
    assert lines == [("Total", "₹36.50"), ("Paid in cash", "₹36.50")]
    assert not any("does not say" in note for note in notes)
    assert bill(desk, payable_amount="36.5", cash_paid="20")[1][0].startswith(
        "The rest was paid from the wallet"
    )


@pytest.mark.parametrize(
    ("before", "after", "cash", "note"),
    [
        ("100", "63.5", "0", "Paid from the wallet: its balance fell by ₹36.50."),
        ("100", "63.5", None, "Paid from the wallet: its balance fell by ₹36.50."),
        ("100", "83.5", "20", "The rest was paid from the wallet: its balance fell by ₹16.50."),
        ("100", "100", "0", "Not paid in cash; the wallet's balance was the same with the bill"),
        ("100", "90", "0", "Not paid in cash: from the wallet, or not yet. The ride company does"),
        ("100", "120", "0", "Not paid in cash: from the wallet, or not yet. The ride company does"),
        ("100", None, "0", "Not paid in cash: from the wallet, or not yet. The ride company does"),
        (None, "63.5", "0", "Not paid in cash: from the wallet, or not yet. The ride company does"),
    ],
)
def test_what_two_balances_prove_of_a_payment_is_said(
    desk: Desk, before: str | None, after: str | None, cash: str | None, note: str
) -> None:
    trip = {"billing_enabled": True, "amount": "31.5", "payable_amount": "36.5", "cash_paid": cash}
    billed = Snapshot(booking_status="INVOICE", svc_money_balance=before)
    ended = Snapshot(booking_status="COMPLETED", svc_money_balance=after, trip=trip)
    facts = merged_facts(merged_facts(Snapshot(), billed, "INVOICE", "C"), ended, "COMPLETED", "C")
    ride = {"facts": facts.model_dump(mode="json")}
    order_id = desk.order("BOOKED", "COMPLETED", "auto", payment="svc_money", ride=ride)
    shown = view(desk, order_id)
    assert shown.invoice is not None
    assert shown.invoice.notes[0].startswith(note)


def test_a_bill_without_facts_of_its_payment_shows_that(desk: Desk) -> None:
    assert bill(desk, payable_amount="36.5")[1][0] == (
        "Paid from the wallet or to the driver: the ride company does not say."
    )


def test_a_ride_with_an_advance_costs_the_advance_and_the_rest(desk: Desk) -> None:
    paid = {"advance": "20", "convenience_charge": "5", "cash_paid": "0"}
    lines, _notes, headline = bill(desk, payable_amount="16.5", **paid)
    assert lines == [("Total", "₹36.50")]
    assert headline.endswith("₹36.50")
    facts = snapshot_facts(
        "auto",
        "INVOICE",
        trip={"billing_enabled": True, "amount": "31.5", "payable_amount": "16.5", **paid},
    )
    order_id = desk.order("BOOKED", "INVOICE", "auto", ride={"facts": facts}, payment="cash")
    shown = view(desk, order_id)
    assert shown.headline.endswith("₹16.50")
    assert shown.invoice is not None
    assert [(line.label, line.amount) for line in shown.invoice.lines] == [
        ("Meter fare", "₹31.50"),
        ("Convenience charge", "₹5.00"),
        ("Total", "₹36.50"),
        ("Paid in advance", "−₹20.00"),
        ("To pay", "₹16.50"),
    ]


def test_a_ride_without_cash_and_payable_amount_is_not_shown_as_free(desk: Desk) -> None:
    lines, _, headline = bill(desk, cash_paid="0", convenience_charge="5")
    assert lines == [("Total", "₹36.50")]
    assert headline.endswith("₹36.50")


# ---- distances, days, feedback


def test_the_distance_is_the_drivers_before_the_ride_and_the_rides_during_it(desk: Desk) -> None:
    coming, riding = (
        view(desk, desk.order("BOOKED", status)) for status in ("CALL_DRIVER", "IN_PROGRESS")
    )
    assert (coming.distance_label, riding.distance_label) == ("Driver's distance", "Still to go")
    assert view(desk, desk.order("BOOKED", "CLIENT_LOCATED")).distance_label == ""


def test_a_completed_ride_shows_its_distance_and_time_as_far_as_known(desk: Desk) -> None:
    assert view(desk, desk.order("BOOKED", "COMPLETED", "auto")).took == "7.2 km · 23 min"
    assert view(desk, desk.order("BOOKED", "COMPLETED")).took == "about 3 min"
    assert view(desk, desk.order("BOOKED", "CALL_DRIVER")).took == ""


def test_a_ride_of_another_day_shows_its_day(desk: Desk, client: FlaskClient) -> None:
    order_id = desk.order("BOOKED", "COMPLETED", age_s=0)
    assert "14:00 · Concierge desk" in client.get(f"/rides/{order_id}").text
    desk.now = NOON + timedelta(days=1)
    client = desk.client()  # the first sign-in has ended
    assert "4 May 14:00 · Concierge desk" in client.get(f"/rides/{order_id}").text
    ended = desk.order("REJECTED", resolved_at=NOON)
    rows = (client.get("/board.json").json or {})["rows"]
    assert [row["placed"] for row in rows if row["id"] == ended] == ["4 May 14:00"]


def test_feedback_that_was_sent_is_shown_and_can_not_be_sent_again(
    desk: Desk, client: FlaskClient
) -> None:
    sent = {"payload": {"rating": 4, "options": ["On-time pickup"], "comments": "Kind driver"}}
    order_id = desk.order("BOOKED", "COMPLETED", actions=[("feedback", "done", sent)])
    page = client.get(f"/rides/{order_id}").text
    assert 'aria-label="4 stars"' in page
    assert "On-time pickup" in page
    assert "Kind driver" in page
    assert f'action="/rides/{order_id}/feedback"' not in page


# ---- a cancel that waits for a booking number


def armed(desk: Desk, status: str | None, **facts: Any) -> RideView:
    waits = [("cancel", "armed", {"payload": {"armed": True}})]
    return view(
        desk,
        desk.order("BOOKED" if status else "MATCHING", status, "share", actions=waits, **facts),
    )


def test_a_matched_share_does_not_wait_for_a_match_any_more(desk: Desk) -> None:
    assert [n.title for n in armed(desk, None, txn=True, txn_id="T1").notices] == [
        "It will be cancelled as soon as it is matched."
    ]
    shown = armed(desk, "CALL_DRIVER")
    assert [n.title for n in shown.notices] == ["Matched: it is being cancelled now"]
    assert "as soon as matched" not in str(shown.actions)
    nameless = view(desk, desk.order("BOOKED", "CALL_DRIVER", "share", txn=True, txn_id="T2"))
    assert [a.label for a in nameless.actions] == ["Cancel as soon as it has a number"]


# ---- acknowledged refusals


def test_an_order_that_failed_can_be_dismissed_from_its_page(
    desk: Desk, client: FlaskClient
) -> None:
    order_id = desk.order("REJECTED", code="PAYMENT_PENDING", resolved_at=NOON)
    (row,) = (client.get("/board.json").json or {})["rows"]
    assert (row["group"], row.get("why", "")) == ("needs", "")
    assert row["headline"].startswith("Not booked: a payment of the account")
    assert 'name="item" value="not_booked"' in client.get(f"/rides/{order_id}").text
    post(client, f"/rides/{order_id}/acknowledge", item="not_booked")
    assert [row["group"] for row in (client.get("/board.json").json or {})["rows"]] == ["done"]
    assert 'name="item" value="not_booked"' not in client.get(f"/rides/{order_id}").text


def test_a_drop_that_create_refused_has_its_own_message_and_a_link_back(
    desk: Desk, client: FlaskClient
) -> None:
    words = refusal("INVALID_DROP_LOCATION", Audience.STAFF)
    assert (words.headline, words.next_step) == (
        "The ride company does not take this drop",
        "Use an outstation car, or choose a nearer drop.",
    )
    assert refusal("INVALID_DROP_LOCATION", Audience.STAFF, ordering=False, drop="Airport").why == (
        "Still going to Airport."
    )
    order_id = desk.order("REJECTED", code="INVALID_DROP_LOCATION")
    assert "Still going" not in client.get(f"/rides/{order_id}").text
    assert f"again={order_id}&" in post(client, f"/rides/{order_id}/again").headers["Location"]
