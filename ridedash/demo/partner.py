"""The partner for whom a demo is shown: name, colour and city, typed into one field of the stage.

The field travels in the address of the stage and of the package, and is stored nowhere else.
"""

from dataclasses import dataclass
from typing import Final

from flask import request

from ridedash.face.colour import read_colour
from ridedash.text import one_line

LONGEST: Final = 120  # characters of the field


@dataclass(frozen=True)
class Partner:
    """What the field says; each part is "" where it says nothing."""

    typed: str = ""  # the field as it was typed
    name: str = ""
    city: str = ""
    colour: str = ""  # as #rrggbb


def partner_of(text: str) -> Partner:
    """The parts of the field, which commas separate; a colour may stand anywhere.

    >>> partner_of("Bluebird Cabs, #0057b8, Lisbon")
    Partner(typed='Bluebird Cabs, #0057b8, Lisbon', name='Bluebird Cabs', city='Lisbon', \
colour='#0057b8')
    """
    typed = one_line(text, LONGEST)
    words = []
    colour = ""
    for part in filter(None, map(str.strip, typed.split(","))):
        found = read_colour(part)
        if found:
            colour = found
        else:
            words.append(part)
    name, *rest = words or [""]
    return Partner(typed, name, ", ".join(rest), colour)


def present_partner() -> Partner:
    """The partner whom the address of this request names."""
    return partner_of(request.args.get("partner", ""))
