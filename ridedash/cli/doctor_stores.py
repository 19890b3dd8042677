"""The checks of `ridedash doctor` for storage: database, linked accounts, files, Redis."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from shlex import quote as quote_for_shell
from typing import Any, Final, NamedTuple
from urllib.parse import quote, urlsplit

from limits.errors import ConfigurationError, StorageError
from limits.storage import RedisStorage
from sqlalchemy import URL
from sqlalchemy.exc import SQLAlchemyError

from ridedash.cli.database_errors import advice_on
from ridedash.rides.health import heartbeat_age, is_alive
from ridedash.services import Services, redis_trust
from ridedash.store import properties
from ridedash.store.accounts import accounts_of, tokens_can_be_read
from ridedash.store.encryption import TokenVault
from ridedash.store.models.people import Account, Property

REDIS_S: Final = 2.0
NAMED: Final = 3  # files that a finding names at most
# permission bits of a file mode, for users outside the owner's group
OTHERS_READ = 0o004
OTHERS_ENTER = 0o001
EACH: Final = 20  # up to so many accounts get a line each; more are counted on a single line
OK = "ok"
LOST = "needs reconnecting (Settings, Accounts)"
UNREADABLE = "can't be read with the keys of RIDEDASH_TOKEN_KEYS"


class Finding(NamedTuple):
    """One line of the report."""

    name: str
    ok: bool
    text: str


class StoredFacts(NamedTuple):
    """What the database contains that other checks need."""

    properties: list[Property]
    accounts: list[Account]


def database(services: Services) -> tuple[list[Finding], StoredFacts | None]:
    """Check the database, its tables and its worker.

    Also returns what other checks need; None if the tables can't be read or are not current.
    """
    url = services.db.engine.url
    shown = _hidden(url, url.render_as_string(hide_password=True))
    if services.db.dialect == "sqlite" and not Path(url.database or "").exists():
        # connecting to a missing SQLite file would create it
        advice = f"{shown} is not there yet: run `ridedash db upgrade`"
        return [Finding("database", False, advice)], None
    try:
        current = services.db.revision_ok()
        advice = "tables are current"
        if not current:
            advice = "tables are not current: run `ridedash db upgrade`"
        found = [_connections(services, shown), Finding("migrations", current, advice)]
        if not current:
            return found, None
        with services.db.read() as s:
            age = heartbeat_age(s, services.clock())
            properties_ = properties.properties(s)
            ours = StoredFacts(
                properties_,
                [account for property_ in properties_ for account in accounts_of(s, property_.id)],
            )
    except SQLAlchemyError as error:
        why = _hidden(url, str(getattr(error, "orig", None) or type(error).__name__)).strip()
        advice = advice_on(error, "Is it up, and is RIDEDASH_DATABASE_URL right?")
        return [Finding("database", False, f"{shown}: {why}. {advice}")], None
    last_seen = f"last heard {age:.0f} s ago" if age is not None else "never heard: start one"
    return [*found, Finding("worker", is_alive(age), last_seen)], ours


def _connections(services: Services, shown: str) -> Finding:
    """Check the size of the connection pool against the server's limit and the worker's threads."""
    allowed = services.db.server_connections()
    each = services.settings.database_pool
    if allowed is None:
        return Finding("database", True, shown)
    text = f"{shown}, {each} of its {allowed} connections at most for each process"
    if each > allowed:
        advice = "Lower RIDEDASH_DATABASE_POOL, or raise the server's max_connections."
        return Finding("database", False, f"{text}. {advice}")
    threads = services.settings.worker_threads
    if threads > each:
        advice = f"Raise RIDEDASH_DATABASE_POOL to {threads} or more, or lower the other one."
        short = f"RIDEDASH_WORKER_THREADS is {threads}: a worker's threads would wait for them"
        return Finding("database", False, f"{text}. {short}. {advice}")
    return Finding("database", True, text)


def _hidden(url: URL, text: str) -> str:
    """The text without the passwords of the URL, plain or percent-encoded."""
    more = url.query.get("password", ())
    for word in filter(None, (url.password, *((more,) if isinstance(more, str) else more))):
        text = text.replace(quote(word, safe=""), "***").replace(word, "***")
    return text


def accounts(vault: TokenVault, ours: StoredFacts) -> Iterator[Finding]:
    """A line for each linked account; a single line when there are more than EACH."""
    names = {property_.id: property_.name for property_ in ours.properties}
    states = [
        (f"{names[row.property_id]}, {row.label}", _state(vault, row)) for row in ours.accounts
    ]
    if not states:
        text = (
            "none is linked yet, so nothing can be booked: `ridedash account link`, or Settings, "
            "Accounts"
        )
        yield Finding("account", False, text)
    elif len(states) <= EACH:
        for row, (name, state) in zip(ours.accounts, states, strict=True):
            billed = f", affiliate id {row.affiliate_uid}" if row.affiliate_uid else ""
            yield Finding("account", state == OK, f"{name}: {state}{billed}")
    else:
        n = Counter(state for _, state in states)
        text = f"{n[OK]} ok, {n[LOST]} need reconnecting, {n[UNREADABLE]} {UNREADABLE}"
        yield Finding("account", n[OK] == len(states), f"{len(states)} accounts: {text}")


def _state(vault: TokenVault, row: Account) -> str:
    if row.state != "ok" or row.access_token_enc is None:
        return LOST
    if not tokens_can_be_read(row, vault):
        return UNREADABLE
    return OK


def files(services: Services) -> Finding:
    """Whether other users of this machine can read the databases and the rest of the instance."""
    instance = services.settings.instance
    found = instance.rglob("*") if _open_to_others(instance, OTHERS_ENTER) else iter(())
    exposed = {path for path in found if path.is_file() and _open_to_others(path, OTHERS_READ)}
    beside = Path(services.db.engine.url.database or "")
    elsewhere = services.db.dialect == "sqlite" and instance not in beside.absolute().parents
    if elsewhere and _open_to_others(beside, OTHERS_READ):
        exposed.add(beside)
    if not exposed:
        return Finding("files", True, f"{instance} is closed to other users of this machine")
    first = ", ".join(str(path) for path in sorted(exposed)[:NAMED])
    more = f" and {len(exposed) - NAMED} more" if len(exposed) > NAMED else ""
    advice = f"chmod -R go= {quote_for_shell(str(instance))}"
    if elsewhere and beside in exposed:
        advice += f" {quote_for_shell(str(beside))}"
    return Finding(
        "files", False, f"other users of this machine can read {first}{more}. Run: {advice}"
    )


def _open_to_others(path: Path, bit: int) -> bool:
    try:
        return bool(path.stat().st_mode & bit)
    except OSError:
        return False


def redis(url: str, ca_file: str) -> Finding:
    """Connect to the Redis of the rate limits with the library that the rate limits use."""
    parts = urlsplit(url)
    # the address without its password
    shown = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()
    waits: dict[str, Any] = {"socket_connect_timeout": REDIS_S, "socket_timeout": REDIS_S}
    try:
        RedisStorage(url, wrap_exceptions=True, **waits, **redis_trust(url, ca_file)).get("doctor")
    except (ConfigurationError, StorageError) as error:
        why = getattr(error, "storage_error", error)
        meanwhile = "While it is away each process counts limits for itself."
        return Finding(
            "redis",
            False,
            f"{shown}: {why}. {meanwhile} Is it up, and is RIDEDASH_REDIS_URL right?",
        )
    return Finding("redis", True, f"{shown} answers")
