"""/demo/pictures: pictures of the stage for the package, drawn by the presenter's browser.

At most MOST of them are stored, in instance/pictures; a Reset deletes them. They go into the
package and nowhere else.
"""

from pathlib import Path
from typing import Final

from flask import Blueprint, Flask, Response, abort, jsonify, request

from ridedash.demo.beginning import empty_too, only_in_a_demo
from ridedash.extensions import Services, services
from ridedash.views.web.permissions import MANAGE, needs
from ridedash.wording import gettext as _

bp: Final = only_in_a_demo(Blueprint("demo_pictures", __name__, url_prefix="/demo/pictures"))
FOLDER: Final = "pictures"
MOST: Final = 6  # pictures
SIGNATURE: Final = b"\xff\xd8\xff"  # the first bytes of every JPEG


def init_app(app: Flask) -> None:
    """Let a Reset delete the pictures."""
    s: Services = app.extensions["ridedash"]
    empty_too(app, lambda: clear(s.settings.instance))


@bp.post("")
@needs(MANAGE)
def keep() -> Response | tuple[Response, int]:
    """Store the JPEG in the body; delete the oldest beyond MOST.

    Answers {"said"}, words for the presenter; 400 for anything but a JPEG.
    """
    picture = request.get_data(cache=False)
    if not picture.startswith(SIGNATURE):
        abort(400)
    instance = services().settings.instance
    known = pictures(instance)
    last = number_of(known[-1]) if known else 0
    surplus = max(0, len(known) + 1 - MOST)
    for old in known[:surplus]:
        old.unlink(missing_ok=True)
    path = instance / FOLDER / f"{last + 1}.jpg"
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.touch(mode=0o600)  # so that no one else can read it while it is written
    path.write_bytes(picture)
    message = _("Picture %(n)d of %(most)d is in the package.", n=len(known) + 1, most=MOST)
    if surplus:
        message = _("The picture is in the package. The oldest of %(most)d has gone.", most=MOST)
    return jsonify(said=message)


def pictures(instance: Path) -> list[Path]:
    """The stored pictures of an instance folder, the oldest first."""
    found = (instance / FOLDER).glob("*.jpg")
    return sorted((each for each in found if each.stem.isdecimal()), key=number_of)


def number_of(path: Path) -> int:
    """The number of a picture; later ones have higher numbers."""
    return int(path.stem)


def clear(instance: Path) -> None:
    """Delete all pictures of an instance folder."""
    for each in pictures(instance):
        each.unlink(missing_ok=True)
