"""A press of Book at a kiosk: one order, at the price shown, with a ticket for its page alone."""

import re
from collections.abc import Iterator
from datetime import timedelta
from itertools import product
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import func, select

from ridedash.extensions import limiter
from ridedash.rides.kiosk.approvals import AskAnswer, answer_ask, waiting_asks
from ridedash.rides.kiosk.desk_codes import NewCode, make_code
from ridedash.rides.kiosk.opening import DAYS
from ridedash.service_time import ServiceTime, Turn
from ridedash.store.accounts import accounts_of, add_account
from ridedash.store.audit import AuditRow
from ridedash.store.models.desk import Link
from ridedash.store.models.kiosks import KioskAsk, WhoPays
from ridedash.store.models.people import Guest, Property
from ridedash.store.orders import Offer, Order, Ride
from ridedash.wire import TERMINAL
from tests.views.fake_service import upfront
from tests.views.kiosk.lobby import DROP, Lobby, desk, lobby
from tests.views.ride_pages import snapshot_facts

__all__ = ["desk", "lobby"]
pytestmark = pytest.mark.database
FORGED = {  # last_ids() has the fields that name rows
    "payment": "svc_money",
    "staff": "1",
    "staff_id": "1",
    "kiosk_id": "9",
    "price": "1",
    "fare_id": "none",
    "house_pays": "1",
    "coupon": "FREE",
    "cars": "6",
    "pickup_time": "2026-03-05T10:00",
    "category": "suv",
    "payment_instrument_type": "svc_money",
    "property_id": "2",
    "approved": "1",
    "rule": "driver",
    "attended": "1",
}


def desk_code(lobby: Lobby, **facts: Any) -> str:
    app = lobby.services
    return make_code(app.db, lobby.desk.now, app.settings.secret_key, NewCode(1, 1, **facts))


def decide(
    lobby: Lobby, *, approved: bool = True, house_pays: bool = False, reason: str = ""
) -> None:
    """Answer, as the desk, the only request for approval that waits."""
    app = lobby.services
    with app.db.read() as s:
        (waiting,) = waiting_asks(s, app.vault, 1, lobby.desk.now)
    decision = AskAnswer(waiting.id, 1, 1, approved, house_pays, reason)
    assert answer_ask(app.db, lobby.desk.now, decision)


def booked(lobby: Lobby, **form: Any) -> dict[str, Any]:
    """Book a ride; returns what the page of its visit learns about the ride."""
    offer = form.pop("offer", None) or lobby.offer()
    lobby.order(offer=offer, **form)
    lobby.become(lobby.orders()[-1].id, "BOOKED")
    answer = lobby.order(offer=offer, **form)
    assert answer["state"] == "booked"
    return dict(answer["ride"])


def ride_of(lobby: Lobby, order_id: int, status: str, otp: str = "", **facts: Any) -> None:
    """Give an order a ride in this status, as polls would have stored it."""
    app = lobby.services
    with app.db.write() as s:
        order = s.get_one(Order, order_id)
        ride = s.query(Ride).filter_by(order_id=order_id).first()
        if ride is None:
            ride = Ride(
                property_id=1,
                account_id=order.account_id,
                order_id=order_id,
                kind=order.kind,
                booking_id=order.booking_id,
                retried=False,
                created_at=lobby.desk.now,
                poll_seq=0,
                merged_seq=0,
                interval_s=5.0,
                errors=0,
                poison=0,
                unknown_id=0,
                final_polls=0,
                facts={},
            )
            s.add(ride)
            s.flush()
        ride.status, ride.facts = status, snapshot_facts("point_to_point", status, **facts)
        ride.seen_at = ride.next_poll_at = ride.allotted_at = lobby.desk.now
        ride.otp_enc = app.vault.encrypt(otp, "rides", ride.id, "otp") if otp else None
        order.version, order.open = order.version + 1, status not in TERMINAL


def test_a_press_makes_an_order_and_the_same_press_tells_what_came_of_it(lobby: Lobby) -> None:
    offer = lobby.offer()
    first = lobby.order(offer=offer)
    assert (first["state"], first["ride"]["number"]) == ("sending", "K1")
    assert "link" not in first["ride"]
    second = lobby.order(offer=offer, name="Somebody Else", phone="nonsense")
    assert second["ride"] == first["ride"]
    (order,) = lobby.orders()
    assert (order.payment, order.kiosk_id, order.staff_id, order.state) == (
        "cash",
        lobby.id,
        None,
        "READY",
    )
    lobby.become(order.id, "BOOKED")
    answer = lobby.order(offer=offer)
    ride = answer["ride"]
    assert answer["state"] == "booked"
    assert (ride["number"], ride["pin"]) == (first["ride"]["number"], first["ride"]["pin"])
    assert ride["qr"]["size"] > 20
    assert ride["short"] == ride["link"].split("://")[1]
    (address, _x, _y), *others = ride["map"]["tiles"]
    assert address.startswith("/tiles/17/")
    assert len(others) >= 3
    assert ride["map"]["credit"] == "", "the page has words for the sandbox's"
    assert lobby.order(offer=offer)["ride"] == ride  # the same link, made once
    with lobby.services.db.read() as s:
        assert s.query(Link).count() == 1
    page = lobby.desk.app.test_client().get("/t/" + ride["link"].rsplit("/", 1)[1])
    assert page.status_code == 200


