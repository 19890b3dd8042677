"""What a client must tolerate: the 14 points of docs/field-notes.md; and no body ever raises."""

import copy
import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridedash.geo import LatLng
from ridedash.service import responses
from ridedash.service.errors import Refused
from ridedash.service.parsing.fields import Distance, Duration
from ridedash.service.transport.http import Answer
from ridedash.service.transport.strict_json import loads
from ridedash.service.types.bookings import CreateBody, Done, FeedbackOptions
from ridedash.service.types.products import Product, ProductList
from ridedash.service.types.tracking import Snapshot
from tests.service.bodies import AUTO_COMPLETED, CREATED, PRODUCTS, RETRYING, SNAPSHOT


def products(**category):
    return ProductList.from_wire({"categories": [{"id": "mini", **category}]}).products[0]


def track(**fields):
    return Snapshot.from_wire(SNAPSHOT | fields)


def wire_answer(body, status=200):
    return Answer(status, {}, json.dumps(body).encode())


# 1
@pytest.mark.parametrize(
    ("value", "metres"), [("0.2", 200), (0.2, 200), (-1, None), ("-1", None), ("near", None)]
)
def test_1_a_distance_is_a_number_or_its_text(value, metres):
    assert products(distance=value).nearest == (None if metres is None else Distance(metres=metres))


@pytest.mark.parametrize("value", ["1900.0", 1900, 1900.0, Decimal("1900.00")])
def test_1_a_base_fare_is_a_number_or_its_text(value):
    assert (
        products(fare_breakup=[{"type": "flat_rate", "base_fare": value}]).rate_cards[0].base_fare
        == 1900
    )


@pytest.mark.parametrize(
    ("value", "rating"), [("4.73269", Decimal("4.73269")), (4.8, Decimal("4.8")), (0, None)]
)
def test_1_a_rating_is_a_number_or_its_text_and_0_is_not_rated(value, rating):
    assert track(driver_rating=value).driver_rating == rating


@pytest.mark.parametrize("value", [3, "3", 3.0])
def test_1_an_eta_is_a_number_or_its_text(value):
    assert products(eta=value, time_unit="minute").eta == Duration(seconds=180)


@pytest.mark.parametrize("value", [-1, "-1"])
def test_1_an_eta_of_minus_one_means_that_none_is_near(value):
    assert (products(eta=value).eta, products(eta=value).none_near) == (None, True)
    assert (products().eta, products().none_near) == (None, False)


# 2
@pytest.mark.parametrize("count", [1, 3, 9])
def test_2_a_category_has_one_to_nine_rate_cards_of_any_type(count):
    cards = products(
        fare_breakup=[{"type": f"out of town {n}", "base_fare": n} for n in range(count)]
    ).rate_cards
    assert [card.type for card in cards] == [f"out of town {n}" for n in range(count)]


def test_2_a_rental_has_packages_and_no_rate_cards():
    package = {
        "display_name": "1 hr 10 km",
        "duration": 1,
        "time_unit": "hour",
        "distance": 10,
        "base_fare": "1900.0",
    }
    rental = products(
        sub_categories=[{"id": "micro", "display_name": "Micro", "packages": [package]}]
    )
    assert rental.rate_cards == ()
    only = rental.packages[0]
    assert (only.sub_category, only.display_name, only.base_fare) == ("micro", "1 hr 10 km", 1900)
    assert (only.duration, only.distance) == (Duration(seconds=3600), Distance(metres=10_000))


def test_2_a_list_of_lists_is_flattened_and_what_is_no_card_is_left_out():
    cards = products(
        fare_breakup=[[{"type": "one_way"}], [{"type": "two_way"}, 7], None, "x"]
    ).rate_cards
    assert [card.type for card in cards] == ["one_way", "two_way"]


# 3
@pytest.mark.parametrize(
    "zone", [{"is_hotpot_zone": False}, None, {}, [], "no", {"is_hotpot_zone": "false"}]
)
def test_3_no_hotspot_zone_is_none(zone):
    assert ProductList.from_wire({"categories": [], "hotspot_zone": zone}).hotspot is None
    assert ProductList.from_wire({"categories": []}).hotspot is None


def test_3_a_point_that_is_not_defined_is_neither_default_nor_a_categorys():
    body = copy.deepcopy(PRODUCTS)
    body["hotspot_zone"]["default_pickup_point_id"] = 77
    read = ProductList.from_wire(body)
    assert read.hotspot.default_point_id is None
    assert [point.name for point in read.hotspot.points] == ["Gate 1", "Gate 2"]
    assert read.product("mini").pickup_point_ids == (1,)


