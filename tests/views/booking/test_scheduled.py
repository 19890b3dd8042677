"""Scheduled rides: the booking form, the ride page before they are ordered, changes, the board."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from ridedash.rides.journals.answer_journal import AnswerJournal
from ridedash.rides.worker import Worker
from ridedash.service_time import REAL
from ridedash.store.models.orders import Attention, Offer, Order
from ridedash.store.models.people import Property, Staff
from ridedash.store.orders import OrderPage, order_page
from ridedash.views.rides.view_model import ride_view
from ridedash.wording import Audience
from tests.views.booking.test_pages import Desk, cards, desk, filled, sign_in
from tests.views.ride_pages import compact

__all__ = ["desk"]
pytestmark = pytest.mark.database
LATER = {"when": "later", "pickup_date": "2026-03-05", "pickup_time": "05:10"}
# 05:10 in Kolkata; the desk's clock starts at 14:30 of the day before
PICKUP = datetime(2026, 3, 4, 23, 40, tzinfo=UTC)


def plan(desk: Desk, **changes: str) -> int:
    """Schedule a ride through the form. Returns the order's id."""
    answer = desk.press(desk.form(), **(LATER | changes))
    assert answer.status_code == 303, words(answer.text)
    return int(answer.headers["Location"].rsplit("/", 1)[1])


def words(page: str) -> str:
    """The text of a page, without its markup."""
    return " ".join(
        unescape(
            re.sub(r"<[^>]+>", " ", re.sub(r"(?s)<(script|style|template).*?</\1>", " ", page))
        ).split()
    )


def ride_words(desk: Desk, order_id: int) -> str:
    return words(desk.client.get(f"/rides/{order_id}").text)


def rows(client: FlaskClient) -> list[dict[str, Any]]:
    body = client.get("/board.json").json
    assert body is not None
    return list(body["rows"])


def go(desk: Desk, at: datetime) -> None:
    """Set the clock to another time, and sign in again."""
    desk.now = at
    desk.client = desk.app.test_client()
    sign_in(desk.client)


def zone(desk: Desk, name: str) -> None:
    with desk.app.extensions["ridedash"].db.write() as s:
        s.query(Property).update({"timezone": name})


def test_the_form_offers_now_and_later_on_the_propertys_clock(desk: Desk) -> None:
    page = desk.page()
    assert 'name="when" value="now" checked' in compact(page)
    assert 'max="2026-04-03" min="2026-03-04"' in page
    assert "On this house's clock (Asia/Kolkata), 15 minutes to 30 days ahead." in words(page)
    assert (
        "today's price" in cards(desk.page(pickup_lat="-38.5", pickup_lng="-128", show="1"))["mini"]
    )


def test_a_ride_is_scheduled_for_a_local_time_and_nothing_is_sent_before(desk: Desk) -> None:
    plan(desk)
    (order,) = desk.orders()
    assert (order.state, order.pickup_at) == ("SCHEDULED", PICKUP)
    assert order.due_at == PICKUP - timedelta(minutes=3 + 10), (
        "the cab's three minutes, and ten more by default"
    )
    assert '"pickup_mode":"now"' in order.body


def test_a_form_without_a_choice_books_now(desk: Desk) -> None:
    desk.press(desk.form() | {"pickup_date": "nonsense", "pickup_time": ""})
    assert [(order.state, order.pickup_at) for order in desk.orders()] == [("READY", None)]


