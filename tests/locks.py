"""Which rows a function locks before it changes them.

On SQLite, which has one writer, FOR UPDATE is not in the SQL text; SQLAlchemy's statements have it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event
from sqlalchemy.orm import ORMExecuteState, Session


@contextmanager
def locked(s: Session | type[Session] = Session) -> Iterator[set[str]]:
    """Yields the tables whose rows are read FOR UPDATE meanwhile, by this session or by any."""
    found: set[str] = set()

    def note(state: ORMExecuteState) -> None:
        statement: Any = state.statement
        if state.is_select and getattr(statement, "_for_update_arg", None) is not None:
            read = (each.get("entity") for each in statement.column_descriptions)
            found.update(entity.__tablename__ for entity in read if entity is not None)

    event.listen(s, "do_orm_execute", note)
    try:
        yield found
    finally:
        event.remove(s, "do_orm_execute", note)
