"""Sign-ins stored on the server, and throttling of password guesses.

See docs/security.md ASVS 6.3.1, ASVS 7.2.
"""

import secrets
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    bindparam,
    delete,
    event,
    func,
    insert,
    inspect,
    literal,
    select,
    text,
)
from sqlalchemy.orm import Session

from ridedash.inputs import network_of
from ridedash.store.database.database import UtcDateTime, insert_if_new
from ridedash.store.encryption import secret_hash
from ridedash.store.invitations import end_links_of
from ridedash.store.kiosks import end_codes_of
from ridedash.store.models.people import EndedSignIn, Property, SignIn, Staff, Throttle

SIGN_IN_LASTS: Final = timedelta(hours=12)
NAME_FREE_FAILS: Final = 5  # from this failure of one name on there is a wait, which doubles
NAME_WAIT_S: Final = 30
NAME_WAIT_MAX_S: Final = 15 * 60


# after this time without a failure the count of a name starts again
NAME_FORGET: Final = timedelta(hours=1)
WINDOW: Final = timedelta(minutes=10)
ADDRESS_LIMIT: Final = 30
TOTAL_LIMIT: Final = 300
# longer than any process caches a sign-in, even if clocks differ
ENDED_STORED_FOR: Final = timedelta(days=1)
ENDING: Final = 7_413_020_932  # number of PostgreSQL's advisory lock for ending sign-ins


class SignInFacts(NamedTuple):
    """A valid sign-in, its member of staff and the property shown (an admin may choose any).

    `sign_in` is the hash of the secret, by which the sign-in is stored.
    """

    sign_in: str
    expires_at: datetime
    staff_id: int
    property_id: int
    name: str
    role: str
    language: str | None  # the person's own choice
    house_language: str | None  # the default of the property shown


def sign_in_key(name: str) -> str:
    """A sign-in name in its stored form: casefolded, with single spaces."""
    return " ".join(name.split()).casefold()


def open_sign_in(
    s: Session,
    staff_id: int,
    now: datetime,
    *,
    property_id: int | None = None,
    until: datetime | None = None,
) -> str:
    """Create a sign-in until `until`, or for 12 hours.

    Returns its secret, which only the browser stores. Raises LookupError for a person who is
    unknown or disabled. The sign-in shows the property `property_id`, which callers may choose only
    for admins; None: the person's own. Deletes all sign-ins that have expired.
    """
    staff = s.get(Staff, staff_id)
    if staff is None or staff.disabled_at is not None:
        raise LookupError("no such staff")
    sid = secrets.token_urlsafe(32)
    row = SignIn(
        id_hash=secret_hash(sid), property_id=property_id or staff.property_id, staff_id=staff_id
    )
    row.created_at, row.expires_at = now, until or now + SIGN_IN_LASTS
    s.add(row)
    s.execute(delete(SignIn).where(SignIn.expires_at < now))
    return sid


def sign_in_facts(s: Session, sid: str, now: datetime) -> SignInFacts | None:
    """The facts of a sign-in; None when it has ended or its owner is disabled."""
    hashed = secret_hash(sid)
    row = s.execute(_SIGN_IN, {"hashed": hashed, "now": now}).first()
    return SignInFacts(*row) if row else None


_SIGN_IN: Final = (  # built once, because every page runs it
    select(SignIn.id_hash, SignIn.expires_at, Staff.id, SignIn.property_id, Staff.name, Staff.role)
    .add_columns(Staff.language, Property.language)
    .join(Staff, Staff.id == SignIn.staff_id)
    .join(Property, Property.id == SignIn.property_id)
    .where(
        SignIn.id_hash == bindparam("hashed"),
        SignIn.expires_at > bindparam("now"),
        Staff.disabled_at.is_(None),
    )
)


def close_sign_in(s: Session, sid: str) -> None:
    """End one sign-in. A copy of its cookie is useless afterwards, in all processes within 2 s."""
    _end(s, SignIn.id_hash == secret_hash(sid))


def close_all_sign_ins(s: Session, staff_id: int) -> None:
    """End every sign-in of a member of staff."""
    _end(s, SignIn.staff_id == staff_id)


def ended_secrets(s: Session, after: int) -> list[tuple[int, str]]:
    """Sign-ins and links that ended early, with numbers above `after`: (number, hash)."""
    query = (
        select(EndedSignIn.id, EndedSignIn.id_hash)
        .where(EndedSignIn.id > after)
        .order_by(EndedSignIn.id)
    )
    return [(number, hashed) for number, hashed in s.execute(query)]


def sign_in_allowed(s: Session, name: str, address: str, now: datetime) -> float:
    """0.0 when a password may be verified now; otherwise the seconds to wait.

    Needs a write session.

    At 0.0 the attempt is counted as failed until `sign_in_succeeded`: counting before verifying
    stops guesses made in parallel.
    """
    closed = _closed_s(s, (_address_key(address), "all"), now)
    if closed:
        return closed
    keys = _name_key(name), _address_key(address), "all"  # locked in this order by every caller
    rows = {key: _lock_throttle(s, key, now) for key in keys}
    wait = max(_remaining_s(row.blocked_until, now) for row in rows.values())
    if wait:
        return wait
    _count_name(rows[_name_key(name)], now)
    _count_window(rows[_address_key(address)], ADDRESS_LIMIT, now)
    _count_window(rows["all"], TOTAL_LIMIT, now)
    return 0.0


