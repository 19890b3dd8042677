"""A way back and a series in the booking form: shown before the press, changed from one ride on."""

import re
from datetime import UTC, date, datetime, timedelta
from html import unescape

import pytest
from playwright.sync_api import expect

from ridedash.store.orders import Order
from tests.views.booking.test_groups import words
from tests.views.booking.test_pages import Desk, desk, filled, second_car
from tests.views.booking.test_pages_browser import Browsed, browsed
from tests.views.booking.test_scheduled import go, zone

__all__ = ["browsed", "desk"]
pytestmark = pytest.mark.database
LATER = {"when": "later", "pickup_date": "2026-03-05", "pickup_time": "05:10"}
SERIES = LATER | {"days": ["0", "3"], "last_day": "2026-03-16"}  # Mondays and Thursdays
DATES = ["Thu 5 Mar 05:10", "Mon 9 Mar 05:10", "Thu 12 Mar 05:10", "Mon 16 Mar 05:10"]


def planned(desk: Desk) -> dict[str, str]:
    """The booking form after it has shown the dates of the series."""
    return filled(desk.press(desk.form(), **SERIES).text)


def test_the_return_trip_is_planned_with_the_same_press(desk: Desk) -> None:
    form = desk.form()
    back = {"back": "y", "back_words": "18:00"}
    answer = desk.press(form, **back)
    out, returning = desk.orders()
    assert answer.headers["Location"] == f"/rides/{out.id}"
    assert (out.state, returning.state, returning.back_of) == ("READY", "SCHEDULED", out.id)
    assert returning.pickup_at == datetime(2026, 3, 4, 12, 30, tzinfo=UTC)
    assert "Open the way back" in desk.client.get(f"/rides/{out.id}").text
    page = words(desk.client.get(f"/rides/{returning.id}").text)
    assert "This is the way back" in page
    assert "₹240" not in page, "the price of the outward trip is not shown for the return trip"
    assert "Way back" in desk.client.get("/history").text
    assert desk.press(form, **back).headers["Location"] == f"/rides/{out.id}"
    assert len(desk.orders()) == 2


@pytest.mark.parametrize(
    ("back", "message"),
    [
        ({"back_words": ""}, "At what time?"),
        ({"back_words": "soon"}, "is not understood"),
        ({"back_words": "14:31"}, "Too soon to plan"),
        (LATER | {"back_words": "2026-03-05 05:10"}, "begins after the way there"),
        (LATER | {"back_words": "today 1930"}, "begins after the way there"),
    ],
)
def test_a_return_trip_without_a_valid_time_orders_nothing(
    desk: Desk, back: dict[str, str], message: str
) -> None:
    answer = desk.press(desk.form(), back="y", **back)
    assert (answer.status_code, desk.orders()) == (422, [])
    assert message in answer.text


def test_the_price_of_the_return_trip_is_requested_for_the_swapped_trip(desk: Desk) -> None:
    offer = desk.form()["offer"]
    answer = desk.client.get(f"/return-price.json?offer={offer}").json
    assert "Way back: ₹" in answer["words"]
    query = desk.service.questions("/v1/products")[-1]
    assert float(query["pickup_lat"]) == -38.55
    assert desk.orders() == []
    assert desk.client.get("/return-price.json?offer=999").status_code == 422


def test_the_price_that_was_shown_for_the_return_trip_is_stored_with_it(desk: Desk) -> None:
    form = desk.form()
    shown = desk.client.get(f"/return-price.json?offer={form['offer']}").json
    back = {"back": "y", "back_words": "18:00"}
    desk.press(form, **back, back_offer=str(shown["offer"]))
    assert desk.orders()[1].offer_id == shown["offer"]
    assert "₹240" in words(desk.client.get(f"/rides/{desk.ride(2)}").text), "as it was shown"
    for other in (form["offer"], "999999"):  # the offer of the way there, and no offer
        named = second_car(desk.press(desk.form()).text)
        desk.press(desk.form(), **back, back_offer=other, override_guard=named)
        assert desk.orders()[-1].offer_id not in (int(other), shown["offer"])
        page = words(desk.client.get(f"/rides/{desk.orders()[-1].id}").text)
        assert "₹240" not in page


