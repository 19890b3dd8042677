"""What an attacker sends: hostile values, and the names of the fields that each route reads.

The names come from the forms of the rendered pages and from watching which names a view looks up,
so the field of a new route is found without a change here.
"""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any, ClassVar, Final
from urllib.parse import parse_qsl

from flask import Flask, Request
from werkzeug.datastructures import ImmutableMultiDict
from werkzeug.exceptions import HTTPException

INTEGERS: Final = {
    "zero": "0",
    "minus one": "-1",
    "above 32 bits": str(2**31),
    "above 64 bits": str(2**63),
    "30 digits": "9" * 30,
    "Arabic digits": "\u0661\u0662",
    "with an exponent": "1e5",
    "with a blank": " 1",
}
DAYS: Final = {
    "year 1": "0001-01-01",
    "year 9999": "9999-12-31",
    "30 February": "2026-02-30",
}
TEXTS: Final = {
    "NUL": "a\0b",
    "10 kB": "w" * 10_000,
    "stacked marks": "a" + "\u0300\u0489\u20dd" * 40,
    "direction marks": "\u202eabc\u2066\u2069\u200f",
}
VALUES: Final = INTEGERS | DAYS | TEXTS
# Values that one kind of database takes and another refuses. For all other values the database does
# not matter, so the sweep on SQLite has tried them.
OF_DATABASES: Final = {
    kind: VALUES[kind]
    for kind in (
        *("minus one", "above 32 bits", "above 64 bits", "30 digits"),
        *("year 1", "year 9999", "NUL", "10 kB"),
    )
}
FILLED: Final = {"text": "Wren", "search": "Wren", "password": "seven herons over the lagoon"}


class Watched(ImmutableMultiDict[str, Any]):
    """The fields of a request; `names` collects each name that is looked up in any request."""

    names: ClassVar[set[str]] = set()

    def __getitem__(self, key: str) -> Any:
        self.names.add(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self.names.add(str(key))
        return super().__contains__(key)

    def getlist(self, key: str, type: Any = None) -> list[Any]:  # noqa: A002 - as in werkzeug
        self.names.add(key)
        return super().getlist(key) if type is None else super().getlist(key, type)


class WatchedRequest(Request):
    parameter_storage_class = Watched


@dataclass
class Form:
    """A form of a page: where it is posted to, and what a browser would send."""

    action: str = ""
    method: str = "get"
    fields: dict[str, str] = field(default_factory=dict)
    buttons: dict[str, str] = field(default_factory=dict)  # named buttons: one of them is pressed


class Forms(HTMLParser):
    """The forms of a page. A button with `formaction` makes a further form of the same fields, and
    a link with a query is a form whose method is GET.
    """

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[Form] = []
        self._here: Form | None = None
        self._select: str = ""
        self._area: str = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        facts = {name: value or "" for name, value in attrs}
        if tag == "a" and "?" in facts.get("href", ""):
            path, _mark, query = facts["href"].partition("#")[0].partition("?")
            self.found.append(Form(path, fields=dict(parse_qsl(query))))
        if tag == "form":
            self._here = Form(facts.get("action", ""), facts.get("method", "get").lower())
            self.found.append(self._here)
        form, name = self._here, facts.get("name", "")
        if form is None:
            return
        if tag == "button" and "formaction" in facts:
            self.found.append(Form(facts["formaction"], form.method, form.fields))
        elif tag in ("button", "input") and facts.get("type") == "submit" and name:
            form.buttons[name] = facts.get("value", "")
        elif tag == "input" and name:
            self._input(form.fields, name, facts, checked="checked" in facts)
        elif tag == "textarea" and name:
            form.fields[name], self._area = "", name
        elif tag == "select":
            self._select = name
        elif tag == "option" and (self._select not in form.fields or "selected" in facts):
            form.fields[self._select] = facts.get("value", "")

    def handle_data(self, data: str) -> None:
        if self._here is not None and self._area:
            self._here.fields[self._area] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._here = None
        elif tag == "select":
            self._select = ""
        elif tag == "textarea":
            self._area = ""

    def _input(
        self, fields: dict[str, str], name: str, facts: dict[str, str], *, checked: bool
    ) -> None:
        kind = facts.get("type", "text")
        if kind in ("radio", "checkbox"):
            if checked or name not in fields:
                fields[name] = facts.get("value", "on")
        else:
            fields[name] = facts.get("value", "") or FILLED.get(kind, "")


def endpoint_of(app: Flask, path: str, method: str) -> str:
    """The endpoint of a path; "" when there is none."""
    try:
        return str(app.url_map.bind("localhost").match(path, method)[0])
    except HTTPException:
        return ""
