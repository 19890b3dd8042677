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

    def look(*about: Any) -> None:
        text, context = about[2], about[4]
        compiled = getattr(context, "compiled", None)
        if not isinstance(compiled, SQLCompiler):
            return  # text of our own, whose values have no type
        for values in context.compiled_parameters:
            found.extend(
                f"{name} = {value!r:.80} in {text[:80]}"
                for name, value in values.items()
                if is_refused(value, _type_of(compiled, name))
            )

    event.listen(Engine, "before_cursor_execute", look)
    try:
        yield found
    finally:
        event.remove(Engine, "before_cursor_execute", look)


def is_refused(value: Any, kind: type | None) -> bool:
    """Whether PostgreSQL refuses a value for something of this type."""
    return kind in NUMBERS and isinstance(value, str)


def _type_of(compiled: SQLCompiler, name: str) -> type | None:
    """The Python type of a parameter; None when it is not known."""
    of_list = name.rpartition("_")[0]  # `ids_1` is the first value of the parameter `ids`
    bound = compiled.binds.get(name, compiled.binds.get(of_list))
    try:
        return bound.type.python_type if bound is not None else None
    except NotImplementedError:
        return None