def test_a_form_sent_twice_makes_one_scheduled_order_and_changed_is_refused(desk: Desk) -> None:
    form = desk.form()
    first, again = (desk.press(form, **LATER) for _ in range(2))
    assert first.headers["Location"] == again.headers["Location"]
    assert desk.press(form, **(LATER | {"pickup_time": "06:10"})).status_code == 409
    assert len(desk.orders()) == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pickup_time": ""}, "At what time? Type one, such as 18:15 or tomorrow 0615."),
        ({"pickup_time": "soon"}, "At what time? Choose one, such as 05:10."),
        ({"pickup_date": ""}, "On which day? Choose one, such as 2026-03-05."),
        ({"pickup_date": "5 March"}, "On which day? Choose one, such as 2026-03-05."),
        ({"pickup_date": "2026-03-04", "pickup_time": "14:44"}, "Too soon to plan"),
        ({"pickup_date": "2026-03-03"}, "Too soon to plan"),
        ({"pickup_date": "2026-04-03", "pickup_time": "14:31"}, "Too far ahead"),
        ({"pickup_date": "2199-12-31", "pickup_time": "23:59"}, "Too far ahead"),
        (
            {"pickup_date": "0001-01-01", "pickup_time": "00:00"},
            "On which day? Choose one",
        ),
    ],
)
def test_an_invalid_time_is_refused_with_a_message_and_typed_text_is_preserved(
    desk: Desk, changes: dict[str, str], message: str
) -> None:
    sent = LATER | {"note": "two bags", "guest_name": "Guest Wren"} | changes
    answer = desk.press(desk.form(), **sent)
    assert answer.status_code == 422
    assert message in words(answer.text)
    assert 'name="when" value="later" checked' in compact(answer.text)
    typed = [sent["pickup_time"], sent["guest_name"], "two bags"] + (
        [sent["pickup_date"]] if sent["pickup_date"] else []
    )
    assert all(each in answer.text for each in typed)
    assert desk.orders() == []


def test_a_typed_time_is_read_on_the_propertys_clock_and_shown_in_full(desk: Desk) -> None:
    def read(**query: str) -> dict[str, Any]:
        answer = desk.client.get("/pickup-time.json", query_string=query).get_json()
        assert answer.pop("quick") == ["+30 min", "+1 hour", "today 20:00", "tomorrow 06:00"]
        assert answer.pop("now") == "2026-03-04T09:00:00.000Z"
        return dict(answer)

    tomorrow = {
        "day": "2026-03-05",
        "clock": "06:15",
        "which": "",
        "at": "2026-03-05T00:45:00.000Z",
        "said": "Tomorrow, Thu 5 Mar, 06:15, in 15 h 45 min",
    }
    assert read(words="tomorrow 0615") == read(day="2026-03-05", clock="06:15") == tomorrow
    assert read(words="+30")["said"] == "Today, Wed 4 Mar, 15:00, in 30 min"
    assert read(words="sun 09:00")["said"] == "Sun 8 Mar, 09:00, in 4 days"
    assert "Too soon" in read(words="in 5 min")["error"]
    assert "error" not in read(words="in 5 min", kept="2026-03-04T14:35"), "a plan keeps its own"
    assert "Too far ahead" in read(words="5 apr 09:00")["error"]
    assert read(words="4 mar 06:00") == {"error": "That time is over: 06:00.", "choices": []}
    assert read(words="this morning 6") == {
        "error": "06:00 is over. Choose the next one, or type another time.",
        "choices": [
            {"words": "2026-03-05 06:00", "said": "Tomorrow, Thu 5 Mar, 06:00, in 15 h 30 min"}
        ],
    }
    asked = read(words="6")["choices"]
    assert [each["words"] for each in asked] == ["2026-03-04 18:00", "2026-03-05 06:00"]
    assert [read(words=each["words"])["said"] for each in asked] == [each["said"] for each in asked]
    assert read() == {}
    go(desk, datetime(2026, 3, 4, 20, 0, tzinfo=UTC))  # 01:30 in Kolkata
    quick = desk.client.get("/pickup-time.json").get_json()["quick"]
    assert quick == ["+30 min", "+1 hour", "today 06:00", "today 20:00"]


def test_a_ride_is_planned_by_words_alone_and_wrong_words_are_preserved(desk: Desk) -> None:
    refused = desk.press(desk.form(), when="later", pickup_words="3/4 6")
    assert refused.status_code == 422
    assert "“3/4” may be two days. Choose one." in words(refused.text)
    assert 'value="3/4 6"' in refused.text
    plan(desk, pickup_date="", pickup_time="", pickup_words="tomorrow 0510")
    shown = desk.press(desk.form(), quick="tomorrow 06:00")
    assert "Tomorrow, Thu 5 Mar, 06:00, in 15 h 30 min" in words(shown.text)
    assert 'name="when" value="later" checked' in compact(shown.text)
    assert [order.pickup_at for order in desk.orders()] == [PICKUP]