def test_a_series_is_planned_when_its_dates_were_shown_and_not_before(desk: Desk) -> None:
    first = desk.press(desk.form(), **SERIES)
    assert (first.status_code, desk.orders()) == (422, [])
    page = words(first.text)
    assert "4 rides will be planned. Look at their dates, then press again." in page
    assert all(date in page for date in DATES)
    form = filled(first.text)
    other = desk.press(form, **SERIES | {"last_day": "2026-03-19"})
    assert (other.status_code, desk.orders()) == (422, []), "those dates were not shown"
    answer = desk.press(form, **SERIES)
    assert answer.headers["Location"] == f"/series/{desk.ride(1)}"
    assert [f"{order.pickup_at:%d %H:%M}" for order in desk.orders()] == [
        "04 23:40",
        "08 23:40",
        "11 23:40",
        "15 23:40",
    ]
    assert desk.press(form, **SERIES).headers["Location"] == f"/series/{desk.ride(1)}"
    assert len(desk.orders()) == 4
    second = desk.ride(2)
    page = words(desk.client.get(f"/series/{second}").text)
    assert all(date in page for date in DATES)
    assert "4 of 4 still planned" in page
    assert "Ride 2 of 4 of a series" in desk.client.get(f"/rides/{second}").text


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"last_day": ""}, "Until which day?"),
        ({"last_day": "next fri"}, "Until which day?"),
        ({"last_day": "16 mar 18:00"}, "Until which day?"),
        ({"last_day": "2026-03-04"}, "No day from the pickup day until then"),
        ({"last_day": "2026-05-20", "days": list("0123456")}, "A series has at most 60 rides"),
        ({"last_day": "2026-06-20"}, "at most 90 days"),
        ({"cars": "2"}, "one press for each"),
        ({"coupon": "STAY10"}, "A coupon is for one ride"),
        ({"days": ["9"]}, ""),
    ],
)
def test_a_series_that_can_not_be_planned_says_why(
    desk: Desk, changed: dict[str, str], message: str
) -> None:
    answer = desk.press(desk.form(), **(SERIES | changed))
    assert (answer.status_code, desk.orders()) == (422, [])
    assert message in unescape(answer.text)


def test_a_ride_for_now_is_no_series(desk: Desk) -> None:
    answer = desk.press(desk.form(), **SERIES | {"when": "now"})
    assert answer.headers["Location"] == f"/rides/{desk.ride(1)}"
    assert [order.state for order in desk.orders()] == ["READY"]


@pytest.mark.parametrize("last_day", ["16 mar", "16.3.", "2026-03-16", "in 12 days"])
def test_the_last_day_of_a_series_is_typed_in_words(desk: Desk, last_day: str) -> None:
    url = "/series.json?days=0,3&pickup_date=2026-03-05&pickup_time=05:10"
    answer = desk.client.get(f"{url}&last_day={last_day}").json
    assert answer["n"] == 4
    shown = filled(desk.press(desk.form(), **SERIES | {"last_day": last_day}).text)
    desk.press(shown, **SERIES | {"last_day": last_day})
    assert len(desk.orders()) == 4


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("06:30", "Fri 6 Mar, 06:30"),  # not tomorrow: after the way there
        ("18:00", "Thu 5 Mar, 18:00"),
        ("tomorrow 1800", "Thu 5 Mar, 18:00"),
        ("in 3 days 0700", "Sat 7 Mar, 07:00"),
        ("20 h", "Thu 5 Mar, 20:00"),
        ("tomorrow 6", "Thu 5 Mar, 18:00"),  # not 6 in the morning, before the way there
    ],
)
def test_a_time_of_the_day_alone_is_the_next_one_after_the_way_there(
    desk: Desk, typed: str, said: str
) -> None:
    there = {"day": "2026-03-05", "clock": "07:10"}
    answer = desk.client.get("/pickup-time.json", query_string=there | {"back": typed}).json
    assert said in answer["said"]
    shown = desk.press(
        desk.form(),
        **LATER | {"pickup_time": "07:10", "back": "y", "back_words": typed, "show": "1"},
    )
    assert said in words(shown.text)
    back = {"back": "y", "back_words": typed}
    desk.press(desk.form(), **LATER | {"pickup_time": "07:10"} | back)
    there_order, back_order = desk.orders()
    assert back_order.back_of == there_order.id
    assert f"{back_order.pickup_at:%Y-%m-%dT%H:%M}" == answer["at"][:16]


