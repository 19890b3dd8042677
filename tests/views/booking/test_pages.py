"""The booking page `/rides/new`, its errors and its orders, with a fake service."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from sqlalchemy import text as sql
from werkzeug.security import generate_password_hash
from werkzeug.test import TestResponse

from ridedash.factory import create_app
from ridedash.places import SandboxPlaces
from ridedash.service.client import RideClient
from ridedash.service.transport.http import Http
from ridedash.service.types.bookings import NewBooking
from ridedash.store import accounts, properties
from ridedash.store.database.database import CommitUnknown, Database, DatabaseBusy
from ridedash.store.models.people import Guest, Property
from ridedash.store.orders import Offer, Order, OrderState
from ridedash.views.booking import pages
from ridedash.views.booking.pages import count_cars
from tests.databases import POSTGRESQL
from tests.views import desk_page
from tests.views.fake_service import ZONE, FakeService, category
from tests.views.ride_pages import compact, without_tokens

PASSWORD = "a phrase for this test"
SERVICE = "http://127.0.0.1:9"
RETRIES = "data-asks"  # the mark of an error after which the script asks again
TRIP = {
    "pickup": "Lobby",
    "pickup_lat": "-38.5",
    "pickup_lng": "-128",
    "drop": "Airport",
    "drop_lat": "-38.55",
} | {"drop_lng": "-128.06"}


@dataclass
class Desk:
    """A signed-in browser at a desk, the fake service, and a clock that tests set."""

    app: Flask
    client: FlaskClient
    service: FakeService
    now: datetime = field(default=datetime(2026, 3, 4, 9, 0, tzinfo=UTC))

    def page(self, **query: str) -> str:
        answer = self.client.get("/rides/new", query_string=query)
        assert answer.status_code == 200
        return answer.text

    def form(self, **query: str) -> dict[str, str]:
        """The booking form of a page with cards, as a browser would send it."""
        return filled(self.page(**(TRIP | {"show": "1"} | query)))

    def press(self, form: dict[str, str], **changes: str) -> TestResponse:
        return self.client.post("/rides/new", data={"guest_name": "Guest Heron"} | form | changes)

    def orders(self) -> list[Order]:
        with self.app.extensions["ridedash"].db.read() as s:
            return list(s.scalars(select(Order).order_by(Order.id)))

    def ride(self, number: int) -> int:
        """The id of the order that was made as this number of all, from 1."""
        return self.orders()[number - 1].id

    def offers(self) -> list[Offer]:
        with self.app.extensions["ridedash"].db.read() as s:
            return list(s.scalars(select(Offer).order_by(Offer.id)))


def filled(page: str) -> dict[str, str]:
    """Names and values of the booking form's places, and of its hidden and checked inputs."""
    part = page[page.index('id="book"') :]
    inputs = [
        dict(re.findall(r'([\w-]+)="([^"]*)"', tag)) | {"_": tag}
        for tag in re.findall(r"<input[^>]*>", part)
    ]
    sent = {}
    for each in inputs:
        kind, checked = each.get("type", "text"), re.search(r"\schecked\b", each["_"])
        wanted = (
            kind == "hidden"
            or each.get("name") in ("pickup", "drop")
            or (kind == "radio" and checked)
        )
        if "name" in each and wanted and each["name"] != "aim":
            sent[each["name"]] = unescape(each.get("value", ""))
    return sent


def second_car(page: str) -> str:
    """What the button for a second car on purpose sends."""
    return page.partition('name="override_guard"')[2].split('"')[1]


def cards(page: str) -> dict[str, str]:
    """The text of each product card, by category."""
    parts = re.split(r'data-product="([^"]+)"', page)[1:]
    return {
        name: " ".join(unescape(re.sub(r"<[^>]+>", " ", body.split("</li>")[0])).split())
        for name, body in zip(parts[::2], parts[1::2], strict=True)
    }


@pytest.fixture
def desk(tmp_path: Path, database: str) -> Iterator[Desk]:
    made = Desk(None, None, FakeService())  # type: ignore[arg-type]
    environ = {
        "RIDEDASH_INSTANCE": str(tmp_path),
        "RIDEDASH_DATABASE_URL": database,
        "RIDEDASH_SERVICE_URL": SERVICE,
    }
    app = create_app(environ, clock=lambda: made.now)
    services = app.extensions["ridedash"]
    http = Http(made.service.transport())
    services.client = RideClient(http, SERVICE, "the key")
    services.geocoder = SandboxPlaces(http, SERVICE)
    with services.db.write() as s:
        home = properties.add_property(
            s,
            "Grand Hotel",
            "Asia/Kolkata",
            made.now,
            country="IN",
            currency="INR",
            pickup_name="Grand Hotel, lobby",
            pickup_lat=-38.5,
            pickup_lng=-128.0,
        )
        properties.add_staff(
            s,
            home.id,
            "desk",
            generate_password_hash(PASSWORD),
            "concierge",
            made.now,
        )
        accounts.add_account(
            s, services.vault, home.id, "House account", "token of the house", made.now
        )
        accounts.add_account(
            s, services.vault, home.id, "Second account", "token of the second", made.now
        )
    desk_page.serve(app)
    made.app, made.client = app, app.test_client()
    sign_in(made.client)
    yield made
    http.close()
    services.db.close()


def sign_in(client: FlaskClient) -> None:
    token = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', client.get("/sign-in").text)
    assert token
    answer = client.post(
        "/sign-in", data={"name": "desk", "password": PASSWORD, "csrf_token": token[1]}
    )
    assert answer.status_code == 303


