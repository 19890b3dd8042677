"""Every setting: its name, default and meaning. An invalid one stops the start with an error."""

import contextlib
import difflib
import ipaddress
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final
from urllib.parse import SplitResult, unquote, urlsplit

from ridedash.secrets_file import SANDBOX_KEY, demo_secrets

PREFIX = "RIDEDASH_"
FOR_TESTS = "RIDEDASH_TEST_"  # for the test suite; the program reads none of these
SAMPLE_WORDS = ("change-me", "changeme", "secret", "default", "example", "password")
KEEP_DAYS = {  # setting: default, least, most (days)
    "positions": (7, 1, 3650),
    "guests": (30, 1, 3650),
    "evidence": (30, 1, 3650),
    "audit": (365, 30, 36_500),
}
# the attribution of the sandbox's tiles; pages translate it
SANDBOX_CREDIT = "Sandbox city, a place that does not exist"
NAMED = {"demo_starts": "demo"}  # fields of Settings that have another name in the environment
OF_LIVE = (  # settings that live mode requires; README lists them in this order
    "PUBLIC_URL",
    "SERVICE_URL",
    "SERVICE_APP_TOKEN",
    "SECRET_KEY",
    "TOKEN_KEYS",
    "TILES_URL",
    "TILES_ATTRIBUTION",
    "GEOCODER",
    "GEOCODER_URL",
)


class BadSettingError(ValueError):
    """A setting that cannot be used; the message names it and says what is allowed."""


