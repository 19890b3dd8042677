"""The services that routes share: settings, database, clock, fleets, ledger, fare_id signer."""

import sqlite3
from functools import lru_cache

from flask import current_app

from ridedash.geo import LatLng
from ridedash.sandbox.city.city import City, cities, city_at
from ridedash.sandbox.clock import ServiceClock
from ridedash.sandbox.pricing.fare_ids import FareSigner
from ridedash.sandbox.settings import SandboxSettings
from ridedash.sandbox.store import Store
from ridedash.sandbox.trips.fleet import Fleet
from ridedash.sandbox.trips.ledger import Ledger


class SandboxServices:
    """The services of one running sandbox.

    They hold caches only; all state is in the database.
    """

    def __init__(self, settings: SandboxSettings) -> None:
        self.settings = settings
        self.store = Store(settings.database)
        self.clock = ServiceClock(self.store, settings.wall, settings.pace)
        self.ledger = Ledger()
        self.fare_signer = FareSigner(f"{settings.seed}:{settings.app_token}")
        self._fleet = lru_cache(maxsize=4)(lambda slug, seed: Fleet(self.city(slug), seed))
        self._cities = {city.slug: city for city in cities()}

    def city_at(self, point: LatLng) -> City | None:
        """The city that serves a point, or None."""
        return city_at(point)

    def city(self, slug: str) -> City:
        """The city with this slug."""
        return self._cities[slug]

    def close(self) -> None:
        """Close the database."""
        self.store.close()

    def seed(self) -> int:
        """The seed of drivers, plates and codes: the configured one, or the last reset's."""
        chosen = self.store.read_cache().get("seed", _chosen_seed)
        return self.settings.seed if chosen is None else chosen

    def fleet(self, slug: str) -> Fleet:
        """The cabs of a city."""
        return self._fleet(slug, self.seed())


def _chosen_seed(connection: sqlite3.Connection) -> int | None:
    row = connection.execute("SELECT seed FROM dice").fetchone()
    return None if row is None else int(row["seed"])


def services() -> SandboxServices:
    """The services of the application that handles the current request."""
    found: SandboxServices = current_app.extensions["sandbox"]
    return found
