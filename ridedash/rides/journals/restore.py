"""Handles a database restored from a backup: detects it, sends nothing twice, lists lost orders.

See docs/booking-protocol.md 1.7. The sent journal (sent_journal.py) is not in the database, so it
still knows what was sent after the backup.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar

from sqlalchemy import ColumnElement, select, true
from sqlalchemy.orm import Session

from ridedash.observability.exceptions import reason
from ridedash.rides import health
from ridedash.rides.journals.sent_journal import (
    Last,
    Mark,
    SentEntry,
    SentJournal,
)
from ridedash.rides.state import transitions
from ridedash.rides.state.codes import RESTORED
from ridedash.rides.state.outcome import from_record
from ridedash.rides.state.settle import UNPROVED, settle
from ridedash.rides.state.states import ACCEPTED, UNSENT, WITHOUT_RIDE, BadTransition
from ridedash.store import audit, restores
from ridedash.store.actors import WORKER, Who
from ridedash.store.database.database import Clock, Database
from ridedash.store.guest_lists import LIST_RESTORED, stop_list
from ridedash.store.models.lists import GuestList, ListState
from ridedash.store.models.orders import Order, OrderState
from ridedash.store.models.restores import Restore, Watermark

T = TypeVar("T")
FROM_JOURNAL: Final = "from_journal"  # a timeline event: the order's state comes from the journal
# how often recent sends are compared; they are also compared after each lost connection to the
# database
RECENT_EVERY: Final = timedelta(seconds=60)
# how far before the last comparison the next one begins: a replica that takes over may lag, and its
# clock may differ
OVERLAP: Final = timedelta(minutes=10)

log = logging.getLogger(__name__)


class KnownToJournal(Exception):
    """A journal has the attempt that the database is about to make: the database went back."""


class Bare(NamedTuple):
    """A machine without journals of what a database has sent, and what it found there at first.

    `epoch` is that of the database, `known` the last instant that it knew of; `beats` has the
    heartbeats of workers that have compared it with journals of their own, and that may live.
    """

    epoch: int
    known: datetime | None
    beats: dict[str, datetime]


class RestoreWatch:
    """Compares the database with the sent journals of this machine, for one worker.

    Nothing is sent before `settled`. Safe to share between threads.
    """

    def __init__(self, db: Database, clock: Clock, journal: SentJournal) -> None:
        self.db = db
        self.clock = clock
        self.journal = journal
        self.database = ""  # the database's identity; "" before its first property
        self._mark: Mark | None = None  # the latest state in which the database was seen
        self._uncommitted: Mark | None = None  # the state that the heartbeat is about to commit
        # the epoch of a database that a heartbeat found to be older than the state seen before
        self._older_in: int | None = None
        # the latest instant that the database knew of at the last heartbeat
        self._found_at: datetime | None = None
        # while it is open whether the journals of this machine are lost
        self._bare: Bare | None = None
        self._requests = 0  # how often a comparison was requested
        # `_state` at the start of the last comparison
        self._settled: tuple[int, int, int] | None = None
        self._compared_at: datetime | None = None

    @property
    def epoch(self) -> int:
        """How often the database has been restored, as of the last heartbeat."""
        if self._mark is None:
            return 0
        return self._mark.epoch

    @property
    def settled(self) -> bool:
        """Whether the database has been compared with the journals since its last restore.

        It must also have been compared since the last lost connection, because a replica that lags
        may have taken over.
        """
        return self._mark is not None and not self._bare and self._settled == self._state

    @property
    def _state(self) -> tuple[int, int, int]:
        """The values that, when they change, make a comparison invalid."""
        return self.epoch, self._requests, self.db.lost_connections

    def raise_watermark(self, s: Session) -> None:
        """Raise the watermark in the transaction of a heartbeat, unless the database went back."""
        self._uncommitted, now = None, self.clock()
        self.database = restores.identity(s)
        row = restores.watermark(s)
        self._found_at = restores.last_known_moment(s)
        seen = self._last_state()
        if seen is None and self.journal.number is not None and lacks_journals(s, self.journal):
            self._bare = Bare(row.epoch, self._found_at, health.compared(s, now))
        if seen is not None and (row.epoch, row.beats) < (seen.epoch, seen.beats):
            self._older_in = row.epoch
            return
        row.beats += 1
        row.beat_at = now
        self._uncommitted = Mark(row.epoch, row.beats, now, self.database)

    def look(self) -> int:
        """Detect a restore after a heartbeat was committed, and compare.

        Returns how many rows changed. For the thread of the heartbeat only.
        """
        changed = 0
        self._confirm_heartbeat()
        if self._older_in is not None:
            changed += self._notice(self._older_in)
        if self._bare is not None:
            changed += self._decide(self._bare)
        if self._mark is not None and not self._bare and (not self.settled or self._is_time()):
            changed += self._compare(self._mark.epoch)
        return changed

    def refuses(self, s: Session, reference: str, attempt: int) -> bool:
        """Whether a journal of this machine contains this attempt, which must not be sent again."""
        self.database = self.database or restores.identity(s)
        if not self.journal.knows(reference, attempt):
            return False
        self.compare_again()
        return True

    def compare_again(self) -> None:
        """Send nothing more until the database was compared with all journals once more."""
        self._requests += 1

    def is_as_seen(self) -> ColumnElement[bool]:
        """A condition for claims: the database has not gone back since the last heartbeat."""
        mark = self._mark
        if mark is None:
            return true()
        return restores.is_at_least(mark.epoch, mark.beats)

    def is_current(self, s: Session) -> bool:
        """Whether the database was compared, and has not gone back in time since.

        True before the first heartbeat.
        """
        if self._mark is None:
            return True
        here = select(Watermark.id).where(self.is_as_seen())
        return self.settled and s.scalars(here).first() is not None

    def _last_state(self) -> Mark | None:
        """The latest state in which this database was seen by this worker, or on this machine."""
        if self._mark is not None and self._mark.database == self.database:
            return self._mark
        # a database without a property has sent nothing, and can't be told from others
        if not self.database:
            return None
        return self.journal.mark(self.database)

    def _decide(self, bare: Bare) -> int:
        """Decide what it means that this machine has no journals of what the database has sent.

        With a live worker elsewhere that has compared the database, this one is a further worker.
        Otherwise the journals are lost, and maybe the database was restored as well: no one knows
        what was sent since its last moment, so everything planned is held.
        """
        with self.db.read() as s:
            epoch = restores.epoch(s)
            beats = health.compared(s, self.clock())
        held = 0
        if epoch == bare.epoch and not _has_beaten(beats, bare.beats):
            if beats:
                return 0  # such a worker may have been restored with the database: see it beat
            found = Noticed(bare.known, epoch=epoch, bare=True)
            held = note_restore(self.db, self.clock, WORKER, found) or 0
        self._bare = None
        with self.db.write() as s:
            self.raise_watermark(s)
        self._confirm_heartbeat()
        return held

    def _confirm_heartbeat(self) -> None:
        if self._uncommitted is None:
            return
        self._mark = self._uncommitted
        self._uncommitted = None
        # a mark says that this machine has journals of the database
        if not self._mark.database or self._bare is not None:
            return
        try:
            self.journal.write_mark(self._mark)
        except OSError as error:  # an older mark detects fewer restores
            log.error("the mark of the sent journal is not written: %s", reason(error))

    def _is_time(self) -> bool:
        """Whether to compare recent sends now; also True after the clock was set back."""
        return self._compared_at is None or abs(self.clock() - self._compared_at) >= RECENT_EVERY

    def _notice(self, epoch: int, reached: int = 0) -> int:
        """Record that the database, now at `epoch`, was restored, and hold planned rides.

        `reached`: an epoch that the database had reached at least. Nothing is recorded when another
        worker has recorded this restore already.
        """
        seen = self._last_state() or Mark(epoch, 0, self.clock(), self.database)
        seen = seen._replace(epoch=max(seen.epoch, reached))
        found = Noticed(self._found_at, seen, epoch)
        held = note_restore(self.db, self.clock, WORKER, found)
        self._older_in = None
        with self.db.write() as s:
            self.raise_watermark(s)
        self._confirm_heartbeat()
        return held or 0

    def _compare(self, epoch: int) -> int:
        """Compare with all journals, or only with their recent part."""
        state = self._state
        began = self.clock()
        since = None
        if self._settled is not None and self._settled[:2] == state[:2] and self._compared_at:
            since = min(self._compared_at, began) - OVERLAP
        changed, newer = catch_up(self.db, self.clock, self.journal, since)
        if newer is not None:  # a restore by a few seconds, which the watermark could not show
            return changed + self._notice(epoch, newer)
        self._settled = state
        self._compared_at = began
        return changed


class Noticed(NamedTuple):
    """A restore as it is noticed or declared.

    `to` is the last moment that the database knows of; `seen` the state that it had reached before,
    None if that is not known. `epoch`: the restore is not recorded when the database has another
    epoch by now, because another worker has recorded it. `bare`: all that is known is that the
    journals are lost.
    """

    to: datetime | None
    seen: Mark | None = None
    epoch: int | None = None
    bare: bool = False


def note_restore(db: Database, clock: Clock, who: Who, found: Noticed) -> int | None:
    """Record that the database was restored: nothing from before that is sent.

    Planned rides are held, and READY orders become UNKNOWN. Returns how many orders are held; None
    when another worker has recorded the same restore.
    """
    now = clock()
    epoch, beats = (found.seen.epoch, found.seen.beats) if found.seen else (0, 0)
    with db.write() as s:
        row = restores.watermark(s)
        if found.epoch is not None and row.epoch != found.epoch:
            return None
        row.epoch = max(row.epoch, epoch) + 1
        row.beats = max(row.beats, beats) + 1
        row.beat_at = now
        s.add(Restore(restored_to=found.to, noticed_at=now, bare=found.bare))
        held = hold(s, now, who)
        to = found.to.isoformat() if found.to else None
        facts = {"restored_to": to, "held": held}
        audit.record(s, who, "database.restored", "restores:0", "held", now, **facts)
    what = "the journals of this machine are lost" if found.bare else "the database was restored"
    log.warning("%s, it knows what happened until %s: %d orders are held", what, to, held)
    return held


def hold(s: Session, now: datetime, who: Who) -> int:
    """Hold every order that is unsent according to the database. Returns how many there were.

    A READY order becomes UNKNOWN instead: it was about to be sent, and may have been. A list that
    is being booked stops: what it has ordered since may be forgotten.
    """
    running = select(GuestList).where(GuestList.state == ListState.RUNNING).with_for_update()
    for each in s.scalars(running):
        stop_list(each, LIST_RESTORED, now)
    query = select(Order).where(Order.state.in_(UNSENT)).order_by(Order.id)
    orders = s.scalars(query).all()
    for order in orders:
        if order.state == OrderState.READY:
            doubt(s, order, order.ready_at or now, now, who)
        else:
            order.held_at = now
            order.owner = order.lease_until = None
            order.version += 1
            transitions.raise_attention(s, order, transitions.HELD, None, now)
    return len(orders)


def catch_up(
    db: Database, clock: Clock, journal: SentJournal, since: datetime | None = None
) -> tuple[int, int | None]:
    """Update the database from the journals. Returns how many orders it changed or listed as lost.

    `since`: only orders that were sent then or later. The second returned value is the latest epoch
    of a send that the database lacks although no restore was noticed since; None without such a
    send.
    """
    behind, lost = _differences(db, journal.attempts(since))
    if not behind and not lost:
        return 0, None
    entries = journal.entries(behind | lost)
    with db.read() as s:
        database = restores.identity(s)
        epoch = restores.epoch(s)
        ours = [each for each in entries if each.database == database]
        newer = [each.epoch for each in ours if each.epoch >= epoch and _lacks(s, each)]
    changed = 0
    for entry in entries:
        if entry.reference in behind:
            changed += _catch_up_one(db, clock(), entry)
    for some in _chunks(each for each in ours if each.reference in lost):
        changed += _list_lost(db, clock(), some)
    return changed, max(newer, default=None)


def lacks_journals(s: Session, journal: SentJournal) -> bool:
    """Whether the database has sent orders, and the journals of this machine know nothing of it.

    The machine is new, or its journals are lost.
    """
    database = restores.identity(s)
    if not database or not restores.has_sent(s) or journal.mark(database) is not None:
        return False
    return not any(restores.known_orders(s, some) for some in _chunks(journal.attempts()))


def unknown_sends(db: Database, journal: SentJournal) -> tuple[bool, int]:
    """Whether the database is older than the journals' watermark, and how many sends it lacks.

    Changes nothing; orders that are listed as lost are not counted.
    """
    # read the journals first: a heartbeat or a send is in the database before it is in a journal
    attempts = journal.attempts()
    with db.read() as s:
        database = restores.identity(s)
    seen = journal.mark(database) if database else None
    behind, lost = _differences(db, attempts, unproved=False)
    with db.read() as s:
        row = s.get(Watermark, restores.ROW)
    reached = (row.epoch, row.beats) if row is not None else (0, 0)
    is_older = seen is not None and reached < (seen.epoch, seen.beats)
    if not behind and not lost:
        return is_older, 0
    lacking = journal.entries(behind | lost)
    return is_older, sum(each.database == database for each in lacking)


def _has_beaten(now: dict[str, datetime], before: dict[str, datetime]) -> bool:
    """Whether one of these workers has written a heartbeat since."""
    return any(at != before.get(worker) for worker, at in now.items())


def _chunks(found: Iterable[T]) -> Iterator[list[T]]:
    rest = iter(found)
    while chunk := list(islice(rest, restores.AT_ONCE)):
        yield chunk


def _differences(
    db: Database, attempts: dict[str, Last], *, unproved: bool = True
) -> tuple[set[str], set[str]]:
    """References of orders of which the journals know more than the database, and of lost orders.

    `unproved`: also orders whose outcome only the journals know.
    """
    behind = set[str]()
    lost = set[str]()
    for references in _chunks(attempts):
        with db.read() as s:
            known = {order.reference: order for order in restores.known_orders(s, references)}
            missing = set(references) - known.keys()
            listed = restores.listed(s, missing) if missing else {}
        lost |= {r for r in missing if r not in listed or (attempts[r].answer and not listed[r])}
        behind |= {
            reference
            for reference, order in known.items()
            if order.attempt < attempts[reference].attempt
            or (unproved and _proves_more(attempts[reference], order))
        }
    return behind, lost


def _proves_more(last: Last, order: restores.KnownOrder) -> bool:
    """Whether the journal has the outcome of an attempt, and the database has none."""
    if order.attempt != last.attempt or not last.answer:
        return False
    if order.state == OrderState.UNKNOWN:
        return last.answer != OrderState.UNKNOWN
    return order.state == OrderState.SENDING


def _lacks(s: Session, entry: SentEntry) -> bool:
    """Whether the database does not know that this order was sent."""
    found = restores.known_orders(s, [entry.reference])
    return not found or found[0].attempt < entry.attempt


def _catch_up_one(db: Database, now: datetime, entry: SentEntry) -> int:
    """Give one order the attempt and the outcome from the journal. Returns 1 when it changed."""
    try:
        with db.write() as s:
            order = s.scalars(select(Order).where(Order.mtx == entry.reference)).first()
            if order is None:
                return 0
            return _apply(s, order, entry, now)
    except (BadTransition, ValueError, LookupError, TypeError, ArithmeticError) as error:
        log.error("order %s can't be taken from the journal: %s", entry.reference, reason(error))
        return 0


def _apply(s: Session, order: Order, entry: SentEntry, now: datetime) -> int:
    if order.attempt > entry.attempt:
        return 0
    if order.attempt < entry.attempt:
        order.attempt = entry.attempt
        # the order is withdrawn here but was sent later: the withdrawal was undone after the backup
        if order.state in UNSENT or order.state == OrderState.NOT_SENT:
            doubt(s, order, entry.at, now, WORKER)
        transitions.add_event(s, order, "event", FROM_JOURNAL, now)
    elif order.state not in (OrderState.SENDING, OrderState.UNKNOWN) or entry.outcome is None:
        return 0
    if entry.outcome is not None and (order.state in UNPROVED or _contradicts(order, entry)):
        settle(s, order, from_record(entry.outcome), now, WORKER)
    return 1


def _contradicts(order: Order, entry: SentEntry) -> bool:
    """Whether the order ended without a ride in the database, and the journal has it as booked."""
    assert entry.outcome is not None
    return order.state in WITHOUT_RIDE and entry.outcome["state"] in ACCEPTED


def doubt(s: Session, order: Order, sent_at: datetime, now: datetime, who: Who) -> None:
    """Set an unsent order to UNKNOWN: a restored database can't know whether it was sent."""
    order.code = RESTORED
    order.sent_at = sent_at
    order.held_at = order.owner = order.lease_until = None
    transitions.change_state(s, order, OrderState.UNKNOWN, now, who, code=RESTORED)


def _list_lost(db: Database, now: datetime, entries: Sequence[SentEntry]) -> int:
    """List orders that the database has lost; orders that were not booked are closed at once."""
    with db.write() as s:
        restores.list_lost(s, [_lost_row(s, entry, now) for entry in entries])
    return len(entries)


def _lost_row(s: Session, entry: SentEntry, now: datetime) -> dict[str, Any]:
    return {
        "mtx": entry.reference,
        "number": entry.order_id or None,
        "property_id": restores.property_of(s, entry.property_id, entry.at),
        "account_id": entry.account_id,
        "category": entry.category,
        "attempt": entry.attempt,
        "sent_at": entry.at,
        "outcome": entry.outcome,
        "listed_at": now,
        "closed_at": None if may_exist(entry.outcome) else now,
    }


def may_exist(outcome: dict[str, Any] | None) -> bool:
    """Whether a booking may exist: it was made, or nothing proves the contrary."""
    return outcome is None or outcome["state"] not in WITHOUT_RIDE
