"""Logs of all processes: redacted records, as JSON or text."""

import json
import logging
import os
import sys
import threading
from collections.abc import Iterable
from contextvars import ContextVar
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Final

from ridedash.observability.exceptions import Failure, failures
from ridedash.observability.redaction import REMOVED, Redactor

# the least level of each library's log lines: below it, libraries log addresses, and SQL statements
# with values
QUIET: Final = {
    "httpx": logging.WARNING,
    "httpcore": logging.WARNING,
    "sqlalchemy": logging.WARNING,
    "alembic": logging.WARNING,
    "psycopg": logging.WARNING,
    "werkzeug": logging.WARNING,
    "waitress.queue": logging.ERROR,  # it warns whenever a request has to wait, which is normal
}
LIMITER: Final = "flask-limiter"
IN_OUR_WORDS: Final = {  # Flask-Limiter's own messages name neither Redis nor our setting
    "Rate limit storage unreachable - falling back to in-memory storage": (
        "the Redis of RIDEDASH_REDIS_URL can't be reached: until it is, each process counts its "
        "limits for itself"
    ),
    "Rate limit storage recovered": "the Redis of RIDEDASH_REDIS_URL is back: limits are counted "
    "together again",
}
SECRET_FACTS: Final = frozenset({"token", "password", "otp", "secret", "cookie", "authorization"})
_PLAIN: Final = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}

# the id of the request that this thread answers
request_id: ContextVar[str] = ContextVar("request_id", default="")
# what the worker does in this thread: a word, and the id of the row ("send", 12)
worker_step: ContextVar[tuple[str, int]] = ContextVar("worker_step", default=("", 0))


class LineFormatter(logging.Formatter):
    """Formats a record without secrets: as one line of JSON, or as text with a line per frame.

    `process` is web, server (server_logs.py) or the name of a command.
    """

    def __init__(self, redact: Redactor, process: str, as_json: bool) -> None:
        super().__init__()
        self._redact = redact
        self._process = process
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        facts = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": self._redact(_message(record)),
            "request": request_id.get(),
            "process": f"{self._process}:{os.getpid()}",
        }
        extra = {
            name: self._fact(name, value)
            for name, value in vars(record).items()
            if name not in _PLAIN
        }
        failed = self._failures(record)
        if self._as_json:
            shown = extra | facts
            if failed:
                shown["failures"] = [each._asdict() for each in failed]
            return json.dumps({name: shown.pop(name) for name in facts} | shown)
        return _line(facts, extra, failed)

    def _fact(self, name: str, value: object) -> object:
        if name.lower() in SECRET_FACTS:
            return REMOVED
        if isinstance(value, float):
            return round(value, 2)  # it may be a coordinate: 0.01 degrees are about a kilometre
        if value is None or isinstance(value, bool | int):
            return value
        return self._redact(str(value))

    def _failures(self, record: logging.LogRecord) -> list[Failure]:
        error = record.exc_info[1] if record.exc_info else None
        found = failures(error) if error is not None else []
        return [each._replace(says=self._redact(each.says)) for each in found]


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception as error:  # a message that doesn't match its values must not fail the request
        return f"{record.msg!s} ({type(error).__name__} in its values)"


def _line(facts: dict[str, Any], extra: dict[str, object], failed: list[Failure]) -> str:
    words = f"{facts['time']} {facts['level']} {facts['logger']}: {facts['message']}"
    shown = {"request": facts["request"], **extra} if facts["request"] else extra
    lines = [" ".join([words, *(f"{name}={value}" for name, value in shown.items())])]
    for each in failed:
        lines += [f"Traceback: {each.type} {each.says}".rstrip(), *each.frames]
    return "\n    ".join("".join(c if c.isprintable() else "�" for c in line) for line in lines)


def set_up(log_format: str, level: str, process: str, secrets: Iterable[str] = ()) -> None:
    """Replace the handlers of the root logger by one on standard error.

    A process calls this when it has read its settings; importing this module changes nothing.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LineFormatter(Redactor(secrets), process, log_format == "json"))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for name, least in QUIET.items():
        logging.getLogger(name).setLevel(max(least, root.level))
    logging.getLogger(LIMITER).addFilter(_reworded)  # adding the same filter again has no effect
    logging.captureWarnings(log_format == "json")
    sys.excepthook = _uncaught
    threading.excepthook = _uncaught_in_thread


def _reworded(record: logging.LogRecord) -> bool:
    record.msg = IN_OUR_WORDS.get(str(record.msg), record.msg)
    return True


def _uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Log an uncaught exception, redacted; Python would print its text."""
    if issubclass(kind, KeyboardInterrupt):
        return
    logging.getLogger("ridedash").critical(
        "the process ends by %s", kind.__name__, exc_info=(kind, error, trace)
    )


def _uncaught_in_thread(args: threading.ExceptHookArgs) -> None:
    if issubclass(args.exc_type, SystemExit) or args.exc_value is None:
        return
    facts = (args.exc_type, args.exc_value, args.exc_traceback)
    name = args.thread.name if args.thread else "?"
    logging.getLogger("ridedash").error(
        "thread %s ended by %s", name, args.exc_type.__name__, exc_info=facts
    )