@dataclass(frozen=True)
class Settings:
    """The checked settings. A field is named as in the environment, in lower case (see NAMED)."""

    mode: str  # "demo" (embedded sandbox) or "live"
    host: str
    port: int
    sandbox_port: int
    worker_port: int | None  # where `ridedash worker` answers /healthz and /metrics; None: nowhere
    database_pool: int  # connections to PostgreSQL that each process keeps open, at most
    # the folder of the files that the program keeps: SQLite database, journals, secrets
    instance: Path
    public_url: str  # base of every absolute link, no trailing slash
    database_url: str
    service_url: str  # base URL of the ride booking service, no trailing slash
    service_app_token: str = field(repr=False)
    service_rate: int  # calls to the service that this process starts in a second, at most
    worker_threads: int  # calls to the service that a worker has under way, at most
    oauth_authorize_url: str
    oauth_token_url: str
    oauth_client_id: str
    oauth_client_secret: str = field(repr=False)
    oauth_scope: str
    secret_key: str = field(repr=False)
    # "k2:<base64 of 32 bytes>,k1:…": the first encrypts, all decrypt
    token_keys: str = field(repr=False)
    tiles_url: str
    tiles_attribution: str
    geocoder: str  # "sandbox", "photon" or "nominatim"
    geocoder_url: str
    ca_file: str  # PEM certificates, trusted in addition to the usual ones; "": none
    # "http://name:password@host:port", through which https leaves this machine; "": directly
    https_proxy: str = field(repr=False)
    no_proxy: tuple[str, ...]  # hosts that are called without the proxy, with their subdomains
    redis_url: str | None
    trusted_proxies: int
    trusted_hosts: tuple[str, ...]
    # a planned ride is ordered this many minutes plus the cab's arrival time before its pickup
    schedule_lead_minutes: int
    pace: float  # how much faster than real time a demo begins to run; 1 in live mode
    # whether the poll cache answers before Flask; if not, each poll reads the database
    poll_layer: bool
    # for how many days data are stored: a ride's positions, after its end (start and end stay)
    keep_positions_days: int
    keep_guests_days: int  # names and phones of guests, after their last ride
    keep_evidence_days: int  # the service's answers as they were received
    keep_audit_days: int  # the audit log
    log_format: str  # "text" or "json"
    log_level: str  # "debug", "info", "warning" or "error"
    # how a new demo starts: "day" (with rides) or "empty"; the setting is RIDEDASH_DEMO
    demo_starts: str
    # a bearer token with which /metrics can be read from anywhere; "": this machine only
    metrics_token: str = field(repr=False)

    @property
    def demo(self) -> bool:
        """Whether this is a demo: its service is the embedded sandbox, unless it names another."""
        return self.mode == "demo"

    @property
    def sandboxed(self) -> bool:
        """Whether the service is this installation's own sandbox, so that no ride is real.

        A demo may also name another service on this machine: a tunnel, say, to a real one.
        """
        parts = urlsplit(self.service_url)
        own = parts.scheme == "http" and parts.port == self.sandbox_port and not parts.path
        return self.demo and own and is_loopback(parts.hostname or "")

    @property
    def rehearsal(self) -> bool:
        """Whether live mode uses a sandbox: only sandboxes accept keys that begin so."""
        return not self.demo and self.service_app_token.startswith(SANDBOX_KEY)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Every secret of this installation, for the redactor of logs."""
        found = [str(getattr(self, each.name)) for each in fields(self) if not each.repr]
        found += [key.partition(":")[2] for key in self.token_keys.split(",")]
        found.append(_database_password(self.database_url))
        for url in (self.redis_url or "", self.https_proxy):
            found.append(unquote(urlsplit(url).password or ""))
        if self.demo:
            found.append(demo_secrets(self.instance)["staff_password"])
        return tuple(filter(None, found))


def load(environ: Mapping[str, str]) -> Settings:
    """Read `RIDEDASH_*` from a mapping. Raises BadSettingError.

    In demo mode missing secrets are generated and stored in the instance folder; raises
    secrets_file.BadInstanceError if the folder can't be used.
    """
    _refuse_unknown(environ)
    given = _Given(environ)
    mode = given.one_of("MODE", "demo", ("demo", "live"))
    if mode == "live":
        given.require(*OF_LIVE, when=" in live mode")
    instance = Path(given.text("INSTANCE", "instance")).absolute()
    settings = Settings(
        mode=mode,
        instance=instance,
        database_url=given.text("DATABASE_URL", f"sqlite:///{instance / 'ridedash.db'}"),
        database_pool=given.whole("DATABASE_POOL", 20, 2, 500),
        redis_url=_redis(given),
        schedule_lead_minutes=given.whole("SCHEDULE_LEAD_MINUTES", 10, 5, 120),
        pace=_pace(given, mode),
        demo_starts=given.one_of("DEMO", "day", ("day", "empty")),
        poll_layer=given.one_of("POLL_LAYER", "on", ("on", "off")) == "on",
        **_egress(given),
        **_keeping(given),
        **_observing(given, mode),
        **_addresses(given, mode),
        **_service(given, mode),
        **_secrets(
            given, demo_secrets(instance) if mode == "demo" else {"oauth_client_secret": ""}
        ),
    )
    _refuse_mixed(settings)
    return settings


def names() -> list[str]:
    """The names of all settings in the environment."""
    return [PREFIX + NAMED.get(each.name, each.name).upper() for each in fields(Settings)]


def _refuse_unknown(environ: Mapping[str, str]) -> None:
    """Refuse a misspelt setting: it would be ignored silently, and the default used."""
    known = set(names())
    for name in sorted(environ):
        if name.startswith(PREFIX) and name not in known and not name.startswith(FOR_TESTS):
            near = difflib.get_close_matches(name, known, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise BadSettingError(f"{name} is no setting of ridedash.{hint}")


def _egress(given: "_Given") -> dict[str, Any]:
    """The proxy and the certificates by which calls leave this machine."""
    path = given.text("CA_FILE", "")
    if path:
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=path)
        except (OSError, ssl.SSLError) as error:
            why = error.strerror if isinstance(error, FileNotFoundError) else "no certificate"
            raise BadSettingError(
                f"{PREFIX}CA_FILE is {path!r}; it must be a file of certificates in PEM ({why})."
            ) from None
    proxy = given.text("HTTPS_PROXY", "")
    parts = _parts(proxy)
    if proxy and not (
        parts.scheme in ("http", "https")
        and parts.hostname
        and parts.path in ("", "/")
        and not (parts.query or parts.fragment)
    ):
        wanted = "http://host:3128 or https://host:3128, with name:password@ if it wants them"
        # the value may hold a password
        raise BadSettingError(f"{PREFIX}HTTPS_PROXY can't be used; it must be like {wanted}.")
    names = given.text("NO_PROXY", "").split(",")
    direct = filter(None, (name.strip().lower().lstrip("*").strip(".") for name in names))
    return {"ca_file": path, "https_proxy": proxy, "no_proxy": tuple(direct)}


def _keeping(given: "_Given") -> dict[str, Any]:
    return {
        f"keep_{what}_days": given.whole(f"KEEP_{what.upper()}_DAYS", *days)
        for what, days in KEEP_DAYS.items()
    }


# a demo's log is read on a terminal; live logs are collected
_LOG_OF_MODE: Final = {"demo": ("text", "warning"), "live": ("json", "info")}


def _observing(given: "_Given", mode: str) -> dict[str, Any]:
    token = given.text("METRICS_TOKEN", "")
    if token and (len(token) < 16 or any(word in token.lower() for word in SAMPLE_WORDS)):
        raise BadSettingError(
            f"{PREFIX}METRICS_TOKEN is too short or a sample; it must be 16 or more random "
            "characters."
        )
    shape, level = _LOG_OF_MODE[mode]
    return {
        "log_format": given.one_of("LOG_FORMAT", shape, ("text", "json")),
        "log_level": given.one_of("LOG_LEVEL", level, ("debug", "info", "warning", "error")),
        "metrics_token": token,
    }


def _addresses(given: "_Given", mode: str) -> dict[str, Any]:
    named = "a name or an IPv4 address; a proxy can serve IPv6"
    # not an IPv6 address, as in _root_url
    host = given.checked("HOST", "127.0.0.1", lambda v: ":" not in v, named)
    port = given.whole("PORT", 8000, 0, 65535)
    public_url = own = f"http://{url_host(host)}:{port}"
    # A demo's own address is not checked, so it may be http on any host: phones in the same room
    # open it, and it has no certificate.
    if mode != "demo" or given.text("PUBLIC_URL", own) != own:
        wanted = (
            "an https URL (http only to this machine) with a name or an IPv4 address and without a "
            "path: pages are at its root"
        )
        public_url = given.checked("PUBLIC_URL", own, _root_url, wanted).rstrip("/")
    return {
        "host": host,
        "port": port,
        "worker_port": _worker_port(given),
        "public_url": public_url,
        "tiles_url": _tiles(given),
        "tiles_attribution": given.text("TILES_ATTRIBUTION", SANDBOX_CREDIT),
        "trusted_proxies": given.whole("TRUSTED_PROXIES", 0, 0, 10),
        "trusted_hosts": _hosts(given, host, public_url),
    }


def _worker_port(given: "_Given") -> int | None:
    if not given.text("WORKER_PORT", ""):
        return None
    return given.whole("WORKER_PORT", 0, 0, 65535)


def _service(given: "_Given", mode: str) -> dict[str, Any]:
    sandbox_port = given.whole("SANDBOX_PORT", 8001, 0, 65535)
    sandbox = None if mode == "live" else f"http://127.0.0.1:{sandbox_port}"
    service_url = given.url("SERVICE_URL", sandbox)
    geocoder = given.one_of("GEOCODER", "sandbox", ("sandbox", "photon", "nominatim"))
    return {
        "sandbox_port": sandbox_port,
        "service_url": service_url,
        "service_rate": given.whole("SERVICE_RATE", 45, 1, 100_000),
        "worker_threads": given.whole("WORKER_THREADS", 8, 1, 200),
        "oauth_authorize_url": given.url("OAUTH_AUTHORIZE_URL", f"{service_url}/oauth/authorize"),
        "oauth_token_url": given.url("OAUTH_TOKEN_URL", f"{service_url}/oauth/token"),
        "oauth_client_id": given.text("OAUTH_CLIENT_ID", "ridedash"),
        "oauth_scope": given.text("OAUTH_SCOPE", "rides"),
        "geocoder": geocoder,
        "geocoder_url": given.url("GEOCODER_URL", service_url if geocoder == "sandbox" else None),
    }


class _Given:
    """The environment. Each method raises BadSettingError, which names the setting."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = environ

    def text(self, name: str, default: str | None) -> str:
        """A setting without blanks around it; one without a default is required."""
        if default is None:
            self.require(name)
        return self.environ.get(PREFIX + name, "").strip() or default or ""

    def require(self, *names: str, when: str = "") -> None:
        """Refuse settings that are missing; `when` says in which mode they are required."""
        missing = [
            PREFIX + name for name in names if not self.environ.get(PREFIX + name, "").strip()
        ]
        if missing:
            *others, last = missing
            names_are = f"{', '.join(others)} and {last} are" if others else f"{last} is"
            raise BadSettingError(f"{names_are} required{when} and not set.")

    def one_of(self, name: str, default: str, allowed: tuple[str, ...]) -> str:
        return self.checked(name, default, lambda v: v in allowed, "one of " + ", ".join(allowed))

    def whole(self, name: str, default: int, low: int, high: int) -> int:
        """A whole number from `low` to `high`."""

        def fits(value: str) -> bool:
            return _whole(value) and low <= int(value) <= high

        return int(self.checked(name, str(default), fits, f"a whole number from {low} to {high}"))

    def url(self, name: str, default: str | None) -> str:
        """A URL to which secrets may be sent, without a slash at its end."""
        value = self.checked(
            name, default, _safe_url, "an https URL (http only to this machine), without a query"
        )
        return value.rstrip("/")

    def checked(
        self, name: str, default: str | None, fits: Callable[[str], bool], wanted: str
    ) -> str:
        """A setting for which `fits` is true; else the refusal names the setting and `wanted`."""
        value = self.text(name, default)
        if not fits(value):
            raise BadSettingError(f"{PREFIX}{name} is {value!r}; it must be {wanted}.")
        return value