def test_the_page_begins_with_the_propertys_pickup_and_calls_no_service(
    desk: Desk,
) -> None:
    page = desk.page()
    assert 'value="Grand Hotel, lobby"' in page
    assert 'value="-38.5000000"' in page
    hint = re.search(r"<p\s+data-missing[^>]*>([^<]*)", page)
    assert hint is not None
    assert hint[1].strip() == "Choose a drop to see cars, times and prices."
    assert desk.service.questions("/v1/products") == []


def test_the_query_presets_both_ends_and_the_car(desk: Desk) -> None:
    page = desk.page(**TRIP, show="1", category="suv")
    assert 'value="Airport"' in page
    chosen = re.search(
        r'name="offer"[^>]*checked[^>]*data-category="([^"]+)"', page.replace("\n", " ")
    )
    assert chosen
    assert chosen[1] == "suv"


def test_the_cheapest_private_car_that_is_near_is_preselected(desk: Desk) -> None:
    # auto is cheaper but none is near; share is cheaper but not private
    page = desk.page(**TRIP, show="1")
    chosen = re.search(
        r'name="offer"[^>]*checked[^>]*data-category="([^"]+)"', page.replace("\n", " ")
    )
    assert chosen
    assert chosen[1] == "mini"


def test_cards_show_time_price_kind_of_price_seats_surge_and_cancellation_fee(
    desk: Desk,
) -> None:
    shown = cards(desk.page(**TRIP, show="1"))
    assert "3 min away" in shown["mini"]
    assert "₹240" in shown["mini"]
    assert "Fixed price" in shown["mini"]
    assert "Free to cancel for 5 min, then ₹30." in shown["mini"]
    assert "₹310–360" in shown["suv"]
    assert "Estimate, by the meter" in shown["suv"]
    assert "Busy: higher rates" in shown["suv"]
    assert "the meter runs at higher rates" in shown["suv"]
    assert "1 seat ₹96 instead of ₹120" in shown["share"]
    assert "2 seats ₹140" in shown["share"]
    assert "No cab near" in shown["auto"]


def test_the_breakup_names_every_line_of_every_rate_card_with_its_unit(desk: Desk) -> None:
    shown = cards(desk.page(**TRIP, show="1"))["suv"]
    for words in (
        "City rate",
        "Base fare ₹50",
        "Minimum fare ₹80",
        "Distance included 2 km",
        "Time included 0 min",
        "Distance ₹12.50 per km",
        "Riding time ₹1 per min",
        "Waiting time ₹2 per min",
        "Peak × 1.4",
        "Airport rate",
        "Base fare ₹90",
        "Night owl rate",
        "By the moon",
    ):
        assert words in shown


def test_the_share_price_is_requested_by_category_with_the_accounts_token(desk: Desk) -> None:
    desk.page(**TRIP, show="1")
    first, second = desk.service.questions("/v1/products")
    assert "category" not in first
    assert second["category"] == "share"
    sent = [
        request.headers.get("Authorization")
        for request in desk.service.requests
        if "products" in request.url.path
    ]
    assert sent == [None, "Bearer token of the house"]


def test_each_card_is_a_stored_offer_with_its_fare_id_and_prices(desk: Desk) -> None:
    desk.page(**TRIP, show="1")
    offers = {offer.category: offer for offer in desk.offers()}
    assert offers["mini"].fare_id == "fare-1"
    assert offers["mini"].seat_prices == {"": "240"}
    assert offers["mini"].price_text == "₹240 fixed"
    assert offers["suv"].fare_id is None
    assert offers["share"].seat_prices == {"1": "96", "2": "140"}
    assert offers["auto"].drop_name == "Airport"


def test_an_offer_keeps_nothing_of_a_product_that_no_page_shows(desk: Desk) -> None:
    desk.page(**TRIP, show="1")
    for offer in desk.offers():
        assert offer.product["category"] == offer.category
        assert not {"ride_later", "select_applicable", "nearest", "image"} & set(offer.product)


def offer_of_card(page: str, name: str) -> str:
    """The offer that a card's radio button posts; "" where it is disabled."""
    part = page.split(f'data-product="{name}"')[1].split("data-category")[0]
    return "" if re.search(r"\bdisabled\b", part) else re.findall(r'value="(\d+)"', part)[0]


def test_without_a_drop_only_fixed_prices_can_not_be_chosen(desk: Desk) -> None:
    desk.page(**TRIP, show="1")  # from here on it is known that mini has a fixed price
    page = desk.page(show="1")
    assert "from ₹80" in cards(page)["suv"]
    assert "Choose a drop to see the price." in cards(page)["mini"]
    assert [offer_of_card(page, name) for name in ("mini", "share")] == ["", ""]
    assert "Choose a drop" not in cards(page)["suv"]
    assert "offer" not in filled(page)  # no car is chosen for the user


def test_a_metered_car_is_booked_without_a_drop(desk: Desk) -> None:
    page = desk.page(show="1")
    assert desk.press(filled(page), offer=offer_of_card(page, "suv")).status_code == 303
    (order,) = desk.orders()
    assert (order.state, order.category) == ("READY", "suv")
    assert "drop_lat" not in NewBooking.model_validate_json(order.body).payload()
    ride = desk.client.get(f"/rides/{order.id}").text
    assert "The guest tells the driver" in ride
    assert "meter fare, from ₹80" in ride


def test_a_form_without_a_drop_that_is_shown_again_keeps_its_car(desk: Desk) -> None:
    page = desk.page(show="1")
    offer = offer_of_card(page, "suv")
    answer = desk.press(filled(page), offer=offer, guest_name="")
    assert answer.status_code == 422
    assert filled(answer.text)["offer"] == offer_of_card(answer.text, "suv")


