"""Compiles templates, routes, SQL statements and headers of files once for all apps of the tests.

Tests make thousands of apps. If each compiled all of this again, that would take half of the time
of a test that reads a page.
"""

from collections.abc import Callable
from typing import Any, Final

from flask import Flask
from jinja2 import FileSystemBytecodeCache
from jinja2.bccache import Bucket
from sqlalchemy import Connection, Dialect, Engine
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache
from werkzeug.routing import Rule

from ridedash.views.ops.file_server import FileServer

_Builder = Callable[..., tuple[str, str]]  # makes an address from a rule and the values in it
# what Rule.compile() makes
COMPILED: Final = ("_parts", "_trace", "_converters", "arguments")
BUILDERS: Final = ("_build", "_build_unknown")
STATEMENTS: Final = 5_000  # cached for all engines of a run; by default an engine caches 500


class Templates(FileSystemBytecodeCache):
    """Compiled templates; a process reads each one from the disk once."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self._read: dict[tuple[str, str], Any] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        key = bucket.key, bucket.checksum
        bucket.code = self._read.get(key)
        if bucket.code is None:
            super().load_bytecode(bucket)
            self._read[key] = bucket.code


def share(folder: str) -> None:
    """Make all apps from now on share what does not depend on the app."""
    Flask.jinja_options = {"bytecode_cache": Templates(folder)}
    _share_routes()
    _share_statements()
    _share_servers()
    _share_headers()


def _share_routes() -> None:
    """Compile each rule's text once. Its converters keep the URL map of the first app."""
    compile_alone = Rule.compile
    known: dict[Any, tuple[dict[str, Any], list[_Builder]]] = {}

    def compiled(rule: Rule) -> None:
        assert rule.map is not None
        read_by = tuple(rule.map.converters.values())
        key = rule.rule, rule.subdomain, rule.merge_slashes, repr(rule.defaults), read_by
        if key not in known:
            compile_alone(rule)
            facts = {name: getattr(rule, name) for name in COMPILED}
            known[key] = facts, [getattr(rule, name).__func__ for name in BUILDERS]
        facts, builders = known[key]
        vars(rule).update(facts)
        vars(rule).update({n: b.__get__(rule) for n, b in zip(BUILDERS, builders, strict=True)})

    Rule.compile = compiled  # type: ignore[method-assign]


def _share_statements() -> None:
    """Share compiled statements, whose key has the dialect: make all dialects of a kind equal."""
    known: LRUCache[Any, Any] = LRUCache(STATEMENTS)

    def share_with(_kind: type[Dialect], engine: Engine) -> None:
        engine._compiled_cache = known

    for kind in (SQLiteDialect_pysqlite, PGDialect_psycopg):
        kind.__eq__ = lambda self, other: type(self) is type(other)  # type: ignore[method-assign]
        kind.__hash__ = lambda self: hash(type(self))  # type: ignore[method-assign]
        kind.engine_created = classmethod(share_with)  # type: ignore[method-assign,assignment]


def _share_servers() -> None:
    """Ask a PostgreSQL server for its version once: all servers of a run have the same version."""
    ask = PGDialect_psycopg.initialize
    known: dict[str, Any] = {}

    def initialize_once(dialect: PGDialect_psycopg, connection: Connection) -> None:
        if not known:
            before = dict(vars(dialect))
            ask(dialect, connection)
            known.update(
                {n: v for n, v in vars(dialect).items() if before.get(n, initialize_once) is not v}
            )
        vars(dialect).update(known)

    PGDialect_psycopg.initialize = initialize_once  # type: ignore[method-assign]


def _share_headers() -> None:
    """Make the headers of a release's file once: its address has a digest of its content."""
    get_static_file = FileServer.get_static_file
    known: dict[Any, Any] = {}

    def found(server: FileServer, path: str, url: str, stat_cache: Any = None) -> Any:
        if stat_cache is not None:  # a file of the instance folder, which a test may damage
            return get_static_file(server, path, url, stat_cache)
        key = path, url, tuple(server._head.items())
        if key not in known:
            known[key] = get_static_file(server, path, url)
        return known[key]

    FileServer.get_static_file = found
