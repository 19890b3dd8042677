"""List products, compared with docs/service-interface.md and docs/field-notes.md."""

from decimal import Decimal

from tests.sandbox.sandbox_desk import HOTEL, NIGHT, OCEAN, PEAK, PORT, SALT, far_drop

CARD = {
    "type",
    "minimum_distance",
    "minimum_time",
    "base_fare",
    "minimum_fare",
    "cost_per_distance",
    "waiting_cost_per_minute",
    "ride_cost_per_minute",
    "rates_higher_than_usual",
    "surcharge",
}


def category(body, name):
    return next(each for each in body["categories"] if each["id"] == name)


def test_a_category_has_the_fields_of_the_document_with_their_types(desk):
    mini = category(desk.products(), "mini")
    assert (mini["display_name"], mini["currency"]) == ("Mini", "INR")
    assert (mini["distance_unit"], mini["time_unit"]) == ("kilometre", "minute")
    assert isinstance(mini["eta"], int)
    assert mini["eta"] > 0
    assert isinstance(mini["distance"], str)
    assert float(mini["distance"]) > 0
    assert mini["ride_later_enabled"] == "false"
    assert mini["image"].startswith("https://images.example/")
    assert mini["cancellation_policy"] == {
        "cancellation_charge": 30,
        "currency": "INR",
        "cancellation_charge_applies_after_time": 5,
        "time_unit": "minute",
    }


def test_rate_cards_are_numeric_text_and_the_standard_rate_is_descriptive_text(desk):
    body = desk.products()
    flat, airport = category(body, "mini")["fare_breakup"]
    assert (flat["type"], airport["type"]) == ("flat_rate", "airport_rate")
    assert set(flat) >= CARD
    texts = CARD - {"type", "rates_higher_than_usual", "surcharge"}
    assert all(isinstance(flat[name], str) and float(flat[name]) >= 0 for name in texts)
    assert flat["base_fare"] == "50.0"
    assert flat["rates_higher_than_usual"] is False
    assert flat["surcharge"] == []
    (standard,) = category(body, "auto")["fare_breakup"]
    assert standard["type"] == "standard_rate"
    assert "₹15 per km" in standard["fare"]


def test_only_share_has_select_applicable_and_only_rental_has_packages(desk):
    body = desk.products()
    assert [each["id"] for each in body["categories"] if "select_applicable" in each] == ["share"]
    rental = category(body, "rental")
    assert "fare_breakup" not in rental
    assert rental["sub_categories"][0]["packages"][0]["base_fare"] == "199.0"


def test_at_peak_hours_the_rates_are_higher_than_usual(desk_at):
    flat = category(desk_at(PEAK).products(), "mini")["fare_breakup"][0]
    assert flat["rates_higher_than_usual"] is True
    assert flat["surcharge"][0]["value"] == 1.3


def test_an_upfront_estimate_has_the_shape_of_the_field_notes(desk):
    (estimate,) = desk.products(drop=far_drop(), category="mini")["ride_estimate"]
    assert set(estimate) >= {
        "category",
        "distance",
        "travel_time_in_minutes",
        "amount_min",
        "amount_max",
        "booking_fee",
        "booking_fee_breakup",
        "taxes",
        "hub_charges",
        "discounts",
        "upfront",
    }
    upfront = estimate["upfront"]
    assert upfront["is_upfront_applicable"] is True
    assert upfront["fare"] == estimate["amount_min"] == estimate["amount_max"]
    assert isinstance(upfront["fare_id"], str)


def test_a_metered_estimate_is_a_range_around_the_price_of_the_rate_card(desk):
    body = desk.products(drop=far_drop(), category="suv")
    (estimate,) = body["ride_estimate"]
    assert estimate["upfront"] == {"is_upfront_applicable": False}
    card = body["categories"][0]["fare_breakup"][0]
    beyond = max(0.0, estimate["distance"] - float(card["minimum_distance"]))
    fare = float(card["base_fare"]) + beyond * float(card["cost_per_distance"])
    fare += estimate["travel_time_in_minutes"] * float(card["ride_cost_per_minute"])
    fare = max(fare, float(card["minimum_fare"])) * 1.05
    assert estimate["amount_min"] <= fare <= estimate["amount_max"]


