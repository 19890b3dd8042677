"""The cost of reading a list of 60 guests: pasted, as CSV of a code page, as a workbook."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final
from zoneinfo import ZoneInfo

from bench import frame
from bench.frame import Result, Run, line
from bench.page_desk import cpu_ms
from ridedash.lists.lines import Here, read_line, texts_of
from ridedash.lists.reading import read_file, read_text
from ridedash.lists.table import ListTable
from tests.lists.workbook import row, workbook

GUESTS: Final = 60
HEAD: Final = ("Name", "Room", "Phone", "Time", "Destination", "Pax", "Remarks")
NOW: Final = datetime(2026, 3, 4, 9, 0, tzinfo=UTC)


def _lines() -> list[tuple[str, ...]]:
    guests = [
        (f"Zoë Heron{n}", str(400 + n), f"+91 98450 {n:05}", "tomorrow 06:15", "Airport", "2", "–")
        for n in range(GUESTS)
    ]
    return [HEAD, *guests]


def _whole(read: Callable[[], ListTable]) -> Callable[[], None]:
    """Read a list and each of its lines, as its page does."""

    def whole() -> None:
        table, here = read(), Here("IN", ZoneInfo("Asia/Kolkata"), NOW)
        for each in table.rows:
            read_line(texts_of(each, table.fields, {}), here)

    return whole


@line(
    "list-read",
    "a list of 60 guests read, with each of its lines",
    aim="≤ 100 ms of CPU",
    protects="A rooming list appears as soon as it is pasted, and no list holds up a web process.",
)
def list_read(run: Run) -> list[Result]:
    """Milliseconds of CPU, without the database and the page."""
    text = "\n".join(";".join(cells) for cells in _lines())
    code_page = text.replace("–", "-").encode("cp1252")
    book = workbook("".join(row(n, *cells) for n, cells in enumerate(_lines(), 1)))
    kinds: dict[str, Callable[[], ListTable]] = {
        "pasted": lambda: read_text(text),
        "CSV of a code page": lambda: read_file(code_page),
        "workbook": lambda: read_file(book),
    }
    found: list[Result] = []
    for name, read in kinds.items():
        whole = _whole(read)
        whole()
        found.append(frame.alone(run, lambda w=whole: cpu_ms(5, w), "ms", label=name))  # type: ignore[misc]
    return found
