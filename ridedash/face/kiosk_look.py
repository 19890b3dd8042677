"""What a property chooses for its kiosks: how its picture is cropped, a pattern and a typeface.

Pictures are made by photo.py. Patterns are drawn by the kiosk's script, in the property's colour,
where there is no picture.
"""

from typing import Final, NamedTuple


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
