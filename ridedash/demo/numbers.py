"""Numbers of orders after a Reset: the audit log keeps those of before, so none is given again.

SQLite numbers the rows of a table anew once it is empty; PostgreSQL never does.
"""

from typing import Any, Final

from sqlalchemy import Connection, Integer, cast, event, func, select
from sqlalchemy.orm import Mapper, object_session

from ridedash.store.audit import AuditRow
from ridedash.store.models.orders import Order

SUBJECT: Final = "orders:"  # of audit entries, before the number
AFTER: Final = "orders;"  # the first text behind all of them: so the index is used
GIVEN: Final = "number of the last order"  # in this session

_LAST: Final = select(
    func.max(cast(func.substr(AuditRow.subject, len(SUBJECT) + 1), Integer))
).where(AuditRow.subject > SUBJECT, AuditRow.subject < AFTER)


def init() -> None:
    """Number orders so from now on."""
    if not event.contains(Order, "before_insert", _number):
        event.listen(Order, "before_insert", _number)


def _number(_mapper: Mapper[Order], connection: Connection, order: Order) -> None:
    """Give the first order of an empty table the number after the last one that the log names.

    All orders of a group of cars come here before the first of them is stored.
    """
    session = object_session(order)
    info: dict[Any, Any] = {} if session is None else session.info
    if connection.dialect.name != "sqlite" or order.id is not None:
        return
    last = info.get(GIVEN)
    if last is None:
        if connection.execute(select(Order.id).limit(1)).first() is not None:
            return
        last = connection.scalar(_LAST) or 0
    order.id = info[GIVEN] = last + 1
