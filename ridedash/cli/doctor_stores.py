"""What `ridedash doctor` finds where things are kept: the database, the linked accounts in it, the
limits' Redis.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple
from urllib.parse import quote, urlsplit

from limits.errors import ConfigurationError, StorageError
from limits.storage import RedisStorage
from sqlalchemy import URL
from sqlalchemy.exc import SQLAlchemyError

from ridedash.rides.health import heartbeat_age, is_alive
from ridedash.services import Services
from ridedash.store import properties
from ridedash.store.accounts import accounts_of, tokens_can_be_read
from ridedash.store.encryption import TokenVault

REDIS_S: Final = 2.0
EACH: Final = 20  # accounts that have a line each; more are counted
OK, LOST = "ok", "needs reconnecting (Settings, Accounts)"
SEALED = "can't be read with the keys of RIDEDASH_TOKEN_KEYS"


class Finding(NamedTuple):
    """One line of the report."""

    name: str
    ok: bool
    text: str


class Ours(NamedTuple):
    """What the database holds that other checks need."""

    houses: list[properties.Property]
    accounts: list[properties.Account]


def database(services: Services) -> tuple[list[Finding], Ours | None]:
    """The database, its tables, its worker; and what it holds, when it can be read."""
    url = services.db.engine.url
    shown = _hidden(url, url.render_as_string(hide_password=True))
    try:
        current = services.db.revision_ok()
        advice = (
            "tables are current" if current else "tables are not current: run `ridedash db upgrade`"
        )
        found = [Finding("database", True, shown), Finding("migrations", current, advice)]
        if not current:
            return found, None
        with services.db.read() as s:
            age = heartbeat_age(s, services.clock())
            houses = properties.properties(s)
            ours = Ours(
                houses, [account for house in houses for account in accounts_of(s, house.id)]
            )
    except SQLAlchemyError as error:
        why = _hidden(url, str(getattr(error, "orig", None) or type(error).__name__)).strip()
        return [
            Finding(
                "database", False, f"{shown}: {why}. Is it up, and is RIDEDASH_DATABASE_URL right?"
            )
        ], None
    heard = f"last heard {age:.0f} s ago" if age is not None else "never heard: start one"
    return [*found, Finding("worker", is_alive(age), heard)], ours


def _hidden(url: URL, text: str) -> str:
    """The text without the address's password, however a driver wrote it."""
    asked = url.query.get("password", ())
    for word in filter(None, (url.password, *((asked,) if isinstance(asked, str) else asked))):
        text = text.replace(quote(word, safe=""), "***").replace(word, "***")
    return text


def accounts(vault: TokenVault, ours: Ours) -> Iterator[Finding]:
    """A line for each linked account; one in all when they are many."""
    names = {house.id: house.name for house in ours.houses}
    states = [
        (f"{names[row.property_id]}, {row.label}", _state(vault, row)) for row in ours.accounts
    ]
    if not states:
        said = (
            "none is linked yet, so nothing can be booked: `ridedash account link`, or Settings, "
            "Accounts"
        )
        yield Finding("account", False, said)
    elif len(states) <= EACH:
        for name, state in states:
            yield Finding("account", state == OK, f"{name}: {state}")
    else:
        n = Counter(state for _, state in states)
        said = f"{n[OK]} ok, {n[LOST]} need reconnecting, {n[SEALED]} {SEALED}"
        yield Finding("account", n[OK] == len(states), f"{len(states)} accounts: {said}")


def _state(vault: TokenVault, row: properties.Account) -> str:
    if row.state != "ok" or row.access_token_enc is None:
        return LOST
    return OK if tokens_can_be_read(row, vault) else SEALED


def redis(url: str) -> Finding:
    """A question to the Redis of the limits, by the library that they ask it with."""
    parts = urlsplit(url)
    # without its password
    shown = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()
    try:
        RedisStorage(
            url, wrap_exceptions=True, socket_connect_timeout=REDIS_S, socket_timeout=REDIS_S
        ).get("doctor")
    except (ConfigurationError, StorageError) as error:
        why = getattr(error, "storage_error", error)
        meanwhile = "While it is away each process counts limits for itself."
        return Finding(
            "redis",
            False,
            f"{shown}: {why}. {meanwhile} Is it up, and is RIDEDASH_REDIS_URL right?",
        )
    return Finding("redis", True, f"{shown} answers")