# 4
@pytest.mark.parametrize(
    ("sent", "read"), [(534, 174), (360, 0), (-90, 270), ("90", 90), (-1e-15, 0), ("north", None)]
)
def test_4_a_bearing_is_taken_modulo_360(sent, read):
    assert track(bearing=sent).bearing == read


# 5
@pytest.mark.parametrize(
    ("written", "understood"),
    [
        ("2016-06-16T10:45:38.000+5:30", True),
        ("2016-06-16 10:45:38,000 +0530", True),
        ("2016-06-16T10:45:38 Asia/Kolkata", True),
        ("yesterday evening", False),
    ],
)
def test_5_a_bad_time_keeps_its_text(written, understood):
    read = Snapshot.from_wire(AUTO_COMPLETED | {"pickup_time": written}).pickup_time
    assert (read.text, read.at is not None) == (written, understood)
    again = CreateBody.from_wire({"retry": {"next_retry_time": written}})
    assert again.next_retry_time == written


# 6
def test_6_a_drop_of_zero_zero_is_no_drop():
    assert track(drop_location={"lat": 0, "lng": 0}).drop is None
    assert track(drop_location={"lat": "0.0", "lng": 0}).drop is None
    assert track().drop == LatLng(12.2, 77.2)


# 7
@pytest.mark.parametrize("key", ["Text", "TEXT", "text ", " Text"])
def test_7_a_key_is_read_in_any_case_and_with_outer_spaces(key):
    done = Done.from_wire({"Status ": "success", "header": "Success", key: "It is done"})
    assert (done.status, done.header, done.text) == ("SUCCESS", "Success", "It is done")


@pytest.mark.parametrize("header", ["Success", "SUCCESS", "Your ride was cancelled."])
def test_7_a_header_is_any_words(header):
    assert (
        Done.from_wire(
            responses.success_of(wire_answer({"status": "SUCCESS", "header": header}))
        ).header
        == header
    )


# 8
@pytest.mark.parametrize("http_status", [200, 400, 404, 422, 500])
@pytest.mark.parametrize(
    "body",
    [
        {"message": "BOOKING_FAILED", "code": "INVALID_CITY"},
        {"status": "FAILURE", "code": "INVALID_CITY"},
        {"message": "no", "code": "Invalid_City "},
    ],
)
def test_8_the_body_of_a_failure_decides_and_not_its_http_status(http_status, body):
    with pytest.raises(Refused) as caught:
        responses.object_of(wire_answer(body, http_status))
    assert caught.value.http_status == http_status
    assert caught.value.code.upper() == "INVALID_CITY"


# 9
def test_9_words_and_units_are_read_in_capitals_and_in_any_spelling():
    read = track(
        duration={"value": "3", "unit": "MINUTES"}, distance={"value": 1.2, "unit": "Kilometers"}
    )
    assert (read.eta, read.distance) == (Duration(seconds=180), Distance(metres=1200))
    units = products(distance_unit="KMS", time_unit="MINUTES")
    assert (units.distance_unit, units.time_unit) == ("kilometre", "minute")
    assert track(route=[{"name": "Guest Heron", "state": "PICKUP"}]).route[0].state == "pickup"


# 10
@pytest.mark.parametrize(
    "image", ["http://img.example/x.png", "javascript:alert(1)", "none", 7, None, ["x"]]
)
def test_10_an_image_that_is_no_https_link_is_none(image):
    assert products(image=image).image is None
    assert track(driver_image_url=image).driver_image_url is None
    assert track(share_ride_url=image).share_ride_url is None


# 11
def test_11_a_cab_is_read_flat_or_nested():
    nested = {"cab_type": "suv", "cab_number": "KA 02", "car_model": "Model Q", "car_color": "red"}
    read = Snapshot.from_wire({"booking_status": "CALL_DRIVER", "cab_details": nested})
    assert (read.vehicle_type, read.vehicle_number, read.car_model, read.vehicle_color) == (
        "suv",
        "KA 02",
        "Model Q",
        "red",
    )
    assert track(cab_details=nested).vehicle_number == "KA 01 AB 1234"


# 12
def test_12_other_passengers_stay_out_of_every_repr():
    read = track()
    assert read.passengers == ("Guest Heron",)
    assert read.route[0].position == LatLng(12.1, 77.1)
    assert "Guest Heron" not in repr(read)


def test_the_start_code_and_the_drivers_number_stay_out_of_every_repr():
    read = track()
    assert (read.otp, read.driver_number) == ("0412", "+910000000000")
    assert "0412" not in repr(read)
    assert "910000000000" not in repr(read)


