"""What one poll of the board is answered: all that looks different from what the asker has, and nothing else."""

from dataclasses import dataclass
from typing import Any, Final

from ridedash.store.orders import MAX_ID
from ridedash.views.board_rows import revision
from ridedash.views.board_state import Board

MAX_KNOWN: Final = 16_000  # characters
LONGEST_STEP: Final = 13  # digits in base 36: no id has more


@dataclass(frozen=True)
class Known:
    """What somebody has, as `since` says: revisions of the order, the cabs and the chosen ride, and of each row."""

    order: str
    cabs: str
    ride: str
    rows: dict[int, str]


NOTHING: Final = Known("", "", "", {})


def known(since: str) -> Known:
    """`since` read: `order.cabs.ride~rows`, where each row is its distance from the one before (base 36) and four
    letters of its revision. Whatever can't be read is not known."""
    head, _tilde, rows = since[:MAX_KNOWN].partition("~")
    parts = head.split(".")
    if len(parts) != 3:
        return NOTHING
    try:
        return Known(parts[0], parts[1], parts[2], _rows(rows))
    except ValueError:
        return NOTHING


def _rows(text: str) -> dict[int, str]:
    found, at = {}, 0
    for part in text.split(".") if text else ():
        at += int(part[:-4][:LONGEST_STEP], 36)
        if not 0 < at <= MAX_ID:
            raise ValueError("no such row")
        found[at] = part[-4:]
    return found


def answer(board: Board, has: Known, bar: dict[str, Any], ride_rev: str) -> dict[str, Any]:
    """The body: `rows` that changed, `gone` ones, and `order` and `cabs` where they are others.

    `v` is what the asker says of them next time, before its rows.
    """
    body: dict[str, Any] = {"v": f"{board.order_rev}.{board.cabs_rev}.{ride_rev}", "bar": bar}
    body["rows"] = board.json_of(has.rows)
    gone = [number for number in has.rows if number not in board.revisions]
    if gone:
        body["gone"] = gone
    if has.order != board.order_rev:
        body["order"] = board.order
    if has.cabs != board.cabs_rev:
        body["cabs"] = board.cabs
    return body


def tag(board: Board, bar: dict[str, Any], ride_rev: str) -> str:
    """What differs whenever anything on the board does."""
    return f"{board.order_rev}{board.cabs_rev}{board.rows_rev}{revision(bar)}-{ride_rev}"
