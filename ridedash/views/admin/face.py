"""Settings of a property's look: its logo, the background of the logo, and its colour."""

import threading
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeVar

from flask import Blueprint, redirect, request
from flask_babel.speaklater import LazyString
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as BaseResponse

from ridedash.extensions import limiter, services
from ridedash.face import MOST_BYTES, BadPicture, Logo, Unusable
from ridedash.face.colour import read_colour
from ridedash.face.logo import make_logo
from ridedash.store.models.people import Property
from ridedash.store.properties import GROUNDS, keep_logo, locked_property, make_door
from ridedash.views.admin.property import Answer, property_page, record
from ridedash.views.web.current_user import by_staff_key, current_staff
from ridedash.views.web.permissions import MANAGE, needs
from ridedash.wording import gettext as _
from ridedash.wording import lazy

bp = Blueprint("admin_face", __name__, url_prefix="/admin/property")
# One logo or picture is read at a time. A second one is refused rather than waits: uploads that
# wait would take the threads that answer everybody else.
Made = TypeVar("Made")
drawing = threading.BoundedSemaphore(1)
WORDS: Final = {
    Unusable.EMPTY: lazy("The file is empty. Choose another one."),
    Unusable.TOO_LARGE: lazy("The file has more than 200 kB. Export a smaller one."),
    Unusable.OTHER_KIND: lazy(
        "The file is none of PNG, JPEG, WebP and SVG. Export the logo as one of them."
    ),
    Unusable.DAMAGED: lazy("The file can't be read. Export the logo again, as PNG or SVG."),
    Unusable.TOO_MANY_PIXELS: lazy(
        "The picture is too large: 4000 pixels a side at most, and "
        "4 million in all. 1000 are plenty."
    ),
    Unusable.TOO_MANY_OF_KIND: lazy(
        "A WebP may have 3 million pixels at most. Export a smaller one, or a PNG."
    ),
    Unusable.TOO_FEW_PIXELS: lazy(
        "The picture is too small: 16 pixels a side at least. A few hundred look good."
    ),
    Unusable.ALL_CLEAR: lazy(
        "Nothing of the picture can be seen: all of it is transparent. Choose another one."
    ),
    Unusable.SHAPE: lazy(
        "The logo is too long for a page: it may be 8 times as wide as high, or "
        "4 times as high as wide. Cut off the empty rim, or use its sign alone."
    ),
    Unusable.ANIMATED: lazy(
        "The picture is animated, which a logo may not be. Export a still one."
    ),
    Unusable.UNSAFE: lazy(
        "The file declares entities or refers to itself, which a logo may not. "
        "Export it again as a plain SVG, or as PNG."
    ),
    Unusable.TOO_DETAILED: lazy(
        "The drawing is too detailed to be sent to a phone. Export it as PNG."
    ),
    Unusable.NOTHING_LEFT: lazy(
        "Nothing in the file can be shown: it has no shapes or words of "
        "its own. Export the logo as PNG."
    ),
}


class Chosen(NamedTuple):
    """The values of the form. `logo` is None without a file that can be used."""

    logo: Logo | None
    remove: bool
    ground: str
    colour: str | None


@bp.post("/face")
@needs(MANAGE)
@limiter.limit("60/hour", key_func=by_staff_key)
def save() -> Answer:
    """Store logo and colour, or show why the file or the colour can't be used."""
    wrong: dict[str, str] = {}
    chosen = _read(wrong)
    if wrong:
        return property_page(wrong), 422
    with services().db.write() as s:
        prop = locked_property(s, current_staff().property_id)
        changed = _change(s, prop, chosen)
        if changed:
            make_door(prop)
            record(s, "property.changed", f"properties:{prop.id}", changed=changed)
    return _done(chosen.logo)


def _read(wrong: dict[str, str]) -> Chosen:
    """Read the form; `wrong` gets a message for each field that can't be used."""
    logo = None
    colour = None
    file = request.files.get("logo")
    if file is not None and file.filename:
        data = file.read(MOST_BYTES + 1)
        logo = made("logo", lambda: make_logo(data), WORDS, wrong)
    if request.form.get("own_colour"):
        colour = read_colour(request.form.get("colour", ""))
        if colour is None:
            wrong["colour"] = _("Choose a colour, such as #7a1f3d.")
    ground = request.form.get("ground", "")
    return Chosen(
        logo=logo,
        remove=bool(request.form.get("remove_logo")),
        ground=ground if ground in GROUNDS else GROUNDS[0],
        colour=colour,
    )


def made(
    field: str,
    make: Callable[[], Made],
    words: Mapping[Unusable, LazyString],
    wrong: dict[str, str],
) -> Made | None:
    """What is made of the file of a field; None with a message in `wrong` if it can't be used."""
    if not drawing.acquire(blocking=False):
        wrong[field] = _("Another file is being read. Choose this one again in a moment.")
        return None
    try:
        return make()
    except BadPicture as error:
        wrong[field] = str(words[error.why])
        return None
    finally:
        drawing.release()


def _change(s: Session, prop: Property, chosen: Chosen) -> list[str]:
    """Store the changed values. Returns the names of the changed fields."""
    before = (prop.colour, prop.logo, prop.logo_ground or GROUNDS[0])
    if chosen.logo or chosen.remove:
        keep_logo(s, prop, chosen.logo)
    prop.colour = chosen.colour
    prop.logo_ground = chosen.ground
    after = (prop.colour, prop.logo, prop.logo_ground)
    names = ("colour", "logo", "logo_ground")
    return [name for name, old, new in zip(names, before, after, strict=True) if old != new]


def _done(logo: Logo | None) -> BaseResponse:
    address = "/admin/property?said=face"
    if logo and logo.left_out:
        address += "&left=" + ",".join(logo.left_out)
    return redirect(f"{address}#face", code=303)
