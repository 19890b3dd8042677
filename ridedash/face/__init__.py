"""What a property looks like to its guests: a colour, a logo, a picture on its kiosks. Pure.

Types and limits are here, so that no page loads Pillow for them: only pictures.py needs it.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple

MOST_BYTES: Final = 200_000  # size of the file that a manager chooses as a logo
MOST_PHOTO_BYTES: Final = 8_000_000  # of a photograph; a telephone's has 3 to 6 MB
# size of a logo as it is sent to a guest's phone; of an SVG, after gzip
SHOWN_BYTES: Final = 10_000
NARROWEST: Final = 1 / 4  # width / height
WIDEST: Final = 8.0  # width / height


class Unusable(Enum):
    """What is wrong with a file. The words for it are in ridedash/views/admin/face.py."""

    EMPTY = "empty"
    TOO_LARGE = "too large"
    OTHER_KIND = "other kind"
    DAMAGED = "damaged"
    TOO_MANY_PIXELS = "too many pixels"
    TOO_MANY_OF_KIND = "too many pixels of this kind"
    TOO_FEW_PIXELS = "too few pixels"
    ALL_CLEAR = "all clear"
    SHAPE = "shape"
    ANIMATED = "animated"
    UNSAFE = "unsafe"
    TOO_DETAILED = "too detailed"
    NOTHING_LEFT = "nothing left"
    TOO_DARK = "too dark"
    ONE_COLOUR = "one colour"


class BadPicture(ValueError):
    """A file that can't be shown as a logo or a photograph; `why` says the reason."""

    def __init__(self, why: Unusable) -> None:
        super().__init__(why.value)
        self.why = why


def check_shape(width: float, height: float) -> None:
    """Refuse a logo that is too narrow or too wide to stand beside a name. Raises BadPicture."""
    if not NARROWEST <= width / height <= WIDEST:
        raise BadPicture(Unusable.SHAPE)


@dataclass(frozen=True)
class Logo:
    """A logo as it is stored and served. `name` is <SHA-256 of content>.<png or svg>."""

    name: str
    content: bytes
    width: int  # pixels of a PNG; for an SVG only width / height matters
    height: int
    left_out: tuple[str, ...] = ()  # kinds of SVG elements that were removed


class Crop(NamedTuple):
    """One crop of a photograph as it is stored and served. `name` is <SHA-256 of content>.jpg."""

    name: str
    content: bytes
