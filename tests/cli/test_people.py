"""`db upgrade`, `staff add` and `account link` on the command line, and their audit entries."""

import os
import select
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from ridedash.config import load
from ridedash.store import accounts, properties
from ridedash.store.audit import AuditRow
from ridedash.store.database.database import Database
from ridedash.store.database.migrate import head, known
from tests.cli.in_process import run
from tests.cli.test_commands import RIDEDASH, ridedash
from tests.databases import migrated_instance, settings_for
from tests.running import clean_environment

pytestmark = pytest.mark.database

PHRASE = "seven herons over the lagoon"
STAFF = ("staff", "add", "--property", "Hotel A", "--name", "otter")
FIRST = (*STAFF, "--new-property")
LINK = ("account", "link", "--property", "Hotel A", "--label", "House", "--access-token-stdin")
WAIT_S = 60.0  # an upper bound on a busy machine


def database(instance: Path) -> Database:
    return Database(
        load({"RIDEDASH_INSTANCE": str(instance)} | settings_for(instance)).database_url
    )


def test_an_upgrade_prints_the_first_and_the_last_revision(tmp_path: Path) -> None:
    first = run(tmp_path, "db", "upgrade")
    assert first.stdout == f"The database went from no tables to revision {head()}.\n"
    db = database(tmp_path)
    again = run(tmp_path, "db", "upgrade")
    assert again.stdout == f"The database is current, at revision {head()}.\n"
    from alembic import command

    from ridedash.store.database.migrate import alembic_config

    with db.engine.begin() as connection:
        config = alembic_config()
        config.attributes["connection"] = connection
        command.downgrade(config, known()[-2])
    db.close()
    back = run(tmp_path, "db", "upgrade")
    assert back.stdout == f"The database went from revision {known()[-2]} to revision {head()}.\n"


def test_added_staff_and_linked_accounts_are_in_the_audit_log(tmp_path: Path) -> None:
    migrated_instance(tmp_path)
    assert run(tmp_path, *FIRST, "--role", "manager", given=PHRASE + "\n").returncode == 0
    assert run(tmp_path, *STAFF, given=PHRASE + "\n").returncode == 2
    assert run(tmp_path, *LINK, given="token-for-this-test\n").returncode == 0
    db = database(tmp_path)
    with db.read() as s:
        prop = properties.properties(s)[0]
        staff, account = properties.find_staff(s, "otter"), accounts.accounts_of(s, prop.id)[0]
        rows = s.query(AuditRow).order_by(AuditRow.id).all()
    db.close()
    assert staff is not None
    assert [
        (row.who, row.property_id, row.what, row.subject, row.result, row.facts) for row in rows
    ] == [
        ("cli", prop.id, "property.made", f"properties:{prop.id}", "ok", {}),
        ("cli", prop.id, "staff.added", f"staff:{staff.id}", "ok", {"role": "manager"}),
        ("cli", prop.id, "account.linked", f"accounts:{account.id}", "ok", {}),
    ]


def test_the_name_of_a_disabled_account_is_refused_in_one_sentence(tmp_path: Path) -> None:
    migrated_instance(tmp_path)
    assert run(tmp_path, *STAFF, "--new-property", given=PHRASE + "\n").returncode == 0
    db = database(tmp_path)
    with db.write() as s:
        staff = properties.find_staff(s, "otter")
        assert staff is not None
        staff.disabled_at = staff.created_at
    db.close()
    done = run(tmp_path, *STAFF, given=PHRASE + "\n")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "is the name of somebody who is disabled" in done.stderr


@pytest.mark.parametrize(("words", "typed"), [(STAFF, PHRASE), (LINK, "token-for-this-test")])
def test_secrets_typed_on_a_terminal_are_not_echoed(
    tmp_path: Path, words: tuple[str, ...], typed: str
) -> None:
    migrated_instance(tmp_path)
    wren = ("staff", "add", "--new-property", "--property", "Hotel A", "--name", "wren")
    run(tmp_path, *wren, given=PHRASE + "\n")
    code, seen = on_a_terminal(tmp_path, words, typed)
    assert (code, "Hotel A." in seen) == (0, True), seen
    assert typed not in seen


