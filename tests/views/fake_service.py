"""A ride service and a gazetteer on an httpx.MockTransport, with bodies as the interface has."""

import copy
from collections.abc import Callable
from typing import Any

import httpx

POLICY = {
    "cancellation_charge": 30,
    "currency": "INR",
    "cancellation_charge_applies_after_time": 5,
    "time_unit": "minute",
}


def category(id_: str, name: str, **changes: Any) -> dict[str, Any]:
    rate = {
        "type": "flat_rate",
        "minimum_distance": "2",
        "minimum_time": "0",
        "base_fare": "50",
        "minimum_fare": "80",
        "cost_per_distance": "12.5",
        "waiting_cost_per_minute": "2",
        "ride_cost_per_minute": "1",
        "rates_higher_than_usual": False,
        "surcharge": [],
    }
    return {
        "id": id_,
        "display_name": name,
        "currency": "INR",
        "distance_unit": "kilometre",
        "time_unit": "minute",
        "eta": 3,
        "distance": "0.4",
        "ride_later_enabled": "true",
        "image": "http://example.invalid/x.png",
        "fare_breakup": [rate],
        "cancellation_policy": POLICY,
    } | changes


def upfront(id_: str, fare: int, fare_id: str) -> dict[str, Any]:
    return {
        "category": id_,
        "distance": "8.2",
        "travel_time_in_minutes": 22,
        "amount_min": fare - 20,
        "amount_max": fare + 20,
        "upfront": {"fare": fare, "fare_id": fare_id, "is_upfront_applicable": True},
    }


def metered(id_: str, low: int, high: int) -> dict[str, Any]:
    return {
        "category": id_,
        "distance": 8.2,
        "travel_time_in_minutes": 22,
        "amount_min": low,
        "amount_max": high,
    }


SHARE = {
    "category": "share",
    "travel_time_min": 24,
    "travel_time_max": 34,
    "travel_time_unit": "MINUTES",
    "promotional_message": "Two seats, one price",
    "fares": [
        {
            "seats": 1,
            "actual_cost": 120,
            "cost": 96,
            "savings": 24,
            "peak_time_charge": "1.0x",
            "fare_string": "",
        },
        {
            "seats": 2,
            "actual_cost": 140,
            "cost": 140,
            "savings": 0,
            "peak_time_charge": "1.0x",
            "fare_string": "",
        },
    ],
}
SURGE = category("suv", "SUV", eta=7)
SURGE["fare_breakup"][0]["rates_higher_than_usual"] = True
SURGE["fare_breakup"][0]["surcharge"] = [{"name": "Peak", "type": "multiplier", "value": 1.4}]
SURGE["fare_breakup"].append(
    {"type": "airport_rate", "base_fare": "90", "cost_per_distance": "15", "surcharge": []}
)
SURGE["fare_breakup"].append({"type": "night_owl rate", "fare": "By the moon", "surcharge": []})

ZONE = {
    "is_hotpot_zone": True,
    "desc": "Harbour Station",
    "default_pickup_point_id": 12,
    "hotspot_boundary": [[-38.5, -128.0], [-38.5, -127.99], [-38.51, -127.99], [-38.51, -128.0]],
    "pickup_points": [
        {"id": 11, "name": "North Gate", "lat": -38.501, "lng": -127.995},
        {"id": 12, "name": "South Gate", "lat": -38.508, "lng": -127.995},
    ],
}
PLACES = [
    {
        "id": "air",
        "name": "Meridian Airport",
        "kind": "airport",
        "area": "Westfields",
        "lat": -38.55,
        "lng": -128.06,
    },
    {
        "id": "arc",
        "name": "Arcade",
        "kind": "shop",
        "area": "Old Town",
        "lat": -38.503,
        "lng": -128.011,
    },
]


class FakeService:
    """Answers products and place search; tests change its attributes.

    `requests` holds every request.
    """

    def __init__(self) -> None:
        self.requests: list[httpx.Request] = []
        self.categories = [
            category("mini", "Mini"),
            category("suv", "SUV") | copy.deepcopy(SURGE),
            category("share", "Share", select_applicable=True),
            category("auto", "Auto", eta=-1, distance=-1),
        ]
        self.estimates: list[dict[str, Any]] = [
            upfront("mini", 240, "fare-1"),
            metered("suv", 310, 360),
            metered("auto", 90, 110),
        ]
        self.zone: dict[str, Any] | None = None
        self.places: list[dict[str, Any]] = copy.deepcopy(PLACES)
        self.cities: list[dict[str, Any]] = []
        self.around = {"street": "", "area": "", "place": ""}
        self.down = False
        self.alone = False  # only requests that name a category get estimates
        self.fails: set[str] = set()  # requests for these categories get status 500
        self.places_down = False
        self.refusal: dict[str, Any] | None = None

    def transport(self) -> httpx.MockTransport:
        return httpx.MockTransport(self._answer)

    def questions(self, path: str) -> list[dict[str, str]]:
        return [
            dict(request.url.params) for request in self.requests if request.url.path.endswith(path)
        ]

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        routes: dict[str, Callable[[httpx.Request], httpx.Response]] = {
            "/v1/products": self._products,
            "/places": self._places,
            "/places/near": lambda request: self._places(request, self.around),
            "/city.json": lambda _request: httpx.Response(200, json={"cities": self.cities}),
        }
        return routes[request.url.path](request)

    def _products(self, request: httpx.Request) -> httpx.Response:
        if self.down:
            raise httpx.ConnectError("refused", request=request)
        if self.refusal:
            return httpx.Response(200, json=self.refusal)
        params = request.url.params
        wanted = params.get("category")
        body: dict[str, Any] = {
            "categories": [c for c in self.categories if wanted in (None, c["id"])]
        }
        if wanted in self.fails:
            return httpx.Response(500)
        body["ride_estimate"] = {}
        if "drop_lat" in params and (wanted or not self.alone):
            body["ride_estimate"] = [SHARE] if wanted == "share" else self.estimates
        if self.zone:
            body["hotspot_zone"] = self.zone
        return httpx.Response(200, json=body)

    def _places(
        self, request: httpx.Request, details: dict[str, str] | None = None
    ) -> httpx.Response:
        if self.places_down:
            raise httpx.ConnectError("refused", request=request)
        if details:
            return httpx.Response(200, json=details)
        words = request.url.params["q"].lower()
        return httpx.Response(
            200, json={"places": [p for p in self.places if words in str(p["name"]).lower()]}
        )