def uncounted(lobby: Lobby) -> None:
    """Forget the requests that were counted for the rate limits."""
    with lobby.desk.app.test_request_context():
        limiter.reset()


def last_ids(lobby: Lobby, account: int) -> dict[str, str]:
    """The forged fields that name rows: an account, and the newest row of each other table."""
    found = {"account": account, "account_id": account}
    newest = {"guest_id": Guest, "ask_id": KioskAsk, "override_guard": Order}
    with lobby.services.db.read() as s:
        for name, table in newest.items():
            found[name] = s.scalar(select(func.max(table.id))) or 1
    return {name: f"{number}" for name, number in found.items()}


def forged_order(lobby: Lobby, rule: str, attended: bool, code: str, account: int) -> Order | None:
    """Post a form with every forged field, twice. Returns the order that it made, or None."""
    forged = FORGED | last_ids(lobby, account)
    lobby.set(rule=rule, attended=attended)
    lobby.next_guest()
    uncounted(lobby)
    known = {order.id for order in lobby.orders()}
    typed = {"": "", "forged": "000001"}.get(code)
    if typed is None:
        typed = desk_code(lobby, house_pays=code == "house")
    form = forged | {"offer": lobby.offer(), "code": typed}
    first, again = lobby.order(**form), lobby.order(**form)
    made = [order for order in lobby.orders() if order.id not in known]
    if not made:
        wanted = "asking" if rule == "approval" and not code else "needs_code"
        assert first["state"] == ("wrong_code" if code == "forged" else wanted), (rule, code)
        return None
    assert first["ride"] == again["ride"]
    (order,) = made
    lobby.become(order.id, "REJECTED")  # a rejected order counts for no limit
    return order


def test_no_forged_form_books_on_the_house_account_or_on_another_account(lobby: Lobby) -> None:
    app = lobby.services
    with app.db.write() as s:
        house = accounts_of(s, 1)[0].id
        other = add_account(s, app.vault, 1, "Another", "token", lobby.desk.now).id
    for rule, attended, code in product(WhoPays, (False, True), ("", "forged", "cash", "house")):
        lobby.desk.now += timedelta(minutes=20)  # wrong codes and unanswered asks are forgotten
        order = forged_order(lobby, rule, attended, code, other)
        by_code = code in ("cash", "house")
        free = rule == WhoPays.DRIVER or attended
        assert (order is not None) is (by_code or (free and not code)), (rule, attended, code)
        if order is None:
            continue
        assert (order.payment == "cash") is (code != "house"), (rule, attended, code)
        owned = (order.account_id, order.kiosk_id, order.staff_id)
        assert owned == (house, lobby.id, None)
        trip = (order.category, order.pickup_at, order.group_key, order.guard_override_by)
        assert trip == ("mini", None, None, None)


def test_offers_of_others_are_no_cars_here(lobby: Lobby) -> None:
    form = lobby.desk.form()
    for offer in (form["offer"], "999", "0", "-1", "x", ""):
        answer = lobby.order(offer=offer)
        assert (answer["state"], answer["words"]["headline"]) == (
            "refused",
            "This car can't be booked now.",
        )
    assert lobby.orders() == []


@pytest.mark.parametrize(
    ("form", "headline"),
    [
        ({"name": "\U0001f600\U0001f600"}, "Who is the ride for?"),
        ({"name": ""}, "Who is the ride for?"),
        ({"name": "a" * 21}, "Who is the ride for?"),
        ({"name": "\u202e…"}, "Who is the ride for?"),
        ({"phone": "12"}, "This phone number can't be right."),
    ],
)
def test_what_a_guest_says_of_themselves_is_checked(
    lobby: Lobby, form: dict[str, str], headline: str
) -> None:
    answer = lobby.order(**form)
    assert (answer["state"], answer["words"]["headline"]) == ("refused", headline)
    assert answer["field"] == next(iter(form)), "which the page asks for again"
    assert lobby.orders() == []
    assert lobby.order(name="Ana", phone="")["state"] == "sending", "the same press, mended"


def test_a_room_is_a_room_and_a_phone_is_for_the_desk_alone(lobby: Lobby) -> None:
    lobby.order(name="412", phone="022-2778 3300")
    guest = lobby.page(lobby.ride(1)).guest
    assert (guest.name, guest.room, guest.phone, guest.unverified) == (
        "Room 412",
        "412",
        "+912227783300",
        True,
    )
    assert "2778" not in lobby.orders()[0].body


def test_an_old_offer_is_priced_again_and_a_changed_price_is_shown(lobby: Lobby) -> None:
    offer = lobby.offer()
    lobby.desk.now += timedelta(minutes=3)
    assert lobby.order(offer=offer)["state"] == "sending"  # the price is still the same
    lobby.next_guest()
    offer = lobby.offer()
    lobby.desk.now += timedelta(minutes=3)
    lobby.desk.service.estimates = [upfront("mini", 265, "fare-2")]
    answer = lobby.order(offer=offer, name="Bo")
    assert answer["state"] == "changed"
    assert (answer["changed"]["old"], answer["changed"]["new"]) == ("₹240", "₹265")
    assert answer["words"]["why"] == "It was ₹240. It is ₹265 now."
    assert len(lobby.orders()) == 1
    assert lobby.order(offer=answer["changed"]["offer"], name="Bo")["state"] == "sending"
    with lobby.services.db.read() as s:
        assert s.get_one(Offer, lobby.orders()[1].offer_id).fare_id == "fare-2"


