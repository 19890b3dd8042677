"""Empties a migrated PostgreSQL database for the next test: far cheaper than a new copy."""

from typing import Any, Final

import psycopg
from psycopg import sql

from tests.backing import PostgresServer

HEAVY: Final = 1_000  # rows; the dead tuples of more would slow the searches of the next test
SHAPE: Final = """
    SELECT md5(string_agg(
               concat_ws(' ', c.relname, a.attname, a.atttypid, a.attnotnull), ','
               ORDER BY c.oid, attnum
           )),
           (SELECT string_agg(version_num, ',' ORDER BY version_num) FROM alembic_version),
           (SELECT count(*) FROM pg_trigger), (SELECT count(*) FROM pg_constraint),
           (SELECT md5(string_agg(pg_get_expr(adbin, adrelid), ',' ORDER BY adrelid, adnum))
               FROM pg_attrdef)
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    WHERE c.relnamespace = 'public'::regnamespace
"""
FILLED: Final = """
    SELECT string_agg(
        format('SELECT %L WHERE EXISTS (SELECT FROM %I)', tablename, tablename), ' UNION ALL '
    )
    FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'alembic_version'
"""
BEGIN_ANEW: Final = (
    "SELECT setval(format('%I', sequencename)::regclass, 1, false) FROM pg_sequences"
)
OTHERS: Final = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


# one to each database that was emptied: a new connection would plan each query anew
_connections: "dict[str, psycopg.Connection[Any]]" = {}


def shape(server: PostgresServer, name: str) -> Any:
    """Tables, triggers, defaults and revision of a database: a test may have changed them."""
    with server.connect(name) as connection:
        return connection.execute(SHAPE).fetchone()


def emptied(server: PostgresServer, name: str, expected: Any) -> bool:
    """Delete all rows; False when it hasn't the `expected` shape, or has too many rows."""
    connection = _without_others(server, name)
    if connection.execute(SHAPE).fetchone() != expected:
        return False
    for filled in _filled_tables(connection):
        table = sql.Identifier(filled)
        gone = connection.execute(sql.SQL("DELETE FROM {}").format(table)).rowcount
        if gone > HEAVY:
            return False
        # without VACUUM, new rows would fill free space and lie before older ones
        connection.execute(sql.SQL("VACUUM {}").format(table))
    connection.execute(BEGIN_ANEW)
    return True


def leave(name: str) -> None:
    """Close the connection to a database that is dropped."""
    if name in _connections:
        _connections.pop(name).close()


def _without_others(server: PostgresServer, name: str) -> "psycopg.Connection[Any]":
    """A connection to a database, after all others were ended."""
    if name in _connections:
        try:
            _connections[name].execute(OTHERS)
        except psycopg.OperationalError:  # a test has ended this one
            leave(name)
        else:
            return _connections[name]
    connection = _connections[name] = server.connect(name)
    connection.execute("SET session_replication_role = replica")  # foreign keys are not checked
    connection.execute(OTHERS)
    return connection


def _filled_tables(connection: psycopg.Connection[Any]) -> list[str]:
    """The names of the tables with rows: most are empty, and a query costs less than a DELETE."""
    question = connection.execute(FILLED).fetchone()
    assert question is not None
    return [str(name) for (name,) in connection.execute(question[0])]
