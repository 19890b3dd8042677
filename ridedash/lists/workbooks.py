"""Rows of an Excel workbook (.xlsx), read with limits that hold before anything is unpacked.

The parts of the file that are read are inflated to a fixed size at most, parsed by expat in pieces,
and only as far as the rows of a list go. Macros, links to other files, pictures and whatever else
the file has are never unpacked. openpyxl reads all texts of a workbook before its first row (0.2 s
for 0.5 MB); python-calamine allocates the whole area of a sheet, so that two cells can end the
process. Neither tells which rows are hidden and which cells are formulas.
"""

import io
import itertools
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Final
from xml.parsers import expat

from ridedash.lists.table import (
    CELL_MAX,
    MOST_CELLS,
    MOST_ROWS,
    ListRefused,
    ListTable,
    Oddity,
    Out,
    Row,
    cleaned,
)
from ridedash.wording import gettext as _

MAGIC: Final = b"PK\x03\x04"
# what older Excel, OpenOffice and Apple's Numbers write
OLD_EXCEL: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
MOST_PARTS: Final = 2_000  # entries of the archive
MOST_INFLATED: Final = 1_500_000  # bytes of one part that are unpacked
MOST_ELEMENTS: Final = 100_000  # of one part: each costs calls of Python
MOST_TEXTS: Final = 20_000  # texts of the whole workbook that are read
MOST_SHEETS: Final = 40
PIECE: Final = 65_536  # bytes that are parsed at once
EPOCH: Final = datetime(1899, 12, 30)  # noqa: DTZ001 - dates of a sheet have no zone
EPOCH_OF_MACS: Final = datetime(1904, 1, 1)  # noqa: DTZ001
LATEST_SERIAL: Final = 200_000.0  # days since the epoch: the year 2447
# numbers of the formats that Excel knows without a description: days, times, and both
BUILT_IN: Final = {14: "d", 15: "d", 16: "d", 17: "d", 18: "t", 19: "t", 20: "t", 21: "t"} | {
    22: "dt",
    **dict.fromkeys((27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58), "d"),
    **dict.fromkeys((32, 33, 34, 35, 45, 46, 47, 55, 56), "t"),
}
_QUOTED: Final = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]')
_CELL: Final = re.compile(r"([A-Z]{1,3})(\d{1,7})")


class _Enough(Exception):
    """The rows of a list are read: the rest of the sheet is not."""


def is_workbook(data: bytes) -> bool:
    """Whether a file is a spreadsheet of any kind, and not a text."""
    return data.startswith((MAGIC, OLD_EXCEL))


def rows_of_workbook(data: bytes) -> ListTable:
    """The rows of the first sheet that has any. Raises ListRefused."""
    try:
        return _Workbook(data).table()
    except (
        zipfile.BadZipFile,
        zlib.error,
        expat.ExpatError,
        EOFError,
        NotImplementedError,
        OSError,
        RuntimeError,  # a password
        ValueError,
        KeyError,
        IndexError,
        OverflowError,
    ) as error:
        if isinstance(error, ListRefused):
            raise
        raise ListRefused(
            _("This workbook can't be read. Save it anew as .xlsx without a password, or as CSV.")
        ) from error


def _wrong_kind() -> ListRefused:
    return ListRefused(
        _(
            "Of spreadsheets only .xlsx is read: no .xls, no .xlsm with macros, no .ods. Save it "
            "as .xlsx or as CSV."
        )
    )


