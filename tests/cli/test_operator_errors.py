"""What a command says when the machine stops it: the cause, and what to do about it."""

import contextlib
import errno
import sqlite3
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from ridedash import cli
from ridedash.cli import commands, demo
from ridedash.cli.database_errors import advice_on, database_errors
from ridedash.cli.errors import CommandError
from ridedash.config import load
from ridedash.secrets_file import BadInstanceError, demo_secrets, remedy
from ridedash.services import build_services
from ridedash.store.database.database import DatabaseBusy
from tests.cli.test_commands import ridedash
from tests.test_config import LIVE

NOWHERE = Path("/sys/ridedash")  # a folder that no user can make, not even root
HERE = {"RIDEDASH_INSTANCE": str(NOWHERE)}


def test_a_folder_that_can_not_be_made_is_named_with_the_user_who_should() -> None:
    done = ridedash(NOWHERE, "db", "upgrade")
    assert done.returncode == 2
    assert str(NOWHERE) in done.stderr
    assert "must be able to write there." in done.stderr
    assert done.stderr.count("\n") == 1
    with pytest.raises(OSError) as raised:  # in live mode, which makes no secrets
        commands.run(cli._parser().parse_args(["db", "upgrade"]), LIVE | HERE)
    assert (raised.value.filename, bool(remedy(raised.value))) == (str(NOWHERE), True)


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.EACCES, "must be able to write there"),
        (errno.EROFS, "must be able to write there"),
        (errno.ENOSPC, "The disk is full: make room"),
    ],
)
def test_an_error_of_the_system_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    number: int,
    advice: str,
) -> None:
    def fails(_options: object) -> None:
        raise OSError(number, "why", "/instance/sandbox.lock")

    monkeypatch.setattr(cli, "prepare", lambda *_, **_more: None)
    monkeypatch.setattr(cli, "load", lambda _environ: None)
    monkeypatch.setattr(cli, "_run", fails)
    with pytest.raises(SystemExit) as ended:
        cli.main(["up"])
    assert ended.value.code == 2
    printed = capsys.readouterr().err
    assert printed.startswith("ridedash: /instance/sandbox.lock: why. ")
    assert advice in printed


def test_an_error_that_no_operator_can_mend_keeps_its_traceback() -> None:
    assert remedy(OSError(errno.ENOEXEC, "Exec format error")) == ""


@pytest.mark.parametrize("content", ["[]", "{}", "null", '"k1"', '{"secret_key": 1}', ""])
def test_secrets_that_are_no_secrets_are_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "secrets.json").write_text(content)
    with pytest.raises(BadInstanceError, match=r"secrets\.json is damaged; restore it from a copy"):
        demo_secrets(tmp_path)


def _failed(*statements: str, path: str = ":memory:") -> OperationalError:
    """The error of the last of these statements, as SQLAlchemy raises it."""
    try:
        with contextlib.closing(sqlite3.connect(path, isolation_level=None, timeout=0)) as line:
            for statement in statements:
                line.execute(statement).close()
    except sqlite3.DatabaseError as error:
        return OperationalError("", {}, error)
    raise AssertionError("nothing failed")


def test_each_database_error_has_advice_on_what_to_do(tmp_path: Path) -> None:
    path = str(tmp_path / "some.db")
    full = _failed("PRAGMA max_page_count = 1", "CREATE TABLE a (b)", "CREATE TABLE c (d)")
    assert advice_on(full) == "The disk is full: make room, then try again."
    away = OperationalError("", {}, sqlite3.OperationalError("unable to open database file"))
    assert advice_on(away, "Is it up?") == "Is it up?"
    assert advice_on(_failed("SELECT 1", path="/sys/ridedash/some.db")).startswith("The user who")
    read_only = _failed("PRAGMA query_only = 1", "CREATE TABLE a (b)", path=path)
    assert advice_on(read_only).startswith("The user who runs ridedash must be able to write")
    (tmp_path / "other.db").write_text("nonsense " * 200)
    broken = _failed("SELECT * FROM a", path=str(tmp_path / "other.db"))
    assert advice_on(broken).startswith("Bring back its last backup")


def test_a_locked_database_error_names_another_writer(tmp_path: Path) -> None:
    path = str(tmp_path / "some.db")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    locked = _failed("BEGIN IMMEDIATE", path=path)
    other.close()
    busy = DatabaseBusy("nothing was written")
    busy.__cause__ = locked
    message = r"locked.*Another process is writing to it"
    with pytest.raises(CommandError, match=message), database_errors():
        raise busy


def test_a_demo_whose_secrets_were_lost_says_so(tmp_path: Path) -> None:
    def seeded() -> None:
        services = build_services(load({"RIDEDASH_INSTANCE": str(tmp_path)}))
        try:
            services.db.upgrade()
            demo.seed(services)
        finally:
            services.db.close()

    seeded()
    seeded()
    (tmp_path / "secrets.json").unlink()
    with pytest.raises(CommandError, match=r"secrets of this demo are lost: \S+secrets.json"):
        seeded()