def test_booking_leads_to_the_order_with_the_chosen_values(desk: Desk) -> None:
    form = desk.form()
    answer = desk.press(
        form,
        guest_phone="022-2778 3300",
        guest_room="٤１2",  # stored as "412", as on the door
        note="Two bags",
        payment="cash",
        coupon="WELCOME",
    )
    (order,) = desk.orders()
    assert answer.status_code == 303
    assert answer.location == f"/rides/{order.id}"
    assert (order.category, order.payment, order.state, order.note) == (
        "mini",
        "cash",
        "READY",
        "Two bags",
    )
    with desk.app.extensions["ridedash"].db.read() as s:
        guest = s.get_one(Guest, order.guest_id)
    assert (guest.name, guest.phone, guest.room) == ("Guest Heron", "+912227783300", "412")
    assert ">+91 22 2778 3300</bdi>" in desk.client.get(answer.location).text


def test_the_request_to_the_service_has_no_data_of_the_guest(desk: Desk) -> None:
    desk.press(desk.form(), guest_phone="+91 22 2778 3300", guest_room="412", note="Two bags")
    (order,) = desk.orders()
    assert "fare-1" in order.body
    assert not re.search("Heron|2778|412|bags", order.body)


def test_a_shared_ride_is_booked_for_the_seats_chosen_and_other_cars_for_none(desk: Desk) -> None:
    form = desk.form(category="share")
    assert desk.press(form, seats="2").status_code == 303
    assert desk.press(desk.form(), guest_name="Guest Wren", seats="2").status_code == 303
    shared, private = desk.orders()
    assert (shared.category, shared.seats) == ("share", 2)
    assert (private.category, private.seats) == ("mini", None)


def test_pressing_twice_makes_one_order(desk: Desk) -> None:
    form = desk.form()
    first, second = desk.press(form), desk.press(form)
    assert first.location == second.location
    assert len(desk.orders()) == 1


def test_the_same_form_with_other_contents_is_refused_and_links_to_its_ride(desk: Desk) -> None:
    form = desk.form()
    desk.press(form)
    answer = desk.press(form, guest_name="Guest Wren")
    assert answer.status_code == 409
    assert f'href="/rides/{desk.orders()[0].id}"' in answer.text
    assert len(desk.orders()) == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"guest_name": " "}, "Type the guest's name"),
        ({"guest_phone": "12"}, "No phone has this number"),
        ({"guest_phone": "the red one"}, "country code"),
        ({"coupon": "two words"}, "letters and digits"),
        ({"seats": "7"}, "1 or 2 people"),
        ({"offer": ""}, "Choose a car first"),
        ({"guest_room": "x" * 40}, "under 32"),
    ],
)
def test_an_invalid_field_is_marked_and_typed_text_is_preserved(
    desk: Desk, changes: dict[str, str], words: str
) -> None:
    typed = {
        "guest_name": "Guest Heron",
        "guest_phone": "022-2778 3300",
        "guest_room": "412",
        "note": "Two bags",
    }
    answer = desk.press(desk.form(), **(typed | changes))
    assert answer.status_code == 422
    assert words in unescape(answer.text)
    for name in {*typed} - {*changes}:
        assert typed[name] in answer.text
    assert "₹240" in answer.text
    assert desk.orders() == []


OTHER_DROP = {"drop": "Museum", "drop_lat": "-38.6", "drop_lng": "-128.1", "drop_for": "Museum"}


@pytest.mark.parametrize(
    ("changes", "status", "words"),
    [
        (OTHER_DROP, 409, "The trip was changed after its prices were shown"),
        ({"drop": "-38.6, -128.1"}, 409, "Nothing was booked"),  # typed where no script runs
        ({"pickup_lat": "-38.51"}, 409, "Nothing was booked"),
        (OTHER_DROP | {"guest_phone": "12"}, 422, "No phone has this number"),
    ],
)
def test_no_car_is_ordered_to_another_place_than_that_of_the_fields(
    desk: Desk, changes: dict[str, str], status: int, words: str
) -> None:
    form = desk.form(category="suv")
    answer = desk.press(form, **changes)
    assert (answer.status_code, desk.orders()) == (status, [])
    assert words in unescape(answer.text)
    shown = filled(answer.text)
    assert shown["drop"] == changes.get("drop", "Airport")
    assert shown.get("offer") != form["offer"]
    if changes == OTHER_DROP:
        assert desk.press(shown).status_code == 303
        assert (desk.offers()[-1].drop_name, desk.orders()[0].category) == ("Museum", "suv")


def test_a_form_that_made_its_order_leads_to_it_although_its_trip_was_changed(desk: Desk) -> None:
    form = desk.form()
    desk.press(form)
    answer = desk.press(form, **OTHER_DROP)
    assert f'href="/rides/{desk.orders()[0].id}"' in answer.text
    assert len(desk.orders()) == 1


def test_a_car_that_is_not_offered_any_more_is_reported_and_no_other_one_chosen(desk: Desk) -> None:
    form = desk.form()
    desk.now += timedelta(seconds=121)
    del desk.service.estimates[0], desk.service.categories[0]
    answer = desk.press(form)
    text = unescape(answer.text)
    assert answer.status_code == 409
    assert "This car type isn't offered there now: choose another." in text
    assert "Nothing was booked" in text
    assert "checked" not in text.split("data-products")[1].split("</ul>")[0]
    assert desk.orders() == []


def test_an_expired_price_is_requested_again_and_shown_beside_the_old_one(desk: Desk) -> None:
    form = desk.form()
    desk.now += timedelta(seconds=121)
    desk.service.estimates[0]["upfront"]["fare"] = 265
    answer = desk.press(form, guest_room="412")
    assert answer.status_code == 409
    assert unescape(answer.text).count("Price changed from ₹240 fixed to ₹265 fixed") == 1
    assert "more than two minutes old" not in answer.text
    assert answer.text.index("Price changed") < answer.text.index('id="book"'), "above the form"
    assert 'value="412"' in answer.text
    assert desk.orders() == []
    again = desk.press(filled(answer.text), guest_room="412")
    assert again.status_code == 303
    assert len(desk.orders()) == 1