def test_a_car_that_is_gone_is_not_booked(lobby: Lobby) -> None:
    offer = lobby.offer()
    lobby.desk.now += timedelta(minutes=3)
    lobby.desk.service.categories = []
    assert lobby.order(offer=offer)["state"] == "refused"
    lobby.desk.service.down = True
    answer = lobby.order(offer=offer)
    assert answer["state"] == "refused", "the page has a button to try again"
    assert answer["words"]["headline"] == "We can't ask for cars now."
    assert lobby.orders() == []


def test_a_desk_code_says_who_pays_and_counts_once(lobby: Lobby) -> None:
    lobby.set(rule="code")
    offer = lobby.offer()
    assert lobby.order(offer=offer)["state"] == "needs_code"
    assert lobby.order(offer=offer, code="000000")["state"] == "wrong_code"
    code = desk_code(lobby, house_pays=True)
    assert lobby.order(offer=offer, code=code)["state"] == "sending"
    assert lobby.order(offer=offer, code=code)["state"] == "sending"  # the same order
    assert [order.payment for order in lobby.orders()] == [None]
    lobby.next_guest()
    assert lobby.order(name="Bo", code=code)["state"] == "wrong_code"


def test_after_five_wrong_codes_the_right_one_is_refused_too(lobby: Lobby) -> None:
    lobby.set(rule="code")
    offer, code = lobby.offer(), desk_code(lobby)
    states = [lobby.order(offer=offer, code=f"{n:06}")["state"] for n in range(5)]
    assert states == ["wrong_code"] * 5
    assert lobby.order(offer=offer, code=code)["words"]["headline"] == "Too many wrong codes."
    lobby.desk.now += timedelta(minutes=10, seconds=1)
    code = desk_code(lobby)
    assert lobby.order(offer=lobby.offer(), code=code)["state"] == "sending"


def test_a_share_is_booked_on_the_house_account_alone(lobby: Lobby) -> None:
    code = desk_code(lobby, house_pays=True)
    offer = lobby.offer("Share", code=code)
    assert lobby.order(offer=offer, seats="2")["state"] == "refused"
    assert lobby.order(offer=offer, code=code)["words"]["headline"] == "How many people go?"
    assert lobby.order(offer=offer, code=code, seats="2")["state"] == "sending"
    assert (lobby.orders()[0].seats, lobby.orders()[0].payment) == (2, None)


def test_after_an_approval_the_price_is_requested_again(lobby: Lobby) -> None:
    lobby.set(rule="approval")
    offer = lobby.offer()
    assert lobby.order(offer=offer)["state"] == "asking"
    assert lobby.order(offer=offer)["state"] == "asking"
    decide(lobby, house_pays=True)
    requests_before = len(lobby.desk.service.questions("/v1/products"))
    answer = lobby.order(offer=offer, name="Somebody Else")
    assert answer["state"] == "sending"
    assert len(lobby.desk.service.questions("/v1/products")) == requests_before + 1
    page = lobby.page(lobby.ride(1))
    assert (page.order.payment, page.guest.name) == (None, "Ana")  # the guest who was approved
    assert page.order.offer_id != offer


def test_an_approval_is_needed_again_at_another_price_if_the_property_pays(
    lobby: Lobby,
) -> None:
    lobby.set(rule="approval")
    offer = lobby.offer()
    lobby.order(offer=offer)
    decide(lobby, house_pays=True)
    lobby.desk.service.estimates = [upfront("mini", 265, "fare-2")]
    answer = lobby.order(offer=offer)
    assert (answer["state"], answer["changed"]["new"]) == ("changed", "₹265")
    newer = answer["changed"]["offer"]
    assert lobby.order(offer=newer)["state"] == "asking"
    assert lobby.orders() == []
    decide(lobby, house_pays=True)
    assert lobby.order(offer=newer)["state"] == "sending"
    assert len(lobby.orders()) == 1


def test_a_guest_who_pays_decides_alone_about_another_price(lobby: Lobby) -> None:
    lobby.set(rule="approval")
    offer = lobby.offer()
    lobby.order(offer=offer)
    decide(lobby)
    lobby.desk.service.estimates = [upfront("mini", 265, "fare-2")]
    answer = lobby.order(offer=offer)
    assert answer["state"] == "changed"
    assert lobby.order(offer=offer)["state"] == "changed"  # repeated, it accepts no new price
    assert lobby.orders() == []
    assert lobby.order(offer=answer["changed"]["offer"])["state"] == "sending"
    assert lobby.orders()[0].payment == "cash"


def test_a_declined_ask_and_an_unanswered_ask_are_shown(lobby: Lobby) -> None:
    lobby.set(rule="approval")
    offer = lobby.offer()
    lobby.order(offer=offer)
    decide(lobby, approved=False, reason="not_guest")
    answer = lobby.order(offer=offer)
    assert (answer["state"], answer["words"]["headline"]) == (
        "declined",
        "Our desk books rides for guests of the house only.",
    )
    lobby.next_guest()
    offer = lobby.offer()
    assert lobby.order(offer=offer, name="Bo")["state"] == "asking"
    lobby.desk.now += timedelta(seconds=181)
    answer = lobby.order(offer=offer, name="Bo")
    assert (answer["state"], answer["words"]["headline"]) == (
        "declined",
        "Our desk did not answer.",
    )
    assert lobby.orders() == []