# 13
def test_13_extra_fields_are_ignored():
    body = SNAPSHOT | {
        "all_cabs": [{"id": 1}],
        "previous_cancellation_charges": 3,
        "ride_now_allowed": True,
    }
    assert Snapshot.from_wire(body) == Snapshot.from_wire(SNAPSHOT)


WRONG = [None, "", "???", [], {}, [[]], {"value": []}, True, -1, 10**30, "x" * 100_000]
NAMED_OTHERWISE = {
    "pickup_location": "pickup",
    "drop_location": "drop",
    "duration": "eta",
    "price_details": "price",
}


@pytest.mark.parametrize("field", sorted(SNAPSHOT))
@pytest.mark.parametrize("wrong", WRONG, ids=lambda value: repr(value)[:12])
def test_13_a_wrong_field_is_dropped_alone(field, wrong):
    sound, spoilt = track().model_dump(), track(**{field: wrong}).model_dump()
    own = {NAMED_OTHERWISE.get(field, field)}
    if field in {"driver_lat", "driver_lng"}:
        own = {"position"}
    if field == "otp":
        own = {"otp", "otp_text"}
    assert {name: spoilt[name] for name in spoilt.keys() - own} == {
        name: sound[name] for name in sound.keys() - own
    }


@pytest.mark.parametrize("field", sorted(PRODUCTS["categories"][0]))
def test_13_a_missing_field_of_a_product_is_dropped_alone(field):
    body = copy.deepcopy(PRODUCTS)
    del body["categories"][0][field]
    read = ProductList.from_wire(body)
    assert len(read.products) == (1 if field == "id" else 2)
    assert read.product("share") == ProductList.from_wire(PRODUCTS).product("share")


def test_13_an_unknown_status_is_preserved_as_text():
    assert track(booking_status="Driver Having Tea").booking_status == "DRIVER HAVING TEA"
    assert track(booking_status=["CALL_DRIVER"]).booking_status is None
    assert track(booking_status=7).booking_status is None


# 14
@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
        ("${alert(1)} {{7*7}}", "${alert(1)} {{7*7}}"),
        ("a\u202eb\u2066c\u0000d\u200be\ufefff", "abcdef"),
        ("line\r\n\tnext\u2028end", "line next end"),
        ("\ud800x", "x"),
        ("x" * 100_000, "x" * 300),
        ("\u0000" * 100_000, None),
    ],
    ids=lambda part: repr(part)[:16],
)
def test_14_text_is_cleaned_and_cut_and_its_markup_stays_text(sent, read):
    assert track(driver_name=sent).driver_name == read
    assert products(display_name=sent).display_name == (read or "mini")
    assert Done.from_wire({"text": sent}).text == read


# ------------------------------------- no body raises, and all that is read survives storage

anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
    | st.sampled_from(["-1", "true", "1e999", "9" * 400, "SUCCESS", "https://x", -1, 10**40]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


def spoilt(body):
    """A recorded body with arbitrary JSON in some of its fields, at any level."""
    if isinstance(body, dict):
        same_keys = st.fixed_dictionaries(
            {}, optional={key: spoilt(value) for key, value in body.items()}
        )
        return st.one_of(same_keys, same_keys, same_keys, anything)
    if isinstance(body, list) and body:
        return st.one_of(st.lists(spoilt(body[0]), max_size=3), anything)
    return st.one_of(st.just(body), anything)


READERS = [
    (ProductList, PRODUCTS),
    (Snapshot, SNAPSHOT),
    (Snapshot, AUTO_COMPLETED),
    (CreateBody, CREATED),
    (CreateBody, RETRYING),
    (Done, {"status": "SUCCESS", "header": "x", "text": "y"}),
    (FeedbackOptions, {"driver_feedback_options": {"1": ["a"], "5": ["b"]}}),
]


@given(st.sampled_from(READERS).flatmap(lambda pair: st.tuples(st.just(pair[0]), spoilt(pair[1]))))
def test_no_body_raises_and_what_was_read_survives_storage(case):
    reader, body = case
    read = reader.from_wire(loads(json.dumps(body).encode()))
    stored = json.dumps(read.model_dump(mode="json"), allow_nan=False).encode("utf-8")
    assert reader.model_validate(json.loads(stored)) == read


@pytest.mark.parametrize(("reader", "body"), READERS)
def test_recorded_bodies_survive_storage(reader, body):
    read = reader.from_wire(body)
    assert reader.model_validate(json.loads(json.dumps(read.model_dump(mode="json")))) == read
    assert reader.model_validate_json(read.model_dump_json()) == read


def test_a_product_alone_survives_storage():
    for product in ProductList.from_wire(PRODUCTS).products:
        assert (
            Product.model_validate(json.loads(json.dumps(product.model_dump(mode="json"))))
            == product
        )
