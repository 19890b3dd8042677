"""/demo/pictures: what the stage looked like, as the presenter's browser drew it; for the package.

At most six, in instance/pictures; a Reset forgets them. A picture goes into the package and
nowhere else.
"""

from pathlib import Path
from typing import Final

from flask import Blueprint, Flask, Response, abort, jsonify, request

from ridedash.demo.beginning import empty_too, only_with_our_sandbox
from ridedash.extensions import Services, services
from ridedash.views.web.permissions import MANAGE, needs
from ridedash.wording import gettext as _

bp: Final = Blueprint("demo_pictures", __name__, url_prefix="/demo/pictures")
bp.before_request(only_with_our_sandbox)
FOLDER: Final = "pictures"
MOST: Final = 6
SIGNATURE: Final = b"\xff\xd8\xff"  # how every JPEG begins


def init_app(app: Flask) -> None:
    """Let a Reset forget the pictures."""
    s: Services = app.extensions["ridedash"]
    empty_too(app, lambda: clear(s.settings.instance))


@bp.post("")
@needs(MANAGE)
def keep() -> Response | tuple[Response, int]:
    """Keep the JPEG that is the body, as large as any form may be. {"said"}; of more than six the
    oldest goes.
    """
    picture = request.get_data(cache=False)
    if not picture.startswith(SIGNATURE):
        abort(400)
    folder = services().settings.instance
    known = pictures(folder)
    last = number_of(known[-1]) if known else 0
    for old in known[: max(0, len(known) + 1 - MOST)]:
        old.unlink(missing_ok=True)
    path = folder / FOLDER / f"{last + 1}.jpg"
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.touch(mode=0o600)
    path.write_bytes(picture)
    count = min(len(known) + 1, MOST)
    said = _("Picture %(n)d of %(most)d is in the package.", n=count, most=MOST)
    if len(known) >= MOST:
        said = _("The picture is in the package. The oldest of %(most)d has gone.", most=MOST)
    return jsonify(said=said)


def pictures(folder: Path) -> list[Path]:
    """The pictures that are kept, the oldest first."""
    found = (folder / FOLDER).glob("*.jpg")
    return sorted((each for each in found if each.stem.isdecimal()), key=number_of)


def number_of(path: Path) -> int:
    """The number of a picture; later ones have higher numbers."""
    return int(path.stem)


def clear(folder: Path) -> None:
    """Forget them all."""
    for each in pictures(folder):
        each.unlink(missing_ok=True)
