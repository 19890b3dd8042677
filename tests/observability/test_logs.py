"""Log lines: one for each record, complete, and without the values that an exception carries."""

import io
import json
import logging
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import flask_limiter
import psycopg
import pytest
from sqlalchemy.exc import OperationalError

from ridedash.observability import logs
from ridedash.observability.exceptions import reason
from ridedash.observability.logs import LineFormatter
from ridedash.observability.redaction import Redactor
from ridedash.store.database.database import DatabaseBusy

SECRET = "the-partner-key-of-this-test"


def logged(
    as_json: bool, *message: object, error: BaseException | None = None, **facts: object
) -> str:
    """One record as our handler writes it."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(LineFormatter(Redactor([SECRET]), "web", as_json))
    exc_info = (type(error), error, error.__traceback__) if error else None
    record = logging.getLogger("a.logger").makeRecord(
        "a.logger", logging.WARNING, "f.py", 1, str(message[0]), message[1:], exc_info, extra=facts
    )
    handler.handle(record)
    return stream.getvalue()


def raised() -> BaseException:
    try:
        try:
            {}["Guest Heron +919876543210"]
        except KeyError as first:
            raise ValueError(f"no use for 'Room 12 Heron' with {SECRET}") from first
    except ValueError as error:
        return error


def test_a_record_is_one_line_of_json_with_time_request_process_and_facts() -> None:
    token = logs.request_id.set("ABCD1234")
    try:
        line = logged(True, "took %d ms\nand more", 12, ms=12.34567, staff=4, otp="4821")
    finally:
        logs.request_id.reset(token)
    assert line.count("\n") == 1
    got = json.loads(line)
    assert list(got)[:6] == ["time", "level", "logger", "message", "request", "process"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", got["time"])
    assert (got["level"], got["logger"], got["message"]) == (
        "WARNING",
        "a.logger",
        "took 12 ms\nand more",
    )
    assert (got["request"], got["staff"], got["ms"], got["otp"]) == (
        "ABCD1234",
        4,
        12.35,
        "[removed]",
    )
    assert re.fullmatch(r"web:\d+", got["process"])


def test_an_exception_is_logged_by_type_and_our_frames_without_its_values() -> None:
    for as_json in (True, False):
        line = logged(as_json, "it failed", error=raised())
        assert "KeyError" in line
        assert "ValueError" in line
        assert "test_logs.py:" in line
        for value in ("Heron", "9876543210", SECRET, "/tests/observability"):
            assert value not in line


def test_the_message_of_a_librarys_exception_is_left_out() -> None:
    try:
        json.loads("{secret words}")
    except json.JSONDecodeError as error:
        got = json.loads(logged(True, "it failed", error=error))
    assert [(each["type"], each["says"]) for each in got["failures"]] == [
        ("json.decoder.JSONDecodeError", "")
    ]


def database_error(driver: Exception) -> BaseException:
    """A failed write's chain of exceptions: ours, SQLAlchemy's with its values, the driver's."""
    try:
        try:
            raise OperationalError(
                "SELECT name FROM guests WHERE phone = %s", {"phone": "+919876543210"}, driver
            ) from driver
        except OperationalError as error:
            raise DatabaseBusy("the database takes no write") from error
    except DatabaseBusy as busy:
        return busy


def refused_by_postgres(password: str, host: str = "127.0.0.1") -> psycopg.OperationalError:
    with pytest.raises(psycopg.OperationalError) as caught:
        psycopg.connect(host=host, port=1, user="ridedash", password=password, dbname="x")
    return caught.value


def test_an_unreachable_database_is_logged_with_the_drivers_cause_and_no_statement() -> None:
    error = database_error(refused_by_postgres(SECRET))
    text = reason(error)
    assert text.startswith(
        'DatabaseBusy (connection failed: connection to server at "127.0.0.1", port 1 failed: '
    )
    assert "refused" in text
    assert "\n" not in text
    assert len(text) < 240
    for words in (text, logged(True, "it failed", error=error)):
        for value in ("SELECT", "guests", "9876543210", SECRET):
            assert value not in words
    causes = {
        each["type"]: each["says"]
        for each in json.loads(logged(True, "it failed", error=error))["failures"]
    }
    assert "refused" in causes["psycopg.OperationalError"]
    assert causes["sqlalchemy.exc.OperationalError"] == ""


def test_the_end_of_a_password_that_was_parsed_as_a_host_is_not_logged() -> None:
    text = reason(refused_by_postgres("pa", host=f"{SECRET}-end@nowhere.invalid"))
    assert "…@nowhere.invalid" in text
    assert "-end" not in text


def test_a_drivers_message_is_logged_only_if_it_names_no_row() -> None:
    assert (
        reason(database_error(sqlite3.OperationalError("database is locked")))
        == "DatabaseBusy (database is locked)"
    )
    assert reason(sqlite3.IntegrityError("the row of Guest Heron")) == "IntegrityError"
    assert reason(psycopg.DataError('invalid input: "Guest Heron"')) == "DataError"
    assert (
        reason(psycopg.errors.LockNotAvailable("lock timeout\nCONTEXT: rows"))
        == "LockNotAvailable (lock timeout)"
    )
    assert (
        reason(OSError(28, "No space left on device", "/srv/a/path"))
        == "OSError (No space left on device)"
    )
    assert reason(ValueError("Guest Heron")) == "ValueError"


def test_the_limiters_warning_names_redis_and_its_setting() -> None:
    script = (
        "import logging\n"
        "from ridedash.observability import logs\n"
        "for _ in range(2): logs.set_up('text', 'info', 'web')\n"
        "from flask_limiter import Limiter\n"
        "logger = Limiter(str).logger\n"
        "logger.warning('Rate limit storage unreachable - falling back to in-memory storage')\n"
        "logger.info('Rate limit storage recovered')\n"
        "logger.info('something else')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    first, second, third = done.stderr.splitlines()
    assert "the Redis of RIDEDASH_REDIS_URL can't be reached" in first
    assert "the Redis of RIDEDASH_REDIS_URL is back" in second
    assert "something else" in third
    source = Path(flask_limiter.__file__).with_name("_extension.py").read_text()
    assert all(f'"{words}"' in source for words in logs.IN_OUR_WORDS), (
        "as this version of it says it"
    )


def test_a_text_line_can_not_be_forged_by_a_quoted_value() -> None:
    line = logged(False, "name %s", "x\n2026-01-01 INFO forged: line\x1b[31m")
    assert line.count("\n") == 1
    assert "\x1b" not in line


def test_a_message_that_does_not_match_its_values_is_still_logged() -> None:
    assert "TypeError in its values" in logged(True, "%d rides", "many")


def test_setting_up_logs_again_adds_no_second_handler(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(
        "import logging, threading, warnings\n"
        "from ridedash.observability import logs\n"
        "logging.basicConfig()\n"
        f"for _ in range(3): logs.set_up('json', 'debug', 'web', ['{SECRET}'])\n"
        f"logging.getLogger('x').info('once with {SECRET}')\n"
        "for name in ('httpx', 'httpcore.connection', 'sqlalchemy.engine.Engine'):\n"
        "    logging.getLogger(name).info('an address')\n"
        f"def fall(): raise RuntimeError('{SECRET}')\n"
        "t = threading.Thread(target=fall); t.start(); t.join()\n"
        f"warnings.warn('mind {SECRET}', UserWarning)\n"
        "fall()\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False, timeout=60
    )
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert done.returncode == 1
    assert [line["logger"] for line in lines] == ["x", "ridedash", "py.warnings", "ridedash"]
    assert SECRET not in done.stderr