def test_a_way_back_that_may_be_two_times_is_asked_about_without_scripts_too(desk: Desk) -> None:
    asked = desk.press(desk.form(), back="y", back_words="tomorrow 9")
    assert (asked.status_code, desk.orders()) == (422, [])
    assert "Which half of the day is meant?" in words(asked.text)
    assert re.findall(r'name="back_choice"\s+value="([^"]+)"', asked.text) == [
        "2026-03-05 09:00",
        "2026-03-05 21:00",
    ]
    chosen = desk.press(filled(asked.text), back_choice="2026-03-05 21:00", back="y")
    assert (chosen.status_code, desk.orders()) == (200, [])
    assert re.search(r'name="back_words"[^>]*value="2026-03-05 21:00"', chosen.text)


def test_the_form_has_no_date_field_where_words_are_read(desk: Desk) -> None:
    page = desk.page(show="1")
    typed = re.findall(r'<input[^>]*name="(?:back_words|last_day|pickup_words)"[^>]*>', page)
    assert len(typed) == 3
    assert all('type="text"' in field for field in typed)


def test_the_dates_are_shown_while_they_are_chosen(desk: Desk) -> None:
    url = "/series.json?days=0,3&pickup_date=2026-03-05&pickup_time=05:10"
    answer = desk.client.get(f"{url}&last_day=2026-03-16").json
    assert answer["n"] == 4
    assert all(date in answer["html"] for date in DATES)
    assert 'data-say-plan="Plan 4 rides: {car}"' in answer["html"]
    alone = desk.client.get(f"{url}&last_day=2026-03-05").json
    assert "1 ride will be planned:" in alone["html"]
    assert 'data-say-plan="Plan 1 ride: {car}"' in alone["html"]
    assert desk.client.get(url).json["words"].startswith("Until which day?")
    assert desk.client.get("/series.json?days=x,,99&last_day=y").json["words"]


def test_a_way_back_at_a_time_that_clocks_show_twice_is_asked_about(desk: Desk) -> None:
    zone(desk, "Europe/Berlin")
    go(desk, datetime(2026, 10, 24, 12, 0, tzinfo=UTC))
    back = {"back": "y", "back_words": "tomorrow 0230"}
    asked = desk.press(desk.form(), **back)
    assert asked.status_code == 422
    assert "Clocks go back then and show 02:30 twice." in words(asked.text)
    both = re.findall(r'name="back_choice"\s+value="([^"]+)"', asked.text)
    assert both == ["2026-10-25 02:30+0200", "2026-10-25 02:30+0100"]
    assert desk.press(desk.form(), back="y", back_words=both[1]).status_code == 303
    assert datetime(2026, 10, 25, 1, 30, tzinfo=UTC) in [each.pickup_at for each in desk.orders()]


