"""A QR code as the numbers of an SVG path, so that a template draws it and nothing is pasted in as markup. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Final

import segno

QUIET: Final = 4  # modules of white around the code, as readers want


@dataclass(frozen=True)
class QrCode:
    """`path` draws the dark modules on a square of `size` modules, quiet zone included."""

    size: int
    path: str


def qr_code(text: str) -> QrCode:
    """The code of a text, level M."""
    made = segno.make_qr(text, error="m", boost_error=False)
    size = made.symbol_size(border=QUIET)[0]
    rows = enumerate(made.matrix_iter(border=QUIET))
    return QrCode(int(size), "".join(_run(x, y, width) for y, row in rows for x, width in _runs(row)))


def _run(x: int, y: int, width: int) -> str:
    return f"M{x} {y}h{width}v1h-{width}z"


def _runs(row: Iterable[int]) -> list[tuple[int, int]]:
    """Where dark modules stand beside each other in a row: the first one and how many."""
    found, x = [], 0
    for dark, same in groupby(row):
        width = len(list(same))
        if dark:
            found.append((x, width))
        x += width
    return found
