"""Which fields of which recorded call last set each element of a ride's pages."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from ridedash.demo.lens.elements import ELEMENTS, Element, Source
from ridedash.demo.lens.store import RecordedCall
from ridedash.views.web.formatting import age

# how many calls of one operation are searched at most, the newest first
MOST_SEARCHED: Final = 40
Reader = Callable[[int], RecordedCall | None]


@dataclass(frozen=True)
class OrderKeys:
    """The category and seats of an order, which tell its entries from others in JSON arrays."""

    category: str
    seats: int | None


class Origins:
    """The answers of an order's calls, the newest first. `read` returns a call with its bodies."""

    def __init__(self, calls: Sequence[RecordedCall], read: Reader, about: OrderKeys) -> None:
        self._calls = sorted(calls, key=lambda call: call.ended, reverse=True)
        self._read = read
        self._about = about
        self._bodies: dict[int, Any] = {}

    def of(self, element: Element, now: datetime) -> dict[str, Any]:
        """How an element was made, and its fields: operation, pointer, call, raw value and age."""
        fields = [found for each in element.sources for found in self._fields(each, now)]
        return {"how": str(element.how), "ours": not element.sources, "fields": fields}

    def _fields(self, source: Source, now: datetime) -> Iterator[dict[str, Any]]:
        for call in self._of(source.operation):
            found = list(resolved(source.pointer, self._body(call), self._about))
            for pointer, value in found:
                yield {
                    "operation": source.operation,
                    "pointer": pointer,
                    "call": call.number,
                    "raw": value,
                    "age": age(max(0.0, (now - call.ended).total_seconds())),
                }
            if found:
                return

    def _of(self, operation: str) -> Sequence[RecordedCall]:
        mine = [call for call in self._calls if call.operation == operation]
        return mine[:MOST_SEARCHED]

    def _body(self, call: RecordedCall) -> Any:
        if call.number not in self._bodies:
            whole = self._read(call.number)
            try:
                self._bodies[call.number] = json.loads(whole.answer.body) if whole else None
            except ValueError:
                self._bodies[call.number] = None
        return self._bodies[call.number]


def origins(sources: Origins, now: datetime, surface: str) -> dict[str, Any]:
    """The origins of all elements of one page (`surface`), by the names of the elements."""
    return {each.name: sources.of(each, now) for each in ELEMENTS if each.surface == surface}


def resolved(pattern: str, body: Any, about: OrderKeys) -> Iterator[tuple[str, Any]]:
    """The (pointer, value) of each field that matches `pattern`, a pointer that may contain `*`.

    A value may be null. Of a JSON array, only entries about the order count (`_is_about`).
    """
    yield from _walk(pattern.split("/")[1:], body, "", about)


def _walk(steps: list[str], value: Any, way: str, about: OrderKeys) -> Iterator[tuple[str, Any]]:
    if not steps:
        if not isinstance(value, (dict, list)):
            yield way, value
        return
    step, *rest = steps
    if step == "*" and isinstance(value, list):
        for n, each in enumerate(value):
            if _is_about(each, about, rest):
                yield from _walk(rest, each, f"{way}/{n}", about)
    elif step == "*" and isinstance(value, dict):
        for name, each in value.items():
            yield from _walk(rest, each, f"{way}/{name}", about)
    elif isinstance(value, dict) and step in value:
        yield from _walk(rest, value[step], f"{way}/{step}", about)


def _is_about(each: Any, about: OrderKeys, rest: list[str]) -> bool:
    """Whether an entry of a JSON array may be about the order: no other category or seats in it.

    The category is not compared for a field `name`, which belongs to a stop or a passenger.
    """
    if not isinstance(each, dict):
        return True
    named = each.get("category", each.get("id"))
    if rest[:1] != ["name"] and isinstance(named, str) and named != about.category:
        return False
    seats = each.get("seats")
    return seats is None or about.seats is None or str(seats) == str(about.seats)