class _Workbook:
    """One file that is being read."""

    def __init__(self, data: bytes) -> None:
        if not data.startswith(MAGIC):
            raise _wrong_kind()
        self._zip = zipfile.ZipFile(io.BytesIO(data))
        names = self._zip.namelist()
        if len(names) > MOST_PARTS or len(set(names)) != len(names):
            raise _too_large()
        has_macros = any(name.lower().endswith("vbaproject.bin") for name in names)
        if has_macros or "xl/workbook.xml" not in names:
            raise _wrong_kind()
        self._oddities: list[Oddity] = []
        self._of_macs = False

    def table(self) -> ListTable:
        """The rows of the first sheet that has any."""
        sheets = self._sheets()
        formats = self._formats()
        for path in sheets:
            reader = _Sheet(formats, EPOCH_OF_MACS if self._of_macs else EPOCH)
            self._parse(path, reader)
            if reader.rows:
                texts = self._texts(reader.needed)
                rows = tuple(reader.table(texts))
                more = [Oddity.SHEETS] if len(sheets) > 1 else []
                return ListTable(rows, oddities=(*reader.oddities(), *more))
        return ListTable(())

    def _sheets(self) -> list[str]:
        """The paths of the visible sheets, in their order."""
        found: list[str] = []

        def start(name: str, attributes: dict[str, str]) -> None:
            if name == "sheet" and attributes.get("state", "visible") == "visible":
                found.append(attributes.get("id", ""))
            elif name == "workbookPr":
                self._of_macs = attributes.get("date1904") in ("1", "true")

        self._parse("xl/workbook.xml", _Handlers(start))
        targets: dict[str, str] = {}

        def relation(name: str, attributes: dict[str, str]) -> None:
            if name == "Relationship" and attributes.get("TargetMode") != "External":
                targets[attributes.get("Id", "")] = attributes.get("Target", "")

        self._parse("xl/_rels/workbook.xml.rels", _Handlers(relation))
        paths = [_path(targets.get(each, "")) for each in found[:MOST_SHEETS]]
        return [path for path in paths if path in self._zip.namelist()]

    def _formats(self) -> list[str]:
        """For each style of a cell what it shows: "d" a day, "t" a time, "dt" both, "" neither."""
        custom: dict[int, str] = {}
        styles: list[str] = []
        inside: list[str] = []

        def start(name: str, attributes: dict[str, str]) -> None:
            inside.append(name)
            if name == "numFmt":
                code = attributes.get("formatCode", "")
                custom[int(attributes.get("numFmtId", "0"))] = _shows(code)
            elif name == "xf" and "cellXfs" in inside:
                number = int(attributes.get("numFmtId", "0"))
                styles.append(custom.get(number, BUILT_IN.get(number, "")))

        if "xl/styles.xml" in self._zip.namelist():
            self._parse("xl/styles.xml", _Handlers(start, end=lambda _name: inside.pop()))
        return styles

    def _texts(self, needed: set[int]) -> dict[int, str]:
        """The shared texts with these numbers."""
        if not needed:
            return {}
        last = max(needed)
        if last > MOST_TEXTS:
            raise _too_large()
        found: dict[int, str] = {}
        state = {"at": -1, "in": 0, "phonetic": 0}
        parts: list[str] = []

        def start(name: str, _attributes: dict[str, str]) -> None:
            state["at"] += name == "si"
            state["in"] += name == "t"
            state["phonetic"] += name == "rPh"

        def text(data: str) -> None:
            if state["in"] and not state["phonetic"] and state["at"] in needed:
                parts.append(data)

        def end(name: str) -> None:
            state["in"] -= name == "t"
            state["phonetic"] -= name == "rPh"
            if name != "si":
                return
            if state["at"] in needed:
                found[state["at"]] = "".join(parts)[: CELL_MAX * 4]
                parts.clear()
            if state["at"] >= last:
                raise _Enough

        self._parse("xl/sharedStrings.xml", _Handlers(start, text, end))
        return found

    def _parse(self, path: str, handlers: "_Handlers") -> None:
        """Parse a part of the file, piece by piece, until it ends or is no longer needed."""
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        seen = itertools.count(1)

        def start(name: str, attributes: dict[str, str]) -> None:
            if next(seen) > MOST_ELEMENTS:
                raise _too_large()
            handlers.start(_local(name), {_local(key): text for key, text in attributes.items()})

        parser.StartElementHandler = start
        parser.EndElementHandler = lambda name: handlers.end(_local(name))
        parser.CharacterDataHandler = handlers.text
        parser.StartDoctypeDeclHandler = _no_doctype  # no part of a workbook has one
        try:
            for piece, is_last in self._pieces(path):
                parser.Parse(piece, is_last)
        except _Enough:
            return

    def _pieces(self, path: str) -> Iterator[tuple[bytes, bool]]:
        """The part inflated, in pieces; no more than MOST_INFLATED, whatever its header says."""
        left = MOST_INFLATED
        with self._zip.open(path) as part:
            while piece := part.read(PIECE):
                left -= len(piece)
                if left < 0:
                    raise _too_large()
                yield piece, False
        yield b"", True


class _Handlers:
    """What happens at each element of a part."""

    def __init__(
        self,
        start: Callable[[str, dict[str, str]], object],
        text: Callable[[str], object] = lambda _data: None,
        end: Callable[[str], object] = lambda _name: None,
    ) -> None:
        self.start = start
        self.text = text
        self.end = end