def code_allowed(s: Session, address: str, now: datetime) -> float:
    """0.0 when a device's pairing code may be tried now; otherwise the seconds to wait.

    Needs a write session. All tries are counted, right ones too: no one pairs thirty devices in ten
    minutes.
    """
    limits = {f"pairing:{network_of(address)}": ADDRESS_LIMIT, "pairing": TOTAL_LIMIT}
    closed = _closed_s(s, limits, now)
    if closed:
        return closed
    # every caller locks them in this order
    rows = {key: _lock_throttle(s, key, now) for key in limits}
    wait = max(_remaining_s(row.blocked_until, now) for row in rows.values())
    if not wait:
        for key, most in limits.items():
            _count_window(rows[key], most, now)
    return wait


def sign_in_succeeded(s: Session, name: str, address: str) -> None:
    """Forget the failures of a name; do not count this try for its address and the total."""
    s.execute(delete(Throttle).where(Throttle.key == _name_key(name)))
    for key in (_address_key(address), "all"):
        row = s.get(Throttle, key, with_for_update=True)
        if row is not None:
            row.fails = max(0, row.fails - 1)
            row.blocked_until = None


def tell_ended(s: Session | Connection, hashes: Select[tuple[str]]) -> None:
    """Record sign-ins and links that end early, for processes that cache them (`ended_secrets`).

    The processes ask only for numbers above one that they have read. On PostgreSQL a higher number
    could be committed before a lower one, so a lock allows only one writer at a time. The newest
    row always stays: SQLite would give its number to the next row, which no process would then
    read.
    """
    now = datetime.now(UTC)
    if _dialect(s) == "postgresql":
        s.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": ENDING})
    newest = select(func.max(EndedSignIn.id)).scalar_subquery()
    old = EndedSignIn.at < now - ENDED_STORED_FOR
    s.execute(delete(EndedSignIn).where(old, EndedSignIn.id < newest))
    ended = hashes.add_columns(literal(now, UtcDateTime))
    s.execute(insert(EndedSignIn).from_select(["id_hash", "at"], ended))


def _end(s: Session | Connection, which: ColumnElement[bool]) -> None:
    """Delete sign-ins, and notify the processes that cache them."""
    tell_ended(s, select(SignIn.id_hash).where(which))
    s.execute(delete(SignIn).where(which))


def _dialect(s: Session | Connection) -> str:
    return (s.get_bind() if isinstance(s, Session) else s).dialect.name


@event.listens_for(Staff, "after_update")
def _staff_changed(_mapper: object, connection: Connection, staff: Staff) -> None:
    """End the access of staff who are disabled, or who get another role or property.

    This ends their sign-ins, and the links and codes that they made.
    """
    facts = inspect(staff).attrs
    if any(facts[name].history.has_changes() for name in ("disabled_at", "role", "property_id")):
        _end(connection, SignIn.staff_id == staff.id)
        end_links_of(connection, staff.id)
        end_codes_of(connection, staff.id)


def _closed_s(s: Session, keys: Iterable[str], now: datetime) -> float:
    """Seconds until all these limits allow a try again. Stores nothing for a refused try."""
    until = select(Throttle.blocked_until).where(Throttle.key.in_(keys))
    return max((_remaining_s(at, now) for at in s.scalars(until)), default=0.0)


def _lock_throttle(s: Session, key: str, now: datetime) -> Throttle:
    """The count of a key, locked until the session ends: parallel guesses are all counted."""
    row = s.get(Throttle, key, with_for_update=True)
    if row is None:
        insert_if_new(s, Throttle, key=key, fails=0, since=now, blocked_until=None)
        row = s.get_one(Throttle, key, with_for_update=True)
    return row


def _remaining_s(until: datetime | None, now: datetime) -> float:
    return max(0.0, (until - now).total_seconds()) if until else 0.0


def _count_name(row: Throttle, now: datetime) -> None:
    if now - row.since > NAME_FORGET:
        row.fails = 0
    row.fails, row.since = row.fails + 1, now
    if row.fails >= NAME_FREE_FAILS:
        doublings = min(row.fails - NAME_FREE_FAILS, 10)
        row.blocked_until = now + timedelta(
            seconds=min(NAME_WAIT_S * 2**doublings, NAME_WAIT_MAX_S)
        )


def _count_window(row: Throttle, limit: int, now: datetime) -> None:
    if now - row.since >= WINDOW or row.since > now:
        row.fails, row.since, row.blocked_until = 0, now, None
    row.fails += 1
    if row.fails >= limit:
        row.blocked_until = row.since + WINDOW


def _name_key(name: str) -> str:
    return "name:" + secret_hash(sign_in_key(name))


def _address_key(address: str) -> str:
    return "address:" + network_of(address)
