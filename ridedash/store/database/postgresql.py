"""Connections to PostgreSQL: their timeouts, on the server and here, and text without NUL.

`statement_timeout` ends a statement that takes long, but the server must be awake to do so. A
frozen server (its disk hangs, its machine is paused) keeps its connections open and does not
answer: TCP's own limits don't apply, because its operating system still acknowledges packets.
Without a limit on this side every thread of every process would wait until the server comes back.
"""

from typing import Any, Final

import psycopg
from psycopg.abc import RV, PQGen
from sqlalchemy import URL, Engine, create_engine, event
from sqlalchemy.engine import Connection
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

# a process that stops in the middle of a transaction holds its locks no longer than this
IDLE_MS: Final = 60_000
# no statement of the program takes seconds; one that did would hold a thread and its locks
STATEMENT_MS: Final = 15_000
# how much longer an answer is waited for, so that the server normally ends the statement itself
ANSWER_S: Final = 5.0
# A server that vanishes is given up after seconds, not after the system's timeout of minutes.
PATIENCE: Final = {
    "connect_timeout": "5",
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",
}
SETTINGS: Final = """SELECT set_config('lock_timeout', %s, false),
    set_config(
        'statement_timeout',
        coalesce(nullif(current_setting('statement_timeout'), '0'), %s),
        false
    ),
    set_config('idle_in_transaction_session_timeout', %s, false),
    set_config(
        'synchronous_commit', replace(current_setting('synchronous_commit'), 'off', 'on'), false
    )"""
# statement_timeout in milliseconds; a query of pg_settings would compute all settings
LIMIT: Final = """SELECT CAST(
    1000 * extract(epoch FROM CAST(current_setting('statement_timeout') AS interval)) AS integer
)"""


class BoundedConnection(psycopg.Connection[Any]):
    """A psycopg connection that is closed when an answer takes longer than `answer_s` seconds.

    This applies to statements, commits and the pool's check of the connection. None: no limit, for
    migrations.
    """

    answer_s: float | None = STATEMENT_MS / 1000 + ANSWER_S

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        """Like psycopg's `wait`.

        Raises OperationalError after `answer_s` and closes the connection.
        """
        if timeout is not None or self.answer_s is None:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, self.answer_s)
        except psycopg.errors._WaitTimeout:
            self.close()
            raise psycopg.OperationalError(
                f"the database gave no answer for {self.answer_s:g} s"
            ) from None


def postgresql_engine(url: URL, pool: dict[str, Any], busy_s: float) -> Engine:
    """An engine for PostgreSQL; `pool` has the options of its pool."""
    patience = {name: value for name, value in PATIENCE.items() if name not in url.query}
    options = {
        **pool,
        "pool_pre_ping": True,  # reconnects after a restart of the server
        "use_native_hstore": False,  # no column has this type: don't look it up at the start
    }
    engine = create_engine(url, **options, connect_args=patience)

    def connected(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
        # a cursor of psycopg closes itself
        with connection.cursor() as cursor:  # type: ignore[attr-defined]
            limits = round(busy_s * 1000), STATEMENT_MS, IDLE_MS
            cursor.execute(SETTINGS, tuple(map(str, limits)))
            limit_ms = cursor.execute(LIMIT).fetchone()[0]
        connection.commit()
        if limit_ms > STATEMENT_MS:  # a lower limit that the operator has set stays
            connection.answer_s = limit_ms / 1000 + ANSWER_S

    event.listen(engine, "do_connect", _bounded)
    event.listen(engine, "connect", connected)
    event.listen(engine, "before_cursor_execute", _without_nul, retval=True)
    return engine


def _bounded(
    _dialect: object, _entry: object, args: list[Any], named: dict[str, Any]
) -> DBAPIConnection:
    made: Any = BoundedConnection.connect(*args, **named)
    return made  # type: ignore[no-any-return]


def lift_limits(connection: Connection) -> None:
    """Remove the time limit of a connection's statements.

    The pool does not use the connection again.
    """
    connection.detach()
    connection.exec_driver_sql("SET statement_timeout = 0")
    connection.connection.dbapi_connection.answer_s = None  # type: ignore[union-attr]


def _without_nul(
    _connection: Connection,
    _cursor: object,
    statement: str,
    parameters: Any,
    _context: object,
    _many: bool,
) -> tuple[str, Any]:
    """Remove NUL characters from parameters, because PostgreSQL can't store them in text."""
    # `_many` is not needed: only parameters for several executions come as a list
    if isinstance(parameters, list):
        return statement, [_cleaned(each) for each in parameters]
    return statement, _cleaned(parameters)


def _cleaned(parameters: Any) -> Any:
    if isinstance(parameters, dict):
        if not any(isinstance(value, str) and "\0" in value for value in parameters.values()):
            return parameters
        return {name: _text(value) for name, value in parameters.items()}
    return type(parameters)(_text(value) for value in parameters) if parameters else parameters


def _text(value: Any) -> Any:
    return value.replace("\0", "") if isinstance(value, str) else value
