"""docs/booking-protocol.md has the states, transitions, failpoints and deadlines of the code."""

import re
from pathlib import Path
from typing import Final

from ridedash.rides.state.states import TRANSITIONS
from ridedash.service import client
from ridedash.service.client import Operation
from ridedash.store.models.orders import OrderState

ROOT: Final = Path(__file__).resolve().parents[2]
PAGE: Final = (ROOT / "docs" / "booking-protocol.md").read_text()
STATE: Final = re.compile(rf"\b(?:{'|'.join(OrderState)})\b")
# operations whose constant has another name than the page gives them
CONSTANTS: Final = {"feedback options": "OPTIONS", "track_ride": "TRACK"}


def rows(number: str) -> list[list[str]]:
    """The cells of each row of the table in the section with this number, without the header."""
    heading = rf"^#+ {re.escape(number)}\.? .*?\n(.*?)(?=^#|\Z)"
    found = re.search(heading, PAGE, re.MULTILINE | re.DOTALL)
    assert found, number
    lines = [line for line in found[1].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def states(cell: str) -> list[OrderState]:
    """The states that a cell names, without what stands in brackets."""
    return [OrderState(name) for name in STATE.findall(re.sub(r"\([^()]*\)", "", cell))]


def test_the_page_has_every_state() -> None:
    assert sorted(state for row in rows("1.5") for state in states(row[0])) == sorted(OrderState)


def test_the_page_has_every_transition() -> None:
    table = {before: frozenset(states(row[1])) for row in rows("1.6") for before in states(row[0])}
    assert table == TRANSITIONS


def test_the_page_has_every_failpoint() -> None:
    called = re.compile(r'failpoint\("([a-z.]+)"\)')
    sources = [path.read_text() for path in sorted((ROOT / "ridedash").rglob("*.py"))]
    found = re.search(r"\*\*Failpoints\.\*\*(.*?)\n\n", PAGE, re.DOTALL)
    assert found
    named = re.findall(r"`([a-z]+\.[a-z]+)`", found[1])
    assert sorted(named) == sorted({name for text in sources for name in called.findall(text)})


def test_the_page_has_the_deadline_of_every_operation() -> None:
    documented = {}
    for names, total, *_more in rows("2"):
        seconds = re.match(r"(\d+) s\b", total)
        assert seconds, names
        for name in names.split(", "):
            documented[CONSTANTS.get(name, name.upper())] = int(seconds[1])
    known = {name: each for name, each in vars(client).items() if isinstance(each, Operation)}
    assert documented == {name: each.total_s for name, each in known.items()}
