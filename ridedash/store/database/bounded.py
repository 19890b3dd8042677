"""A connection to PostgreSQL that waits for each answer for a limited time.

`statement_timeout` ends a statement that takes long, but the server must be awake to do so. A
server that is frozen (its disk hangs, its machine is paused) keeps its connections open and says
nothing: TCP's own limits don't apply, because the system under it still acknowledges. Without a
limit on this side every thread of every process would wait until it comes back.
"""

from typing import Any

import psycopg
from psycopg.abc import RV, PQGen


class BoundedConnection(psycopg.Connection[Any]):
    """A psycopg connection that is closed when an answer takes longer than `answer_s` seconds.

    That holds for statements, commits and the pool's question whether it still works. None: without
    a limit, for migrations.
    """

    answer_s: float | None = 20.0  # longer than statement_timeout, which ends a statement cleanly

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        """As psycopg's. Raises OperationalError, with the connection closed, after `answer_s`."""
        if timeout is not None or self.answer_s is None:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, self.answer_s)
        except psycopg.errors._WaitTimeout:
            self.close()
            raise psycopg.OperationalError(
                f"the database gave no answer for {self.answer_s:g} s"
            ) from None


def connect(*args: Any, **named: Any) -> BoundedConnection:
    """A connection as psycopg.connect() makes it, with the limit."""
    return BoundedConnection.connect(*args, **named)
