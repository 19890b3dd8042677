"""A property's face on pages that guests see (name, logo, colour, picture), and its files.

Everybody who has the address of a file may load it. That of a logo or a picture is the SHA-256 of
its bytes, so browsers may cache it for good; a colour's address is the colour, and its style sheet
is computed. No address identifies a property.
"""

import re
from dataclasses import dataclass
from typing import Final

from flask import Blueprint, Response, abort, request
from werkzeug.wrappers import Response as BaseResponse

from ridedash.extensions import services
from ridedash.face.colour import palette, style_sheet
from ridedash.face.logo import KINDS
from ridedash.store.models.people import Property
from ridedash.store.properties import face_content
from ridedash.views.web.compression import compressed
from ridedash.views.web.permissions import SHARED, needs

bp = Blueprint("faces", __name__, url_prefix="/face")
ADDRESS: Final = "/face/"
MADE: Final = re.compile(r"[0-9a-f]{64}\.(png|svg|jpg)")
SHEET: Final = re.compile(r"([0-9a-f]{6})\.css")
A_DAY: Final = 86_400  # seconds
A_YEAR: Final = 31_536_000  # seconds


@dataclass(frozen=True)
class Face:
    """The parts of a property's face on a page.

    `logo` and `sheet` are addresses, "" without one.
    """

    name: str
    logo: str = ""
    width: int = 0
    height: int = 0
    ground: str = "light"  # background of the logo: "light" or "dark"
    colour: str = ""
    sheet: str = ""

    @property
    def own(self) -> bool:
        """Whether the property has a logo or a colour."""
        return bool(self.logo or self.sheet)


def face_of(prop: Property) -> Face:
    """The face of a property, for the template web/face.html."""
    colour = prop.colour or ""
    return Face(
        name=prop.name,
        logo=ADDRESS + prop.logo if prop.logo else "",
        width=prop.logo_width or 0,
        height=prop.logo_height or 0,
        ground=prop.logo_ground or "light",
        colour=colour,
        sheet=f"{ADDRESS}{colour[1:]}.css" if colour else "",
    )


def picture_of(prop: Property) -> dict[str, str] | None:
    """The addresses of the crops of a property's picture, by shape; None without a picture."""
    if not prop.picture_wide or not prop.picture_tall:
        return None
    return {"wide": ADDRESS + prop.picture_wide, "tall": ADDRESS + prop.picture_tall}


@bp.get("/<name>")
@needs(SHARED)
def file(name: str) -> BaseResponse:
    """Serve a logo, a crop of a picture, or the style sheet of a colour."""
    if match := SHEET.fullmatch(name):
        return _cacheable(
            Response(style_sheet(palette(f"#{match[1]}")), mimetype="text/css"), A_DAY
        )
    found = MADE.fullmatch(name) or abort(404)
    with services().db.read() as s:
        content = face_content(s, name)
    if content is None:
        abort(404)
    made = Response(content, content_type=KINDS[found[1]])
    if found[1] == "svg":
        made = compressed(made)
    return _cacheable(made, A_YEAR)


def _cacheable(answer: Response, seconds: int) -> BaseResponse:
    """An answer that browsers and proxies may cache; 304 if they have it already."""
    answer.cache_control.public = True
    answer.cache_control.max_age = seconds
    answer.cache_control.immutable = seconds == A_YEAR
    answer.add_etag()
    return answer.make_conditional(request)
