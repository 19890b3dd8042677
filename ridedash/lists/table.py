"""The table that a list of guests is read into, the fields of its columns, and its refusals."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from ridedash.text import one_line

MOST_GUESTS: Final = 60  # lines of one list that can become guests
MOST_ROWS: Final = 200  # rows of a list with its headings, totals and blank lines
MOST_CELLS: Final = 40  # columns that are read; what stands further right is left out
CELL_MAX: Final = 1_000  # characters of a cell that are read; a link to a map has some hundred
MOST_BYTES: Final = 2_000_000  # of an upload or a pasted text


class ListRefused(ValueError):
    """A list that can't be read; the message says what would be right."""


class Field(StrEnum):
    """What a column contains; UNREAD columns are shown and not used.

    An ASKED column has texts of which nobody has said yet what they are: it keeps a list from
    being booked.
    """

    UNREAD = ""
    ASKED = "asked"
    NAME = "name"
    GIVEN = "given"  # the first name, where `name` is the family name alone
    TITLE = "title"
    ROOM = "room"
    PHONE = "phone"
    DAY = "day"
    TIME = "time"
    DROP = "drop"
    FLIGHT = "flight"
    PERSONS = "persons"
    NOTE = "note"
    LEFT = "left"  # what was not read of a line of a message: asked in that line


class Out(StrEnum):
    """Why a row of the list is left out. A person can take each of them in again."""

    HEAD = "head"
    TOTAL = "total"
    PAGE = "page"
    SEPARATOR = "separator"
    PLACEHOLDER = "placeholder"
    GREETING = "greeting"
    TITLE = "title"  # one cell above the headings
    PERSON = "person"  # a person has left it out


class Oddity(StrEnum):
    """What a person should know about how the file was read."""

    FORMULAS = "formulas"  # cells with formulas are read as the text that was saved with them
    HIDDEN = "hidden"  # hidden rows or columns are not read
    SHEETS = "sheets"  # the workbook has more sheets; the first one with cells is read
    MERGED = "merged"  # a merged cell counts for each of its rows
    QUOTES = "quotes"  # a quotation mark without its end: quotation marks are read as letters
    WIDE = "wide"  # columns behind the last one that is read


@dataclass(frozen=True)
class Row:
    """One row: its number in the source, from 1, and its cells, cleaned."""

    number: int
    cells: tuple[str, ...]
    out: Out | None = None

    @property
    def filled(self) -> tuple[str, ...]:
        """The cells that are not empty."""
        return tuple(cell for cell in self.cells if cell)


@dataclass(frozen=True)
class ListTable:
    """The rows of a list that are not blank, and how they were found.

    `encoding` is that of a text file, "" for a pasted text and a workbook.
    """

    rows: tuple[Row, ...]
    fields: tuple[Field, ...] = ()
    encoding: str = ""
    oddities: tuple[Oddity, ...] = ()

    @property
    def width(self) -> int:
        """The number of columns."""
        return max((len(row.cells) for row in self.rows), default=0)

    def but(self, **changes: Any) -> "ListTable":
        """The table with other values of some attributes."""
        return replace(self, **changes)


def cleaned(cell: str) -> str:
    """A cell as one line of text; line ends and tabs within it become spaces."""
    return one_line(cell, CELL_MAX)