def test_a_guest_with_an_open_ride_is_booked_again_only_after_confirmation(desk: Desk) -> None:
    desk.press(desk.form())
    desk.now += timedelta(seconds=20)
    answer = desk.press(desk.form())
    assert answer.status_code == 409
    page = unescape(answer.text)
    assert "Guest Heron already has a ride from here (desk, 20 s ago)" in page
    assert f'href="/rides/{desk.orders()[0].id}"' in page
    assert "Book a second car on purpose" in page
    assert len(desk.orders()) == 1
    assert desk.press(filled(answer.text), override_guard="y").status_code == 409, "as which?"
    named = {"override_guard": second_car(answer.text)}
    assert desk.press(filled(answer.text), **named).status_code == 303
    assert len(desk.orders()) == 2
    answer = desk.press(desk.form(), **named)
    assert answer.status_code == 409, "another one has come since"
    assert all(f'href="/rides/{order.id}"' in answer.text for order in desk.orders())
    assert "Guest Heron already has 2 rides from here" in answer.text
    assert compact(answer.text).count("<bdi>desk</bdi>") == 2
    assert desk.press(desk.form(), override_guard=second_car(answer.text)).status_code == 303


def test_an_offer_of_another_property_is_not_found(desk: Desk) -> None:
    form = desk.form()
    services = desk.app.extensions["ridedash"]
    with services.db.write() as s:
        other = properties.add_property(s, "Other Hotel", "UTC", desk.now)
        foreign = s.get_one(Offer, int(form["offer"]))
        foreign.property_id = other.id
    answer = desk.press(form)
    assert answer.status_code == 409
    assert "not known any more" in answer.text
    assert desk.orders() == []


def test_an_account_that_is_not_the_propertys_is_refused(desk: Desk) -> None:
    answer = desk.press(desk.form(), account="77")
    assert answer.status_code == 422
    assert desk.orders() == []


def test_a_hotspot_begins_at_its_default_point_and_lists_its_points_in_order(desk: Desk) -> None:
    desk.service.zone = ZONE
    page = desk.page(**TRIP, show="1")
    points = re.findall(r'data-zone-point="(\d)"\s+(aria-current="true")?', page)
    assert points == [("1", ""), ("2", 'aria-current="true"')]
    assert "South Gate" in page
    assert {(offer.pickup_lat, offer.pickup_lng) for offer in desk.offers()} == {
        (-38.508, -127.995)
    }
    assert "feature_group_zone_picker" in page


def test_a_chosen_point_of_a_hotspot_stays_chosen(desk: Desk) -> None:
    desk.service.zone = ZONE
    answer = desk.client.get(
        "/products.json",
        query_string=TRIP
        | {"pickup_lat": "-38.501", "pickup_lng": "-127.995", "pickup": "North Gate"},
    )
    zone = answer.get_json()["zone"]
    assert zone["chosen"] == 1
    assert [point["name"] for point in zone["points"]] == ["North Gate", "South Gate"]
    assert len(zone["boundary"]) == 4
    # the list and the share price, no third request
    assert len(desk.service.questions("/v1/products")) == 2


def test_a_hotspot_without_its_default_point_offers_the_nearest(desk: Desk) -> None:
    desk.service.zone = ZONE | {"default_pickup_point_id": 99}
    answer = desk.client.get("/products.json", query_string=TRIP)
    assert answer.get_json()["zone"]["chosen"] == 1


def test_products_json_carries_the_same_cards_as_the_page(desk: Desk) -> None:
    answer = desk.client.get("/products.json", query_string=TRIP | {"category": "suv"})
    body = answer.get_json()
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "no-store"
    assert cards(body["html"]) == cards(desk.page(**TRIP, show="1", category="suv"))
    assert body["zone"] is None


def test_a_price_that_changed_on_renewal_is_marked(desk: Desk) -> None:
    before = desk.form()["offer"]
    desk.service.estimates[0]["upfront"]["fare"] = 265
    body = desk.client.get("/products.json", query_string=TRIP | {"before": before}).get_json()
    assert "₹240 fixed to ₹265 fixed" in body["html"]


def test_no_other_car_takes_the_place_of_a_chosen_one_that_is_gone(desk: Desk) -> None:
    form = desk.form(category="suv")
    desk.service.categories = [each for each in desk.service.categories if each["id"] != "suv"]
    query = TRIP | {"before": form["offer"], "category": "suv"}
    body = desk.client.get("/products.json", query_string=query).get_json()
    assert 'data-product="mini"' in body["html"]
    assert " checked" not in body["html"]
    message = "This car type isn't offered there now: choose another."
    assert unescape(body["html"]).count(message) == 1
    desk.now += timedelta(seconds=121)
    answer = desk.press(form)
    assert unescape(answer.text).count(message) == 1
    assert (answer.status_code, desk.orders()) == (409, [])
    assert "offer" not in filled(answer.text)


