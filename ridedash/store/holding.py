"""The session of a write: what it reads of an order is held by it until its end, where writers run side by side."""

from typing import Any, Final

from sqlalchemy import Select, event
from sqlalchemy.orm import ORMExecuteState, Session

HELD: Final = "orders"


class HoldingSession(Session):
    """Locks each order that it reads as a row, so that nobody else moves it meanwhile.

    SQLite's writers take turns anyway, and leave the lock out of the statement. Whoever changes a ride, an action or
    the timeline of an order reads the order first: one lock for all that belongs to it, taken in one order.
    """


@event.listens_for(HoldingSession, "do_orm_execute")
def _hold(state: ORMExecuteState) -> None:
    statement: Any = state.statement
    if not isinstance(statement, Select) or statement._for_update_arg is not None:
        return
    for column in statement.column_descriptions:
        row = column["entity"]
        if row is not None and row is column["expr"] and row.__tablename__ == HELD:
            state.statement = statement.with_for_update(of=row, key_share=True)