def test_a_guest_who_leaves_while_the_desk_decides_gets_no_car(lobby: Lobby) -> None:
    lobby.set(rule="approval")
    offer = lobby.offer()
    lobby.order(offer=offer)
    assert lobby.client.post("/kiosk/end", data={"visit": lobby.visit}).status_code == 204
    assert lobby.order(offer=offer)["state"] == "declined"
    assert lobby.orders() == []


def beat(lobby: Lobby) -> dict[str, Any]:
    return lobby.post("beat")


def test_a_limit_is_refused_in_words_for_guests_and_reported_to_the_desk(lobby: Lobby) -> None:
    offer = lobby.offer()
    for name in ("Ana", "Bo", "Cy"):
        lobby.next_guest()
        assert lobby.order(name=name, offer=offer)["state"] == "sending"
    lobby.next_guest()
    answer = lobby.order(name="Di", offer=offer)
    assert (answer["state"], answer["words"]["headline"]) == (
        "full",
        "Guests who booked here still wait for their cars.",
    )
    assert len(lobby.orders()) == 3
    assert [item.detail for item in lobby.page(lobby.ride(3)).attention] == ["live"]
    with lobby.services.db.read() as s:
        written = s.query(AuditRow).filter_by(what="kiosk.refused").one()
    assert (written.who, written.result) == (f"kiosk:{lobby.id}", "live")


def test_at_a_limit_the_start_and_the_cars_say_so_before_any_other_question(lobby: Lobby) -> None:
    lobby.set(most_waiting=1)
    offer = lobby.offer()
    assert beat(lobby)["full"] == ""
    lobby.order(offer=offer)
    assert beat(lobby)["full"] == "live"
    lobby.next_guest()
    answer = lobby.cars()
    assert (answer["state"], answer["cars"]) == ("trouble", [])
    assert answer["words"]["headline"] == "Guests who booked here still wait for their cars."
    assert [item.name for item in lobby.page(lobby.ride(1)).attention] == ["kiosk_limit"]
    lobby.become(lobby.ride(1), "REJECTED")  # the place is free again
    assert beat(lobby)["full"] == ""
    assert lobby.cars()["state"] == "ok"


def test_the_start_says_that_a_code_is_needed_and_when_wrong_ones_stop_all(lobby: Lobby) -> None:
    assert (beat(lobby)["needs_code"], beat(lobby)["full"]) == (False, "")
    offer = lobby.offer()
    lobby.set(code_until=lobby.desk.now + timedelta(minutes=60))
    assert (beat(lobby)["needs_code"], beat(lobby)["full"]) == (True, "")
    for _ in range(5):
        assert lobby.order(offer=offer, code="000000")["state"] == "wrong_code"
    answer = lobby.order(offer=offer, code="000000")
    assert (answer["state"], answer["words"]["headline"]) == ("full", "Too many wrong codes.")
    assert beat(lobby)["full"] == "codes"
    lobby.desk.now += timedelta(minutes=10)
    assert (beat(lobby)["needs_code"], beat(lobby)["full"]) == (True, "")


def test_the_31st_order_of_an_hour_is_refused_in_words_of_its_own(lobby: Lobby) -> None:
    offer = lobby.offer()
    for _ in range(30):
        lobby.next_guest()
        assert lobby.order(name="Ana", offer=offer)["state"] == "sending"
        lobby.become(lobby.orders()[-1].id, "REJECTED")
    lobby.next_guest()
    answer = lobby.order(name="Bo", offer=offer)
    assert (answer["state"], answer["words"]["headline"]) == (
        "full",
        "Many rides were booked here in the last hour.",
    )
    assert len(lobby.orders()) == 30
    assert [item.detail for item in lobby.page(lobby.ride(30)).attention] == ["hourly"]


def test_a_name_with_a_ride_is_asked_for_its_room_and_then_booked(lobby: Lobby) -> None:
    lobby.order(name="Maria")
    lobby.next_guest()
    same = lobby.order(name="MARIA")
    assert (same["state"], same["field"]) == ("already", "name")
    assert same["words"] == {
        "headline": "There is a ride for MARIA already.",  # as this guest typed it
        "why": "Nothing was booked.",
        "next": "If it isn't yours, add your room number.",
    }
    assert lobby.order(name="Maria 204")["state"] == "sending"
    guests = [lobby.page(order.id).guest for order in lobby.orders()]
    assert [(each.name, each.room) for each in guests] == [("Maria", None), ("Maria", "204")]


@pytest.mark.parametrize("typed", ["204", "Bo 204"])
def test_a_second_car_for_a_room_is_refused_with_its_reason(lobby: Lobby, typed: str) -> None:
    lobby.order(name="Maria 204")
    lobby.next_guest()
    same = lobby.order(name=typed)
    assert (same["state"], "field" in same) == ("already", False)
    assert same["words"]["headline"] == "There is a ride for room 204 already."
    assert same["words"]["next"] == "Our desk can book a second car."
    assert "Maria" not in f"{same}"
    assert len(lobby.orders()) == 1


