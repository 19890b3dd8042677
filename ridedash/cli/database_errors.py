"""The message of a command whose database can't be used: the reason, and what to do about it."""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Final

from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from ridedash.cli.errors import CommandError
from ridedash.store.database.database import DatabaseBusy, WrongTables
from ridedash.text import one_line

LONGEST: Final = 300  # characters of the database library's message that are shown
ANYTHING: Final = "Look at RIDEDASH_DATABASE_URL."
WRITABLE: Final = (
    "The user who runs ridedash must be able to write the file and its folder: look at "
    "RIDEDASH_DATABASE_URL and RIDEDASH_INSTANCE."
)
BROKEN: Final = (
    "Bring back its last backup (docs/operating.md, Restore), or look at RIDEDASH_DATABASE_URL."
)
# advice by SQLite's primary result code
ADVICE: Final[Mapping[int, str]] = {
    3: WRITABLE,  # PERM
    5: "Another process is writing to it: try again when that one is done.",  # BUSY
    8: WRITABLE,  # READONLY
    11: BROKEN,  # CORRUPT
    13: "The disk is full: make room, then try again.",  # FULL
    14: WRITABLE,  # CANTOPEN
    26: BROKEN,  # NOTADB
}


@contextlib.contextmanager
def database_errors() -> Iterator[None]:
    """Turn database errors, except IntegrityError, into a CommandError with cause and advice."""
    try:
        yield
    except WrongTables as error:
        raise CommandError(f"{error}.") from None
    except IntegrityError:  # a bug in this program, not a problem of the database
        raise
    except (SQLAlchemyError, DatabaseBusy) as error:
        cause = error.__cause__ if isinstance(error, DatabaseBusy) else error
        why = one_line(str(getattr(cause, "orig", None) or type(cause).__name__), LONGEST)
        raise CommandError(f"the database can't be used ({why}). {advice_on(cause)}") from None


def advice_on(error: BaseException | None, otherwise: str = ANYTHING) -> str:
    """What to do about a database error; `otherwise` for an error of an unknown kind."""
    code = getattr(getattr(error, "orig", None), "sqlite_errorcode", 0)
    return ADVICE.get(code & 0xFF, otherwise)