def test_a_time_is_typed_in_the_words_of_the_staff_member(desk: Desk) -> None:
    def read_words(**query: str) -> dict[str, Any]:
        return dict(desk.client.get("/pickup-time.json", query_string=query).get_json())

    with desk.app.extensions["ridedash"].db.write() as s:
        s.query(Staff).update({"language": "de"})
    assert "18:15, morgen 0615, Fr 14, in 40 Min." in desk.client.get("/rides/new").text
    assert (read_words(words="morgen 0615")["day"], read_words()["quick"][0]) == (
        "2026-03-05",
        "+30 Min",
    )
    assert read_words(words="tomorrow 0615")["clock"] == "06:15"
    assert "morgen 0615" in read_words(words="irgendwann")["error"]
    assert desk.press(desk.form(), when="later", pickup_words="morgen 6 Uhr").status_code == 303
    assert [order.pickup_at for order in desk.orders()] == [datetime(2026, 3, 5, 0, 30, tzinfo=UTC)]


def test_which_of_two_times_is_meant_that_clocks_show_is_asked_and_booked(desk: Desk) -> None:
    zone(desk, "Europe/Berlin")
    go(desk, datetime(2026, 10, 24, 12, 0, tzinfo=UTC))
    answer = desk.client.get("/pickup-time.json?words=tomorrow+0230").get_json()
    assert answer["error"] == "Clocks go back then and show 02:30 twice. Choose one."
    assert "day" not in answer
    assert [each["said"].partition(" · ")[2] for each in answer["choices"]] == [
        "first, before clocks go back",
        "second, after clocks go back",
    ]
    refused = desk.press(desk.form(), when="later", pickup_words="tomorrow 0230")
    assert refused.status_code == 422
    for number, each in enumerate(answer["choices"]):
        assert f'value="{each["words"]}"' in refused.text
        shown = desk.press(desk.form(), quick=each["words"])
        assert each["said"] in words(shown.text)
        plan(desk, pickup_time="", pickup_words=each["words"], guest_name=f"Guest {number}")
    first = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    assert [order.pickup_at for order in desk.orders()] == [first, first + timedelta(hours=1)]


def test_quick_choices_work_in_an_hour_that_clocks_show_twice(desk: Desk) -> None:
    zone(desk, "Europe/Berlin")
    for minute in range(0, 150, 15):
        now = datetime(2026, 10, 24, 23, 30, tzinfo=UTC) + timedelta(minutes=minute)
        go(desk, now)
        for words_ in desk.client.get("/pickup-time.json").get_json()["quick"]:
            answer = desk.client.get("/pickup-time.json", query_string={"words": words_}).get_json()
            assert "error" not in answer, (now, words_, answer)
            sent = {"day": answer["day"], "clock": answer["clock"], "which": answer["which"]}
            again = desk.client.get("/pickup-time.json", query_string=sent).get_json()
            assert again["at"] == answer["at"], "the form sends the day and time that were shown"


def test_a_local_time_that_does_not_exist_is_refused_with_the_next_one(desk: Desk) -> None:
    zone(desk, "Europe/Berlin")
    go(desk, datetime(2026, 3, 28, 12, 0, tzinfo=UTC))
    answer = desk.press(desk.form(), when="later", pickup_date="2026-03-29", pickup_time="02:30")
    assert answer.status_code == 422
    assert "that time does not exist on that day. The next time that does is 03:00." in words(
        answer.text
    )


def test_a_page_shows_which_of_two_times_is_meant_and_a_change_keeps_it(desk: Desk) -> None:
    zone(desk, "Europe/Berlin")
    go(desk, datetime(2026, 10, 24, 12, 0, tzinfo=UTC))
    night = {"pickup_date": "2026-10-25", "pickup_time": "02:30"}
    asked = desk.press(desk.form(), when="later", **night)
    assert "Clocks go back then and show 02:30 twice. Choose one." in words(asked.text)
    second = plan(desk, **night, pickup_which="second", guest_name="Guest Wren")
    assert "The car is booked for the second of the two." in ride_words(desk, second)
    form = filled(desk.client.get(f"/rides/new?change={second}").text)
    assert form["pickup_which"] == "second"
    assert desk.press(form | night, note="gate 3").status_code == 303
    order_id = plan(desk, **night, pickup_which="first")
    assert [order.pickup_at for order in desk.orders()] == [
        datetime(2026, 10, 25, 1, 30, tzinfo=UTC),
        datetime(2026, 10, 25, 0, 30, tzinfo=UTC),
    ]
    text = ride_words(desk, order_id)
    assert "Planned for 02:30 tomorrow" in text
    assert (
        "02:30 comes twice that night Clocks go back then. The car is booked for the first of the "
        "two." in text
    )