def test_a_phone_number_with_a_ride_reveals_no_name(lobby: Lobby) -> None:
    lobby.order(name="Maria", phone="+919800000001")
    lobby.next_guest()
    same = lobby.order(name="Bo", phone="+919800000001")
    assert (same["state"], "field" in same) == ("already", False)
    assert same["words"]["headline"] == "There is a ride for this guest already."
    assert len(lobby.orders()) == 1


@pytest.mark.parametrize(
    ("code", "headline"),
    [
        ("OUTSTANDING_DUE", "We can't book this here."),
        ("BANNED USER", "We can't book this here."),
        ("KEY_MISSING", "We can't book this here."),
        ("NO_CABS_AVAILABLE", "No car right now. Other cars may be free"),
        ("NO_CONNECTION", "Nothing was booked."),
        (None, "Nothing was booked."),
    ],
)
def test_a_refusal_names_no_account(lobby: Lobby, code: str | None, headline: str) -> None:
    offer = lobby.offer()
    lobby.order(offer=offer)
    lobby.become(lobby.ride(1), "REJECTED", code)
    answer = lobby.order(offer=offer)
    assert (answer["state"], answer["words"]["headline"]) == ("not_booked", headline)
    assert "ride" not in answer


def test_an_unclear_order_is_shown_as_such_with_its_number(lobby: Lobby) -> None:
    offer = lobby.offer()
    lobby.order(offer=offer)
    lobby.become(lobby.ride(1), "UNKNOWN", "NO_ANSWER")
    answer = lobby.order(offer=offer)
    assert answer["state"] == "unknown"
    assert answer["ride"]["number"] == "K1"
    assert answer["words"]["headline"] == "We are checking your booking. Please don't book again."
    again = lobby.order(offer=lobby.offer())
    assert again["state"] == "unknown"  # a newer offer makes no second order
    assert len(lobby.orders()) == 1


def test_after_a_proved_failure_the_same_page_may_try_again_by_a_newer_price(
    lobby: Lobby,
) -> None:
    offer = lobby.offer()
    lobby.order(offer=offer)
    lobby.become(lobby.ride(1), "NOT_SENT", "NO_CONNECTION")
    assert lobby.order(offer=offer)["state"] == "not_booked"  # the same press, repeated
    lobby.desk.now += timedelta(seconds=5)
    answer = lobby.order(offer=lobby.offer())
    assert (answer["state"], answer["ride"]["number"]) == ("sending", "K2")
    assert len(lobby.orders()) == 2


def test_a_ride_is_found_by_number_and_pin_and_by_nothing_else(lobby: Lobby) -> None:
    ride = booked(lobby)
    ride_of(lobby, lobby.ride(1), "CALL_DRIVER")
    lobby.next_guest()
    shown = lobby.post("ride", number="1", pin=ride["pin"])
    assert shown["state"] == "ok"
    view = shown["view"]
    assert view["plate"] == "KA 01 AB 1234"
    assert (view["meet"], view["detail"]) == ("Grand Hotel, lobby", "")  # not shown twice
    assert view["code_due"] is False
    assert shown["cancel"]["may"] is True
    text = f"{shown}"
    for secret in ("Ana", "driver_number", "5550"):
        assert secret not in text
    wrong = f"{(int(ride['pin']) + 1) % 10_000:04}"
    assert lobby.post("ride", number="1", pin=wrong)["state"] == "wrong"
    assert lobby.post("ride", number="2", pin=ride["pin"])["state"] == "wrong"
    for _ in range(3):
        lobby.post("ride", number="1", pin=wrong)
    assert lobby.post("ride", number="1", pin=wrong)["state"] == "closed"
    answer = lobby.post("ride", number="K1", pin=ride["pin"])
    assert (answer["state"], answer["words"]["next"]) == ("closed", "Please ask our desk about it.")
    assert [item.name for item in lobby.page(lobby.ride(1)).attention] == ["kiosk_pins"]


def test_tries_of_pins_of_many_rides_meet_the_limit_of_the_kiosk(lobby: Lobby) -> None:
    rides = []
    for name in ("Ana", "Bo", "Cy"):
        lobby.next_guest()
        rides.append(booked(lobby, name=name))
    mine, lobby.visit = lobby.visit, "j" * 32
    states = []
    for ride in rides * 4:
        typed = f"{(int(ride['pin']) + 1) % 10_000:04}"
        states.append(lobby.post("ride", number=ride["number"], pin=typed)["state"])
    assert states == ["wrong"] * 10 + ["limited"] * 2
    known = {"number": rides[2]["number"], "pin": rides[2]["pin"]}
    limited = lobby.post("ride", **known)
    assert limited["state"] == "limited"
    assert limited["words"] == {
        "headline": "Too many wrong PINs were typed here.",
        "why": "Try again in 10 min.",
        "next": "Our desk can help.",
    }
    assert beat(lobby)["pins_min"] == 10
    assert lobby.post("cancel", **known)["state"] == "limited"
    lobby.visit = mine  # the limit is not for the page that booked the ride
    assert lobby.post("ride", **known, form_token=lobby.token)["state"] == "ok"
    with lobby.services.db.read() as s:
        entry = s.query(AuditRow).filter_by(what="kiosk.pins").one()
    assert (entry.who, entry.result) == (f"kiosk:{lobby.id}", "throttled")
    lobby.desk.now += timedelta(minutes=10, seconds=1)
    assert beat(lobby)["pins_min"] is None
    lobby.visit = "k" * 32
    assert lobby.post("ride", **known)["state"] == "ok"


