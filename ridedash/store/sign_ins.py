"""Sign-ins stored on the server, and what ends them (docs/security.md ASVS 7.2)."""

import secrets
import unicodedata
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
    select,
    text,
    update,
)
from sqlalchemy.orm import Session

from ridedash.confusables import INVISIBLE
from ridedash.store.database.numbers import first_number
from ridedash.store.encryption import secret_hash
from ridedash.store.invitations import end_links_of
from ridedash.store.kiosks import end_codes_of
from ridedash.store.models.people import EndedSignIn, Property, SignIn, Staff

# since a person last used the sign-in: the longest shift, so no one signs in twice in one
UNUSED_LASTS: Final = timedelta(hours=12)
# since the password was typed, however it is used: a desk types it once a week, in the same hour,
# and a stolen cookie is good for no longer
WHOLE_LASTS: Final = timedelta(days=7)
BROWSERS_BYTES: Final = 9  # of the random part of Staff.browsers, never the same twice
# longer than any process caches a sign-in, even if clocks differ
ENDED_STORED_FOR: Final = timedelta(days=1)
ENDING: Final = 7_413_020_932  # number of PostgreSQL's advisory lock for ending sign-ins


class SignInFacts(NamedTuple):
    """A valid sign-in, its member of staff and the property shown (an admin may choose any).

    `sign_in` is the hash of the secret, by which the sign-in is stored. It began at `began_at` and
    ends at `expires_at` if no one uses it.
    """

    sign_in: str
    began_at: datetime
    expires_at: datetime
    staff_id: int
    property_id: int
    name: str
    role: str
    language: str | None  # the person's own choice
    house_language: str | None  # the default of the property shown

    @property
    def is_last_end(self) -> bool:
        """Whether no use moves the end any more: the password must be typed again by then."""
        return self.expires_at >= self.began_at + WHOLE_LASTS


def sign_in_key(name: str) -> str:
    """A sign-in name in its stored form, however a keyboard writes it.

    It is composed, in small letters of usual width, with single spaces and nothing invisible.

    >>> sign_in_key(" Jose\u0301  GARCI\u0301A \u200b"), sign_in_key("ｊｏｓé")
    ('josé garcía', 'josé')
    """
    seen = INVISIBLE.sub("", unicodedata.normalize("NFKC", name).casefold())
    return " ".join(unicodedata.normalize("NFKC", seen).split())


def sign_in_keys(name: str) -> list[str]:
    """`sign_in_key`, after the forms in which earlier releases may have stored the name."""
    forms = (name, unicodedata.normalize("NFC", name), unicodedata.normalize("NFD", name))
    return list(
        dict.fromkeys([*(" ".join(f.split()).casefold() for f in forms), sign_in_key(name)])
    )


