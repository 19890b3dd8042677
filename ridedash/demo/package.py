"""/demo/package: a record of a demo to send afterwards: a zip of pictures, checks and calls."""

import io
import zipfile
from typing import Final

from flask import Blueprint, Response
from sqlalchemy import select

from ridedash.__about__ import __version__
from ridedash.demo.beginning import only_in_a_demo
from ridedash.demo.lens import exports
from ridedash.demo.lens.exports import Origin
from ridedash.demo.lens.pages import title_of
from ridedash.demo.lens.recording import Lens
from ridedash.demo.pictures import pictures
from ridedash.demo.stories import STORIES
from ridedash.demo.stories.interpreter import runs
from ridedash.demo.stories.runs import StoryRun
from ridedash.extensions import services
from ridedash.store.models.orders import Order
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.permissions import MANAGE, needs
from ridedash.views.web.top_bar import demo_words
from ridedash.wording import gettext as _

bp: Final = only_in_a_demo(Blueprint("demo_package", __name__, url_prefix="/demo"))
NAME: Final = "ridedash-demo.zip"
MOST_RIDES: Final = 40
MOST_CALLS: Final = 200  # calls of one ride at most
# date of every file in the zip, so that the same demo makes the same bytes
FILE_DATE: Final = (1980, 1, 1, 0, 0, 0)


@bp.get("/package")
@needs(MANAGE)
def download() -> Response:
    """The package as a zip. Each text file says at its head that nothing in it is real."""
    mine = current_staff().property_id
    run = runs().latest(mine)
    title = _title(run)
    files: dict[str, str | bytes] = {}
    taken = pictures(services().settings.instance)
    for number, path in enumerate(taken, 1):
        files[f"picture-{number}.jpg"] = path.read_bytes()
    with services().db.read() as s:
        newest = select(Order.id).where(Order.property_id == mine).order_by(Order.id.desc())
        lens = Lens(s, mine)
        for order_id in sorted(s.scalars(newest.limit(MOST_RIDES))):
            files |= _of_ride(lens, order_id, mine)
    files |= {"about.txt": _about(title, len(taken)), "checks.txt": _checks(title, run)}
    head = {"Content-Disposition": f"attachment; filename={NAME}", "Cache-Control": "no-store"}
    return Response(_zipped(files), mimetype="application/zip", headers=head)


def _zipped(files: dict[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(name, FILE_DATE), text, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def _title(run: StoryRun | None) -> str:
    band = f"{demo_words(services().settings)}."
    if run is None or run.story not in STORIES:
        return band
    title = str(STORIES[run.story].title)
    return f"{band} " + _("Story: %(title)s. Seed %(n)d.", title=title, n=run.seed)


def _about(title: str, taken: int) -> str:
    lines = [
        title,
        f"ridedash {__version__}",
        "",
        _("checks.txt: how the last story ended, read from the bookings and the ledger."),
        _("ride-*.har: each call with its answer. Any browser's tools open it."),
        _("ride-*.sh: the same calls as lines of curl. Those that change something are comments."),
        _("ride-*.jsonl: each call, one a line, with its cause and what we made of it."),
        _("In these files tokens, start codes and phone numbers are left out."),
    ]
    if taken:
        lines.append(_("picture-*.jpg: the stage, as the presenter's browser drew it."))
    else:
        lines.append(_("No picture was taken. The stage has a button for it."))
    return "\n".join(lines) + "\n"


def _checks(title: str, run: StoryRun | None) -> str:
    """The checks at the end of the last story, one on each line."""
    found = [] if run is None else run.values.get("lines", [])
    if not found:
        return f"{title}\n" + _("No story has ended.") + "\n"
    return "".join(
        [f"{title}\n", *(f"[{'x' if holds else ' '}] {words}\n" for words, holds in found)]
    )


def _of_ride(lens: Lens, order_id: int, property_id: int) -> dict[str, str]:
    """The calls of a ride in three formats; the lens has removed every secret."""
    calls = lens.whole(order_id, MOST_CALLS)
    here = services()
    title = title_of(order_id, property_id)
    address = here.settings.service_url.rstrip("/")
    origin = Origin(title, address, here.time(), lens.conclusions(calls))
    return {
        f"ride-{order_id}.har": exports.har(calls, origin),
        f"ride-{order_id}.sh": exports.script(calls, origin),
        f"ride-{order_id}.jsonl": exports.events(calls, origin),
    }