@pytest.mark.parametrize(
    ("at", "first", "hint"),
    [
        (datetime(2026, 3, 27, 12, 0, tzinfo=UTC), "2026-03-28", "does not exist on that day"),
        (datetime(2026, 10, 23, 12, 0, tzinfo=UTC), "2026-10-24", "first, before clocks go back"),
    ],
)
def test_a_change_of_clocks_is_shown_beside_the_date_before_the_press(
    desk: Desk, at: datetime, first: str, hint: str
) -> None:
    zone(desk, "Europe/Berlin")
    go(desk, at)
    last = date.fromisoformat(first) + timedelta(days=2)
    query = f"days=0,1,2,3,4,5,6&pickup_date={first}&pickup_time=02:30&last_day={last}"
    html = desk.client.get(f"/series.json?{query}").json["html"]
    assert [hint in row for row in html.split("<li>")[1:]] == [False, True, False]


def test_a_series_is_changed_and_cancelled_from_one_ride_on(desk: Desk) -> None:
    desk.press(planned(desk), **SERIES)
    _first, second, third, fourth = (order.id for order in desk.orders())
    page = desk.page(change=f"{second}")
    assert "Also all later rides of this series" in page
    change = filled(page) | {"pickup_date": "2026-03-09", "pickup_time": "06:00", "onward": "y"}
    answer = desk.press(change)
    assert answer.headers["Location"] == f"/rides/{second}?said=change-done"
    assert [f"{order.pickup_at:%H:%M}" for order in desk.orders()] == ["23:40"] + ["00:30"] * 3
    moved = desk.press(
        filled(desk.page(change=f"{second}")),
        **change | {"pickup_date": "2026-03-10", "version": str(desk.orders()[1].version)},
    )
    assert moved.status_code == 422
    assert "From here on the rides keep their days" in moved.text
    page = desk.client.get(f"/series/{third}/cancel").text
    assert "Cancel 2 rides" in page
    rides = re.findall(r'name="ride" value="(\d+)"', page)
    assert rides == [f"{third}", f"{fourth}"]
    csrf = filled(desk.page())["csrf_token"]
    desk.client.post(f"/series/{third}/cancel", data={"ride": rides, "csrf_token": csrf})
    assert [order.state for order in desk.orders()] == ["SCHEDULED"] * 2 + ["NOT_SENT"] * 2
    page = desk.client.get(f"/series/{third}").text
    assert "2 of 4 still planned" in page
    undo = {"ride": re.findall(r'name="ride" value="(\d+)"', page), "csrf_token": csrf}
    assert (undo["ride"], "data-undo-ms" in page) == (rides, True)
    desk.now += timedelta(seconds=12)
    assert "data-undo-ms" not in desk.client.get(f"/series/{third}").text
    back = desk.client.post(f"/series/{third}/restore", data=undo)
    assert back.headers["Location"] == f"/series/{third}"
    assert [order.state for order in desk.orders()] == ["SCHEDULED"] * 4
    late = desk.client.post(f"/series/{third}/restore", data=undo)
    assert "Not possible any more" in desk.client.get(late.headers["Location"]).text


def test_each_ride_has_a_flight_of_its_own_day_and_keeps_one_that_has_left(desk: Desk) -> None:
    flight = {"for_flight": "y", "flight": "LH 760", "departs": "5 mar 08:00"}
    desk.press(planned(desk), **SERIES | flight)
    assert [f"{order.departs_at:%m-%d %H:%M}" for order in desk.orders()] == [
        "03-05 02:30",
        "03-09 02:30",
        "03-12 02:30",
        "03-16 02:30",
    ]
    third, fourth = desk.ride(3), desk.ride(4)
    page = desk.page(change=f"{third}")
    assert 'value="2026-03-12 08:00"' in page
    change = filled(page) | flight | {"departs": "2026-03-12 08:00"}
    answer = desk.press(change, pickup_date="2026-03-12", pickup_time="05:00")
    assert answer.headers["Location"] == f"/rides/{third}?said=change-done"
    with desk.app.extensions["ridedash"].db.write() as s:
        s.get_one(Order, fourth).departs_at = desk.now - timedelta(days=2)
    change = filled(desk.page(change=f"{fourth}")) | flight
    change["departs"] = "2026-03-02 14:30"
    answer = desk.press(change, pickup_date="2026-03-16", pickup_time="05:00")
    assert answer.headers["Location"] == f"/rides/{fourth}?said=change-done", (
        "its own departure may stay"
    )


