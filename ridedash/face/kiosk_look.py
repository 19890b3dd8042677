"""What a property chooses for its kiosks: a picture, a pattern and a typeface.

Of a photograph, whose kind follows from its first bytes as that of a logo does, two crops are made:
it is read into pixels (pictures.py), cropped, darkened and written as JPEG (photo_crops.py). The
file itself is never stored. Patterns are drawn by the kiosk's script, in the property's colour,
where there is no picture.
"""

from typing import Final, NamedTuple

from ridedash.face import MOST_PHOTO_BYTES, BadPicture, Crop, Unusable
from ridedash.face.logo import PICTURE, hashed_name


class Typeface(NamedTuple):
    """A face for headings: the name that a manager reads, and the Debian package that has it.

    Each has an open licence, the SIL OFL 1.1. `stack` is a CSS font-family; a device without the
    package, or a script that the face lacks, gets the next face of it.
    """

    name: str
    stack: str
    package: str


PLAIN: Final = "plain"  # the typeface of the rest of the kiosk
TYPEFACES: Final = {
    "serif": Typeface("Vollkorn", "Vollkorn, Georgia, serif", "fonts-vollkorn"),
    "classic": Typeface(
        "EB Garamond", '"EB Garamond 12", "EB Garamond", Georgia, serif', "fonts-ebgaramond"
    ),
    "modern": Typeface("Manrope", "Manrope, system-ui, sans-serif", "fonts-manrope"),
}
PATTERNS: Final = ("waves", "arches", "lattice")  # the first one if none was chosen
# the part of a picture that every crop keeps; the first one if none was chosen
FOCUSES: Final = ("centre", "left", "right", "top", "bottom")


def stack_of(typeface: str | None) -> str:
    """The CSS font-family of the kiosk's headings; "" for that of the rest of it."""
    found = TYPEFACES.get(typeface or PLAIN)
    return found.stack if found else ""


def make_photo(data: bytes, focus: str) -> dict[str, Crop]:
    """The crops of a file by shape, "wide" and "tall"; each keeps `focus`. Raises BadPicture."""
    if not data:
        raise BadPicture(Unusable.EMPTY)
    if len(data) > MOST_PHOTO_BYTES:
        raise BadPicture(Unusable.TOO_LARGE)
    if not PICTURE.match(data):
        raise BadPicture(Unusable.OTHER_KIND)
    # imported here: no web process needs Pillow until a manager chooses a picture
    from ridedash.face.photo_crops import crops
    from ridedash.face.pictures import PHOTO, read_picture

    made = crops(read_picture(data, PHOTO), focus)
    return {shape: Crop(hashed_name(content, "jpg"), content) for shape, content in made.items()}
