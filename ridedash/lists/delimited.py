"""Rows of a text: CSV in any dialect, pasted cells of a spreadsheet, lines of a message or a chat.

Quotation marks, doubled ones and line ends within cells are read by Python's csv module.
"""

import csv
import io
import re
from typing import Final

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
from ridedash.lists.words import MEDIA, head_of, known, plain
from ridedash.wording import gettext as _

LINE_ENDS: Final = re.compile(r"\r\n|[\n\r\v\f\x85\u2028\u2029]")
DITTO_MARK: Final = "〃"  # what a quotation mark alone in its cell becomes
DASH: Final = " – "  # stands for each dash between spaces
DASHES: Final = re.compile(r"[ \t]+[-–—―‒|][ \t]+")
# by priority: the first one that stands in half of the lines parts the cells
SEPARATORS: Final = ("\t", ";", "|", DASH, ",")
DECLARED: Final = re.compile(r"sep=(.)")
MOST_LINE_ENDS: Final = 5  # in one cell: with more, a quotation mark has no end
# \u2192 is an arrow: in pages such signs come from one rule of the style sheet
BULLET: Final = re.compile(r"^\s*[-–—•*·▪◦‣●○✓✔☐☑□■►▶➢\u2192>]+\s+(?=\S)")
# the number of a line in a list: "1", "1.", "1)" or "(1)" before its text; a number in a cell
# of its own is a column, which is known by its numbers
LIST_NUMBER: Final = re.compile(r"""[^\w+;,|\t"-]*(\d{1,3})(?:[.)]+(?!\d)|(?=\s)) *(?![\s;,|])""")


def rows_of_text(text: str) -> ListTable:
    """The rows of a text that are not blank. Raises ListRefused for too many.

    >>> [row.cells for row in rows_of_text('"Heron, Ann";412').rows]
    [('Heron, Ann', '412')]
    """
    lines, own, is_chat = messages_of(list(enumerate(LINE_ENDS.split(text), 1)))
    separator, lines = _declared(lines)
    if sum(bool(line.strip()) for _, line in lines) > MOST_ROWS * 4:
        raise too_many()
    separator = separator or _separator([line for _, line in lines])
    if separator == "," and not _are_cells([line for _, line in lines], is_chat=is_chat):
        separator = ""
    found, oddities = _records(_unnumbered(lines), separator)
    if len(found) > MOST_ROWS:
        raise too_many()
    if any(len(row.cells) > MOST_CELLS for row in found):
        oddities = (*oddities, Oddity.WIDE)
        found = [Row(row.number, row.cells[:MOST_CELLS], row.out) for row in found]
    found += [Row(at, (cleaned(line),), Out.GREETING) for at, line in own if cleaned(line)]
    return ListTable(_even(sorted(found, key=lambda row: row.number)), oddities=oddities)


def _are_cells(lines: list[str], *, is_chat: bool) -> bool:
    """Whether the commas of a list part cells: in sentences only some lines have any."""
    lines = [line for line in lines if any(map(str.isalnum, line))]
    counts = [line.count(",") for line in lines]
    if lines and all(head_of(cell) is not None for cell in lines[0].split(",")):
        return True
    if is_chat:
        return len({count for count in counts if count}) == 1 and 4 * sum(
            count > 0 for count in counts
        ) >= 3 * len(counts)
    return 3 * sum(count > 0 for count in counts) >= 2 * len(counts)


def too_many() -> ListRefused:
    """The refusal of a list with far too many lines."""
    return ListRefused(
        _("This list is too long: at most %(n)d lines are read. Take the part with guests.", n=200)
    )


def _declared(lines: list[tuple[int, str]]) -> tuple[str, list[tuple[int, str]]]:
    """The separator that Excel's first line names (`sep=;`), and the lines without that one."""
    first = next((each for each in lines if each[1].strip()), None)
    if first is None:
        return "", lines
    named = DECLARED.fullmatch(first[1].strip('\ufeff "'))
    if named is None:
        return "", lines
    return named[1], [each for each in lines if each is not first]


def _separator(lines: list[str]) -> str:
    """The separator of most lines; "" for a list without one."""
    seen = [line for line in lines if line.strip()]
    counts = {each: sum(_has(line, each) for line in seen) for each in SEPARATORS}
    usual = next((each for each in SEPARATORS if counts[each] * 2 >= len(seen)), "")
    best = usual or max(SEPARATORS, key=lambda each: counts[each])
    if not counts[best]:
        return ""
    return best


def _has(line: str, separator: str) -> bool:
    if separator == DASH:
        return bool(DASHES.search(line.strip()))
    return separator in line.strip()


