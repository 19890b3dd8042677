"""What SQLite compares and PostgreSQL refuses, looked for in the statements that run on SQLite.

PostgreSQL compares no text with a number. Whatever else a statement can be given is taken or fails
on both: NUL in a text is removed before it is sent (`store/database/postgresql.py`), and no driver
takes an integer of more than 64 bits or half of a surrogate pair.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Engine
from sqlalchemy.sql.compiler import SQLCompiler

NUMBERS = (int, float)


@contextmanager
def watched() -> Iterator[list[str]]:
    """The values of statements from now on that PostgreSQL would refuse, with their names."""
    found: list[str] = []

    def look(
        _connection: Any, _cursor: Any, text: str, sent: Any, context: Any, many: bool
    ) -> None:
        compiled = getattr(context, "compiled", None)
        for values in sent if many else [sent]:
            # a statement without a compiled form is text of our own: its values have no type
            named = values.items() if isinstance(values, dict) else enumerate(values)
            found.extend(
                f"{name} = {value!r:.80} in {text[:80]}"
                for name, value in named
                if is_refused(value, _type_of(compiled, name))
            )

    event.listen(Engine, "before_cursor_execute", look)
    try:
        yield found
    finally:
        event.remove(Engine, "before_cursor_execute", look)


def is_refused(value: Any, kind: type | None) -> bool:
    """Whether PostgreSQL refuses a value for something of this type."""
    return isinstance(value, str) and kind in NUMBERS


def _type_of(compiled: Any, name: str | int) -> type | None:
    """The Python type of a parameter by its name or its number; None when it is not known."""
    if not isinstance(compiled, SQLCompiler):
        return None
    names = compiled.positiontup
    if isinstance(name, int):
        name = names[name] if names and name < len(names) else ""
    bound = compiled.binds.get(name)
    try:
        return bound.type.python_type if bound is not None else None
    except NotImplementedError:
        return None
