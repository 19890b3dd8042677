"""`ridedash doctor`: everything that ridedash stands on, a line each, and what to do about a failure."""

from collections.abc import Callable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from sqlalchemy.exc import SQLAlchemyError

from ridedash import config
from ridedash.building import Services, build_services, utc_now
from ridedash.geo import LatLng
from ridedash.places import PlacesUnavailableError
from ridedash.rides.heartbeats import heartbeat_age
from ridedash.service.errors import ServiceError
from ridedash.service.http import Answer, Http
from ridedash.store import people

CLOCK_SLACK_S = 30.0


class Finding(NamedTuple):
    """One line of the report."""

    name: str
    ok: bool
    text: str


def doctor(environ: Mapping[str, str]) -> int:
    """Print the report; 0 when all is well, 1 otherwise."""
    services = build_services(config.load(environ), utc_now)
    try:
        findings = list(examine(services))
    finally:
        services.db.close()
    for finding in findings:
        print(f"{'ok  ' if finding.ok else 'FAIL'}  {finding.name:<11}{finding.text}")
    return 0 if all(finding.ok for finding in findings) else 1


def examine(services: Services) -> Iterator[Finding]:
    """Each check in turn; none of them raises."""
    yield from _database(services)
    yield _guarded("service", lambda: _service(services), "Is RIDEDASH_SERVICE_URL right, and is it up?")
    url = services.settings.oauth_authorize_url
    yield _guarded("oauth", lambda: _answers(url), "Check RIDEDASH_OAUTH_AUTHORIZE_URL and _TOKEN_URL.")
    yield _guarded("tiles", lambda: _tiles(services), "Is the dashboard up? Else check RIDEDASH_TILES_URL.")
    yield _guarded("geocoder", lambda: _geocoder(services), "Check RIDEDASH_GEOCODER and RIDEDASH_GEOCODER_URL.")
    yield _guarded("clock", lambda: _clock(services), "Let the machine keep its time (NTP): leases and ages need it.")


def _guarded(name: str, check: Callable[[], str], advice: str) -> Finding:
    try:
        return Finding(name, True, check())
    except (ServiceError, PlacesUnavailableError, ValueError, LookupError) as error:
        return Finding(name, False, f"{type(error).__name__}: {error}. {advice}")


def _database(services: Services) -> Iterator[Finding]:
    try:
        current = services.db.revision_ok()
        advice = "tables are current" if current else "tables are not current: run `ridedash db upgrade`"
        yield Finding("database", True, services.db.engine.url.render_as_string(hide_password=True))
        yield Finding("migrations", current, advice)
        if not current:
            return
        with services.db.read() as s:
            age = heartbeat_age(s, services.clock())
    except SQLAlchemyError as error:
        yield Finding("database", False, f"{type(error).__name__}. Check RIDEDASH_DATABASE_URL.")
        return
    alive = age is not None and age <= 30
    yield Finding("worker", alive, f"last heard {age:.0f} s ago" if age is not None else "never heard: start one")


def _service(services: Services) -> str:
    services.client.products(_somewhere(services))
    return f"{services.settings.service_url} answers and accepts our key"


def _somewhere(services: Services) -> LatLng:
    """A pickup of ours, for checks that need a place."""
    with services.db.read() as s:
        for house in people.properties(s):
            if house.pickup_lat is not None and house.pickup_lng is not None:
                return LatLng(house.pickup_lat, house.pickup_lng)
    return LatLng(0.0, 0.0)


def _get(url: str) -> Answer:
    with Http() as http:
        return http.call("GET", url, headers={}, connect_s=2, total_s=5)


def _answers(url: str) -> str:
    answer = _get(url)
    if answer.status >= 500:
        raise ValueError(f"{url} answers HTTP {answer.status}")
    return f"{url} answers"


def _tiles(services: Services) -> str:
    template = services.settings.tiles_url
    url = (services.settings.public_url + template) if template.startswith("/") else template
    answer = _get(url.format(z=12, x=0, y=0, s="a", r=""))
    if answer.status not in (200, 204, 404):
        raise ValueError(f"{url} answers HTTP {answer.status}")
    return f"{url} answers"


def _geocoder(services: Services) -> str:
    found = services.geocoder.search("station", _somewhere(services))
    return f"{services.settings.geocoder} answers, {len(found)} places for 'station'"


def _clock(services: Services) -> str:
    answer = _get(services.settings.service_url + "/")
    said = answer.headers.get("date")
    if said is None:
        return "the service sends no date to compare with"
    off = abs((parsedate_to_datetime(said) - services.clock()).total_seconds())
    if off > CLOCK_SLACK_S:
        raise ValueError(f"this machine's clock is {off:.0f} s away from the service's")
    return f"{off:.0f} s from the service's"
