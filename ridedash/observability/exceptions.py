"""What is logged of an exception: its type, its frames in our code, its text without values."""

import os
import re
import traceback
from pathlib import Path
from typing import Final, NamedTuple

OURS: Final = str(Path(__file__).parents[1]) + os.sep
MOST_CHARACTERS: Final = 200  # characters of an exception's text
FRAMES: Final = 12  # frames of one exception, at most
# error types, by library, whose text describes servers, files and locks but never contains a row
HARMLESS: Final = {
    "psycopg": frozenset({"OperationalError"}),
    "sqlite3": frozenset({"OperationalError"}),
    "sqlalchemy": frozenset({"TimeoutError"}),  # raised by its connection pool
}
# the text before the @ of a URL: it may end with a password
_BEFORE_AT: Final = re.compile(r"[^\s\"']+@(?=[^\s@])")
_QUOTED: Final = re.compile(r"'(?![A-Za-z_.]{1,40}')[^']*'|\"(?![A-Za-z_.]{1,40}\")[^\"]*\"")


class Failure(NamedTuple):
    """One exception.

    `says` is its text, which is empty for exceptions of libraries, because theirs may contain rows,
    addresses and bodies; only those in HARMLESS keep it.
    """

    type: str
    says: str
    frames: tuple[str, ...]  # "ridedash/views/rides.py:12 show", the innermost frame last


def failures(error: BaseException) -> list[Failure]:
    """The exception and its causes, at most four, in the order in which Python prints them."""
    chain: list[Failure] = []
    current: BaseException | None = error
    while current is not None and len(chain) < 4:
        chain.insert(0, Failure(_name(current), _words(current), _frames(current)))
        current = current.__cause__ or (
            None if current.__suppress_context__ else current.__context__
        )
    return chain


def reason(error: BaseException) -> str:
    """The type of an error with the message of the system or the database driver, in one line.

    It contains no SQL statement and no values: of an SQLAlchemy error only the driver's error is
    used, or the text of a TimeoutError of its pool.
    """
    current: BaseException | None = error
    for _ in range(4):
        if current is None:
            break
        words = current.strerror or "" if isinstance(current, OSError) else _harmless_text(current)
        if words:
            return f"{type(error).__name__} ({words})"
        current = getattr(current, "orig", None) or current.__cause__
    return type(error).__name__


def _harmless_text(error: BaseException) -> str:
    """The first line of an error in HARMLESS; empty for all others."""
    kinds = ((base.__module__.split(".")[0], base.__name__) for base in type(error).__mro__)
    if not any(name in HARMLESS.get(library, ()) for library, name in kinds):
        return ""
    if hasattr(error, "orig"):  # an SQLAlchemy error, whose text contains the statement
        return ""
    first = next(iter(str(error).splitlines()), "")
    return _BEFORE_AT.sub("…@", first)[:MOST_CHARACTERS]


def _name(error: BaseException) -> str:
    kind = type(error)
    if kind.__module__ == "builtins":
        return kind.__name__
    return f"{kind.__module__}.{kind.__name__}"


def _words(error: BaseException) -> str:
    if type(error).__module__.split(".")[0] not in ("builtins", "ridedash"):
        return _harmless_text(error)
    first = next(iter(str(error).splitlines()), "")
    return _QUOTED.sub("'…'", first)[:MOST_CHARACTERS]


def _frames(error: BaseException) -> tuple[str, ...]:
    """The frames in our own code and the last frame in any code, without source text and values."""
    every = [(frame.f_code, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    shown = [
        (code, line)
        for i, (code, line) in enumerate(every)
        if code.co_filename.startswith(OURS) or i == len(every) - 1
    ]
    return tuple(
        f"{_short(code.co_filename)}:{line} {code.co_name}" for code, line in shown[-FRAMES:]
    )


def _short(path: str) -> str:
    """The path relative to our package or to the folder of the library."""
    if path.startswith(OURS):
        return "ridedash/" + path.removeprefix(OURS)
    if "/site-packages/" in path:
        return path.rpartition("/site-packages/")[2]
    return path.rpartition("/")[2]