@pytest.mark.parametrize("error", [CommitUnknown("gone"), DatabaseBusy("locked")])
def test_words_about_a_press_are_not_taken_for_an_outage(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    form = desk.form()
    monkeypatch.setattr(pages, "place", Mock(side_effect=error))
    answer = desk.press(form)
    assert answer.status_code == 503
    assert "data-retry" in answer.text
    assert RETRIES not in answer.text
    pressed = next(each for each in desk.offers() if str(each.id) == form["offer"])
    assert f'data-category="{pressed.category}"' in answer.text, "what was pressed stays chosen"


def test_no_cars_at_a_pickup_is_not_requested_again_automatically(desk: Desk) -> None:
    desk.service.categories = []
    answer = desk.client.get("/products.json", query_string=TRIP)
    assert answer.status_code == 422
    assert "data-retry" in answer.get_json()["html"]
    assert RETRIES not in answer.get_json()["html"]


def test_while_the_service_is_down_the_page_shows_that_and_keeps_the_form(desk: Desk) -> None:
    form = desk.form()
    desk.service.down = True
    desk.now += timedelta(seconds=121)
    answer = desk.press(form, guest_room="412")
    assert "The ride company is not answering" in answer.text
    assert 'value="412"' in answer.text
    assert desk.orders() == []
    body = desk.client.get("/products.json", query_string=TRIP)
    assert body.status_code == 503
    assert "Nothing was booked" in body.get_json()["html"]
    assert RETRIES in body.get_json()["html"]


def test_the_last_list_is_shown_for_a_minute_with_its_time(desk: Desk) -> None:
    desk.page(**TRIP, show="1")
    desk.service.down = True
    desk.now += timedelta(seconds=50)
    answer = desk.client.get("/products.json", query_string=TRIP)
    assert answer.status_code == 200
    assert "Prices from 14:30:00" in answer.get_json()["html"]  # 09:00 UTC in the property's zone
    desk.now += timedelta(seconds=11)
    assert desk.client.get("/products.json", query_string=TRIP).status_code == 503


def test_a_refusal_by_the_service_is_shown_in_our_words(desk: Desk) -> None:
    desk.service.refusal = {"message": "BOOKING_FAILED", "code": "INVALID_CITY"}
    answer = desk.client.get("/products.json", query_string=TRIP)
    assert answer.status_code == 422
    assert "No service at this pickup" in answer.get_json()["html"]


def test_pickup_and_drop_at_one_place_are_not_requested(desk: Desk) -> None:
    answer = desk.client.get(
        "/products.json", query_string=TRIP | {"drop_lat": "-38.5", "drop_lng": "-128.0001"}
    )
    assert answer.status_code == 422
    assert "Pickup and drop are the same" in answer.get_json()["html"]
    assert "data-retry" not in answer.get_json()["html"]
    assert desk.service.questions("/v1/products") == []


SQUARE = [[-38.3, -128.3], [-38.3, -127.7], [-38.7, -127.7], [-38.7, -128.3]]
FAR_SQUARE = [[-39.3, -128.3], [-39.3, -127.7], [-39.7, -127.7], [-39.7, -128.3]]
CITIES = [
    {"slug": slug, "name": slug, "center": ring[0], "zoom": 14, "boundary": ring}
    for slug, ring in (("port", SQUARE), ("far", FAR_SQUARE))
]


@pytest.mark.parametrize(
    ("drop", "words"),
    [
        (("48.8584", "2.2945"), "It lies outside the cities that the ride company covers."),
        (("-39.5", "-128"), "The drop is in another city"),
    ],
)
def test_a_drop_outside_the_cities_is_marked_and_not_requested(
    desk: Desk, drop: tuple[str, str], words: str
) -> None:
    desk.service.cities = CITIES
    trip = TRIP | {"drop": "Far away", "drop_lat": drop[0], "drop_lng": drop[1]}
    answer = desk.client.get("/products.json", query_string=trip)
    assert answer.status_code == 422
    assert words in answer.get_json()["drop"]["error"]
    assert "data-product" not in answer.get_json()["html"]
    assert "data-retry" not in answer.get_json()["html"]  # another request can't help
    page = desk.page(**trip, show="1")
    assert re.search(rf'id="drop-error"[^>]*>.*{words}', compact(page))
    assert "offer" not in filled(page)
    assert desk.service.questions("/v1/products") == []


def test_without_an_outline_a_far_drop_is_left_to_the_service(desk: Desk) -> None:
    answer = desk.client.get(
        "/products.json", query_string=TRIP | {"drop_lat": "48.8584", "drop_lng": "2.2945"}
    )
    assert answer.status_code == 200
    assert answer.get_json()["drop"]["error"] == ""


def test_a_pickup_outside_the_cities_is_left_to_the_service_and_marked_at_its_field(
    desk: Desk,
) -> None:
    desk.service.cities = CITIES
    desk.service.refusal = {"message": "BOOKING_FAILED", "code": "INVALID_CITY"}
    trip = TRIP | {"pickup": "Far away", "pickup_lat": "48.8584", "pickup_lng": "2.2945"}
    body = desk.client.get("/products.json", query_string=trip).get_json()
    assert "No service at this pickup" in body["pickup"]["error"]
    assert body["drop"]["error"] == ""


def test_after_a_refused_drop_the_refilled_form_shows_that_at_the_drop(desk: Desk) -> None:
    desk.press(desk.form())
    with desk.app.extensions["ridedash"].db.write() as s:
        order = s.scalars(select(Order)).one()
        order.state, order.open, order.code = OrderState.REJECTED, False, "INVALID_DROP_LOCATION"
        order.message = "No road leads there"
    page = desk.page(again=f"{order.id}")
    ours, theirs = "does not take this drop", "said: “No road leads there”"
    assert re.search(rf'id="drop-error"[^>]*>.*{ours}.*{theirs}', compact(page))
    assert 'aria-invalid="true" aria-describedby="drop-error"' in compact(page)
    # other cars may go there: without outlines the service decides
    assert "₹240" in page


def test_a_pin_in_a_hotspot_takes_place_and_name_of_the_nearest_point(desk: Desk) -> None:
    desk.service.zone = ZONE
    desk.service.around["place"] = "Harbour Station"
    pin = {
        "pickup": "Pin on the map (-38.50200, -127.99600)",
        "pickup_lat": "-38.502",
        "pickup_lng": "-127.996",
    }
    body = desk.client.get("/products.json", query_string=TRIP | pin).get_json()
    assert body["zone"]["chosen"] == 1  # the default is the second point
    assert body["pickup"]["name"] == "Harbour Station – North Gate"
    assert (body["pickup"]["lat"], body["pickup"]["lng"]) == ("-38.5010000", "-127.9950000")
    assert {(o.pickup_name, o.pickup_lat) for o in desk.offers()} == {
        ("Harbour Station – North Gate", -38.501)
    }


@pytest.mark.parametrize(
    "name", ["Near Lower Crossing, Old Town", "Pin on the map (-38.5, -127.9)", "-38.502, -127.996"]
)
def test_the_name_of_a_pin_is_not_used_for_a_distant_point(desk: Desk, name: str) -> None:
    desk.service.zone = ZONE
    pin = {"pickup": name, "pickup_lat": "-38.502", "pickup_lng": "-127.996"}
    body = desk.client.get("/products.json", query_string=TRIP | pin).get_json()
    assert body["pickup"]["name"] == "North Gate"


def test_another_point_of_a_hotspot_keeps_the_name_of_the_place(desk: Desk) -> None:
    desk.service.zone = ZONE
    first = desk.client.get(
        "/products.json", query_string=TRIP | {"pickup": "Harbour Station"}
    ).get_json()
    assert first["pickup"]["name"] == "Harbour Station – South Gate"
    assert [point["name"] for point in first["zone"]["points"]] == [
        "Harbour Station – North Gate",
        "Harbour Station – South Gate",
    ]
    other = first["zone"]["points"][0]
    chosen = {
        "pickup": other["name"],
        "pickup_lat": str(other["lat"]),
        "pickup_lng": str(other["lng"]),
    }
    form = filled(desk.page(**(TRIP | chosen), show="1"))
    assert form["pickup"] == "Harbour Station – North Gate"
    desk.press(form)
    assert "Harbour Station – North Gate" in desk.client.get(f"/rides/{desk.ride(1)}").text


@pytest.mark.parametrize("name", ["Pin on the map (-38.55000, -128.06000)", "38.55 S, 128.06 W"])
def test_a_point_without_a_name_has_that_of_the_nearest_street(desk: Desk, name: str) -> None:
    desk.service.around |= {"street": "Lower Crossing", "area": "Old Town"}
    pin = {"drop": name}
    form = filled(desk.page(**(TRIP | pin), show="1"))
    assert (form["drop"], form["drop_lat"]) == ("Near Lower Crossing, Old Town", "-38.5500000")
    assert {offer.drop_name for offer in desk.offers()} == {"Near Lower Crossing, Old Town"}


def test_a_pin_without_a_known_name_shows_its_coordinates(desk: Desk) -> None:
    desk.service.places_down = True
    form = filled(desk.page(**(TRIP | {"drop": "Pin on the map"}), show="1"))
    assert form["drop"] == "Pin on the map (-38.55000, -128.06000)"


def test_a_rental_lists_its_packages_and_who_agrees_on_one(desk: Desk) -> None:
    packages = [
        {"hours": 4, "km": 40, "base_fare": "899"},
        {"hours": 1, "km": 10, "base_fare": "249"},
        {"hours": 1, "km": 10, "base_fare": "199"},
    ]
    desk.service.categories.append(
        category("rental", "Rental", sub_categories=[{"id": "mini", "packages": packages}])
    )
    card = cards(desk.page(**TRIP, show="1"))["rental"]
    assert "The guest agrees the package with the driver; this desk can't choose it." in card
    assert "1 h, 10 km from ₹199 · 4 h, 40 km from ₹899" in card


def test_the_shared_cards_price_is_that_of_the_seats(desk: Desk) -> None:
    body = desk.client.get("/products.json", query_string=TRIP | {"seats": "2"}).get_json()
    price = re.search(
        r'data-product="share".*?product-price[^"]*">([^<]+)<', body["html"], re.DOTALL
    )
    assert price
    assert price[1] == "₹140"


def test_a_found_place_repeats_no_text(desk: Desk) -> None:
    desk.service.places = [
        {
            "name": "Meridian Airport",
            "kind": "airport",
            "area": "Airport",
            "lat": -38.5,
            "lng": -128,
        }
    ]
    (found,) = desk.client.get("/places.json", query_string={"q": "airport"}).get_json()["places"]
    assert (found["name"], found["kind"], found["area"]) == ("Meridian Airport", "", "")


def test_the_button_names_the_missing_fields(desk: Desk) -> None:
    assert re.search(r"data-book-go[^>]*>Choose a drop<", compact(desk.page()))
    with desk.app.extensions["ridedash"].db.write() as s:
        s.get_one(Property, 1).pickup_lat = None
    assert re.search(r"data-book-go[^>]*>Choose a pickup<", compact(desk.page()))


@pytest.mark.parametrize("bad", ["nan", "inf", "1e999", "91", "", "x", "-38.5,1"])
def test_an_invalid_pickup_is_not_requested(desk: Desk, bad: str) -> None:
    query = {"pickup": "x", "pickup_lat": bad, "pickup_lng": "-128"}
    assert desk.client.get("/products.json", query_string=query).status_code == 422
    assert desk.service.questions("/v1/products") == []


def test_without_scripts_typed_text_becomes_a_place_coordinates_or_a_choice(desk: Desk) -> None:
    found = desk.page(drop="meridian airport", show="1")
    assert 'name="drop_lat" value="-38.5500000"' in found
    typed = desk.page(drop="-38.55, -128.06", show="1")
    assert "₹240" in typed
    several = desk.page(drop="a", show="1")
    assert "Several places match" in several
    assert "drop=Arcade" in several
    assert "No place of that name" in desk.page(drop="nowhere at all", show="1")


def test_without_scripts_show_cars_keeps_the_guest_and_uses_the_typed_places(
    desk: Desk,
) -> None:
    first = filled(desk.page(**TRIP))
    answer = desk.press(first, show="1", drop="Arcade", guest_room="412")
    form = filled(answer.text)
    assert answer.status_code == 200
    assert (form["drop"], form["drop_lat"]) == ("Arcade", "-38.5030000")
    assert 'value="Guest Heron"' in answer.text
    assert 'value="412"' in answer.text
    assert desk.orders() == []
    assert desk.press(form).status_code == 303


def test_place_search_answers_typed_words_coordinates_and_recent_drops(desk: Desk) -> None:
    def search(words: str) -> Any:
        return desk.client.get("/places.json", query_string={"q": words}).get_json()

    assert search("arcade")["places"][0] == {
        "name": "Arcade",
        "kind": "shop",
        "area": "Old Town",
        "lat": -38.503,
        "lng": -128.011,
    }
    assert search("-38.51, -128.02")["places"][0]["lat"] == -38.51
    assert search("zzz")["places"] == []
    assert "Try another word, or coordinates" in search("zzz")["message"]
    assert search("")["places"] == []
    desk.press(desk.form())
    assert [place["name"] for place in search("")["places"]] == ["Airport"]


def test_places_of_openstreetmap_are_attributed_and_others_are_not(desk: Desk) -> None:
    services = desk.app.extensions["ridedash"]
    assert desk.client.get("/places.json?q=arc").get_json()["credit"] == ""
    services.settings = replace(services.settings, geocoder="photon")
    assert (
        desk.client.get("/places.json?q=arc").get_json()["credit"] == "© OpenStreetMap contributors"
    )
    assert desk.client.get("/places.json?q=12.95,77.6").get_json()["credit"] == ""


def test_a_failing_place_search_shows_the_alternatives(desk: Desk) -> None:
    desk.service.places_down = True
    answer = desk.client.get("/places.json", query_string={"q": "arc"})
    assert answer.status_code == 503
    assert "Type coordinates" in answer.get_json()["message"]
    beside_a_map = desk.client.get("/places.json", query_string={"q": "arc", "map": "1"})
    assert "Click the map" in beside_a_map.get_json()["message"]
    assert "Place search is not answering" in desk.page(drop="arcade", show="1")


@pytest.mark.parametrize("path", ["/products.json", "/places.json"])
def test_the_json_routes_are_for_staff_only(desk: Desk, path: str) -> None:
    assert desk.app.test_client().get(path, query_string=TRIP).status_code == 401


def test_the_page_sends_visitors_to_sign_in(desk: Desk) -> None:
    answer = desk.app.test_client().get("/rides/new")
    assert answer.status_code == 303
    assert answer.location.startswith("/sign-in")


def test_book_again_refills_the_form_with_a_new_token_and_a_fresh_price(desk: Desk) -> None:
    first = desk.form(category="suv")
    desk.press(
        first, guest_phone="+91 22 2778 3300", guest_room="412", note="Two bags", payment="cash"
    )
    (old,) = desk.orders()
    # an order that has ended can be booked again
    desk.client.post(f"/rides/{old.id}/withdraw", data={"csrf_token": first["csrf_token"]})
    page = desk.page(again=str(old.id))
    form = filled(page)
    for words in (
        "Guest Heron",
        "+912227783300",
        "412",
        "Two bags",
        "Filled in from the ride of Guest Heron",
    ):
        assert words in page
    assert form["supersedes"] == str(old.id)
    assert form["form_token"] != first["form_token"]
    assert form["offer"] != first["offer"]
    assert desk.press(form).status_code == 303
    assert desk.orders()[1].supersedes == old.id
    assert desk.orders()[1].guest_id == old.guest_id


def test_a_ride_that_a_colleague_planned_again_meanwhile_is_not_booked_again(desk: Desk) -> None:
    desk.press(desk.form(), guest_room="412")
    (old,) = desk.orders()
    data = {"csrf_token": filled(desk.page())["csrf_token"]}
    desk.client.post(f"/rides/{old.id}/withdraw", data=data)
    form = filled(desk.page(again=str(old.id)))
    with desk.app.extensions["ridedash"].db.write() as s:
        s.get_one(Order, old.id).state = "SCHEDULED"
    answer = desk.press(form)
    assert answer.status_code == 422
    assert "that ride is planned again" in answer.text
    assert len(desk.orders()) == 1


def test_a_ride_that_goes_on_is_not_replaced_by_a_form_filled_from_it(desk: Desk) -> None:
    desk.press(desk.form(), guest_room="412")
    form = filled(desk.page(again=f"{desk.ride(1)}"))
    assert "supersedes" not in form
    named = second_car(desk.press(form).text)
    assert desk.press(form, override_guard=named).status_code == 303
    assert desk.orders()[1].supersedes is None


def test_a_return_trip_swaps_pickup_and_drop_for_the_same_guest(desk: Desk) -> None:
    desk.press(desk.form(category="suv"), guest_room="412", note="Two bags")
    page = desk.page(**{"return": f"{desk.ride(1)}"})
    form = filled(page)
    assert (form["pickup"], form["drop"]) == ("Airport", "Lobby")
    assert "Two bags" not in page, "the note was about the way there"
    assert desk.press(form, guest_room="412").status_code == 303
    there, back = desk.orders()
    assert (back.guest_id, back.category, back.supersedes) == (there.guest_id, "suv", None)
    offers = {offer.id: offer for offer in desk.offers()}
    assert offers[back.offer_id].drop_name == "Lobby"


def test_another_propertys_order_fills_nothing(desk: Desk) -> None:
    desk.press(desk.form())
    services = desk.app.extensions["ridedash"]
    with services.db.write() as s:
        other = properties.add_property(s, "Other Hotel", "UTC", desk.now)
        s.get_one(Order, desk.orders()[0].id).property_id = other.id
    assert "Guest Heron" not in desk.page(again=f"{desk.ride(1)}")


HOSTILE = "{{7*191}}${7*191}{% raw %}<script>alert(1)</script>\u202e</script>"


def test_a_busy_database_orders_nothing_and_the_form_can_be_sent_again(
    desk: Desk, database: str
) -> None:
    form, services = desk.form(), desk.app.extensions["ridedash"]
    there, services.db = services.db, Database(database, busy_s=0.05)
    holder = Database(database)
    with holder.write() as s:
        if holder.dialect == POSTGRESQL:
            s.execute(sql("LOCK TABLE orders IN EXCLUSIVE MODE"))
        refused = desk.press(form)
    assert refused.status_code == 503
    assert "ridedash can&#39;t save right now" in refused.text
    assert form["form_token"] in refused.text, "the same form may be pressed again"
    assert desk.orders() == []
    for done in (services.db, holder):
        done.close()
    services.db = there
    assert desk.press(form).status_code == 303
    assert len(desk.orders()) == 1


def test_hostile_strings_of_the_service_and_of_people_are_text(desk: Desk) -> None:
    policy = {"cancellation_charge": 5, "currency": HOSTILE, "time_unit": HOSTILE}
    desk.service.categories = [
        category("mini", HOSTILE, cancellation_policy=policy),
        category(
            "suv",
            "SUV",
            currency=HOSTILE,
            fare_breakup=[
                {
                    "type": HOSTILE,
                    "fare": HOSTILE,
                    "surcharge": [{"name": HOSTILE, "description": HOSTILE}],
                }
            ],
        ),
    ]
    desk.service.zone = ZONE | {
        "desc": HOSTILE,
        "pickup_points": [ZONE["pickup_points"][0] | {"name": HOSTILE}],
    }
    page = desk.page(**(TRIP | {"pickup": HOSTILE, "drop": HOSTILE}), show="1", category=HOSTILE)
    answer = desk.press(
        filled(page), guest_name=HOSTILE, guest_room="{{7*191}}", note=HOSTILE, guest_phone="1"
    )
    for text in (page, answer.text):
        assert "1337" not in without_tokens(text)
        assert "<script>alert" not in text
        assert "\u202e" not in text
    assert desk.client.get("/places.json", query_string={"q": HOSTILE}).status_code == 200


def test_the_page_names_no_foreign_host_and_its_scripts_carry_the_nonce(desk: Desk) -> None:
    answer = desk.client.get("/rides/new")
    nonce = re.search(
        r"script-src 'self' 'nonce-([^']+)'", answer.headers["Content-Security-Policy"]
    )
    assert nonce
    scripts = re.findall(r"<script[^>]*>", answer.text)
    assert scripts
    assert all(f'nonce="{nonce[1]}"' in script for script in scripts)
    assert not re.search(r"(?:https?:)?//[a-z0-9-]+\.[a-z]", answer.text)


def test_a_property_without_an_account_sees_prices_and_can_not_book(desk: Desk) -> None:
    services = desk.app.extensions["ridedash"]
    with services.db.write() as s:
        for account in accounts.accounts_of(s, 1):
            s.delete(account)
    page = desk.page(**TRIP, show="1")
    assert "No account of the ride company is linked" in page
    assert re.search(r"data-book-go[^>]*disabled", page)


def test_the_same_form_sent_a_hundred_times_makes_one_order(desk: Desk) -> None:
    form = desk.form()
    answers = [desk.press(form) for _ in range(100)]
    (order,) = desk.orders()
    page = f"/rides/{order.id}"
    assert {(answer.status_code, answer.location) for answer in answers} == {(303, page)}


def test_at_most_sixty_new_orders_a_minute_are_accepted(desk: Desk) -> None:
    form = desk.form()
    answers = [
        desk.press(form, form_token=f"token-of-another-{n:02}", guest_name=f"Guest {n}")
        for n in range(61)
    ]
    assert [answer.status_code for answer in answers] == [303] * 60 + [429]


def test_a_form_that_made_an_order_leads_to_it_although_it_would_be_invalid_now(
    desk: Desk,
) -> None:
    form = desk.form()
    assert desk.press(form).status_code == 303
    requests_before = len(desk.service.requests)
    answer = desk.press(form, guest_name="")
    assert answer.status_code == 409
    assert f"/rides/{desk.orders()[0].id}" in answer.text
    assert len(desk.orders()) == 1
    assert len(desk.service.requests) == requests_before, "prices are not requested again"


def test_a_form_that_made_another_propertys_order_does_not_lead_to_it(desk: Desk) -> None:
    form = desk.form()
    assert desk.press(form).status_code == 303
    services = desk.app.extensions["ridedash"]
    with services.db.write() as s:
        other = properties.add_property(s, "Other Hotel", "UTC", desk.now)
        s.get_one(Order, desk.ride(1)).property_id = other.id
    for changes, status in (({"guest_name": ""}, 422), ({}, 409)):
        answer = desk.press(form, **changes)
        assert answer.status_code == status
        assert f"/rides/{desk.ride(1)}" not in answer.text
    assert len(desk.orders()) == 1


@pytest.mark.parametrize(
    ("cars", "counted"), [("06", 6), (" 6", 6), ("9", 6), ("0", 1), ("-3", 1), ("x", 1), ("", 1)]
)
def test_each_car_of_a_form_counts_for_the_limit(desk: Desk, cars: str, counted: int) -> None:
    with desk.app.test_request_context("/rides/new", method="POST", data={"cars": cars}):
        assert count_cars() == counted
