"""Settings of a property's look on its kiosks: a picture, a pattern, the typeface of headings."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Final

from flask import Blueprint, redirect, request
from sqlalchemy.orm import Session

from ridedash.extensions import limiter, services
from ridedash.face import MOST_PHOTO_BYTES, Crop, Unusable
from ridedash.face.kiosk_look import FOCUSES, PATTERNS, PLAIN, TYPEFACES, make_photo
from ridedash.store.models.people import Property
from ridedash.store.properties import keep_picture, locked_property
from ridedash.views.admin.face import WORDS, made
from ridedash.views.admin.property import Answer, property_page, record
from ridedash.views.web.current_user import by_staff_key, current_staff
from ridedash.views.web.permissions import MANAGE, needs
from ridedash.wording import gettext as _
from ridedash.wording import lazy

bp = Blueprint("admin_kiosk_look", __name__, url_prefix="/admin/property")
OTHER_SIZE: Final = lazy(
    "The picture is too large. Export it as JPEG, with 3000 pixels on its longer side."
)
PHOTO_WORDS: Final = WORDS | {
    Unusable.TOO_LARGE: lazy("The file has more than 8 MB. Export a smaller one."),
    Unusable.OTHER_KIND: lazy("The file is none of PNG, JPEG and WebP. Export it as JPEG."),
    Unusable.DAMAGED: lazy("The file can't be read. Export the picture again, as JPEG."),
    Unusable.TOO_MANY_PIXELS: OTHER_SIZE,
    Unusable.TOO_MANY_OF_KIND: OTHER_SIZE,
    Unusable.TOO_FEW_PIXELS: lazy(
        "The picture is too small: 960 × 600 pixels at least. 3000 × 2000 look good."
    ),
    Unusable.ANIMATED: lazy("The picture is animated. Export a still one."),
    Unusable.TOO_DARK: lazy("The picture is nearly black all over. Choose a brighter one."),
    Unusable.ONE_COLOUR: lazy("The picture is of one colour all over. Choose another one."),
}


@dataclass(frozen=True)
class LookChosen:
    """What the form chooses beside a file."""

    focus: str
    pattern: str
    typeface: str


@bp.post("/kiosk-look")
@needs(MANAGE)
@limiter.limit("60/hour", key_func=by_staff_key)
def save() -> Answer:
    """Store the look, or show why the picture can't be used; what was chosen beside it stays."""
    wrong: dict[str, str] = {}
    look = LookChosen(
        focus=_one_of(FOCUSES, "focus"),
        pattern=_one_of(PATTERNS, "pattern"),
        typeface=_one_of((PLAIN, *TYPEFACES), "typeface"),
    )
    remove = "remove" in request.form
    crops = {} if remove else _crops(look.focus, wrong)
    if wrong:
        return property_page(wrong, look=asdict(look)), 422
    with services().db.write() as s:
        prop = locked_property(s, current_staff().property_id)
        changed = _change(s, prop, look, crops)
        if changed:
            record(s, "property.changed", f"properties:{prop.id}", changed=changed)
    return redirect("/admin/property?said=saved#kiosk-look", code=303)


def _one_of(names: Collection[str], field: str) -> str:
    """The chosen one of these names; the first one in place of any other word."""
    chosen = request.form.get(field, "")
    return chosen if chosen in names else next(iter(names))


def _crops(focus: str, wrong: dict[str, str]) -> Mapping[str, Crop] | None:
    """The crops of the chosen file; None to keep the present ones.

    `wrong` gets a message if the file can't be used, or if the present ones keep another part.
    """
    file = request.files.get("picture")
    if file is not None and file.filename:
        with file.stream:  # a large one is a temporary file
            data = file.read(MOST_PHOTO_BYTES + 1)
        return made("picture", lambda: make_photo(data, focus), PHOTO_WORDS, wrong)
    with services().db.read() as s:
        kept = s.get_one(Property, current_staff().property_id).picture_focus
    if kept not in (None, focus):
        wrong["picture"] = _("Choose the file again, too: only the part that is shown was kept.")
    return None


def _change(
    s: Session, prop: Property, look: LookChosen, crops: Mapping[str, Crop] | None
) -> list[str]:
    """Store the changed values; no crops remove the picture. Returns the changed fields' names."""
    before = (prop.picture_wide, prop.pattern or PATTERNS[0], prop.typeface or PLAIN)
    if crops is not None:
        keep_picture(s, prop, crops, look.focus)
    prop.pattern = look.pattern
    prop.typeface = look.typeface
    after = (prop.picture_wide, prop.pattern, prop.typeface)
    names = ("picture", "pattern", "typeface")
    return [name for name, old, new in zip(names, before, after, strict=True) if old != new]
