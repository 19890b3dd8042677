"""`ridedash doctor`: checks all that ridedash depends on; one line for each, with advice."""

import ssl
from collections.abc import Callable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from sqlalchemy.exc import SQLAlchemyError

from ridedash import config, wire
from ridedash.cli.doctor_stores import Finding, StoredFacts, accounts, database, files, redis
from ridedash.cli.restores import finding as restore
from ridedash.geo import LatLng
from ridedash.places import PlacesUnavailableError
from ridedash.rides.runtime import APART_S
from ridedash.service.errors import BadStatus, NoAnswer, Refused, ServiceError
from ridedash.service.transport.egress import Egress
from ridedash.service.transport.http import Answer, Http, Request
from ridedash.services import Services, build_services, egress, utc_now
from ridedash.text import one_line
from ridedash.views.rides.print_assets import still_map

CLOCK_SLACK_S: Final = 30.0
# where products and a map tile are requested while no property has a usual pickup
NOWHERE: Final = LatLng(0.0, 0.0)
LONGEST: Final = 2000  # characters of a finding; the rest is cut off
ZOOM: Final = 15  # the zoom level of the requested map tile
# refusals that are due to the pickup, not to the key
OUR_PICKUP: Final = {"BAD_REQUEST", wire.INVALID_CITY, wire.INVALID_CITY_CAR_CATEGORY}
KEY_REFUSED: Final = (401, 403)
FORBIDDEN: Final = 403
PORTS: Final = {"http": 80, "https": 443}
CERTIFICATE: Final = "certificate verify failed"
CA_ADVICE: Final = "RIDEDASH_CA_FILE names the certificates (PEM) of a CA of your own."


class CheckFailed(Exception):
    """A check failed; the message says why and what to do."""


class CheckContext(NamedTuple):
    """What checks of the service need. `pickup` is None if no property has a usual pickup."""

    services: Services
    pickup: LatLng | None


def doctor(environ: Mapping[str, str]) -> int:
    """Print the report; 0 when every check passed, 1 otherwise."""
    return print_report(environ, examine)


def print_report(
    environ: Mapping[str, str], findings: Callable[[Services], Iterator[Finding]]
) -> int:
    """Print each of the findings as a line; 0 when all are well, 1 otherwise."""
    services = build_services(config.load(environ), utc_now)
    well = True
    try:
        for finding in findings(services):
            well = well and finding.ok
            print(report_line(finding), flush=True)
    finally:
        services.db.close()
    return 0 if well else 1


def report_line(finding: Finding) -> str:
    """The finding as one line, without control characters from messages and labels."""
    text = one_line(finding.text, LONGEST, control="")
    return f"{'ok  ' if finding.ok else 'FAIL'}  {finding.name:<11}{text}"


def examine(services: Services) -> Iterator[Finding]:
    """The findings of all checks, in order.

    Without a database the checks know no property and no usual pickup.
    """
    findings, ours = database(services)
    yield from findings
    if ours is not None:
        yield from accounts(services.vault, ours)
        yield restore(services)
    yield files(services)
    context = CheckContext(services, _pickup(ours))
    if services.settings.ca_file or services.settings.https_proxy:
        yield _guarded("outgoing", lambda: _outgoing(services.settings), CA_ADVICE)
    yield _guarded(
        "address",
        lambda: _address(services.settings),
        "Is ridedash up, and does RIDEDASH_PUBLIC_URL lead to it?",
    )
    if services.settings.worker_port:
        yield _guarded(
            "workerport",
            lambda: _worker_port(services.settings),
            "Does a worker run here with this RIDEDASH_WORKER_PORT?",
        )
    yield _guarded(
        "service", lambda: _service(context), "Is RIDEDASH_SERVICE_URL right, and is it up?"
    )
    url = services.settings.oauth_authorize_url
    yield _guarded(
        "oauth",
        lambda: _answers(services.settings, url),
        "Check RIDEDASH_OAUTH_AUTHORIZE_URL and _TOKEN_URL.",
    )
    yield _guarded("tiles", lambda: _tiles(context), _about_tiles(services.settings))
    yield _guarded(
        "geocoder", lambda: _geocoder(context), "Check RIDEDASH_GEOCODER and RIDEDASH_GEOCODER_URL."
    )
    if services.settings.redis_url is not None:
        yield redis(services.settings.redis_url, services.settings.ca_file)
    yield _guarded("clock", lambda: _clock(services), "The service's date can't be read.")


