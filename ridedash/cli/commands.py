"""The commands worker, db, account link and keys rotate; staff and erase have their modules."""

import argparse
import signal
import threading
from collections.abc import Mapping
from functools import partial

from ridedash import config
from ridedash.cli import worker_port
from ridedash.cli.database_errors import database_errors
from ridedash.cli.errors import CommandError, no_property
from ridedash.rides.accounts.rotate_keys import rotate
from ridedash.rides.journals.answer_journal import AnswerJournal
from ridedash.rides.privacy.retention import RetentionDays, retention_job
from ridedash.rides.worker import Worker
from ridedash.services import Services, build_services, follow_turns
from ridedash.store import accounts, audit, demo_marks, properties
from ridedash.store.actors import CLI
from ridedash.store.database.database import Database
from ridedash.text import one_line


def run(options: argparse.Namespace, environ: Mapping[str, str]) -> None:
    """Run one command against the database of the settings."""
    services = build_services(config.load(environ))
    services.settings.instance.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        with database_errors():
            _COMMANDS[options.command](services, options)
    finally:
        services.db.close()


def make_worker(services: Services) -> Worker:
    """A worker with its answer journal in the instance folder.

    Raises CommandError when the folder can't be written.
    """
    folder = services.settings.instance / "blackbox"
    try:
        journal = AnswerJournal(folder)
    except OSError as error:  # without a journal no answer can be stored, so nothing may be sent
        raise CommandError(
            f"RIDEDASH_INSTANCE: {folder} can't be written ({error.strerror})."
        ) from None
    settings = services.settings
    job = partial(retention_job, services.db, retention_days(settings), settings.secret_key)
    threads = settings.worker_threads
    return Worker(
        services.runtime,
        journal,
        threads=threads,
        retention_job=job,
        address_of=services.address_of,
    )


def retention_days(settings: config.Settings) -> RetentionDays:
    """The retention times of the settings."""
    days = settings.keep_positions_days, settings.keep_guests_days, settings.keep_evidence_days
    return RetentionDays(*days, settings.keep_audit_days)


def _worker(services: Services, _options: argparse.Namespace) -> None:
    _require_current(services)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    follow_turns(services)
    if services.settings.demo:
        from ridedash.demo.lens.recorder import record  # live mode does not load it

        record(services)
    worker = make_worker(services)
    worker_port.serve(services, worker)
    print("ridedash worker: sending orders and following rides; stop with Ctrl-C", flush=True)
    worker.run(stop)


def upgrade(db: Database) -> None:
    """Migrate the database to this version.

    Raises CommandError when the database can't be used, or has tables that this version can't
    migrate.
    """
    with database_errors():
        db.upgrade()


def _db(services: Services, options: argparse.Namespace) -> None:
    if options.action != "upgrade":
        from ridedash.cli import restores  # imported here: a worker does not need it

        _require_current(services)
        handlers = {"accept-restore": restores.accept_restore, "restored-at": restores.restored_at}
        handlers[options.action](services, options)
        return
    before = _revision(services.db)
    upgrade(services.db)
    require_mode(services)
    after = _revision(services.db)
    if before == after:
        print(f"The database is current, at revision {after}.")
    else:
        print(
            f"The database went from {f'revision {before}' if before else 'no tables'} to revision "
            f"{after}."
        )


def _revision(db: Database) -> str:
    """The revision of the database's tables; "" if it has no tables of ridedash."""
    from alembic.migration import MigrationContext  # imported here: a worker does not need it

    with db.engine.connect() as connection:
        return " and ".join(MigrationContext.configure(connection).get_current_heads())


def _staff(services: Services, options: argparse.Namespace) -> None:
    from ridedash.cli import staff  # imported here: a worker does not need it

    _require_current(services)
    staff.run(services, options)


def _account(services: Services, options: argparse.Namespace) -> None:
    from ridedash.cli.staff import from_stdin  # imported here: a worker does not need it

    _require_current(services)
    token = from_stdin("access token")
    if not token or not token.isascii() or not token.isprintable():
        raise CommandError("standard input held no access token.")
    with services.db.write() as s:
        property_ = properties.find_property(s, options.property_name)
        if property_ is None:
            known = [each.name for each in properties.properties(s)]
            advice = "`ridedash staff add --new-property` makes one."
            raise no_property(options.property_name, known, advice)
        now = services.clock()
        row = accounts.add_account(s, services.vault, property_.id, options.label, token, now)
        row.affiliate_uid = one_line(options.affiliate_uid, accounts.AFFILIATE_MAX) or None
        if options.default:
            accounts.make_default(s, row)
        audit.record(
            s, CLI, "account.linked", f"accounts:{row.id}", "ok", now, property_id=property_.id
        )
    print(f"{options.label} is linked to {options.property_name}.")


def _require_current(services: Services) -> None:
    services.db.require_current()
    require_mode(services)


def require_mode(services: Services) -> None:
    """Raise CommandError in live mode when the database is a demo's."""
    if services.settings.demo:
        return
    try:
        with database_errors(), services.db.read() as s:
            demo_marks.refuse_in_live_mode(s)
    except demo_marks.WrongMode as error:
        raise CommandError(str(error)) from None


def _erase(services: Services, options: argparse.Namespace) -> None:
    # imported here: it loads the rules of phone numbers, which a worker does not need
    from ridedash.cli import upkeep

    _require_current(services)
    upkeep.erase_guest(services, options)


def _keys(services: Services, _options: argparse.Namespace) -> None:
    _require_current(services)
    rotated = rotate(services.db, services.vault, services.clock)
    print(f"{rotated.done} secrets were encrypted anew with the key {services.vault.first!r}.")
    print(
        f"{rotated.left} still use an older key."
        if rotated.left
        else "None still uses an older key."
    )
    print(
        "A process whose RIDEDASH_TOKEN_KEYS does not name that key sends and follows nothing "
        "until it is restarted."
    )
    if rotated.left:
        raise CommandError(
            "those can't be read: keep their key in RIDEDASH_TOKEN_KEYS, or connect the accounts "
            "anew."
        )


_COMMANDS = {
    "worker": _worker,
    "db": _db,
    "staff": _staff,
    "account": _account,
    "erase": _erase,
    "keys": _keys,
}
