"""Finds the words of a page that come from no catalogue; the page must be in the locale en-XA."""

import json
import re
from html.parser import HTMLParser
from typing import Final

LETTERS: Final = re.compile(r"[^\W\d_]{2}")
SPOKEN: Final = ("title", "aria-label", "placeholder", "alt", "content", "label")
# attributes with such a value are patterns of texts; others hold addresses, slots and element names
PATTERN: Final = re.compile(r"[^\W\d_]{2,} [^\W\d_]|\{\w+\}")
NO_PATTERNS: Final = {
    "data-show",
    "data-points",
    "data-address",
    "data-copy",
    "data-home",
    "data-by-day",
    "data-by-night",
    "data-sample",  # a text in each language, to see whether its letters can be shown
}
# options of these fields are codes, names from Babel or the service, and languages' own names
NAMED: Final = {"country", "currency", "timezone", "language", "category"}
EMPTY: Final = {"meta", "link", "input", "img", "br", "hr", "use", "path", "circle", "image"}
SILENT: Final = {"script", "style", "code", "textarea"}
# Babel writes dates and zones; the other words are the same in every language
DATA: Final = re.compile(
    r"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec|IST|GMT"
    r"|UTC|INR|CSV|GMH-\d+-\d+-\w+|ridedash|WhatsApp|Enter|Esc|Alt|Ctrl|Shift|Tab|SVG|PNG|JPEG|WebP"
    r"|WebP)\b"
)


class Speech(HTMLParser):
    """Reads a page; `foreign` lists the texts and attributes that have words outside of ⟦ ⟧.

    Elements are left out that are facts (bdi), name a language, or must not be translated.
    """

    def __init__(self, data: frozenset[str]) -> None:
        super().__init__()
        self.data = sorted(data, key=len, reverse=True)  # names and places of the test's own rows
        self.foreign: list[str] = []
        self.open: list[tuple[str, bool]] = []
        self.depth = 0  # how many ⟦ are open
        self.is_marked = False  # whether any text was in ⟦ ⟧

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        fact = tag in ("bdi", *SILENT) or given.get("translate") == "no"
        fact = fact or (tag != "html" and "lang" in given)
        fact = fact or (tag == "select" and given.get("name") in NAMED)
        if tag not in EMPTY:
            self.open.append((tag, fact or any(each for _, each in self.open)))
        for name, value in given.items():
            if name == "content" and given.get("name") != "description":
                continue
            of_script = name.startswith("data-") and name not in NO_PATTERNS
            if name in SPOKEN or (of_script and PATTERN.search(value)):
                for text in forms_in(value):
                    self._read(f"{tag} {name}", text, apart=True)
            if tag == "input" and name == "value" and given.get("type") in ("submit", "button"):
                self._read(f"{tag} {name}", value, apart=True)

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not (self.open and self.open[-1][1]):
            self._read(self.open[-1][0] if self.open else "", data)

    def _read(self, where: str, text: str, *, apart: bool = False) -> None:
        depth, outside = 0 if apart else self.depth, []
        for letter in text:
            if letter == "⟦":
                depth += 1
                self.is_marked = True
            elif letter == "⟧":
                depth -= 1
            elif not depth:
                outside.append(letter)
        if not apart:
            self.depth = depth
        left = "".join(outside)
        for fact in self.data:
            left = left.replace(fact, " ")
        left = DATA.sub(" ", left)
        if LETTERS.search(left):
            self.foreign.append(f"{where}: {' '.join(left.split())[:80]}")


def forms_in(value: str) -> list[str]:
    """The texts of an attribute: its plural forms if it has a count, or else the value itself."""
    if not value.startswith('{"'):
        return [value]
    forms: dict[str, str] = json.loads(value)
    return list(forms.values())


def foreign_words(page: str, data: frozenset[str] = frozenset()) -> list[str]:
    """The texts of a page that have a word, come from no catalogue and are no facts."""
    speech = Speech(data)
    speech.feed(page)
    assert speech.is_marked, "the page is not in en-XA"
    return speech.foreign
