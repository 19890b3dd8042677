"""The services of a process, built from its settings, for pages, the worker and the commands.

Does not import Flask.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import Any

from ridedash import config, places
from ridedash.geo import LatLng
from ridedash.observability.metrics import Metrics
from ridedash.rides.accounts.tokens import AccountTokens
from ridedash.rides.monitoring import Monitor
from ridedash.rides.runtime import Runtime
from ridedash.rides.state import transitions
from ridedash.service.client import RideClient
from ridedash.service.oauth import OAuthClient
from ridedash.service.throttle.traffic import Traffic
from ridedash.service.transport.egress import Egress
from ridedash.service.transport.http import Http
from ridedash.service_time import Times, at_pace, real_time
from ridedash.store import kiosk_visits
from ridedash.store.database.database import BadDatabaseUrl, Clock, Database
from ridedash.store.encryption import BadKeys, TokenVault


@dataclass
class Services:
    """Everything a page may use, built once for each process."""

    settings: config.Settings
    db: Database
    client: RideClient
    oauth: OAuthClient
    tokens: AccountTokens
    vault: TokenVault
    geocoder: places.Geocoder
    clock: Clock
    metrics: Metrics
    # called after an order became READY; an embedded worker registers itself here
    wake: Callable[[], None]
    time: Times = real_time  # the service's clock
    # While a new demo makes the rides of its past days, this is the time at which those days end:
    # boards show only orders that were placed after it. Otherwise None.
    past_until: datetime | None = None

    @cached_property
    def monitor(self) -> Monitor:
        """The readiness and the metrics of this process."""
        return Monitor(self.db, self.clock, self.metrics)

    def address_of(self, point: LatLng) -> str:
        """The address of a point, as the place search knows it; "" if it knows none, or is away."""
        found = self.geocoder.nearby(point)
        return places.address((found.place, found.street, found.area)) if found else ""

    @property
    def runtime(self) -> Runtime:
        """The values that the functions of rides/ take."""
        return Runtime(
            self.db,
            self.client,
            self.tokens,
            self.clock,
            time=self.time,
            on_poll=self.metrics.poll,
            # a demo compares no clocks: its sandbox has this machine's clock, and a new demo sets
            # our clock to its past days
            compares_clock=not self.settings.sandboxed,
        )


def utc_now() -> datetime:
    """The machine's clock."""
    return datetime.now(UTC)


def build_services(settings: config.Settings, clock: Clock | None = None) -> Services:
    """The services for these settings; the clock is the database's unless one is given.

    Raises config.BadSettingError.
    """
    http = Http(egress=egress(settings))
    metrics = Metrics()
    traffic = Traffic(settings.service_rate, hooks=metrics)
    db, vault = _stores(settings)
    clock = clock or db.clock(utc_now)
    db.after_commit = partial(_count_committed, metrics)
    oauth = OAuthClient(
        http,
        authorize_url=settings.oauth_authorize_url,
        token_url=settings.oauth_token_url,
        client_id=settings.oauth_client_id,
        client_secret=settings.oauth_client_secret,
        scope=settings.oauth_scope,
    )
    return Services(
        settings=settings,
        db=db,
        client=RideClient(http, settings.service_url, settings.service_app_token, traffic=traffic),
        oauth=oauth,
        tokens=AccountTokens(db, vault, oauth, clock),
        vault=vault,
        geocoder=places.geocoder_for(settings.geocoder, settings.geocoder_url, http),
        clock=clock,
        metrics=metrics,
        wake=lambda: None,
        time=at_pace(settings.pace),
    )


def follow_turns(services: Services) -> Callable[[], None]:
    """Use the turns of the sandbox's clock from now on, in a demo that has a sandbox.

    Returns a function that stops reading them. Before the call, and without a sandbox, the
    service's clock is assumed to run at RIDEDASH_PACE.
    """
    settings = services.settings
    if not settings.sandboxed:
        return lambda: None
    from ridedash.turns import SandboxTime  # live mode does not load it

    time = SandboxTime(Http(egress=egress(settings)), settings.service_url, settings.pace)
    services.time = time
    return time.stop


def egress(settings: config.Settings) -> Egress:
    """The proxy and certificates with which each HTTP client of this installation calls."""
    return Egress(settings.ca_file, settings.https_proxy, settings.no_proxy)


def redis_trust(redis_url: str, ca_file: str) -> dict[str, Any]:
    """The options by which a Redis client trusts the CA file; {} without TLS or without a file."""
    if not (ca_file and redis_url.startswith("rediss:")):
        return {}
    return {"ssl_ca_certs": ca_file}


def _count_committed(metrics: Metrics, info: dict[Any, Any]) -> None:
    for state in info.pop(transitions.NEW_STATES, ()):
        metrics.order(state)
    for how, seconds in info.pop(kiosk_visits.ENDED_VISITS, ()):
        metrics.visit(how, seconds)


def _stores(settings: config.Settings) -> tuple[Database, TokenVault]:
    try:
        vault = TokenVault(settings.token_keys)
    except BadKeys:
        wanted = "k1:<base64 of 32 bytes>, with commas between several, each with a name of its own"
        raise config.BadSettingError(
            f"RIDEDASH_TOKEN_KEYS can't be used; it must be {wanted}."
        ) from None
    try:
        return Database(settings.database_url, connections=settings.database_pool), vault
    except BadDatabaseUrl as error:
        raise config.BadSettingError(f"RIDEDASH_DATABASE_URL can't be used ({error}).") from None