def _whole(value: str) -> bool:
    return value.isascii() and value.isdigit()


def _parts(value: str) -> SplitResult:
    """The parts of a URL; all empty when it can't be parsed."""
    with contextlib.suppress(ValueError):
        parts = urlsplit(value)
        _ = parts.port  # an invalid port raises ValueError only when it is read
        return parts
    return urlsplit("")


def _database_password(url: str) -> str:
    """The password of a database URL, "" without one.

    The URL is read as SQLAlchemy reads it: "/", "#", "?" and brackets need no escape in a password.
    """
    user, _colon, password = url.partition("://")[2].partition("@")[0].partition(":")
    return "" if "/" in user else unquote(password)


def _safe_url(value: str) -> bool:
    parts = _parts(value)
    if (
        parts.scheme not in ("http", "https")
        or not parts.hostname
        or parts.query
        or parts.fragment
        or "@" in parts.netloc  # a password without a user name counts too
        or not value.isprintable()
        # characters that parsers of URLs read in different ways
        or any(char in value for char in " \\")
    ):
        return False
    return parts.scheme == "https" or is_loopback(parts.hostname)


def _root_url(value: str) -> bool:
    """Whether a URL can be that of our pages: safe, without a path, and no IPv6 address.

    All pages are at the root, so a path would lead to none of them. Werkzeug never finds an address
    in brackets among the trusted hosts, so with an IPv6 address every page would answer 400.
    """
    parts = _parts(value)
    return _safe_url(value) and not parts.path.strip("/") and ":" not in (parts.hostname or "")