class _Sheet(_Handlers):
    """Reads the cells of one sheet, as far as the rows of a list go."""

    def __init__(self, formats: list[str], epoch: datetime) -> None:
        super().__init__(self._start, self._text, self._end)
        self.rows: dict[int, dict[int, str | int]] = {}  # a number is that of a shared text
        self.needed: set[int] = set()
        self._formats = formats
        self._epoch = epoch
        self._row = 0
        self._column = 0
        self._kind = ""
        self._style = 0
        self._texts: list[str] = []
        self._open = ""  # v or t, while its text comes
        self._phonetic = False
        self._hidden_columns: set[int] = set()
        self._skips = False
        self._found: set[Oddity] = set()
        self._merged: list[tuple[int, int, int]] = []

    def oddities(self) -> list[Oddity]:
        """What a person should know about the sheet."""
        return sorted(self._found)

    def table(self, texts: dict[int, str]) -> Iterator[Row]:
        """The rows that are not blank, without empty columns."""
        lines = {
            at: {
                column: cleaned(texts.get(value, "") if isinstance(value, int) else value)
                for column, value in cells.items()
            }
            for at, cells in self.rows.items()
        }
        for first, last, column in self._merged:
            value = lines.get(first, {}).get(column, "")
            for at in range(first + 1, last + 1):
                if value and any(lines.get(at, {}).values()):
                    lines[at].setdefault(column, value)
                    self._found.add(Oddity.MERGED)
        lines = {at: cells for at, cells in lines.items() if any(cells.values())}
        used = sorted({column for cells in lines.values() for column in cells if cells[column]})
        for at, cells in sorted(lines.items()):
            found = tuple(cells.get(column, "") for column in used)
            is_line = not any(map(str.isalnum, "".join(found)))
            yield Row(at, found, Out.SEPARATOR if is_line else None)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "row":
            self._begin_row(attributes)
        elif name == "c":
            self._begin_cell(attributes)
        elif name == "f" and self._row:
            self._found.add(Oddity.FORMULAS)
        elif name in ("v", "t"):
            self._open = name
        elif name == "rPh":
            self._phonetic = True
        elif name == "col" and attributes.get("hidden") in ("1", "true"):
            last = min(int(attributes.get("max", "0")), MOST_CELLS + 1)
            self._hidden_columns |= set(range(int(attributes.get("min", "1")), last + 1))
        elif name == "mergeCell":
            self._merge(attributes.get("ref", ""))

    def _begin_row(self, attributes: dict[str, str]) -> None:
        if len(self.rows) > MOST_ROWS:
            raise ListRefused(_too_many_rows())
        self._row = int(attributes.get("r") or self._row + 1)
        self._column = 0
        self._skips = attributes.get("hidden") in ("1", "true")
        if self._skips:
            self._found.add(Oddity.HIDDEN)

    def _begin_cell(self, attributes: dict[str, str]) -> None:
        named = _CELL.fullmatch(attributes.get("r", ""))
        self._column = _column(named[1]) if named else self._column + 1
        self._kind = attributes.get("t", "n")
        self._style = int(attributes.get("s") or 0)
        self._texts = []

    def _text(self, data: str) -> None:
        if self._open and not self._phonetic and sum(map(len, self._texts)) < CELL_MAX * 4:
            self._texts.append(data)

    def _end(self, name: str) -> None:
        if name in ("v", "t"):
            self._open = ""
        elif name == "rPh":
            self._phonetic = False
        elif name == "c":
            self._end_cell("".join(self._texts))
            self._texts = []

    def _end_cell(self, value: str) -> None:
        if not value or self._skips:
            return
        if self._column > MOST_CELLS:
            self._found.add(Oddity.WIDE)
            return
        if self._column in self._hidden_columns:
            self._found.add(Oddity.HIDDEN)
            return
        cells = self.rows.setdefault(self._row, {})
        if self._kind == "s":
            self.needed.add(int(value))
            cells[self._column] = int(value)
        elif self._kind == "n":
            cells[self._column] = self._number(value)
        elif self._kind == "b":
            cells[self._column] = "TRUE" if value == "1" else "FALSE"
        elif self._kind != "e":  # an error such as #REF! is no text
            cells[self._column] = value

    def _number(self, value: str) -> str:
        """A number as the sheet shows it: a day, a time, or digits without a decimal point."""
        number = float(value)
        shows = self._formats[self._style] if self._style < len(self._formats) else ""
        if shows and 0 <= number < LATEST_SERIAL:
            return self._moment(number, shows)
        if number.is_integer() and abs(number) < 1e16:
            return str(int(number))
        if "e" in value.lower():
            return repr(number)
        return value

    def _moment(self, number: float, shows: str) -> str:
        minutes = round(number * 24 * 60)
        at = self._epoch + timedelta(minutes=minutes)
        if shows == "t" or number < 1:
            return f"{at:%H:%M}"
        if shows == "d" and minutes % (24 * 60) == 0:
            return f"{at:%Y-%m-%d}"
        return f"{at:%Y-%m-%d %H:%M}"

    def _merge(self, area: str) -> None:
        first, _colon, last = area.partition(":")
        begins = _CELL.fullmatch(first)
        ends = _CELL.fullmatch(last)
        if not begins or not ends or begins[1] != ends[1] or len(self._merged) > MOST_ROWS:
            return
        top = int(begins[2])
        self._merged.append((top, min(int(ends[2]), top + MOST_ROWS), _column(begins[1])))


def _local(name: str) -> str:
    return name.rpartition(" ")[2]


def _path(target: str) -> str:
    """The path of a part within the archive, as a relation of the workbook names it."""
    if target.startswith("/"):
        return target.lstrip("/")
    return f"xl/{target}"


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number


def _shows(code: str) -> str:
    """What a number format shows: days, times or both."""
    plain = _QUOTED.sub("", code.lower().partition(";")[0])
    times = "h" in plain or "s" in plain.replace("general", "")
    days = "d" in plain or "y" in plain
    return "d" * days + "t" * times


def _no_doctype(*_declaration: object) -> None:
    raise ValueError("a workbook has no document type")


def _too_large() -> ListRefused:
    return ListRefused(
        _("This workbook is too large inside. Copy the list into a new workbook, or paste it.")
    )


def _too_many_rows() -> str:
    return str(
        _("This list is too long: at most %(n)d lines are read. Take the part with guests.", n=200)
    )
