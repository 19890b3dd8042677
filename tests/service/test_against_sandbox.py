"""The real client against the sandbox, over WSGI: what one writes, the other reads."""

from datetime import UTC, datetime, timedelta

import httpx
import pytest

from ridedash.geo import LatLng, distance_m
from ridedash.sandbox import SandboxSettings, create_sandbox, mint_token
from ridedash.sandbox.city.city import cities
from ridedash.service.client import RideClient
from ridedash.service.errors import BadStatus, Refused, Unauthorized
from ridedash.service.oauth import OAuthClient
from ridedash.service.transport.http import Http
from ridedash.service.types.bookings import NewBooking
from tests import streets

APP_TOKEN = "sandbox-app-token"
PORT, SALT = cities()


class Clock:
    """A wall clock that moves when a test moves it."""

    def __init__(self):
        self.now = datetime(2026, 3, 4, 6, 30, tzinfo=UTC)

    def __call__(self):
        return self.now

    def advance(self, seconds):
        self.now += timedelta(seconds=seconds)


class Stand:
    """A sandbox with a client in front of it."""

    def __init__(self, folder):
        self.clock = Clock()
        settings = SandboxSettings(
            database=folder / "sandbox.sqlite",
            app_token=APP_TOKEN,
            client_id="ridedash",
            client_secret="sandbox-client-secret",
            redirect_uris=("http://127.0.0.1:8000/accounts/callback",),
            clock=self.clock,
        )
        self.database = settings.database
        streets.grow()
        self.app = create_sandbox(settings)
        self.http = Http(httpx.WSGITransport(app=self.app))
        self.client = RideClient(self.http, "http://127.0.0.1:8001", APP_TOKEN)
        self.token = mint_token(settings.database, "house")
        self.banned = mint_token(settings.database, "banned")

    def statuses(self, seconds=7200, **ids):
        """The snapshots of a ride as it goes on, one for each change of status."""
        seen = []
        for _ in range(seconds // 10):
            snapshot = self.client.track_ride(self.token, **ids)
            if not seen or seen[-1].booking_status != snapshot.booking_status:
                seen.append(snapshot)
            if snapshot.booking_status in ("COMPLETED", "ALLOTMENT_FAILED", "BOOKING_CANCELLED"):
                break
            self.clock.advance(10)
        return seen


@pytest.fixture
def stand(tmp_path):
    made = Stand(tmp_path)
    yield made
    made.app.extensions["sandbox"].close()


def trip(city=PORT):
    """A pickup outside hotspots and a drop some kilometres away."""
    places = [place.position for place in city.places]
    pickup = next(place.position for place in city.places if place.kind == "hotel")
    drop = max(
        (each for each in places if distance_m(pickup, each) < 6000),
        key=lambda each: distance_m(pickup, each),
    )
    return pickup, drop


def test_products_of_both_cities_are_read_whole(stand):
    for city in (PORT, SALT):
        pickup, drop = trip(city)
        read = stand.client.products(pickup, drop)
        assert {product.currency for product in read.products} == {city.currency}
        for product in read.products:
            assert product.cancellation is not None
            assert product.none_near or (product.eta is not None and product.nearest is not None)
            assert product.packages or product.rate_cards
            if product.category not in ("share", "rental"):
                estimate = product.estimate
                assert estimate.distance is not None
                assert estimate.upfront or estimate.amount_min <= estimate.amount_max
        assert any(product.estimate and product.estimate.upfront for product in read.products)
        for package in (package for product in read.products for package in product.packages):
            assert None not in (
                package.sub_category,
                package.duration,
                package.distance,
                package.base_fare,
            )


def test_a_hotspot_zone_is_read_with_its_points(stand):
    zone = PORT.hotspots[0]
    read = stand.client.products(zone.points[0].position).hotspot
    assert [point.id for point in read.points] == [point.id for point in zone.points]
    assert read.default_point_id == zone.default_point_id
    assert len(read.boundary) == len(zone.boundary)


def test_share_fares_come_for_one_and_two_seats(stand):
    share = stand.client.products(*trip(), category="share").product("share").share
    assert share.fare(1).cost < share.fare(2).cost


def test_an_upfront_ride_is_booked_and_followed_to_its_end(stand):
    pickup, drop = trip()
    product = next(
        p for p in stand.client.products(pickup, drop).products if p.estimate and p.estimate.upfront
    )
    order = NewBooking(
        pickup=pickup,
        drop=drop,
        category=product.category,
        fare_id=product.estimate.fare_id,
        merchant_txn_id="rd-1",
    )
    answer = stand.client.create_booking(order, stand.token)
    assert answer.readable
    assert (answer.body.status, answer.body.merchant_txn_id) == ("SUCCESS", "rd-1")
    seen = stand.statuses(booking_id=answer.body.booking_id)
    assert [snapshot.booking_status for snapshot in seen][-4:] == [
        "CALL_DRIVER",
        "CLIENT_LOCATED",
        "IN_PROGRESS",
        "COMPLETED",
    ]
    called, here, riding, ended = seen[-4:]
    assert None not in (
        called.position,
        called.driver_name,
        called.vehicle_number,
        called.eta,
        called.driver_rating,
    )
    assert here.otp
    assert riding.otp is None
    assert riding.drop is not None
    assert ended.price.fare is not None
    done = stand.client.submit_feedback(
        answer.body.booking_id, 5, stand.token, ["On-time pickup"], "thanks"
    )
    assert done.status == "SUCCESS"


def test_an_auto_is_followed_to_its_invoice(stand):
    order = NewBooking(pickup=trip()[0], drop=trip()[1], category="auto")
    booked = stand.client.create_booking(order, stand.token).body.booking_id
    seen = {snapshot.booking_status: snapshot for snapshot in stand.statuses(booking_id=booked)}
    assert {"PENDING", "CALL_DRIVER", "IN_PROGRESS", "INVOICE", "COMPLETED"} <= seen.keys()
    assert seen["INVOICE"].trip.payable_amount is not None
    assert seen["INVOICE"].trip.distance is not None
    assert seen["COMPLETED"].trip.ride_time is not None
    assert seen["COMPLETED"].pickup_time.at is not None
    assert seen["COMPLETED"].svc_money_balance is not None


def test_a_city_ride_that_goes_through_invoice_has_its_fare_and_its_start_code_there(stand):
    control = {"X-Sandbox-Control": "1"}
    queued = stand.app.test_client().post(
        "/control/next", json={"scenario": "invoice_before_ride"}, headers=control
    )
    assert queued.status_code == 200
    order = NewBooking(pickup=trip()[0], drop=trip()[1], category="suv")
    booked = stand.client.create_booking(order, stand.token).body.booking_id
    seen = stand.statuses(booking_id=booked)
    assert [snapshot.booking_status for snapshot in seen][2:5] == [
        "CLIENT_LOCATED",
        "INVOICE",
        "IN_PROGRESS",
    ]
    assert seen[3].otp == seen[2].otp is not None
    assert seen[3].price.fare is not None
    assert seen[3].vehicle_type in {"Osprey Estate", "Albatross Six"}


def test_an_account_of_an_affiliate_books_with_the_uid_of_the_order(stand):
    affiliate = mint_token(stand.database, "affiliate")
    order = NewBooking(pickup=trip()[0], category="suv")
    refused = stand.client.create_booking(order, affiliate).body
    assert (refused.code, refused.booking_id) == ("AFFILIATE_UID_REQUIRED", None)
    named = NewBooking(pickup=trip()[0], category="suv", affiliate_uid="desk-7")
    assert stand.client.create_booking(named, affiliate).body.booking_id


def test_the_charges_of_autos_and_of_nights_are_read_as_amounts(stand):
    read = {product.category: product for product in stand.client.products(*trip()).products}
    (fee,) = read["auto"].estimate.booking_fee_lines
    assert (fee.display_text, fee.value) == ("Convenience charge", 5)
    (suv, _airport) = read["suv"].rate_cards
    assert (suv.night_time_charges, suv.night_time_duration) == (40, "23:00 to 05:00")
    assert read["mini"].rate_cards[0].night_time_charges is None


def test_a_shared_ride_is_followed_from_its_create(stand):
    pickup, drop = trip()
    order = NewBooking(pickup=pickup, drop=drop, category="share", seats=1, retry=True)
    body = stand.client.create_booking(order, stand.token).body
    assert body.status == "SUCCESS"
    assert body.booking_id or body.txn_id


def test_refusals_of_create_carry_their_codes(stand):
    pickup, drop = trip()
    cases = [
        (NewBooking(pickup=pickup, category="no-such"), stand.token, "INVALID_CAR_CATEGORY"),
        (NewBooking(pickup=LatLng(1.0, 1.0), category="mini"), stand.token, "INVALID_CITY"),
        (NewBooking(pickup=pickup, drop=pickup, category="auto"), stand.token, "SAME_PICKUP_DROP"),
        (
            NewBooking(pickup=pickup, drop=trip(SALT)[0], category="auto"),
            stand.token,
            "INVALID_DROP_LOCATION",
        ),
        (NewBooking(pickup=pickup, drop=drop, category="auto"), stand.banned, "BANNED USER"),
    ]
    for order, token, code in cases:
        answer = stand.client.create_booking(order, token)
        assert answer.readable
        assert (answer.body.code, answer.body.booking_id) == (code, None)


def test_an_allotted_ride_is_cancelled_and_not_aborted_and_an_ended_one_keeps_its_drop(stand):
    pickup, drop = trip()
    booked = stand.client.create_booking(
        NewBooking(pickup=pickup, drop=drop, category="auto"), stand.token
    ).body.booking_id
    assert stand.client.update_drop_location(booked, trip()[1], stand.token).status == "SUCCESS"
    while stand.client.track_ride(stand.token, booking_id=booked).booking_status != "CALL_DRIVER":
        stand.clock.advance(10)
    with pytest.raises(Refused) as caught:
        stand.client.abort_booking(booked, stand.token)
    assert caught.value.code == "BOOKING_ALLOTED"
    with pytest.raises(Refused) as caught:
        stand.client.update_drop_location(booked, trip(SALT)[0], stand.token)
    assert caught.value.header == "Invalid Drop Location"
    assert booked in stand.client.cancel_booking(booked, "Guest changed plans", stand.token).text
    assert (
        stand.client.track_ride(stand.token, booking_id=booked).booking_status
        == "BOOKING_CANCELLED"
    )
    with pytest.raises(Refused) as caught:
        stand.client.update_drop_location(booked, drop, stand.token)
    assert caught.value.header == "Oops!"
    with pytest.raises(Refused) as caught:
        stand.client.cancel_booking(booked, "again", stand.token)
    assert caught.value.reason == "CANCELLATION_NOT_ALLOWED"
    assert caught.value.code == "BOOKING_ALREADY_CANCELLED"


def test_wrong_tokens_are_refused(stand):
    with pytest.raises(Unauthorized):
        stand.client.track_ride("no-such-token", booking_id="x")
    stranger = RideClient(stand.http, "http://127.0.0.1:8001", "another-app-token")
    with pytest.raises((Refused, BadStatus)):
        stranger.products(trip()[0])


def test_feedback_options_are_the_services_own(stand):
    options = stand.client.feedback_options("rental", stand.token, "micro")
    assert not options.from_document
    assert len(options.for_rating(5)) == 5


def test_a_dead_refresh_token_is_refused_as_an_invalid_grant(stand):
    token_url = "http://127.0.0.1:8001/oauth/token"
    oauth = OAuthClient(
        stand.http,
        "http://127.0.0.1:8001/oauth/authorize",
        token_url,
        "ridedash",
        "sandbox-client-secret",
        "",
    )
    with pytest.raises(Refused) as caught:
        oauth.refresh("no-such-token")
    assert caught.value.code == "invalid_grant"