def test_a_scheduled_rides_page_shows_the_time_and_offers_change_and_withdraw(desk: Desk) -> None:
    order_id = plan(desk)
    text = ride_words(desk, order_id)
    assert "Planned for 05:10 tomorrow" in text
    assert "The ride company is asked at 04:57." in text
    assert "Priced when booked; it was ₹240 fixed when planned" in text
    assert re.findall(r'data-action="(\w+)"', desk.client.get(f"/rides/{order_id}").text) == [
        "change",
        "withdraw",
    ]
    go(desk, PICKUP - timedelta(hours=4))
    assert "Planned for 05:10 today" in ride_words(desk, order_id)


def test_the_guests_page_shows_that_the_ride_is_scheduled(desk: Desk) -> None:
    order_id = plan(desk)
    services = desk.app.extensions["ridedash"]
    with services.db.read() as s, desk.app.test_request_context("/"):
        page = order_page(s, desk.orders()[0].property_id, order_id)
        assert page is not None
        view = ride_view(page, desk.now, REAL, "en", Audience.GUEST)
    assert (view.headline, view.detail) == ("Your ride is planned", "For 05:10 tomorrow")


def test_an_order_due_just_after_midnight_shows_the_day_of_ordering(
    desk: Desk,
) -> None:
    order_id = plan(desk, pickup_time="00:05")
    assert "The ride company is asked at 23:52 today." in ride_words(desk, order_id)


def test_the_board_lists_scheduled_rides_apart_with_the_next_first(
    desk: Desk,
) -> None:
    ids = [
        plan(desk, pickup_time=at, guest_name=f"Guest {at}") for at in ("09:00", "05:10", "07:30")
    ]
    found = [row for row in rows(desk.client) if row["group"] == "later"]
    assert [row["id"] for row in found] == [ids[1], ids[2], ids[0]]
    assert [row["headline"] for row in found] == [
        f"Planned for {at} tomorrow" for at in ("05:10", "07:30", "09:00")
    ]
    assert "Later" in words(desk.client.get("/").text)


def test_a_scheduled_ride_is_changed_in_the_same_form(desk: Desk) -> None:
    order_id = plan(desk, note="two bags", guest_phone="022 2778 3300")
    page = desk.client.get(f"/rides/new?change={order_id}").text
    assert "Change a planned ride" in page
    for field in (
        'value="2026-03-05"',
        'value="05:10"',
        "two bags",
        'value="Guest Heron"',
        'value="+912227783300"',
    ):
        assert field in page
    assert cards(page)["mini"]
    sent = filled(page) | {
        "pickup_date": "2026-03-06",
        "pickup_time": "06:00",
        "guest_phone": "",
        "note": "gate 3",
    }
    answer = desk.press(sent)
    assert answer.headers["Location"] == f"/rides/{order_id}?said=change-done"
    (order,) = desk.orders()
    assert (order.id, order.state, order.note) == (order_id, "SCHEDULED", "gate 3")
    assert order.pickup_at == datetime(2026, 3, 6, 0, 30, tzinfo=UTC)
    text = words(desk.client.get(answer.headers["Location"]).text)
    assert "Changed. It is booked as it stands here." in text
    assert "Planned for 06:00 on Fri 6 Mar" in text


def test_a_conflicting_change_is_shown_and_saved_when_sent_again(desk: Desk) -> None:
    order_id = plan(desk)
    mine, theirs = (
        filled(desk.client.get(f"/rides/new?change={order_id}").text) | LATER for _ in range(2)
    )
    assert desk.press(theirs, note="theirs").status_code == 303
    refused = desk.press(mine, note="mine")
    assert refused.status_code == 409
    assert "Somebody changed this ride meanwhile." in words(refused.text)
    assert "mine" in refused.text
    again = filled(refused.text) | LATER | {"note": "mine"}
    assert desk.press(again).status_code == 303
    assert desk.orders()[0].note == "mine"


def test_a_ride_that_is_not_scheduled_any_more_is_shown_instead_of_changed(desk: Desk) -> None:
    order_id = plan(desk)
    form = filled(desk.client.get(f"/rides/new?change={order_id}").text) | LATER
    token = form["csrf_token"]
    desk.client.post(f"/rides/{order_id}/withdraw", data={"csrf_token": token})
    answer = desk.press(form, note="too late")
    assert answer.headers["Location"] == f"/rides/{order_id}?said=change-not_now"
    assert "Not possible any more" in words(desk.client.get(answer.headers["Location"]).text)
    assert desk.client.get(f"/rides/new?change={order_id}").status_code == 303
    assert desk.orders()[0].note is None