def test_wrong_pins_of_others_leave_a_guest_one_try_with_a_number_of_their_own(
    lobby: Lobby,
) -> None:
    rides = []
    for name in ("Ana", "Bo"):
        lobby.next_guest()
        rides.append(booked(lobby, name=name))
    lobby.visit = "j" * 32
    for _ in range(10):
        assert lobby.post("ride", number="99", pin="0000")["state"] == "wrong"
    first, second = rides
    assert lobby.post("ride", number=first["number"], pin=first["pin"])["state"] == "ok"
    assert lobby.post("ride", number=first["number"], pin=first["pin"])["state"] == "ok"
    wrong = f"{(int(second['pin']) + 1) % 10_000:04}"
    for pin in (wrong, second["pin"]):  # the one try is used up
        assert lobby.post("ride", number=second["number"], pin=pin)["state"] == "limited"
    for number in ("99", "K"):
        assert lobby.post("ride", number=number, pin="0000")["state"] == "limited"


def test_a_page_whose_ride_a_restore_has_lost_opens_no_other_with_its_number(
    lobby: Lobby,
) -> None:
    """Nor does it count as a wrong PIN, which would close the ride of the other guest."""
    ticket = lobby.order()["ride"]
    mine = {"number": ticket["number"], "pin": "0000", "form_token": "x" * 32}
    for what in ("ride", "cancel"):
        for _ in range(6):
            answer = lobby.post(what, **mine, ordered="1")
            assert answer["state"] == "gone"
            assert answer["words"]["headline"] == "We can't follow your ride here any more."
    typed = {"number": ticket["number"], "pin": ticket["pin"]}
    assert lobby.post("ride", **typed)["state"] == "ok"
    assert [row.tries for row in lobby.tickets()] == [0]


def test_wrong_pins_of_others_take_no_ride_from_the_page_that_booked_it(lobby: Lobby) -> None:
    ride = booked(lobby)
    known = {"number": ride["number"], "pin": ride["pin"]}
    own, token = lobby.visit, lobby.token
    lobby.next_guest()
    wrong = f"{(int(ride['pin']) + 1) % 10_000:04}"
    for _ in range(5):
        lobby.post("ride", number="1", pin=wrong)
    for visit, form_token in ((lobby.visit, lobby.token), (lobby.visit, token), (own, lobby.token)):
        assert lobby.post("ride", **known, visit=visit, form_token=form_token)["state"] == "closed"
    assert lobby.post("ride", number="1", pin="", visit=own, form_token=token)["state"] == "ok"
    mine = {"visit": own, "form_token": token}
    assert lobby.post("ride", number="2", pin=ride["pin"], **mine)["state"] == "wrong"
    assert (
        lobby.post("cancel", **known, **mine)["state"] == "waiting"
    )  # the service gets the request


def open_until(lobby: Lobby, minutes: int) -> None:
    """Let the kiosk's hours end in so many minutes from now."""
    with lobby.services.db.read() as s:
        home = s.get_one(Property, 1)
    local = lobby.desk.now.astimezone(ZoneInfo(home.timezone))
    closes, day = local + timedelta(minutes=minutes), DAYS[local.weekday()]
    lobby.set(hours={day: [["00:00", f"{closes:%H:%M}"]]})


@pytest.mark.parametrize("rule", ["driver", "approval"])
def test_outside_its_hours_a_kiosk_orders_nothing_whatever_its_page_shows(
    lobby: Lobby, rule: str
) -> None:
    lobby.set(rule=rule)
    offer = lobby.offer()
    open_until(lobby, -10)
    answer = lobby.order(offer=offer)
    assert (answer["state"], answer["words"]["headline"]) == (
        "trouble",
        "This screen is closed now.",
    )
    assert lobby.cars()["words"]["headline"] == "This screen is closed now."
    assert lobby.orders() == []
    with lobby.services.db.read() as s:
        assert waiting_asks(s, lobby.services.vault, 1, lobby.desk.now) == []
        assert s.query(AuditRow).filter_by(what="kiosk.refused").one().result == "hours"


def test_who_stood_there_at_closing_time_may_finish_and_sees_the_ride(lobby: Lobby) -> None:
    open_until(lobby, -3)
    offer = lobby.offer()
    first = lobby.order(offer=offer)
    assert first["state"] == "sending"
    lobby.desk.now += timedelta(minutes=30)
    assert lobby.order(offer=offer)["ride"] == first["ride"]
    assert lobby.post("ride", number="1", pin=first["ride"]["pin"])["state"] == "ok"
    assert lobby.post("cancel", number="1", pin=first["ride"]["pin"])["state"] == "ok"


