"""Throttling of guesses: of passwords at the sign-in, and of pairing codes.

No count is shared by everybody, so strangers can't close the sign-in for those who work there
(docs/security.md ASVS 6.3.1). All counts are in the database, so all processes share them.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import delete, func, or_, select
from sqlalchemy.orm import Session

from ridedash.inputs import networks_of
from ridedash.store.database.database import insert_if_new
from ridedash.store.encryption import secret_hash
from ridedash.store.models.people import Throttle
from ridedash.store.sign_ins import sign_in_key

NAME_FREE_FAILS: Final = 5  # failures of one name without a wait; the next waits double
NAME_WAIT_S: Final = 30  # hardly felt by a person who mistypes, long for a program
NAME_WAIT_MAX_S: Final = 15 * 60  # so that a guesser can't lock a colleague out for longer
# after this time without a failure the count of a name starts again
NAME_FORGET: Final = timedelta(hours=1)
WINDOW: Final = timedelta(minutes=10)  # the span in which failures of a network are counted
# failures of one address (of IPv6 a /64 network), and of the /56 and /48 networks around it
NETWORK_LIMITS: Final = (30, 100, 300)
MOST_COUNTS: Final = 50_000  # rows, 10 MB; then a tenth goes, first those that keep no one waiting
NAME = "name"
NETWORK = "address"
PAIRING = "pairing"


def sign_in_wait(s: Session, name: str, address: str, now: datetime, browser: str = "") -> float:
    """The seconds to wait before a password may be tried; 0.0 for none. Counts nothing.

    `browser` is the key of a browser that is known as this person's; "" for an unknown one.
    """
    return _closed_s(s, _keys(name, address, browser), now)


def sign_in_allowed(s: Session, name: str, address: str, now: datetime, browser: str = "") -> float:
    """0.0 when a password may be verified now; otherwise the seconds to wait.

    Needs a write session. An unknown browser meets the limits of the name and of its networks; a
    known one has a count of its own, with the waits of a name.

    At 0.0 the attempt is counted as failed until `sign_in_succeeded`: counting before verifying
    stops guesses made in parallel. Call `sign_in_failed` when it did fail.
    """
    closed = _closed_s(s, _keys(name, address, browser), now)
    if closed:
        return closed
    _make_room(s)
    own = browser or _name_key(name)
    networks = {} if browser else _network_limits(NETWORK, address)
    rows = {key: _lock_throttle(s, key, now) for key in (own, *networks)}
    wait = max(_remaining_s(row.blocked_until, now) for row in rows.values())
    if wait:
        return wait
    _count_name(rows[own], now)
    for key, most in networks.items():
        _count_window(rows[key], most, now)
    return 0.0


def sign_in_failed(s: Session, name: str, now: datetime, browser: str) -> None:
    """Count the failed try of a known browser for its name too. Needs a write session.

    Its tries are taken from those of strangers, who wait the longer: so whoever has stolen the
    cookie gets no more guesses in the long run than without it.
    """
    if browser:
        _count_name(_lock_throttle(s, _name_key(name), now), now)


def sign_in_succeeded(s: Session, name: str, address: str, browser: str = "") -> None:
    """Forget the failures of a name; do not count this try for its networks.

    Of a known browser, forget its own failures only: else each sign-in of a person would give those
    who guess their password new tries. Needs a write session.
    """
    s.execute(delete(Throttle).where(Throttle.key == (browser or _name_key(name))))
    if browser:
        return
    for key in _network_limits(NETWORK, address):
        row = s.get(Throttle, key, with_for_update=True)
        if row is not None:
            row.fails = max(0, row.fails - 1)
            row.blocked_until = None


def forget_name(s: Session, name: str) -> None:
    """Forget the failures of a name, whose person has a new password. Needs a write session."""
    s.execute(delete(Throttle).where(Throttle.key == _name_key(name)))


def code_allowed(s: Session, address: str, now: datetime) -> float:
    """0.0 when a device's pairing code may be tried now; otherwise the seconds to wait.

    Needs a write session. All tries are counted, right ones too: no one pairs thirty devices in ten
    minutes.
    """
    limits = _network_limits(PAIRING, address)
    closed = _closed_s(s, limits, now)
    if closed:
        return closed
    _make_room(s)
    rows = {key: _lock_throttle(s, key, now) for key in limits}
    wait = max(_remaining_s(row.blocked_until, now) for row in rows.values())
    if not wait:
        for key, most in limits.items():
            _count_window(rows[key], most, now)
    return wait


def _keys(name: str, address: str, browser: str) -> list[str]:
    """The keys of all counts that can refuse a try."""
    if browser:
        return [browser]
    return [_name_key(name), *_network_limits(NETWORK, address)]


def _network_limits(what: str, address: str) -> dict[str, int]:
    """The limits of each network of an address; every caller locks them in this order."""
    networks = networks_of(address)
    return {f"{what}:{each}": most for each, most in zip(networks, NETWORK_LIMITS, strict=False)}


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


def _make_room(s: Session) -> None:
    """Delete a tenth of the counts when there are too many: names that no one has cost nothing.

    Those that keep no one waiting go first, then the oldest. Call it before a count is locked.
    """
    if (s.scalar(select(func.count()).select_from(Throttle)) or 0) < MOST_COUNTS:
        return
    ours = or_(*(Throttle.key.startswith(f"{what}:") for what in (NAME, NETWORK, PAIRING)))
    oldest = select(Throttle.key).where(ours).limit(max(1, MOST_COUNTS // 10))
    oldest = oldest.order_by(Throttle.blocked_until.is_not(None), Throttle.since)
    keys = s.scalars(oldest.with_for_update(skip_locked=True)).all()
    s.execute(delete(Throttle).where(Throttle.key.in_(keys)))


def _remaining_s(until: datetime | None, now: datetime) -> float:
    if until is None:
        return 0.0
    return max(0.0, (until - now).total_seconds())


def _count_name(row: Throttle, now: datetime) -> None:
    """Count a failure of a name or a known browser; its wait begins after one that still runs."""
    if now - row.since > NAME_FORGET:
        row.fails = 0
    row.fails += 1
    row.since = now
    if row.fails >= NAME_FREE_FAILS:
        doublings = min(row.fails - NAME_FREE_FAILS, 10)
        wait = timedelta(seconds=min(NAME_WAIT_S * 2**doublings, NAME_WAIT_MAX_S))
        row.blocked_until = max(now, row.blocked_until or now) + wait


def _count_window(row: Throttle, limit: int, now: datetime) -> None:
    if now - row.since >= WINDOW or row.since > now:
        row.fails = 0
        row.since = now
        row.blocked_until = None
    row.fails += 1
    if row.fails >= limit:
        row.blocked_until = row.since + WINDOW


def _name_key(name: str) -> str:
    return f"{NAME}:{secret_hash(sign_in_key(name))}"