def open_sign_in(
    s: Session,
    staff_id: int,
    now: datetime,
    *,
    property_id: int | None = None,
    instead_of: SignInFacts | None = None,
) -> str:
    """Create a sign-in, which ends after UNUSED_LASTS, or when `instead_of` would have ended.

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
    row.created_at = now
    row.expires_at = now + UNUSED_LASTS
    if instead_of is not None:
        row.created_at = instead_of.began_at
        row.expires_at = instead_of.expires_at
    s.add(row)
    s.execute(delete(SignIn).where(SignIn.expires_at < now))
    return sid


def sign_in_facts(s: Session, sid: str, now: datetime) -> SignInFacts | None:
    """The facts of a sign-in; None when it has ended or its owner is disabled."""
    hashed = secret_hash(sid)
    row = s.execute(_SIGN_IN, {"hashed": hashed, "now": now}).first()
    if row is None:
        return None
    return SignInFacts(*row)


_SIGN_IN: Final = (  # built once, because every page runs it
    select(SignIn.id_hash, SignIn.created_at, SignIn.expires_at, Staff.id, SignIn.property_id)
    .add_columns(Staff.name, Staff.role, Staff.language, Property.language)
    .join(Staff, Staff.id == SignIn.staff_id)
    .join(Property, Property.id == SignIn.property_id)
    .where(
        SignIn.id_hash == bindparam("hashed"),
        SignIn.expires_at > bindparam("now"),
        Staff.disabled_at.is_(None),
    )
)


def end_after_use(used: SignInFacts, now: datetime) -> datetime:
    """When a sign-in ends that a person uses now, if no one uses it after that."""
    return min(now + UNUSED_LASTS, used.began_at + WHOLE_LASTS)


def note_use(s: Session, used: SignInFacts, now: datetime) -> SignInFacts:
    """Let a sign-in that a person uses last on; returns its facts. One that has ended stays so."""
    until = end_after_use(used, now)
    still = SignIn.id_hash == used.sign_in, SignIn.expires_at > now, SignIn.expires_at < until
    s.execute(update(SignIn).where(*still).values(expires_at=until))
    return used._replace(expires_at=max(until, used.expires_at))


def close_sign_in(s: Session, sid: str) -> None:
    """End one sign-in. A copy of its cookie is useless afterwards, in all processes within 2 s."""
    _end(s, SignIn.id_hash == secret_hash(sid))


def close_all_sign_ins(s: Session | Connection, staff_id: int) -> None:
    """End every sign-in of a member of staff; no browser is known as theirs any more."""
    _end(s, SignIn.staff_id == staff_id)
    fresh = update(Staff).where(Staff.id == staff_id)
    s.execute(fresh.values(browsers=secrets.token_urlsafe(BROWSERS_BYTES)))


def ended_secrets(s: Session, after: int) -> list[tuple[int, str]]:
    """Sign-ins and links that ended early, with numbers above `after`: (number, hash)."""
    query = (
        select(EndedSignIn.id, EndedSignIn.id_hash)
        .where(EndedSignIn.id > after)
        .order_by(EndedSignIn.id)
    )
    return [(number, hashed) for number, hashed in s.execute(query)]


def tell_ended(s: Session | Connection, hashes: Select[tuple[str]]) -> None:
    """Record sign-ins and links that end early, for processes that cache them (`ended_secrets`).

    The processes ask only for numbers above one that they have read. So each number is above all
    earlier ones, also after the clock was set back: a lock allows only one writer at a time on
    PostgreSQL, and the newest row always stays.
    """
    now = datetime.now(UTC)
    connection = _connection(s)
    if connection.dialect.name == "postgresql":
        s.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": ENDING})
    newest = select(func.max(EndedSignIn.id)).scalar_subquery()
    old = EndedSignIn.at < now - ENDED_STORED_FOR
    s.execute(delete(EndedSignIn).where(old, EndedSignIn.id < newest))
    ended = s.execute(hashes).scalars().all()
    first = first_number(connection, EndedSignIn.__tablename__, len(ended))
    rows = [{"id": first + n, "id_hash": each, "at": now} for n, each in enumerate(ended)]
    if rows:
        s.execute(insert(EndedSignIn), rows)


def _end(s: Session | Connection, which: ColumnElement[bool]) -> None:
    """Delete sign-ins, and notify the processes that cache them."""
    tell_ended(s, select(SignIn.id_hash).where(which))
    s.execute(delete(SignIn).where(which))


def _connection(s: Session | Connection) -> Connection:
    if isinstance(s, Session):
        return s.connection()
    return s


@event.listens_for(Staff, "after_update")
def _staff_changed(_mapper: object, connection: Connection, staff: Staff) -> None:
    """End the access of staff who are disabled, or who get another role or property.

    This ends their sign-ins, and the links and codes that they made; no browser is known as theirs.
    """
    facts = inspect(staff).attrs
    if any(facts[name].history.has_changes() for name in ("disabled_at", "role", "property_id")):
        close_all_sign_ins(connection, staff.id)
        end_links_of(connection, staff.id)
        end_codes_of(connection, staff.id)