def test_a_change_of_another_propertys_ride_gets_404(desk: Desk) -> None:
    order_id = plan(desk)
    with desk.app.extensions["ridedash"].db.write() as s:
        other = Property(name="Other House", timezone="UTC", created_at=desk.now)
        s.add(other)
        s.flush()
        s.get_one(Order, order_id).property_id = other.id
    assert "Change a planned ride" not in desk.page(change=str(order_id))
    desk.press(desk.form(), **LATER, change=str(order_id), version="1", note="not mine")
    assert [order.note for order in desk.orders()] == [None, "not mine"], "a ride of its own"


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("NO_CONNECTION", "The ride company could not be reached."),
        ("PLAN_CAR_GONE", "This car type isn't offered there now: choose another."),
        ("PLAN_GUARD_BUSY", "The guest already has a ride from there."),
        ("INVALID_CITY", "No service at this pickup."),
        ("SOMETHING_NEW", "There is nothing to pay."),
    ],
)
def test_a_ride_that_could_not_be_ordered_yet_needs_attention_with_its_reason(
    desk: Desk, code: str, message: str
) -> None:
    order_id = plan(desk)
    go(desk, PICKUP - timedelta(minutes=10))
    with desk.app.extensions["ridedash"].db.write() as s:
        order = s.get_one(Order, order_id)
        order.tries, order.lease_until = 2, desk.now + timedelta(seconds=10)
        item = Attention(
            property_id=order.property_id, order_id=order_id, name="not_ordered_yet", detail=code
        )
        item.raised_at = desk.now
        s.add(item)
    page = ride_words(desk, order_id)
    assert "This planned ride could not be booked yet" in page
    assert message in page
    assert "Not booked yet; next try at 05:00:10." in page
    assert [row["group"] for row in rows(desk.client)] == ["needs"]
    change = desk.client.get(f"/rides/new?change={order_id}").text
    assert ("Book a second car on purpose" in change) is (code == "PLAN_GUARD_BUSY")


def worker_by_led_clock(desk: Desk, journal: AnswerJournal) -> Worker:
    """A worker that does not compare the desk's clock, which the test sets, with PostgreSQL's."""
    runtime = desk.app.extensions["ridedash"].runtime
    return Worker(replace(runtime, compares_clock=False), journal)


def ordered_by_the_worker(desk: Desk, tmp_path: Path, order_id: int) -> OrderPage:
    """Let the worker order a scheduled ride, ten minutes before its pickup. Returns its page."""
    services = desk.app.extensions["ridedash"]
    go(desk, PICKUP - timedelta(minutes=10))
    journal = AnswerJournal(tmp_path / "box", slots=4)
    worker = worker_by_led_clock(desk, journal)
    worker.promoter.promote(order_id)
    journal.close()
    with services.db.read() as s:
        page = order_page(s, desk.orders()[0].property_id, order_id)
    assert page is not None
    assert page.order.state == "READY"
    return page


def test_a_price_that_the_worker_stored_is_formatted_when_it_is_shown(
    desk: Desk, tmp_path: Path
) -> None:
    order_id = plan(desk, offer=offer_of(desk, "suv"))
    assert "it was meter fare, about ₹310–360 when planned" in ride_words(desk, order_id)
    desk.service.estimates[1]["amount_max"] = 375
    page = ordered_by_the_worker(desk, tmp_path, order_id)
    assert (page.offer.price_text, page.offer.seat_prices) == (None, {})
    assert "meter fare, about ₹310–375 As estimated" in ride_words(desk, order_id)
    again = desk.client.get(f"/rides/new?again={order_id}").text
    assert "Price changed" not in again
    desk.service.estimates[1]["amount_max"] = 390
    again = words(desk.client.get(f"/rides/new?again={order_id}").text)
    assert "Price changed from meter fare, about ₹310–375 to meter fare, about ₹310–390" in again