def _guarded(name: str, check: Callable[[], str], advice: str) -> Finding:
    try:
        return Finding(name, True, check())
    except CheckFailed as error:
        return Finding(name, False, str(error))
    except (ServiceError, PlacesUnavailableError, SQLAlchemyError) as error:
        return Finding(name, False, f"{error}{_because(error)}. {advice}")
    except (ValueError, LookupError, TypeError) as error:
        return Finding(name, False, f"{type(error).__name__}: {error}. {advice}")


def _because(error: BaseException) -> str:
    """Why a connection failed; "" when that is unknown. An untrusted certificate adds CA_ADVICE."""
    while not isinstance(error, NoAnswer) and error.__cause__ is not None:
        error = error.__cause__
    cause = error.cause if isinstance(error, NoAnswer) else ""
    if CERTIFICATE in cause:
        return f": {cause}. {CA_ADVICE}"
    if not cause:
        return ""
    return f": {cause}"


def _pickup(ours: StoredFacts | None) -> LatLng | None:
    for property_ in ours.properties if ours else ():
        if property_.pickup_lat is not None and property_.pickup_lng is not None:
            return LatLng(property_.pickup_lat, property_.pickup_lng)
    return None


def _service(context: CheckContext) -> str:
    url = context.services.settings.service_url
    accepted = f"{url} answers and accepts our key"
    if context.services.settings.rehearsal:
        accepted += ", which is a sandbox's: this is a rehearsal, no ride is real"
    try:
        context.services.client.products(context.pickup or NOWHERE)
    except (BadStatus, Refused) as error:
        if _refuses_key(error):
            raise CheckFailed(
                f"{url} refuses our key ({error}). Check RIDEDASH_SERVICE_APP_TOKEN."
            ) from None
        if not isinstance(error, Refused):
            raise
        if context.pickup is None:
            return f"{accepted} (no property has a usual pickup to ask about yet)"
        if wire.normal_code(error.code or "") in OUR_PICKUP:
            return f"{accepted}, but offers nothing at our usual pickup ({error})"
        raise CheckFailed(f"{url} answers, but refuses to say what it offers ({error}).") from None
    return accepted


def _refuses_key(error: BadStatus | Refused) -> bool:
    """Whether RIDEDASH_SERVICE_APP_TOKEN is refused.

    No user's token was sent, so HTTP 401 and 403 are about this key.
    """
    status = error.http_status if isinstance(error, Refused) else error.status
    return wire.refuses_key(error.code) or status in KEY_REFUSED


def _get(
    out: Egress, url: str, accept: str = "application/json", total_s: float = 5, referer: str = ""
) -> Answer:
    headers = {"accept": accept}
    if referer:
        headers["referer"] = referer
    with Http(egress=out) as http:
        return http.call(Request("GET", url, total_s, headers=headers))


def _outgoing(settings: config.Settings) -> str:
    """Name the proxy and the configured CA certificates, none of which may have expired."""
    notes = []
    if settings.https_proxy:
        directly = ", ".join(("this machine", *settings.no_proxy))
        host, port = egress(settings).proxy_address
        notes.append(f"https goes through the proxy {host}:{port}, but for {directly}")
    if settings.ca_file:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(cafile=settings.ca_file)
        ends = [str(each["notAfter"]) for each in context.get_ca_certs()]
        if not ends:
            raise CheckFailed(f"{settings.ca_file} holds no certificate of a CA. {CA_ADVICE}")
        first = min(ends, key=ssl.cert_time_to_seconds)  # the first certificate to expire
        if ssl.cert_time_to_seconds(first) < utc_now().timestamp():
            raise CheckFailed(f"a certificate of {settings.ca_file} ended on {first}. {CA_ADVICE}")
        notes.append(f"{settings.ca_file} is trusted too, until {first}")
    return "; ".join(notes)


