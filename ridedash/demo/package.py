"""/demo/package: a record of a demo to send afterwards: one HTML page that needs nothing else.

It has the figures, the checks, the pictures, the sequence of calls and the lines of curl. It needs
no script, no network and no other file, so it can be forwarded by mail.
"""

from base64 import b64encode
from typing import Any, Final

from flask import Blueprint, Response, current_app, render_template
from sqlalchemy import select

from ridedash.__about__ import __version__
from ridedash.demo.beginning import control, only_in_a_demo
from ridedash.demo.lens import exports
from ridedash.demo.lens.exports import Origin
from ridedash.demo.lens.pages import title_of
from ridedash.demo.lens.recording import Lens
from ridedash.demo.partner import present_partner
from ridedash.demo.pictures import pictures
from ridedash.demo.sandbox_control import NotDone
from ridedash.demo.stories import STORIES
from ridedash.demo.stories.figures import card
from ridedash.demo.stories.interpreter import runs
from ridedash.demo.stories.runs import StoryRun
from ridedash.demo.stories.seen import CheckedLine
from ridedash.extensions import services
from ridedash.store.models.orders import Order
from ridedash.store.models.people import Property
from ridedash.views.ops.static_files import EXTENSION
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.formatting import clock_time, zone
from ridedash.views.web.permissions import MANAGE, needs
from ridedash.views.web.responses import locale

bp: Final = only_in_a_demo(Blueprint("demo_package", __name__, url_prefix="/demo"))
NAME: Final = "ridedash-demo.html"
MOST_RIDES: Final = 40
MOST_CALLS: Final = 200  # calls of one ride at most
MOST_LISTED: Final = 1_000  # calls of the sequence at most
SHEETS: Final = ("css/shared/base.css", "css/demo/package.css")
STYLES: Final = "/* styles */"  # where the template has room for the sheets


@bp.get("/package")
@needs(MANAGE)
def download() -> Response:
    """The page as a file. It says at its head that nothing in it is real."""
    run = runs().latest(current_staff().property_id)
    page = render_template(
        "demo/package.html",
        version=__version__,
        partner=present_partner(),
        run=run,
        story=None if run is None else STORIES.get(run.story),
        checks=[] if run is None else run.values.get("lines", []),
        figures=_figures(run),
        pictures=[
            b64encode(each.read_bytes()).decode() for each in pictures(services().settings.instance)
        ],
        **_of_calls(),
    )
    head = {"Content-Disposition": f"attachment; filename={NAME}", "Cache-Control": "no-store"}
    return Response(page.replace(STYLES, _styles()), mimetype="text/html", headers=head)


def _styles() -> str:
    """Our own style sheets. In the page they stand as they are: CSS knows no escapes of HTML."""
    paths = current_app.extensions[EXTENSION].paths
    return "\n".join(paths[each].read_text() for each in SHEETS)


def _figures(run: StoryRun | None) -> dict[str, Any] | None:
    """The figures of the present demo; None before a story, or without the sandbox's ledger."""
    if run is None:
        return None
    checked = [CheckedLine(words, holds) for words, holds in run.values.get("lines", ())]
    try:
        return card(run, control().ledger(), checked)
    except NotDone:
        return None


def _of_calls() -> dict[str, Any]:
    """`calls`, the sequence of all calls, and `scripts`, the lines of curl of each ride.

    Rides are numbered from 1 in the order in which they were placed.
    """
    mine = current_staff().property_id
    time = services().time()
    with services().db.read() as s:
        tz = zone(s.get_one(Property, mine).timezone)
        lens = Lens(s, mine)
        newest = select(Order.id).where(Order.property_id == mine).order_by(Order.id.desc())
        orders = sorted(s.scalars(newest.limit(MOST_RIDES)))
        numbers = {order_id: number for number, order_id in enumerate(orders, 1)}
        calls = [
            {
                "at": clock_time(time.shown(each.began), tz, locale(), seconds=True),
                "call": each,
                "ms": round(each.ms),
                "ride": numbers.get(each.order or 0),
            }
            for each in lens.calls(limit=MOST_LISTED)
        ]
        scripts = [(number, _script(lens, order_id)) for order_id, number in numbers.items()]
    return {"calls": calls, "scripts": scripts}


def _script(lens: Lens, order_id: int) -> str:
    """The calls of a ride as a shell script; the lens has removed every secret."""
    here = services()
    calls = lens.whole(order_id, MOST_CALLS)
    title = title_of(order_id, current_staff().property_id)
    address = here.settings.service_url.rstrip("/")
    return exports.script(calls, Origin(title, address, here.time(), lens.conclusions(calls)))