def test_after_an_unanswered_ask_the_next_guest_does_not_wait_for_the_desk(lobby: Lobby) -> None:
    def is_open() -> bool:
        answer = lobby.client.post("/kiosk/beat", data={"screen": "start"})
        return bool(answer.get_json()["open"])

    lobby.set(rule="approval")
    offer = lobby.offer()
    lobby.order(offer=offer)
    assert is_open()
    lobby.client.post("/kiosk/end", data={"visit": lobby.visit})
    lobby.desk.now += timedelta(seconds=181)
    assert is_open(), "a guest who left tells nothing of the desk"
    lobby.next_guest()
    offer = lobby.offer()
    assert lobby.order(offer=offer, name="Bo")["state"] == "asking"
    lobby.desk.now += timedelta(seconds=181)
    assert lobby.order(offer=offer, name="Bo")["state"] == "declined"
    lobby.client.post("/kiosk/end", data={"visit": lobby.visit})
    assert not is_open()
    lobby.next_guest()
    answer = lobby.cars()
    assert (answer["state"], answer["words"]["headline"]) == ("trouble", "Our desk did not answer.")
    assert lobby.order(offer=offer, name="Cy")["state"] == "trouble"
    code = desk_code(lobby)  # a code shows that there are staff at the desk
    assert lobby.order(offer=offer, name="Di", code=code)["state"] == "sending"
    lobby.set(rule="driver")
    assert is_open()
    lobby.set(rule="approval")
    lobby.desk.now += timedelta(minutes=10)
    assert is_open()
    lobby.next_guest()
    offer = lobby.offer()
    assert lobby.order(offer=offer, name="Ed")["state"] == "asking"
    decide(lobby)
    assert lobby.order(offer=offer, name="Ed")["state"] == "sending"
    assert is_open()


def test_the_start_code_is_shown_when_requested_and_due_and_is_audited(lobby: Lobby) -> None:
    ride = booked(lobby)
    ride_of(lobby, lobby.ride(1), "CALL_DRIVER", otp="4821")
    form = {"number": "K1", "pin": ride["pin"], "code": "1"}
    assert lobby.client.post("/kiosk/end", data={"visit": lobby.visit}).status_code == 204
    lobby.next_guest()
    assert "code" not in lobby.post("ride", **form)
    ride_of(lobby, lobby.ride(1), "CLIENT_LOCATED", otp="4821")
    assert "code" not in lobby.post("ride", **(form | {"code": ""}))
    assert lobby.post("ride", **form)["code"] == "4821"
    ride_of(lobby, lobby.ride(1), "IN_PROGRESS", otp="4821")
    riding = lobby.post("ride", **form)
    assert "code" not in riding
    assert riding["view"]["meet"] == ""
    assert riding["view"]["headline"] == "On your way"
    with lobby.services.db.read() as s:
        shown = s.query(AuditRow).filter_by(what="code_shown").one()
    assert (shown.who, shown.facts["by"]) == (f"kiosk:{lobby.id}", "kiosk")


def test_the_page_of_the_visit_has_shown_its_ticket_when_it_asks_for_the_ride(
    lobby: Lobby,
) -> None:
    ride = booked(lobby)
    assert lobby.visits()[0].screen == "sending"
    own, lobby.visit = lobby.visit, "x" * 32
    lobby.post("ride", number="1", pin=ride["pin"])  # from the page of another visit
    assert lobby.visits()[0].screen == "sending"
    lobby.visit = own
    lobby.post("ride", number="1", pin=ride["pin"])
    assert next(row for row in lobby.visits() if row.id == own).screen == "booked"


def test_a_guest_cancels_by_the_call_that_the_state_allows(lobby: Lobby) -> None:
    offer = lobby.offer()
    ride = lobby.order(offer=offer)["ride"]
    known = {"number": "1", "pin": ride["pin"]}
    assert lobby.post("ride", **known)["cancel"] == {
        "may": True,
        "fee_words": "Cancelling costs nothing now.",
    }
    answer = lobby.post("cancel", **known)
    assert (answer["state"], answer["words"]["headline"]) == ("ok", "This ride is cancelled.")
    (order,) = lobby.orders()
    assert (order.state, order.code) == ("NOT_SENT", "WITHDRAWN")
    again = lobby.post("cancel", **known)  # as if the first answer had been lost
    assert (again["state"], again["words"]["headline"]) == ("ok", "This ride is cancelled.")
    assert lobby.post("cancel", number="1", pin="x")["state"] == "wrong"


def test_a_fee_is_shown_before_the_ride_is_cancelled(lobby: Lobby) -> None:
    ride = booked(lobby)
    ride_of(lobby, lobby.ride(1), "CALL_DRIVER")
    known = {"number": "1", "pin": ride["pin"]}
    free = lobby.post("ride", **known)["cancel"]["fee_words"]
    assert free == "Cancelling costs nothing until 14:35, then ₹30."
    lobby.desk.now += timedelta(minutes=6)
    assert lobby.post("ride", **known)["cancel"]["fee_words"] == "Cancelling may cost ₹30."
    ride_of(lobby, lobby.ride(1), "IN_PROGRESS")
    assert lobby.post("ride", **known)["cancel"] == {"may": False, "fee_words": ""}