def on_a_terminal(instance: Path, words: tuple[str, ...], typed: str) -> tuple[int, str]:
    """Run a command on a terminal of its own, typing at its prompts; exit code and output."""
    environ = clean_environment(RIDEDASH_INSTANCE=str(instance), **settings_for(instance))
    screen, keys = os.openpty()
    command = subprocess.Popen(
        [*RIDEDASH, *words],
        env=environ,
        stdin=keys,
        stdout=keys,
        stderr=keys,
        start_new_session=True,
    )
    os.close(keys)
    with command, os.fdopen(screen, "r+b", buffering=0) as terminal:
        seen = b""
        while b"press Enter:" not in seen and (more := _more(terminal.fileno())):
            seen += more
        terminal.write(typed.encode() + b"\n")
        while more := _more(terminal.fileno()):
            seen += more
        return command.wait(WAIT_S), seen.decode()


def _more(screen: int) -> bytes:
    """The next output of the terminal; empty once the command has ended or prints nothing more."""
    if not select.select([screen], [], [], WAIT_S)[0]:
        return b""
    try:
        return os.read(screen, 4096)
    except OSError:  # Linux raises this once the last process has closed the terminal
        return b""


def test_help_shows_the_defaults(tmp_path: Path) -> None:
    message = " ".join(ridedash(tmp_path, "staff", "add", "--help").stdout.split())
    assert "(default: concierge)" in message
    assert "(default: UTC)" in message


def test_a_misspelt_property_makes_no_new_one_and_the_closest_is_named(tmp_path: Path) -> None:
    migrated_instance(tmp_path)
    first = run(tmp_path, *FIRST, given=PHRASE + "\n")
    assert first.returncode == 0, first.stderr
    misspelt = ("--property", "hotle A", "--name", "wren")
    for words in (("staff", "add", *misspelt), ("account", "link", *misspelt[:2], "--label", "L")):
        more = ("--access-token-stdin",) if words[0] == "account" else ()
        done = run(tmp_path, *words, *more, given=PHRASE + "\n")
        assert done.returncode == 2
        assert "no property 'hotle A'. Did you mean 'Hotel A'? " in done.stderr
        assert "--new-property" in done.stderr
    erased = run(tmp_path, "erase", "--property", "Clinic", "--guest", "+12025550143")
    assert (erased.returncode, erased.stderr) == (2, "ridedash: no property 'Clinic'.\n")


def test_a_property_that_is_there_is_not_made_again(tmp_path: Path) -> None:
    migrated_instance(tmp_path)
    assert run(tmp_path, *FIRST, given=PHRASE + "\n").returncode == 0
    for name in ("Hotel A", "HOTEL A"):
        words = ("staff", "add", "--new-property", "--property", name, "--name", "wren")
        again = run(tmp_path, *words, given=PHRASE + "\n")
        assert again.returncode == 2
        assert "there is a property 'Hotel A'; leave --new-property out." in again.stderr


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--country", "India", "no country 'India'; use two letters such as IN."),
        ("--timezone", "Asia", "no time zone 'Asia'; use a name such as Asia/Kolkata."),
    ],
)
def test_a_country_or_a_zone_that_there_is_not_makes_no_property(
    tmp_path: Path, option: str, value: str, message: str
) -> None:
    migrated_instance(tmp_path)
    done = run(tmp_path, *FIRST, option, value, given=PHRASE + "\n")
    assert (done.returncode, done.stderr) == (2, f"ridedash: {message}\n")
    with closing(database(tmp_path)) as db, db.read() as s:
        assert properties.properties(s) == []


def test_a_country_in_small_letters_is_stored_in_capitals(tmp_path: Path) -> None:
    migrated_instance(tmp_path)
    assert run(tmp_path, *FIRST, "--country", "in", given=PHRASE + "\n").returncode == 0
    with closing(database(tmp_path)) as db, db.read() as s:
        assert [each.country for each in properties.properties(s)] == ["IN"]