def test_share_has_fixed_fares_for_one_seat_and_for_two(desk):
    (estimate,) = desk.products(drop=far_drop(), category="share")["ride_estimate"]
    assert estimate["category"] == "share"
    assert estimate["travel_time_unit"] == "MINUTES"
    assert 0 < estimate["travel_time_min"] <= estimate["travel_time_max"]
    one, two = estimate["fares"]
    assert (one["seats"], two["seats"]) == (1, 2)
    assert one["cost"] < two["cost"] < 2 * one["cost"]
    for fare in (one, two):
        assert Decimal(str(fare["savings"])) == Decimal(str(fare["actual_cost"])) - Decimal(
            str(fare["cost"])
        )
        assert isinstance(fare["peak_time_charge"], str)
        assert {"peak_time_text", "discount_string", "fare_string"} <= set(fare)


def test_without_a_drop_and_for_rental_the_estimate_is_an_empty_object(desk):
    assert desk.products()["ride_estimate"] == {}
    assert desk.products(drop=(0, 0))["ride_estimate"] == {}
    assert desk.products(drop=far_drop(), category="rental")["ride_estimate"] == {}


def test_a_hotspot_has_boundary_and_named_points_and_elsewhere_only_a_flag(desk):
    assert desk.products()["hotspot_zone"] == {"is_hotpot_zone": False}
    for hotspot in (*PORT.hotspots, *SALT.hotspots):
        zone = desk.products(hotspot.points[0].position)["hotspot_zone"]
        assert zone["is_hotpot_zone"] is True
        assert isinstance(zone["desc"], str)
        assert zone["default_pickup_point_id"] in [point["id"] for point in zone["pickup_points"]]
        assert all(set(point) == {"lat", "lng", "name", "id"} for point in zone["pickup_points"])
        assert all(len(pair) == 2 for pair in zone["hotspot_boundary"])


def test_the_airport_card_prices_a_trip_from_the_airport(desk):
    airport = next(hotspot for hotspot in PORT.hotspots if "Airport" in hotspot.name)
    start = airport.points[0].position
    (estimate,) = desk.products(start, HOTEL, category="mini")["ride_estimate"]
    assert estimate["hub_charges"]["pickup_hub_fee"] == 60
    assert estimate["hub_charges"]["pickup_hub_name"] == airport.name
    assert estimate["amount_min"] > 180


def test_where_no_cab_is_near_eta_and_distance_are_minus_one_and_a_booking_finds_none(desk):
    beach = PORT.place("west-sands-hotel").position
    listed = desk.products(beach)
    assert category(listed, "mini")["eta"] > 0
    suv = category(listed, "suv")
    assert (suv["eta"], suv["distance"]) == (-1, -1)
    assert desk.statuses(desk.book("suv", pickup=beach)) == [
        "ALLOTMENT_PENDING",
        "ALLOTMENT_FAILED",
    ]


def test_the_cities_differ_in_categories_currency_and_policies(desk):
    first, second = desk.products(), desk.products(SALT.center)
    assert [each["id"] for each in second["categories"]] == [
        "micro",
        "sedan",
        "share",
        "auto",
        "rental",
    ]
    assert {each["currency"] for each in second["categories"]} == {"EUR"}
    assert (
        category(first, "share")["cancellation_policy"]
        != category(second, "share")["cancellation_policy"]
    )


def test_outside_the_cities_and_for_a_foreign_category_products_fails_in_json(desk):
    assert desk.products(OCEAN)["code"] == "INVALID_CITY"
    assert desk.products(category="micro")["code"] == "INVALID_CAR_CATEGORY"
    assert desk.products((95, 0))["code"] == "BAD_REQUEST"
    for wrong in ("nan", "inf", "1e5", "abc", "1_0", "٣"):
        assert (
            desk.get("/v1/products", pickup_lat=wrong, pickup_lng="1").json["code"] == "BAD_REQUEST"
        )


def test_products_needs_the_partner_key_but_no_bearer(desk):
    query = {"pickup_lat": HOTEL[0], "pickup_lng": HOTEL[1]}
    alone = desk.web.get("/v1/products", query_string=query, headers={"X-APP-TOKEN": "partner-key"})
    assert alone.status_code == 200
    for headers in ({}, {"X-APP-TOKEN": "wrong"}):
        refused = desk.web.get("/v1/products", query_string=query, headers=headers)
        assert (refused.status_code, refused.json["code"]) == (403, "invalid_partner_key")


def test_autos_cost_more_at_night_and_their_rates_mention_it(desk_at, desk):
    night, day = desk_at(NIGHT), desk
    (dear,) = night.products(drop=far_drop(), category="auto")["ride_estimate"]
    (cheap,) = day.products(drop=far_drop(), category="auto")["ride_estimate"]
    assert dear["amount_min"] > cheap["amount_min"] * 1.4
