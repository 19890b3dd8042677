"""A partner's client of a sandbox whose clock moves only when a test advances it.

Paths and field names are literals here, not the program's constants.
"""

from datetime import UTC, datetime, timedelta

from ridedash.geo import contains, distance_m
from ridedash.sandbox import SandboxSettings, create_sandbox, mint_token
from ridedash.sandbox.city.city import cities

PORT, SALT = cities()
HOTEL = PORT.place("grand-meridian-hotel").position
CONTROL = {"X-Sandbox-Control": "1"}
NOON = datetime(2026, 3, 4, 6, 30, tzinfo=UTC)  # a Wednesday, 12:00 in Port Meridian
PEAK = datetime(2026, 3, 4, 3, 30, tzinfo=UTC)  # 09:00 in Port Meridian
NIGHT = datetime(2026, 3, 4, 18, 30, tzinfo=UTC)  # midnight in Port Meridian
OCEAN = (-38.9, -127.2)


class Clock:
    """A wall clock that tests set."""

    def __init__(self, now=NOON):
        self.now = now

    def __call__(self):
        return self.now

    def advance(self, seconds):
        self.now += timedelta(seconds=seconds)


class Desk:
    """A partner's client with app token and bearer token of a user, and its own sandbox."""

    def __init__(self, folder, now=NOON, **settings):
        self.clock = Clock(now)
        self.database = folder / "sandbox.sqlite"
        self.settings = SandboxSettings(
            database=self.database,
            app_token="partner-key",
            client_id="ridedash",
            client_secret="client-secret",
            redirect_uris=("http://127.0.0.1:8000/accounts/callback",),
            **{"clock": self.clock, **settings},
        )
        self.app = create_sandbox(self.settings)
        self.web = self.app.test_client()
        self.headers = {"X-APP-TOKEN": "partner-key"} | bearer(mint_token(self.database, "house"))

    def close(self):
        self.app.extensions["sandbox"].close()

    def get(self, path, **query):
        return self.web.get(path, query_string=query, headers=self.headers)

    def post(self, path, body):
        return self.web.post(path, json=body, headers=self.headers)

    def control(self, path, **body):
        answer = self.web.post(f"/control/{path}", json=body, headers=CONTROL)
        assert answer.status_code == 200, answer.json
        return answer.json

    def ledger(self):
        return self.web.get("/control/ledger", headers=CONTROL).json["bookings"]

    def products(self, pickup=HOTEL, drop=None, **query):
        ends = {"pickup_lat": pickup[0], "pickup_lng": pickup[1]}
        ends |= {"drop_lat": drop[0], "drop_lng": drop[1]} if drop else {}
        return self.get("/v1/products", **ends, **query).json

    def payload(self, category, pickup=HOTEL, drop="far", **more):
        """A payload of create, with the fare_id of products if there is one."""
        drop = far_drop() if drop == "far" else drop
        body = {
            "pickup_lat": pickup[0],
            "pickup_lng": pickup[1],
            "category": category,
            "pickup_mode": "now",
        }
        if drop:
            body |= {"drop_lat": drop[0], "drop_lng": drop[1]}
            listed = self.products(pickup, drop, category=category).get("ride_estimate") or [{}]
            fare_id = listed[0].get("upfront", {}).get("fare_id")
            body |= {"fare_id": fare_id} if fare_id else {}
        return body | more

    def create(self, category, **more):
        return self.post("/v1.5/bookings/create", self.payload(category, **more)).json

    def book(self, category, **more):
        """Make a booking and return its id, or the txn_id of a share booking that retries."""
        answer = self.create(category, **more)
        assert answer["status"] == "SUCCESS", answer
        return answer["booking_id"] or answer["txn_id"]

    def track(self, booking):
        key = "txn_id" if booking.startswith("TX") else "booking_id"
        return self.get("/v1/bookings/track_ride", **{key: booking}).json

    def until(self, booking, status, step=5, limit=9000):
        """Advance the clock until a booking has a status, and return its snapshot."""
        for _ in range(limit // step):
            body = self.track(booking)
            if body["booking_status"] == status:
                return body
            self.clock.advance(step)
        raise AssertionError(f"{booking} never became {status}; it is {body['booking_status']}")

    def statuses(self, booking, step=5, limit=9000):
        """All statuses of a booking in order. A txn_id is replaced by the booking_id once known."""
        seen = []
        for _ in range(limit // step):
            body = self.track(booking)
            booking = body.get("booking_id", booking)
            if not seen or seen[-1] != body["booking_status"]:
                seen.append(body["booking_status"])
            if seen[-1] in ("COMPLETED", "ALLOTMENT_FAILED", "BOOKING_CANCELLED"):
                break
            self.clock.advance(step)
        return seen


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def far_drop(city=PORT, pickup=HOTEL):
    """A drop some kilometres away that shared cabs go to."""
    fit = [place.position for place in city.places if distance_m(pickup, place.position) < 6000]
    shared = [
        place for place in fit if not inside(place, (*city.unshareable, *city.no_share_heading))
    ]
    return max(shared, key=lambda place: distance_m(pickup, place))


def inside(point, rings):
    return any(contains(ring, point) for ring in rings)


def middle(ring):
    """The mean of the vertices of a ring."""
    return (sum(p[0] for p in ring) / len(ring), sum(p[1] for p in ring) / len(ring))