HOSTILE: list[Any] = ["", "x" * 5_000, "\x00", "-1", "9" * 40, "‮", "[]", "1e309", "' OR 1=1", "ñ"]
FIELDS = (
    *("visit", "lang", "drop_lat", "drop_lng", "drop_name", "point", "offer", "form_token", "look"),
    *("seats", "name", "phone", "code", "number", "pin", "screen", "how", "aids", "seconds"),
    *("mode", "clock_ms", "language", "q", "tab", "deed", "mm_per_px", "bottom_mm"),
)
ROUTES = ("beat", "cars", "order", "ride", "cancel", "help", "end", "pair")
PART = '--x\r\nContent-Disposition: form-data; name="visit"'
OF_PARTS = "multipart/form-data; boundary=x"
OF_FORMS = "application/x-www-form-urlencoded"
SHAPES = (  # bodies that are no forms, with the type that they claim to have
    (b"\xff\xfe\x00visit=", OF_FORMS),
    (b"visit=%ff%zz&offer=%00&lang=%f0%9f", f"{OF_FORMS}; charset=utf-16"),
    (b"&".join([b"visit=v"] * 1_100), OF_FORMS),
    (b"=&&=;%", OF_FORMS),
    (b'{"visit": {"a": [1e999]}, "offer": null', "application/json"),
    (b"[]", "application/json; charset=nonsense"),
    (f"{PART}\r\n\r\n".encode(), OF_PARTS),
    (f"{PART}\r\nContent-Type: text/plain; charset=utf-99\r\n\r\nv\r\n--x--".encode(), OF_PARTS),
    (f"{PART}; filename=v\r\n\r\nv\r\n--x--\r\n".encode(), OF_PARTS),
    (b"visit=v", "multipart/form-data"),
    (b"\x00" * 99, "\xffnonsense"),
)


def hostile_bodies(lobby: Lobby) -> Iterator[dict[str, Any]]:
    """What an attacker posts, as arguments of a test client's post()."""
    for number, value in enumerate(HOSTILE * 2):
        form = {name: HOSTILE[(number + i) % len(HOSTILE)] for i, name in enumerate(FIELDS)}
        form |= {"visit": lobby.visit} if number % 3 == 0 else {}
        form |= DROP if number % 2 else {}
        yield {"data": form | {"lang": value}}
    for data, content_type in SHAPES:
        yield {"data": data, "content_type": content_type}


def test_no_body_breaks_a_route_or_orders_anything(lobby: Lobby) -> None:
    lobby.set(rule="approval")
    for what in ROUTES:
        for body in hostile_bodies(lobby):
            uncounted(lobby)
            status = lobby.client.post(f"/kiosk/{what}", **body).status_code
            assert status in (200, 204, 400, 404, 413, 422), (what, body)
    for value in HOSTILE:
        for field in ("q", "tab", "lang"):
            answer = lobby.client.get("/kiosk/places.json", query_string={field: value})
            assert answer.status_code == 200, (field, value)
    assert lobby.orders() == []


def test_a_search_that_found_no_driver_is_shown_and_the_page_may_try_again(lobby: Lobby) -> None:
    offer = lobby.offer()
    lobby.order(offer=offer)
    lobby.become(lobby.ride(1), "BOOKED")
    ride_of(lobby, lobby.ride(1), "ALLOTMENT_FAILED")
    answer = lobby.order(offer=offer)
    assert (answer["state"], answer["words"]["headline"]) == (
        "no_driver",
        "No driver found this time",
    )
    lobby.desk.now += timedelta(seconds=5)
    assert lobby.order(offer=lobby.offer())["ride"]["number"] == "K2"


def test_while_a_demos_clock_is_held_the_ride_says_so(
    lobby: Lobby, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = {"number": "K1", "pin": booked(lobby)["pin"]}
    ride_of(lobby, lobby.ride(1), "CALL_DRIVER")
    assert lobby.post("ride", **form)["view"]["held"] == ""
    line = ServiceTime((Turn(lobby.desk.now, lobby.desk.now, 0.0),))
    monkeypatch.setattr(lobby.services, "time", lambda: line)
    held = lobby.post("ride", **form)["view"]["held"]
    assert re.fullmatch(r"The demo's clock is held at \d\d:\d\d\. All rides stand still\.", held)


def test_another_car_is_shown_with_the_plate_of_the_one_before(lobby: Lobby) -> None:
    ride = booked(lobby)
    ride_of(lobby, lobby.ride(1), "CALL_DRIVER")
    with lobby.services.db.write() as s:
        row = s.query(Ride).one()
        row.previous_plate, row.swapped_at = "KA02CD9876", lobby.desk.now
        s.get_one(Order, lobby.ride(1)).version += 1
    view = lobby.post("ride", number="1", pin=ride["pin"])["view"]
    assert view["changed"] == "Your car has changed"
    assert (view["plate"], view["old_plate"]) == ("KA 01 AB 1234", "KA 02 CD 9876")


def test_a_shared_ride_is_cancelled_as_soon_as_it_is_matched(lobby: Lobby) -> None:
    code = desk_code(lobby, house_pays=True)
    offer = lobby.offer("Share", code=code)
    ride = lobby.order(offer=offer, code=code, seats="1")["ride"]
    lobby.become(lobby.ride(1), "MATCHING")
    answer = lobby.post("cancel", number="1", pin=ride["pin"])
    assert (answer["state"], answer["words"]["headline"]) == (
        "waiting",
        "We have asked to cancel your ride.",
    )
    (action,) = lobby.page(lobby.ride(1)).actions
    assert (action.name, action.state, action.staff_id) == ("cancel", "armed", None)