def _address(settings: config.Settings) -> str:
    """Request /healthz at the public URL: the answer says at which address the request arrived."""
    url = settings.public_url
    # without the proxy for outgoing calls, through which our own address may be out of reach
    answer = _get(Egress(settings.ca_file), f"{url}/healthz")
    if answer.status != 200:
        raise CheckFailed(
            f"{url} answers HTTP {answer.status}. Does it lead to ridedash, and does "
            "RIDEDASH_TRUSTED_HOSTS have its name?"
        )
    health = answer.json()
    if not isinstance(health, dict) or "address" not in health:
        raise CheckFailed(f"another program answers at {url}. Does it lead to ridedash?")
    seen = str(health["address"])
    if _origin(seen) != _origin(url):
        raise CheckFailed(
            f"{url} arrives here as {seen}: forms would be refused. The proxy must pass on the "
            "host with its port and X-Forwarded-Proto, and RIDEDASH_TRUSTED_PROXIES must count it "
            "(docs/operating.md, Behind a proxy)."
        )
    return f"{url} leads here"


def _worker_port(settings: config.Settings) -> str:
    """Ask the worker of this machine for its health."""
    url = f"http://{config.url_host(settings.host)}:{settings.worker_port}/healthz"
    answer = _get(Egress(), url)
    health = answer.json()
    if answer.status != 200 or "round_s" not in health:
        raise CheckFailed(f"{url} answers HTTP {answer.status}: its worker stands still.")
    return f"{url} answers: the worker's last round ended {health['round_s']} s ago"


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or PORTS.get(parts.scheme)


def _answers(settings: config.Settings, url: str) -> str:
    answer = _get(egress(settings), url)
    if answer.status >= 500:
        raise CheckFailed(f"{url} answers HTTP {answer.status}.")
    return f"{url} answers"


def _tiles(context: CheckContext) -> str:
    """Fetch the map tile around the pickup, or around NOWHERE, as a browser would."""
    settings = context.services.settings
    tile = still_map(settings.tiles_url, context.pickup or NOWHERE, ZOOM, 1, 1).tiles[0].href
    url = tile
    origin = f"{settings.public_url}/"  # as maps.py has it sent
    if tile.startswith("/"):
        url = settings.public_url + tile
        origin = ""
    # 15 s: the sandbox is slow with its first tile of a zoom level
    answer = _get(egress(settings), url, "image/*", 15, origin)
    kind = answer.headers.get("content-type", "nothing").split(";")[0]
    if answer.status == 200 and kind.startswith("image/"):
        return f"{url} is a picture"
    if answer.status == FORBIDDEN and origin:
        raise CheckFailed(
            f"{url} answers HTTP 403: its host refuses pages of {origin} (sent as Referer, as "
            "browsers do). Ask the host whether it serves this address, or choose another one: "
            "RIDEDASH_TILES_URL."
        )
    found = f"HTTP {answer.status}" if answer.status != 200 else f"{kind}, which is no picture"
    raise CheckFailed(f"{url} answers {found}. {_about_tiles(settings)}")


def _about_tiles(settings: config.Settings) -> str:
    """What to do when tiles don't come; without a host in the URL, the dashboard serves them."""
    if settings.tiles_url.startswith("/"):
        return "Is the dashboard up? Else check RIDEDASH_TILES_URL."
    return "Check RIDEDASH_TILES_URL."


def _geocoder(context: CheckContext) -> str:
    found = context.services.geocoder.search("station", context.pickup)
    return f"{context.services.settings.geocoder} answers, {len(found)} places for 'station'"


def _clock(services: Services) -> str:
    try:
        out = egress(services.settings)
        date = _get(out, services.settings.service_url + "/").headers.get("date")
    except ServiceError:
        return "not compared: the service does not answer"
    if date is None:
        return "the service sends no date to compare with"
    off = abs((parsedate_to_datetime(date) - services.clock()).total_seconds())
    if off > CLOCK_SLACK_S:
        keep = (
            "Let the machine keep its time (NTP): leases and ages need it, and planned rides wait "
            f"while it is more than {APART_S:.0f} s wrong."
        )
        raise CheckFailed(f"this machine's clock is {off:.0f} s away from the service's. {keep}")
    return f"{off:.0f} s from the service's"
