"""Lines of the log: one a record, whole, and without values where an exception carries them."""

import io
import json
import logging
import re
import subprocess
import sys
from pathlib import Path

from ridedash.observing import logs
from ridedash.observing.logs import LineFormatter
from ridedash.observing.scrubbing import Scrubber

SECRET = "the-partner-key-of-this-test"


def told(as_json: bool, *message: object, error: BaseException | None = None, **facts: object) -> str:
    """One record as our handler writes it."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(LineFormatter(Scrubber([SECRET]), "web", as_json))
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
        line = told(True, "took %d ms\nand more", 12, ms=12.34567, staff=4, otp="4821")
    finally:
        logs.request_id.reset(token)
    assert line.count("\n") == 1
    got = json.loads(line)
    assert list(got)[:6] == ["time", "level", "logger", "message", "request", "process"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", got["time"])
    assert (got["level"], got["logger"], got["message"]) == ("WARNING", "a.logger", "took 12 ms\nand more")
    assert (got["request"], got["staff"], got["ms"], got["otp"]) == ("ABCD1234", 4, 12.35, "[removed]")
    assert re.fullmatch(r"web:\d+", got["process"])


def test_an_exception_is_told_by_type_and_our_lines_without_its_values() -> None:
    for as_json in (True, False):
        line = told(as_json, "it failed", error=raised())
        assert "KeyError" in line
        assert "ValueError" in line
        assert "test_logs.py:" in line
        for value in ("Heron", "9876543210", SECRET, "/tests/observing"):
            assert value not in line


def test_the_words_of_a_librarys_exception_are_left_out() -> None:
    try:
        json.loads("{secret words}")
    except json.JSONDecodeError as error:
        got = json.loads(told(True, "it failed", error=error))
    assert [(each["type"], each["says"]) for each in got["failures"]] == [("json.decoder.JSONDecodeError", "")]


def test_a_text_line_can_not_be_forged_by_what_it_quotes() -> None:
    line = told(False, "name %s", "x\n2026-01-01 INFO forged: line\x1b[31m")
    assert line.count("\n") == 1
    assert "\x1b" not in line


def test_a_message_that_does_not_fit_its_values_is_still_told() -> None:
    assert "TypeError in its values" in told(True, "%d rides", "many")


def test_a_process_sets_up_its_logs_once_however_often_it_is_asked(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(
        "import logging, threading, warnings\n"
        "from ridedash.observing import logs\n"
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
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False, timeout=60)
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert done.returncode == 1
    assert [line["logger"] for line in lines] == ["x", "ridedash", "py.warnings", "ridedash"]
    assert SECRET not in done.stderr
