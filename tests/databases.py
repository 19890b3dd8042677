"""Databases for tests: of SQLite, or of PostgreSQL when RIDEDASH_TEST_DATABASE names it.

Each test that needs a database gets its address here and carries the marker `database`, so that the
suite can be run once per kind of database: `RIDEDASH_TEST_DATABASE=postgresql pytest -m database`.
"""

import atexit
import contextlib
import functools
import itertools
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any, Final, NoReturn

import pytest
from psycopg import sql

from ridedash.store.database.database import Database
from tests.backing import Missing, PostgresServer, RedisServer, postgres_server, redis_server
from tests.emptying import emptied, leave, shape

SQLITE: Final = "sqlite"
POSTGRESQL: Final = "postgresql"
TEMPLATE: Final = "migrated"

allowed = True  # set for each test: whether it carries the marker `database`
_end_of_session = contextlib.ExitStack()
_numbers = itertools.count(1)
_made: dict[str, Path] = {}  # PostgreSQL database -> the folder it was made for
_migrated: set[str] = set()  # those that began as copies of the template
_spare: list[str] = []  # copies whose tests have ended, empty again
_of_instances: dict[Path, str] = {}
atexit.register(_end_of_session.close)


def kind() -> str:
    """The kind of database of this run."""
    return os.environ.get("RIDEDASH_TEST_DATABASE") or SQLITE


def required() -> bool:
    """Whether a missing server is a failure, as in CI."""
    return os.environ.get("RIDEDASH_TEST_SERVERS") == "required"


def new_database(folder: Path, of: str | None = None) -> str:
    """The address of a fresh database with all tables; `of`: another kind than the run's."""
    _check(of)
    if (of or kind()) == POSTGRESQL:
        return _copy(folder)
    url = empty_database(folder, SQLITE)
    shutil.copy(_sqlite_template(), folder / "desk.sqlite")
    return url


def empty_database(folder: Path, of: str | None = None) -> str:
    """The address of a fresh database without tables."""
    _check(of)
    if (of or kind()) == POSTGRESQL:
        name = _on_postgres("template0")
        _made[name] = folder
        return shared_postgres().url(name)
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / "desk.sqlite").exists():
        raise FileExistsError(f"{folder} has its database already")
    return f"sqlite:///{folder}/desk.sqlite"


def settings_for(instance: Path) -> dict[str, str]:
    """The database settings for a program: none on SQLite, whose file is in the instance folder."""
    if kind() == SQLITE:
        return {}
    if instance not in _of_instances:
        _of_instances[instance] = empty_database(instance)
    return {"RIDEDASH_DATABASE_URL": _of_instances[instance]}


def migrated_instance(instance: Path) -> None:
    """Give a program that has not run yet its database, as `ridedash db upgrade` leaves it."""
    if kind() == SQLITE:
        _check(None)
        instance.mkdir(parents=True, exist_ok=True, mode=0o700)
        shutil.copy(_sqlite_template(), instance / "ridedash.db")
    else:
        _of_instances[instance] = new_database(instance)


@functools.cache
def shared_postgres() -> PostgresServer:
    """The PostgreSQL server of this session; skips the test without one, or fails if required."""
    try:
        return _end_of_session.enter_context(postgres_server())
    except Missing as error:
        _without(error)


@functools.cache
def shared_redis() -> RedisServer:
    """The Redis server of this session; skips or fails like `shared_postgres`."""
    try:
        return _end_of_session.enter_context(redis_server())
    except Missing as error:
        _without(error)


def forget(folder: Path) -> None:
    """Empty or drop the PostgreSQL databases that were made for a folder or one inside it."""
    gone = [name for name, made_for in _made.items() if made_for.is_relative_to(folder)]
    if not gone:
        return
    server = shared_postgres()
    if server.process is None:
        return
    for name in gone:
        del _made[name]
        if name in _migrated and emptied(server, name, _shape()):
            _spare.append(name)
            continue
        leave(name)
        with server.connect() as line:
            line.execute(
                sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
            )


def close() -> None:
    """Stop the servers that were started."""
    _end_of_session.close()


def _check(of: str | None) -> None:
    """Fail a test without the marker `database`: the run on PostgreSQL would leave it out."""
    assert allowed or of is not None, "mark this test `database`, or use the fixture of that name"


def _without(error: Missing) -> NoReturn:
    message = f"no server on this machine: {error}"
    if required():
        pytest.fail(message)
    pytest.skip(message)


def _copy(folder: Path) -> str:
    """A migrated database: an emptied one of an earlier test, else a new one."""
    name = _spare.pop() if _spare else _on_postgres(_template())
    _migrated.add(name)
    _made[name] = folder
    return shared_postgres().url(name)


@functools.cache
def _shape() -> Any:
    return shape(shared_postgres(), TEMPLATE)


def _on_postgres(template: str) -> str:
    """Copy a database. The name of the copy."""
    server = shared_postgres()
    name = f"test_{next(_numbers)}"
    with server.connect() as line:
        # on a server without fsync, copying files takes half the time
        how = "STRATEGY FILE_COPY" if line.info.server_version >= 150_000 else ""
        statement = sql.SQL("CREATE DATABASE {} TEMPLATE {} " + how)
        line.execute(statement.format(sql.Identifier(name), sql.Identifier(template)))
    return name


@functools.cache
def _template() -> str:
    """A migrated database to copy: migrating takes longer than most tests."""
    server = shared_postgres()
    with server.connect() as line:
        line.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(TEMPLATE)))
    _migrate(server.url(TEMPLATE))
    return TEMPLATE


@functools.cache
def _sqlite_template() -> Path:
    """A file to copy: a migrated database. All runs of `python -m tools.mutants` share one."""
    shared = os.environ.get("RIDEDASH_TEST_MIGRATED")
    if shared:
        folder = Path(shared)
    else:
        made = tempfile.TemporaryDirectory(prefix="ridedash-")
        folder = Path(_end_of_session.enter_context(made))
    if not (folder / "desk.sqlite").exists():
        _migrate(f"sqlite:///{folder}/desk.sqlite")
    return folder / "desk.sqlite"


def _migrate(url: str) -> None:
    db = Database(url)
    db.upgrade()
    db.close()
