"""Why a file can't be a logo. The words for people are in ridedash/views/admin/face.py."""

from enum import Enum
from typing import Final

MOST_BYTES: Final = 200_000  # of the file that a manager chooses
SHOWN_BYTES: Final = 12_000  # of a logo as it goes to a guest's phone; an SVG's are counted gzipped
NARROWEST, WIDEST = 1 / 4, 8.0  # width / height


class Unusable(Enum):
    """What is wrong with a file."""

    EMPTY = "empty"
    TOO_LARGE = "too large"
    OTHER_KIND = "other kind"
    DAMAGED = "damaged"
    TOO_MANY_PIXELS = "too many pixels"
    TOO_FEW_PIXELS = "too few pixels"
    SHAPE = "shape"
    UNSAFE = "unsafe"
    TOO_DETAILED = "too detailed"
    NOTHING_LEFT = "nothing left"


class BadLogo(ValueError):
    """A file that can't be shown as a logo; `why` says the reason."""

    def __init__(self, why: Unusable) -> None:
        super().__init__(why.value)
        self.why = why


def check_shape(width: float, height: float) -> None:
    """Refuse what would be a line beside a name. Raises BadLogo."""
    if not NARROWEST <= width / height <= WIDEST:
        raise BadLogo(Unusable.SHAPE)
