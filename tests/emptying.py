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
           (SELECT count(*) FROM pg_trigger), (SELECT count(*) FROM pg_constraint)
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


# to each database that was emptied: a new one would fill its caches and plan each question anew
_lines: "dict[str, psycopg.Connection[Any]]" = {}


def shape(server: PostgresServer, name: str) -> Any:
    """Tables, triggers, constraints and revision of a database: a test may have changed them."""
    with server.connect(name) as line:
        return line.execute(SHAPE).fetchone()


def emptied(server: PostgresServer, name: str, expected: Any) -> bool:
    """Delete all rows; False when it hasn't the `expected` shape, or has too many rows."""
    line = _without_others(server, name)
    if line.execute(SHAPE).fetchone() != expected:
        return False
    for filled in _filled_tables(line):
        table = sql.Identifier(filled)
        gone = line.execute(sql.SQL("DELETE FROM {}").format(table)).rowcount
        if gone > HEAVY:
            return False
        # without it, new rows would fill free space and lie before older ones
        line.execute(sql.SQL("VACUUM {}").format(table))
    line.execute(BEGIN_ANEW)
    return True


def leave(name: str) -> None:
    """Close the connection to a database that is dropped."""
    if name in _lines:
        _lines.pop(name).close()


def _without_others(server: PostgresServer, name: str) -> "psycopg.Connection[Any]":
    """The only connection to a database."""
    if name in _lines:
        try:
            _lines[name].execute(OTHERS)
        except psycopg.OperationalError:  # a test ended each connection
            leave(name)
        else:
            return _lines[name]
    line = _lines[name] = server.connect(name)
    line.execute("SET session_replication_role = replica")  # foreign keys are not checked
    line.execute(OTHERS)
    return line


def _filled_tables(line: psycopg.Connection[Any]) -> list[str]:
    """The names of the tables with rows: most are empty, and a query costs less than a DELETE."""
    question = line.execute(FILLED).fetchone()
    assert question is not None
    return [str(name) for (name,) in line.execute(question[0])]