def is_loopback(host: str) -> bool:
    """Whether a host name or address can only mean this machine."""
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


def url_host(host: str) -> str:
    """The host for links to a server that listens at `host`: no one can open 0.0.0.0."""
    return "127.0.0.1" if host == "0.0.0.0" else host  # noqa: S104 - compared, not bound


def _secrets(given: _Given, made: dict[str, str]) -> dict[str, Any]:
    """The secrets of the environment, else those in `made`; a secret in neither is required."""
    names = ("secret_key", "token_keys", "service_app_token", "oauth_client_secret")
    secrets = {name: given.text(name.upper(), made.get(name)) for name in names}
    key = secrets["secret_key"]
    if "secret_key" not in made and (
        len(key) < 32 or any(word in key.lower() for word in SAMPLE_WORDS)
    ):
        raise BadSettingError(
            f"{PREFIX}SECRET_KEY is too short or a sample; it must be 32 or more random characters."
        )
    return secrets


def _redis(given: _Given) -> str | None:
    value = given.text("REDIS_URL", "")
    parts = _parts(value)
    fits = parts.scheme in ("redis", "rediss") and parts.hostname and _whole(parts.path[1:] or "0")
    if value and not (
        fits or (parts.scheme == "redis+unix" and not parts.hostname and parts.path[1:])
    ):
        wanted = (
            "redis://host:6379/0, rediss://host:6379/0 (with TLS) or redis+unix:///path/to/socket"
        )
        # the value may hold a password
        raise BadSettingError(f"{PREFIX}REDIS_URL can't be used; it must be like {wanted}.")
    return value or None


def _tiles(given: _Given) -> str:
    def fits(value: str) -> bool:
        # "//host/…" is an address on another host
        local = value.startswith("/") and not value.startswith("//")
        return all(part in value for part in ("{z}", "{x}", "{y}")) and (local or _safe_url(value))

    wanted = "a path or an https URL with {z}, {x} and {y}"
    return given.checked("TILES_URL", "/tiles/{z}/{x}/{y}.svg", fits, wanted)


def _hosts(given: _Given, host: str, public_url: str) -> tuple[str, ...]:
    own = (
        "localhost",
        "127.0.0.1",
        url_host(host),
        urlsplit(public_url).hostname or "localhost",
    )
    listed = given.text("TRUSTED_HOSTS", ",".join(dict.fromkeys(own)))
    return tuple(dict.fromkeys(name.strip() for name in listed.split(",") if name.strip()))


def _pace(given: _Given, mode: str) -> float:
    def fits(value: str) -> bool:
        return _whole(value.replace(".", "", 1)) and 1 <= float(value) <= 60

    pace = float(given.checked("PACE", "1", fits, "a number from 1 to 60"))
    if mode == "live" and pace != 1:
        raise BadSettingError(f"{PREFIX}PACE must be 1 in live mode: real rides keep real time.")
    return pace


def _refuse_mixed(settings: Settings) -> None:
    """Refuse another machine's service in demo mode, and the sandbox's geocoder in live mode."""
    if settings.demo:
        if not is_loopback(urlsplit(settings.service_url).hostname or ""):
            raise BadSettingError(
                f"{PREFIX}SERVICE_URL names another machine; set {PREFIX}MODE=live to book real "
                "rides."
            )
        return
    if settings.geocoder == "sandbox":
        raise BadSettingError(
            f"{PREFIX}GEOCODER must be photon or nominatim in live mode: the sandbox's city does "
            "not exist."
        )
