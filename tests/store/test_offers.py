"""An offer is what a product card showed, and to whom."""

from dataclasses import replace
from typing import Any

import pytest

from ridedash.geo import LatLng
from ridedash.store.actors import by_kiosk, by_staff
from ridedash.store.offers import (
    OfferOwner,
    Priced,
    Trip,
    add_offer,
    fixed_price_categories,
    offer_signature,
    trip_of,
)
from tests.views.ride_pages import NOON, Desk

pytestmark = pytest.mark.database


def test_an_offer_is_stored_as_it_was_shown_and_to_whom(desk: Desk) -> None:
    trip = Trip(LatLng(1.0, 2.0), "Door", LatLng(3.0, 4.0), "Airport")
    priced = Priced("mini", "auto", "Mini", "INR", "₹1", {"a": 1}, "fare", {"": "1"}, {"c": 2})
    with desk.services.db.write() as s:
        home, staff, account = (desk.ids[k] for k in ("desk.property", "desk", "desk.account"))
        owner = OfferOwner(home, by_staff(staff), account)
        row = add_offer(s, owner, trip, priced, NOON)
        assert row.id
        assert trip_of(row) == trip
        assert (row.property_id, row.staff_id, row.kiosk_id) == (home, staff, None)
        assert (row.account_id, row.fetched_at) == (account, NOON)
        assert (row.category, row.kind, row.display_name) == ("mini", "auto", "Mini")
        assert (row.currency, row.price_text, row.product) == ("INR", "₹1", {"a": 1})
        assert (row.fare_id, row.seat_prices, row.cancellation) == ("fare", {"": "1"}, {"c": 2})
        assert row.signature == offer_signature(trip, priced)
        bare = replace(trip, drop=None, drop_name=None)
        least = Priced("mini", "auto", "Mini", None, None, {})
        row = add_offer(s, OfferOwner(home, by_kiosk(3)), bare, least, NOON)
        assert trip_of(row) == bare
        assert (row.kiosk_id, row.staff_id, row.seat_prices, row.cancellation) == (
            3,
            None,
            {},
            None,
        )
        row.drop_lat = 3.0
        assert trip_of(row).drop is None


def test_categories_have_the_fixed_price_of_their_newest_offer_with_a_drop(desk: Desk) -> None:
    home, other = desk.ids["desk.property"], desk.ids["other.property"]
    drop = LatLng(3.0, 4.0)

    def offer(
        s: Any, category: str, fare: str | None, text: str | None = "₹1", **more: Any
    ) -> None:
        trip = Trip(LatLng(1.0, 2.0), None, more.get("drop", drop))
        priced = Priced(category, "auto", category, None, text, {}, fare)
        add_offer(s, OfferOwner(more.get("home", home), by_staff(None)), trip, priced, NOON)

    with desk.services.db.write() as s:
        assert fixed_price_categories(s, home) == frozenset()
        offer(s, "fixed", None)
        offer(s, "fixed", "F")
        offer(s, "fixed", None, drop=None)
        offer(s, "fixed", None, "")
        offer(s, "metered", "F")
        offer(s, "metered", None)
        offer(s, "no card", "F", None)
        offer(s, "theirs", "F", home=other)
        assert fixed_price_categories(s, home) == {"fixed", "no card"}
        for _ in range(300 - 4):
            offer(s, "crowd", None)
        assert fixed_price_categories(s, home) == {"fixed", "no card"}
        offer(s, "crowd", None)
        assert fixed_price_categories(s, home) == {"no card"}
