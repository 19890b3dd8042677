"""Bills of rides: inside their estimate, with an advance at the airport and charges at night."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from types import SimpleNamespace

import pytest

from ridedash import wire
from ridedash.sandbox.bookings.snapshots import agreed, driven
from ridedash.sandbox.pricing.rates import Driven, Terms
from tests.sandbox.sandbox_desk import HOTEL, NIGHT, PORT, SALT, far_drop

RIDES = {
    "port-meridian": (HOTEL, far_drop()),
    "saltmere": (SALT.center, far_drop(SALT, SALT.center)),
}
MIDNIGHT = {"port-meridian": NIGHT, "saltmere": NIGHT + timedelta(hours=5, minutes=30)}
AIRPORT = next(z for z in PORT.hotspots if "Airport" in z.name).points[0].position
CHARGES = {"port-meridian": 5, "saltmere": 0.3}  # in rupees and in euros


def balances(desk, booking):
    """The balance of the wallet at the invoice and at the end of the ride."""
    invoice = desk.until(booking, "INVOICE")["svc_money_balance"]
    return invoice, desk.until(booking, "COMPLETED")["svc_money_balance"]


@pytest.mark.parametrize("city", RIDES)
def test_what_an_auto_takes_from_the_wallet_lies_inside_its_estimate(desk, city):
    pickup, drop = RIDES[city]
    (estimate,) = desk.products(pickup, drop, category="auto")["ride_estimate"]
    before, after = balances(desk, desk.book("auto", pickup=pickup, drop=drop))
    assert estimate["amount_min"] <= round(before - after, 2) <= estimate["amount_max"]


@pytest.mark.parametrize("city", RIDES)
def test_the_convenience_charge_is_that_of_the_city_and_is_in_the_estimate(desk, city):
    pickup, drop = RIDES[city]
    listed = desk.products(pickup, drop, category="auto")
    (estimate,) = listed["ride_estimate"]
    assert estimate["booking_fee"] == CHARGES[city]
    assert estimate["booking_fee_breakup"] == [
        {"display_text": "Convenience charge", "value": CHARGES[city]}
    ]
    words = listed["categories"][0]["fare_breakup"][0]["fare"]
    assert f"{CHARGES[city]} convenience charge" in words
    booking = desk.book("auto", pickup=pickup, drop=drop)
    info = desk.until(booking, "INVOICE")["trip_info"]
    assert info["convenience_charge"] == CHARGES[city]


def test_categories_without_a_convenience_charge_have_no_booking_fee(desk):
    (estimate,) = desk.products(drop=far_drop(), category="suv")["ride_estimate"]
    assert (estimate["booking_fee"], estimate["booking_fee_breakup"]) == (0, [])


def test_an_auto_at_the_airport_takes_an_advance_from_the_wallet_and_bills_the_rest(desk):
    (card,) = desk.products(AIRPORT, category="auto")["categories"][0]["fare_breakup"]
    assert "from the airport the wallet pays ₹40 of it in advance" in card["fare"]
    booking = desk.book("auto", pickup=AIRPORT, drop=HOTEL)
    invoice = desk.until(booking, "INVOICE")
    info = invoice["trip_info"]
    assert (info["advance"], invoice["svc_money_balance"]) == (40, 2500 - 40)
    rest = info["amount"] + info["convenience_charge"] - info["discount"] - info["advance"]
    assert info["payable_amount"] == pytest.approx(rest)
    ended = desk.until(booking, "COMPLETED")
    paid = invoice["svc_money_balance"] - ended["svc_money_balance"]
    assert paid == pytest.approx(info["payable_amount"])
    assert (ended["trip_info"]["advance"], ended["trip_info"]["cash_paid"]) == (40, 0)


@pytest.mark.parametrize(
    ("pickup", "payment"), [(AIRPORT, "cash"), (None, "svc_money")], ids=["cash", "town"]
)
def test_no_advance_is_taken_in_cash_or_in_town(desk, pickup, payment):
    places = {"pickup": pickup, "drop": HOTEL} if pickup else {}
    booking = desk.book("auto", payment_instrument_type=payment, **places)
    assert desk.until(booking, "INVOICE")["trip_info"]["advance"] == 0


@pytest.mark.parametrize(
    ("city", "category", "charge"),
    [("port-meridian", "suv", 40), ("saltmere", "micro", 1.5)],
)
def test_a_category_with_a_night_charge_says_it_and_its_estimate_contains_it(
    desk_at, desk, city, category, charge
):
    pickup, drop = RIDES[city]
    listed = desk.products(pickup, drop, category=category)
    for card in listed["categories"][0]["fare_breakup"]:
        assert card["night_time_charges"] == str(float(charge))
        assert card["night_time_duration"] == "23:00 to 05:00"
    night = desk_at(MIDNIGHT[city])
    (dear,) = night.products(pickup, drop, category=category)["ride_estimate"]
    (cheap,) = listed["ride_estimate"]
    assert dear["amount_min"] >= cheap["amount_min"] + charge * 0.95


def test_categories_without_a_night_charge_say_na(desk):
    for card in desk.products(category="mini")["categories"][0]["fare_breakup"]:
        assert (card["night_time_charges"], card["night_time_duration"]) == ("NA", "NA")


def test_a_booking_that_never_became_a_ride_has_driven_nothing():
    plan = SimpleNamespace(ride=None, first=lambda _status: None)
    assert driven(SimpleNamespace(plan=plan)) == Driven(Decimal(0), Decimal(0))


def test_the_time_that_a_driver_waited_is_billed_at_the_end_and_not_before(desk):
    waited = []
    for _ in range(6):
        booking = desk.book("suv")
        riding = desk.until(booking, "IN_PROGRESS")["price_details"]
        ended = desk.until(booking, "COMPLETED", step=30)["price_details"]
        waited.append(ended["fare"] - riding["fare"])
    assert min(waited) >= 0, "nothing is taken off at the end"
    assert max(waited) > 0, "and one of these drivers waited for longer than is free"


@pytest.mark.parametrize(
    ("kind", "drop_changed", "stays"),
    [
        (wire.Kind.POINT_TO_POINT, False, True),
        (wire.Kind.POINT_TO_POINT, True, False),
        (wire.Kind.SHARE, False, True),
        (wire.Kind.SHARE, True, True),
    ],
)
def test_a_fixed_price_ends_with_another_drop_unless_the_ride_is_shared(kind, drop_changed, stays):
    fixed = Terms(Decimal(1), False, False, None, Decimal(240))
    request = SimpleNamespace(terms=fixed, drop_changed=drop_changed)
    agreed_on = agreed(SimpleNamespace(request=request, kind=kind))
    assert agreed_on == (fixed if stays else replace(fixed, fixed=None))