def test_a_ride_of_a_series_may_move_alone_beyond_thirty_days(desk: Desk) -> None:
    far = SERIES | {"last_day": "2026-04-20"}
    shown = filled(desk.press(desk.form(), **far).text)
    desk.press(shown, **far)
    last = desk.orders()[-1]
    change = filled(desk.client.get(f"/rides/new?change={last.id}").text)
    answer = desk.press(change, pickup_date="2026-04-21", pickup_time="07:00")
    assert answer.headers["Location"] == f"/rides/{last.id}?said=change-done"
    assert f"{desk.orders()[-1].pickup_at:%m-%d %H:%M}" == "04-21 01:30"


@pytest.mark.browser
def test_the_button_plans_a_series_once_its_dates_are_shown(browsed: Browsed, desk: Desk) -> None:
    page = browsed.page
    browsed.open("/")
    page.fill("#guest-find", "Guest Heron")
    page.fill("#drop", "airp")
    page.get_by_role("listbox", name="Drop").get_by_role("option").first.click()
    go = page.locator("[data-book-go]")
    page.locator("[name=back]").check()
    expect(page.locator("#back_words")).to_be_focused()
    expect(go).to_have_text("Choose when to come back")
    page.fill("#back_words", "tomorrow 9")
    expect(go).to_have_text("Which time is meant?")
    page.locator("[data-back-asked] button").last.click()
    expect(page.locator("[data-back-said]")).to_contain_text("Thu 5 Mar, 21:00")
    page.fill("#back_words", "18:00")
    expect(page.locator("[data-back-said]")).to_contain_text("Wed 4 Mar, 18:00")
    expect(go).to_contain_text("and back")
    expect(page.locator("[data-back-price]")).to_contain_text("Way back: ")
    page.locator("[name=back]").uncheck()
    page.locator(".when-choice", has_text="Later").click()
    page.fill("#pickup_words", "tomorrow 0510")
    page.locator(".series > summary").click()
    page.locator(".series-day", has_text="Thu").click()
    expect(go).to_have_text("Choose the dates of the series")
    page.fill("#last_day", "16 mar")
    expect(go).to_have_text("Plan 2 rides: Mini to Meridian Airport · now ₹240 each")
    expect(page.locator("[data-dates]")).to_contain_text("Thu 12 Mar 05:10")
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-desk-said]")).to_have_text("Rides planned for Guest Heron: 2")
    assert len(desk.orders()) == 2
    assert browsed.faults == []


@pytest.mark.browser
def test_the_way_back_follows_the_way_there_and_several_leads_to_the_list(
    browsed: Browsed, desk: Desk
) -> None:
    page = browsed.page
    browsed.open("/")
    page.locator(".when-toggle:has([name=back])").click()
    page.fill("#back_words", "06:30")
    said = page.locator("[data-back-said]")
    expect(said).to_contain_text("Thu 5 Mar, 06:30")
    page.locator(".when-choice", has_text="Later").click()
    page.fill("#pickup_words", "tomorrow 0710")
    expect(said).to_contain_text("Fri 6 Mar, 06:30")
    page.locator(".when-choice", has_text="Now").click()
    expect(said).to_contain_text("Thu 5 Mar, 06:30")
    page.fill("#back_words", "soon")
    expect(said).to_contain_text("is not understood")
    page.get_by_role("link", name="Several…").click()
    expect(page).to_have_url(re.compile("/lists/new$"))
    assert browsed.faults == []
