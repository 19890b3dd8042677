"""`ridedash db accept-restore | restored-at`, and what `ridedash doctor` says of a restore.

See docs/booking-protocol.md 1.7 and docs/operating.md, Restore.
"""

import argparse
from datetime import UTC, datetime

from sqlalchemy.exc import SQLAlchemyError

from ridedash.cli.doctor_stores import Finding
from ridedash.cli.errors import CommandError
from ridedash.rides.health import absent_hosts, compared
from ridedash.rides.journals.restore import lacks_journals, unknown_sends
from ridedash.rides.journals.sent_journal import SentJournal
from ridedash.rides.orders import after_restore
from ridedash.services import Services
from ridedash.store import restores

BARE_ADVICE = "if they are on another machine or disk, stop the workers and bring them back"
OLDEST = datetime(2020, 1, 1, tzinfo=UTC)  # no database of ridedash is older


def accept_restore(services: Services, options: argparse.Namespace) -> None:
    """Compare the database with this machine's journals, then release all rides that are held.

    Without --anyway, refused while another machine that had a worker is silent, since only that
    machine has its journals, and if this machine's journals name no order although some were sent.
    """
    journal = _journal(services)
    after_restore.compare(services.db, services.clock, journal)
    _require_compared(services, journal, options.anyway)
    accepted = after_restore.accept(services.db, services.clock)
    if accepted is None:
        print("No restore waits to be accepted. Nothing was changed.")
        return
    print(f"Accepted: the database was restored {_to(accepted.restored_to)}.")
    known = len(journal.attempts())
    print(f"Compared with the journals of this machine: {known} orders in {journal.folder}.")
    print(f"Planned rides that are ordered when they are due: {accepted.released}.")
    if accepted.lost:
        print(
            f"Sent orders that it lacks: {accepted.lost}. Staff find them on the page that the "
            "band of every page leads to, and can take them up again."
        )


def _require_compared(services: Services, journal: SentJournal, anyway: bool) -> None:
    """Raise CommandError when no journals were compared, or not those of all machines."""
    with services.db.read() as s:
        waits = restores.open_restore(s) is not None
        absent = absent_hosts(s, services.clock())
        has_sent = restores.has_sent(s)
    if not waits or anyway:
        return
    if has_sent and not journal.attempts():
        raise CommandError(
            "Nothing was changed. The database knows of orders that were sent, and the journals "
            f"in {journal.folder} of none, so nothing was compared: what is planned, and due, "
            "would be ordered at once, a second time where it was ordered before. Run this where "
            "the journals are, or let staff decide ride by ride. If they are lost: "
            "`ridedash db accept-restore --anyway`."
        )
    if not absent:
        return
    each = ", ".join(
        f"{host} (last heard {_format_time(at)})" for host, at in sorted(absent.items())
    )
    raise CommandError(
        f"Nothing was changed. Workers ran on other machines too: {each}. What they sent is in "
        "their journals alone: start a worker there first. If such a machine is lost, or was "
        "another name of this one: `ridedash db accept-restore --anyway`."
    )


def restored_at(services: Services, options: argparse.Namespace) -> None:
    """Declare a restore that no journal knows of; everything planned is held for a decision."""
    backup_at = _parse_instant(options.moment, services.clock())
    held = after_restore.declare(services.db, services.clock, backup_at)
    print(f"Noted: the database was restored to {_format_time(backup_at)}.")
    print(
        f"Orders that are held: {held}, until a member of staff decides, ride by ride, or until "
        "`ridedash db accept-restore`."
    )


def finding(services: Services) -> Finding:
    """Whether the database is as new as the journals of this machine."""
    try:
        journal = _journal(services)
        is_older, unknown = unknown_sends(services.db, journal)
        known = len(journal.attempts())
        with services.db.read() as s:
            waiting = restores.waiting(s)
            is_bare = lacks_journals(s, journal) and not compared(s, services.clock())
    except OSError as error:
        return Finding("restore", False, f"the sent journal can't be read ({error.strerror})")
    except SQLAlchemyError as error:
        kind = type(error).__name__
        return Finding("restore", False, f"the database gave no answer ({kind}): run it again")
    if waiting is not None:
        happened = f"the database was restored {_to(waiting.restored_to)}"
        if waiting.is_bare:
            happened = f"the journals of what was sent are lost; {BARE_ADVICE}"
        text = (
            f"{happened}. Planned rides that are held: {waiting.held}; sent orders that it lacks: "
            f"{waiting.lost}. "
        )
        advice = "Staff decide ride by ride, or: `ridedash db accept-restore`."
        return Finding("restore", False, text + advice)
    if is_older or unknown:
        text = f"the database is older than the journals; sent orders that it lacks: {unknown}"
        return Finding("restore", False, f"{text}. Start a worker: it holds what is planned.")
    if is_bare:
        text = f"the database has sent orders, and {journal.folder} names none of them"
        return Finding("restore", False, f"{text}: {BARE_ADVICE}. A worker holds what is planned.")
    return Finding("restore", True, f"the database knows what was sent from here ({known} orders)")


def _journal(services: Services) -> SentJournal:
    return SentJournal(services.settings.instance / "blackbox")


def _parse_instant(text: str, now: datetime) -> datetime:
    """The instant of the backup. A text without an offset is read in this machine's time zone.

    Raises CommandError for a text that is no time, and for one before OLDEST or in the future.
    """
    try:
        backup_at = datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise CommandError(
            f"{text!r} is no moment; write it as 2026-03-01T15:28, or 2026-03-01T15:28+05:30."
        ) from None
    if not OLDEST <= backup_at <= now:
        raise CommandError(
            f"{_format_time(backup_at)} can't be when the backup was made: it is now "
            f"{_format_time(now)}. Pages show the property's time; add its offset to such a time: "
            "2026-03-01T15:28+05:30."
        )
    return backup_at


def _to(backup_at: datetime | None) -> str:
    if backup_at is None:
        return "from a backup"
    return f"to {_format_time(backup_at)}"


def _format_time(at: datetime) -> str:
    return f"{at.astimezone():%Y-%m-%d %H:%M:%S %Z}"
