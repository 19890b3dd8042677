"""A list from what was pasted or uploaded, with limits on its size."""

import hashlib
import json
from typing import Final

from ridedash.lists import columns
from ridedash.lists.columns import Knows
from ridedash.lists.decoding import decoded
from ridedash.lists.delimited import rows_of_text
from ridedash.lists.table import MOST_BYTES, MOST_GUESTS, ListRefused, ListTable, Oddity
from ridedash.lists.workbooks import is_workbook, rows_of_workbook
from ridedash.text import normalised
from ridedash.wording import gettext as _

# files that people take for lists, by their first bytes
OTHER_KINDS: Final = (b"%PDF", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"Rar!", b"7z\xbc\xaf")
MARKUP: Final = (b"{\\rtf", b"<html", b"<!doctype", b"<?xml", b"mime-version")


def read_text(text: str, knows: Knows | None = None) -> ListTable:
    """The table of a pasted list. Raises ListRefused."""
    if len(text) > MOST_BYTES:
        raise _too_large()
    return _checked(columns.decided(rows_of_text(text), knows))


def read_file(data: bytes, knows: Knows | None = None) -> ListTable:
    """The table of an uploaded file: CSV or another text, or an .xlsx workbook.

    What it is follows from its first bytes, never from its name. Raises ListRefused.
    """
    if len(data) > MOST_BYTES:
        raise _too_large()
    if is_workbook(data):
        return _checked(columns.decided(rows_of_workbook(data), knows))
    start = data[:64].lstrip().lower()
    if data.startswith(OTHER_KINDS) or start.startswith(MARKUP):
        raise ListRefused(
            _("Only CSV, plain text and Excel workbooks (.xlsx) are read. Or paste the list.")
        )
    text, encoding = decoded(data)
    table = _checked(columns.decided(rows_of_text(text), knows))
    return table.but(encoding=encoding, oddities=(*table.oddities, *_formulas(table)))


def digest_of(table: ListTable) -> str:
    """A digest of the guests of a list: the same for the same file, however it is written."""
    cells = sorted(
        "\t".join(filter(None, map(normalised, row.cells))) for row in table.rows if not row.out
    )
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()


def _checked(table: ListTable) -> ListTable:
    count = sum(row.out is None for row in table.rows)
    if not table.rows:
        raise ListRefused(_("There is no line with a guest in this list."))
    if count > MOST_GUESTS:
        raise ListRefused(
            _(
                "This list has %(n)d guests: a list has at most %(most)d. Split it, and read the "
                "parts one after the other.",
                n=count,
                most=MOST_GUESTS,
            )
        )
    return table


def _formulas(table: ListTable) -> tuple[Oddity, ...]:
    """FORMULAS if a cell of a text begins as one: it stays text."""
    cells = (cell for row in table.rows for cell in row.cells)
    if any(cell[:1] in "=@" and cell[1:2].isalpha() for cell in cells if cell):
        return (Oddity.FORMULAS,)
    return ()


def _too_large() -> ListRefused:
    return ListRefused(_("This list is too large: at most %(n)d MB are read.", n=2))
