"""The description of an operation, read from docs/service-interface.md itself.

Only what occurs there is parsed: paragraphs and tables, which contain `code` and links.
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from ridedash.demo.lens.operations import NUMBERS

PAGE: Final = "service-interface.md"
_LINK: Final = re.compile(r"\[([^]]*)\]\([^)]*\)")
_RULE: Final = re.compile(r"\|[-| :]+\|")

Words = tuple[tuple[bool, str], ...]  # whether a part is code, and its text


@dataclass(frozen=True)
class Block:
    """A paragraph (one row of one cell) or a table, whose first row is its head."""

    is_table: bool
    rows: tuple[tuple[Words, ...], ...]


@dataclass(frozen=True)
class Paragraph:
    """The section about one operation."""

    title: str
    blocks: tuple[Block, ...]


@cache
def about(operation: str) -> Paragraph | None:
    """The section about an operation; None if it is unknown, or the page is not installed."""
    number = NUMBERS.get(operation)
    path = _page()
    if number is None or not path.is_file():
        return None
    found = re.search(rf"^### {number}\. ([^\n(]*).*?\n(.*?)(?=^##)", path.read_text("utf-8"), _M)
    if found is None:
        return None
    parts = re.split(r"\n\s*\n", found[2].strip())
    return Paragraph(found[1].strip(), tuple(map(_block, parts)))


_M: Final = re.MULTILINE | re.DOTALL


def _page() -> Path:
    """The page: beside this module when installed from a wheel, else in docs/ of the checkout."""
    inside = Path(__file__).with_name("document.txt")
    return inside if inside.is_file() else Path(__file__).parents[3] / "docs" / PAGE


def _block(text: str) -> Block:
    lines = text.splitlines()
    if not lines[0].startswith("|"):
        return Block(is_table=False, rows=((_words(" ".join(lines)),),))
    rows = [line for line in lines if not _RULE.fullmatch(line.strip())]
    cells = (row.strip().strip("|").split("|") for row in rows)
    return Block(is_table=True, rows=tuple(tuple(map(_words, row)) for row in cells))


def _words(text: str) -> Words:
    plain = _LINK.sub(r"\1", text.strip())
    return tuple((n % 2 == 1, part) for n, part in enumerate(plain.split("`")) if part)
