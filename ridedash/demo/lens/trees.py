"""A JSON text as a tree whose nodes have pointers (RFC 6901), for people to read. Pure."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from ridedash.demo.lens.scrubbing import Number, Object, parsed

DEEPEST: Final = 20  # levels that are shown; a deeper object or array is shown as "…"
MOST_NODES: Final = 2_000


@dataclass(frozen=True)
class JsonNode:
    """One value. `kind`: object, array, number, text or word (true, false, null).

    `text` is the JSON of a simple value or of an empty object or array; "…" for an object or array
    deeper than DEEPEST, whose `kind` is text.
    """

    name: str
    pointer: str
    kind: str
    text: str
    inner: tuple["JsonNode", ...] = ()


def tree(text: str) -> JsonNode | None:
    """The tree of a JSON object or array; None for other texts, and for over MOST_NODES values."""
    try:
        value = parsed(text)
        if not isinstance(value, list) or _count(value, DEEPEST) > MOST_NODES:
            return None
        return _node("", "", value, DEEPEST)
    except (ValueError, RecursionError):
        return None


def _node(name: str, pointer: str, value: Any, levels: int) -> JsonNode:
    if not isinstance(value, list):
        return JsonNode(name, pointer, *_simple(value))
    kind, empty = ("object", "{}") if isinstance(value, Object) else ("array", "[]")
    if levels == 0:
        return JsonNode(name, pointer, "text", "…")
    inner = tuple(
        _node(key, f"{pointer}/{_escaped(key)}", each, levels - 1) for key, each in _members(value)
    )
    return JsonNode(name, pointer, kind, "" if inner else empty, inner)


def _members(value: list[Any]) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Object):
        yield from value
    else:
        yield from ((str(n), each) for n, each in enumerate(value))


def _count(value: Any, levels: int) -> int:
    if not isinstance(value, list) or levels == 0:
        return 1
    return 1 + sum(_count(each, levels - 1) for _, each in _members(value))


def _simple(value: Any) -> tuple[str, str]:
    if isinstance(value, Number):
        return "number", str(value)
    if isinstance(value, str):
        return "text", json.dumps(value, ensure_ascii=False)
    return "word", json.dumps(value)


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
