"""Simulated people: they sign in, look at pages, and book rides through the forms of the pages."""

import random
import re
import threading
import time
from dataclasses import dataclass, field
from typing import Final

import httpx

from bench.program import PASSWORD
from ridedash.geo import distance_m
from ridedash.sandbox.city.city import cities

CATEGORIES: Final = ("mini", "prime", "auto", "share")
FINE: Final = {200, 304}
# What a booking answers: the ride, or a question, as when the price changed meanwhile. A page that
# redirects is not the page.
BOOKED: Final = {303, 409}


@dataclass
class Tally:
    """The answers of the pages: milliseconds of each, and counts of errors by path and status."""

    took: list[float] = field(default_factory=list)
    wrong: dict[str, int] = field(default_factory=dict)

    def add(self, what: str, began: float, status: int | str) -> None:
        self.took.append((time.monotonic() - began) * 1000)
        if status not in (BOOKED if what == "book" else FINE):
            self.wrong[f"{what} {status}"] = self.wrong.get(f"{what} {status}", 0) + 1


class Desk:
    """One signed-in person with a session of their own."""

    def __init__(
        self, url: str, name: str, tally: Tally, seed: int, password: str = PASSWORD
    ) -> None:
        self.http = httpx.Client(base_url=url, timeout=20, trust_env=False)
        self.tally, self.rng = tally, random.Random(seed)
        self.seen: dict[str, str] = {}  # the last ETag by path
        self.rides: list[str] = []  # the pages of the rides that it has booked
        self._busy = threading.Lock()
        page = self.http.get("/sign-in").text
        data = {"name": name, "password": password, "csrf_token": _csrf(page)}
        signed = self.http.post("/sign-in", data=data)
        if signed.status_code != 303:
            raise RuntimeError(f"{name} could not sign in: {signed.status_code}")

    def look(self, ride: str | None) -> None:
        """Request a random page or poll; those that are frequent in use are chosen more often.

        `ride` is the page of a ride.
        """
        polls = ["/board.json"] * 3 + ([f"{ride}/snapshot.json"] * 5 if ride else [])
        pages = ["/"] + ([ride] * 2 if ride else []) + ["/rides/new"]
        self._get(self.rng.choice([*polls, *pages]))

    def book(self, number: int) -> bool:
        """Book a ride between two places. Returns whether an order was made."""
        with self._busy:
            page = self._get("/rides/new")
            category, trip = self.rng.choice(CATEGORIES), self._trip()
            cards = self._get("/products.json", trip | {"category": category})
            offer = _offer_of(cards, category)
            token = re.search(r'name="form_token"[^>]*value="([^"]+)"', page)
            if offer is None or token is None:
                return False
            form = {
                "csrf_token": _csrf(page),
                "form_token": token[1],
                "offer": offer,
                "guest_name": f"Guest {number}",
            }
            began = time.monotonic()
            answer = self.http.post(
                "/rides/new", data=form | {"account": _account(page), "seats": "1"} | trip
            )
            self.tally.add("book", began, answer.status_code)
            if answer.status_code != 303:
                return False
            self.rides.append(answer.headers["Location"])
            return True

    def _get(self, path: str, params: dict[str, str] | None = None) -> str:
        began, tag, what = time.monotonic(), self.seen.get(path), re.sub(r"\d+", "N", path)
        headers = {"If-None-Match": tag} if tag else {}
        try:
            answer = self.http.get(path, params=params, headers=headers)
        except httpx.HTTPError as error:
            self.tally.add(what, began, type(error).__name__)
            return ""
        self.tally.add(what, began, answer.status_code)
        if path.endswith(".json") and answer.headers.get("ETag"):
            self.seen[path] = answer.headers["ETag"]
            while len(self.seen) > 400:
                self.seen.pop(next(iter(self.seen)))
        return answer.text

    def _trip(self) -> dict[str, str]:
        places = cities()[0].places
        while True:
            start, end = self.rng.sample(places, 2)
            if 1500 < distance_m(start.position, end.position) < 9000:
                break
        ends = {"pickup": start, "drop": end}
        named = {end: place.name for end, place in ends.items()}
        positions = {
            f"{e}_{axis}": str(getattr(p.position, axis))
            for e, p in ends.items()
            for axis in ("lat", "lng")
        }
        return named | positions


def _csrf(page: str) -> str:
    found = re.search(r'name="csrf-token" content="([^"]+)"', page)
    return found[1] if found else ""


def _account(page: str) -> str:
    found = re.search(r'name="account".*?value="(\d+)"', page, re.DOTALL)
    return found[1] if found else ""


def _offer_of(cards: str, category: str) -> str | None:
    """The id of the bookable offer of a category, or else of the first bookable offer."""
    offers = re.findall(
        r'name=\\"offer\\"[^>]*?value=\\"(\d+)\\"([^>]*?)data-category=\\"(\w+)\\"', cards
    )
    bookable = [(number, of) for number, marks, of in offers if "disabled" not in marks]
    for number, of in bookable:
        if of == category:
            return str(number)
    return bookable[0][0] if bookable else None