@pytest.mark.parametrize(
    ("price_text", "shown"),
    [("Taxameter, etwa 310–360 ₹", "Taxameter, etwa 310–360 ₹"), (None, "")],
)
def test_an_offer_with_an_unreadable_product_shows_its_stored_price_text(
    desk: Desk, tmp_path: Path, price_text: str | None, shown: str
) -> None:
    order_id = plan(desk, offer=offer_of(desk, "suv"))
    page = ordered_by_the_worker(desk, tmp_path, order_id)
    with desk.app.extensions["ridedash"].db.write() as s:
        offer = s.get_one(Offer, page.offer.id)
        offer.product, offer.price_text = {"eta": "soon"}, price_text
    assert ("As estimated" in ride_words(desk, order_id)) == bool(shown)
    assert not shown or shown in ride_words(desk, order_id)


@pytest.mark.parametrize(
    ("category", "english", "german"),
    [
        ("suv", "meter fare, about ₹310–360", "nach Taxameter, etwa 310–360 ₹"),
        ("mini", "₹240 fixed", "Festpreis 240 ₹"),
    ],
)
def test_a_price_is_shown_in_the_readers_language_independent_of_who_booked(
    desk: Desk, category: str, english: str, german: str
) -> None:
    order_id = plan(desk, offer=offer_of(desk, category))
    assert english in ride_words(desk, order_id)
    with desk.app.extensions["ridedash"].db.write() as s:
        offer = s.get_one(Offer, s.get_one(Order, order_id).offer_id)
        assert offer.price_text == english
        for person in s.query(Staff):
            person.language = "de"
    page = desk.client.get(f"/rides/{order_id}").text
    of_guest = re.compile(r'<dialog class="to-guest".*?</dialog>', re.DOTALL)
    text = words(of_guest.sub("", page))
    assert german in text
    assert english not in text, "but on the screen for the guest, who reads English"


def offer_of(desk: Desk, category: str) -> str:
    """The id of the newest offer of a category, as the form posts it."""
    desk.form()
    return str(max(offer.id for offer in desk.offers() if offer.category == category))


def test_a_worker_orders_with_the_price_of_that_time_and_a_missed_ride_is_loud(
    desk: Desk, tmp_path: Path
) -> None:
    services = desk.app.extensions["ridedash"]
    order_id, missed = plan(desk), plan(desk, guest_name="Guest Wren", pickup_time="08:00")
    journal = AnswerJournal(tmp_path / "box", slots=4)
    go(desk, PICKUP - timedelta(minutes=5))
    desk.service.estimates[0]["upfront"]["fare"] = 265
    worker = worker_by_led_clock(desk, journal)
    worker.promoter.promote(order_id)
    with services.db.read() as s:
        page = order_page(s, desk.orders()[0].property_id, order_id)
    assert page is not None
    assert (page.order.state, page.offer.seat_prices) == ("READY", {"": "265"})
    assert "₹265 Fixed price" in ride_words(desk, order_id)
    assert "Booked 8 min late" in ride_words(desk, order_id)
    go(desk, PICKUP + timedelta(hours=6))
    worker.promoter.promote(missed)
    journal.close()
    text = ride_words(desk, missed)
    assert "Not booked: the planned time has passed" in text
    assert "A planned ride was not booked" in text
    assert "ridedash's worker was not running at the time." in text
    go(desk, desk.now + timedelta(days=2))
    assert {row["id"]: row["group"] for row in rows(desk.client)}[missed] == "needs", (
        "until a member of staff has acknowledged it"
    )


def test_a_day_too_far_ahead_is_no_choice_beside_one_that_can_be_planned(desk: Desk) -> None:
    def read_words(typed: str) -> dict[str, Any]:
        query = {"words": typed}
        return dict(desk.client.get("/pickup-time.json", query_string=query).get_json())

    asked = read_words("6/3 18:00")  # 6 March or 3 June
    assert [each["said"] for each in asked["choices"]] == ["Fri 6 Mar, 18:00, in 2 days"]
    assert asked["error"] == (
        "“6/3” may be another day too, but that one is too far ahead. Choose the day, or type "
        "another."
    )
    far = read_words("5/6 18:00")
    assert len(far["choices"]) == 2, "all are too far ahead"
    assert "may be two days" in far["error"]
    form = desk.form() | {"when": "later", "pickup_words": "6/3 18:00"}
    text = words(desk.press(form).text)
    assert "Fri 6 Mar, 18:00" in text
    assert "3 Jun" not in text
    assert desk.orders() == []