def _unnumbered(lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """The lines without bullets, and without the numbers 1, 2, 3… before them.

    Other numbers before a line are rooms, or part of names.
    """
    lines = [(at, BULLET.sub("", line)) for at, line in lines]
    found = {at: match for at, line in lines if (match := LIST_NUMBER.match(line))}
    counted = [int(match[1]) for match in found.values()]
    if len(counted) < 2 or counted != list(range(1, len(counted) + 1)):
        return lines
    return [
        (at, line[found[at].end() :].lstrip(" ") if at in found else line) for at, line in lines
    ]


def _records(lines: list[tuple[int, str]], separator: str) -> tuple[list[Row], tuple[Oddity, ...]]:
    """The records of the lines, each with the number of its first line."""
    if separator == DASH or not separator:
        return [row for each in lines if (row := _row(*each, separator))], ()
    lines = _with_ditto_marks(lines, separator)
    read = _csv("\n".join(line for _, line in lines), separator)
    if read is None:
        return [row for each in lines if (row := _row(*each, separator))], (Oddity.QUOTES,)
    found = []
    for at, cells in read:
        row = _cells_row(lines[at][0], cells)
        if row is not None and len(row.filled) == 1 and len(cells) == 1:
            # a list of two sources: this line has another separator
            other = _separator([cells[0]])
            if other:
                row = _row(lines[at][0], cells[0], other)
        if row is not None:
            found.append(row)
    return found, ()


def _with_ditto_marks(lines: list[tuple[int, str]], separator: str) -> list[tuple[int, str]]:
    """The lines with the ditto mark for each cell that is one quotation mark.

    Such a cell means the one above it: as the beginning of a quoted cell it would swallow what
    stands behind it. Within a quoted cell of several lines nothing is changed.
    """
    edge = re.escape(separator)
    alone = re.compile(rf'(?:(?<=^)|(?<={edge}))( *)"( *)(?={edge}|$)')
    found = []
    is_open = False
    for at, line in lines:
        if not is_open:
            line = alone.sub(rf"\1{DITTO_MARK}\2", line)
        is_open ^= line.count('"') % 2 == 1
        found.append((at, line))
    # a mark without its end leaves all that follow open: then none of them begins a cell
    return found


def _csv(text: str, separator: str) -> list[tuple[int, list[str]]] | None:
    """The records with the index of their first line; None if the quotation marks don't match.

    Marks within a cell are letters; a cell of several lines has its marks at both ends.
    """
    proper = _records_of(text, separator, strict=True)
    if proper is not None:
        return proper
    loose = _records_of(text, separator, strict=False)
    joined = any("\n" in cell for _at, cells in loose or () for cell in cells)
    if joined:
        return None
    return loose


def _records_of(text: str, separator: str, *, strict: bool) -> list[tuple[int, list[str]]] | None:
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=separator,
        skipinitialspace=separator != "\t",
        strict=strict,
    )
    found = []
    begun = 0
    try:
        for cells in reader:
            # a tab is no part of a cell of several lines
            swallowed = any("\t" in cell and "\n" in cell for cell in cells)
            if swallowed or any(cell.count("\n") > MOST_LINE_ENDS for cell in cells):
                return None
            found.append((begun, cells))
            begun = reader.line_num
    except csv.Error:
        return None
    return found


def _row(number: int, line: str, separator: str) -> Row | None:
    """One line whose quotation marks are not read by the csv module."""
    if separator == DASH:
        return _cells_row(number, DASHES.split(line.strip()))
    cells = line.split(separator) if separator else [line]
    return _cells_row(number, [cell.strip().strip('"') for cell in cells])


def _cells_row(number: int, cells: list[str]) -> Row | None:
    """A row of cleaned cells; None for a blank one. A row of lines and dots alone is left out."""
    texts = [cleaned(cell[: CELL_MAX * 4]) for cell in cells]
    while texts and not texts[-1]:
        texts.pop()
    if not any(text.strip(" ;,|\"'") for text in texts):
        return None
    is_line = not any(map(str.isalnum, "".join(texts)))
    return Row(number, tuple(texts), Out.SEPARATOR if is_line else None)


def _even(rows: list[Row]) -> tuple[Row, ...]:
    """The rows with the same number of cells, without columns that are empty in all of them."""
    width = max((len(row.cells) for row in rows), default=0)
    full = [(*row.cells, *[""] * (width - len(row.cells))) for row in rows]
    used = [at for at in range(width) if any(cells[at] for cells in full)]
    return tuple(
        Row(row.number, tuple(cells[at] for at in used), row.out)
        for row, cells in zip(rows, full, strict=True)
    )


# ---- messages of a chat

Line = tuple[int, str]
_CLOCK: Final = r"\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:\s?[ap]\.?m\.?)?"
_DAY: Final = r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}"
# what WhatsApp and others put before a message: [12:03, 28/11/2026] Name: …
STAMP: Final = re.compile(
    rf"^\W{{0,3}}(?:\[(?:{_CLOCK},? {_DAY}|{_DAY},? {_CLOCK})\]|{_DAY},? {_CLOCK} -) "
    r"?(?P<sender>[^:\n]{1,60}:(?: |$))?",
    re.IGNORECASE,
)
_IN_ANGLES: Final = re.compile(r"\W*<[^<>]*>\W*")


def messages_of(lines: list[Line]) -> tuple[list[Line], list[Line], bool]:
    """The lines that may name guests, those of the chat's own, and whether it is a chat.

    Lines of one message stay apart.
    """
    stamps = {at: STAMP.match(line) for at, line in lines}
    has_senders = any(each and each["sender"] for each in stamps.values())
    kept = []
    own = []
    for at, line in lines:
        stamp = stamps[at]
        text = STAMP.sub("", line)
        is_own = stamp is not None and has_senders and not stamp["sender"]
        if is_own or (has_senders and is_media(text)):
            own.append((at, text))
        else:
            kept.append((at, text))
    return kept, own, has_senders


def is_media(text: str) -> bool:
    """Whether a message stands for a file, or for one that was taken back."""
    return bool(_IN_ANGLES.fullmatch(text)) or plain(text) in known(MEDIA)
