"""Grown streets kept in files, so that a later start reads them: to grow them takes far longer.

A file is a line about its content, then the content; both are JSON. A file that is damaged, or was
written by other code than this, counts as none.
"""

import contextlib
import functools
import hashlib
import json
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Final

from ridedash.sandbox.city.mesh import Edge, Mesh

SOURCES: Final = Path(__file__).parent  # of all code and plans by which streets grow


def kept(folder: Path, slug: str, grow: Callable[[], Mesh]) -> Mesh:
    """The streets of a city as its file in a folder has them; else they are grown, and kept there.

    If the folder can't be written, they are grown each time.
    """
    path = folder / f"{slug}.json"
    mesh = _read(path)
    if mesh is None:
        mesh = grow()
        with contextlib.suppress(OSError):
            _write(path, mesh)
    return mesh


def _read(path: Path) -> Mesh | None:
    try:
        head, _, body = path.read_bytes().partition(b"\n")
    except OSError:
        return None
    if head != _head(body):
        return None
    nodes, edges = json.loads(body)
    return Mesh(
        [(x, y) for x, y in nodes],
        [Edge(a, b, [(x, y) for x, y in line], name, rank) for a, b, name, rank, line in edges],
    )


def _write(path: Path, mesh: Mesh) -> None:
    """Write the file so that no reader sees half of it."""
    edges = [(edge.a, edge.b, edge.name, edge.rank, edge.line) for edge in mesh.edges]
    body = json.dumps((mesh.nodes, edges), separators=(",", ":")).encode()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(_head(body) + b"\n" + body)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _head(body: bytes) -> bytes:
    digest = hashlib.blake2b(body, digest_size=16).hexdigest()
    return json.dumps({"code": _code(), "content": digest}).encode()


@functools.cache
def _code() -> str:
    """The digest of the code and the plans: other code may grow other streets."""
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(SOURCES.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
