"""/demo/package: what a demo was, as one file to send after it: the story's proof and its calls."""

import io
import json
import zipfile
from typing import Any, Final

from flask import Blueprint, Response
from sqlalchemy import select

from ridedash.__about__ import __version__
from ridedash.demo.beginning import only_with_our_sandbox
from ridedash.demo.lens.recording import Lens
from ridedash.demo.lens.store import Call
from ridedash.demo.stories import STORIES
from ridedash.demo.stories.interpreter import runs
from ridedash.demo.stories.runs import Run
from ridedash.extensions import services
from ridedash.store.models.orders import Order
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.permissions import MANAGE, needs
from ridedash.wording import gettext as _

bp: Final = Blueprint("demo_package", __name__, url_prefix="/demo")
bp.before_request(only_with_our_sandbox)
NAME: Final = "ridedash-demo.zip"
MOST_RIDES: Final = 40
MOST_CALLS: Final = 200  # of a ride
MADE: Final = (1980, 1, 1, 0, 0, 0)  # of the files in it: the same demo makes the same bytes


@bp.get("/package")
@needs(MANAGE)
def download() -> Response:
    """The package as a zip. Each file says in its first line that nothing in it is real."""
    mine = current_staff().property_id
    run = runs().latest(mine)
    title = _title(run)
    files = {"about.txt": _about(title), "checks.txt": _checks(title, run)}
    with services().db.read() as s:
        newest = select(Order.id).where(Order.property_id == mine).order_by(Order.id.desc())
        lens = Lens(s, mine)
        for order_id in sorted(s.scalars(newest.limit(MOST_RIDES))):
            calls = lens.whole(order_id, MOST_CALLS)
            files[f"ride-{order_id}.jsonl"] = _log(title, calls)
    head = {"Content-Disposition": f"attachment; filename={NAME}", "Cache-Control": "no-store"}
    return Response(_zipped(files), mimetype="application/zip", headers=head)


def _zipped(files: dict[str, str]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(name, MADE), text, zipfile.ZIP_DEFLATED)
    return held.getvalue()


def _title(run: Run | None) -> str:
    if run is None or run.story not in STORIES:
        return _("Demo: no real rides.")
    title = str(STORIES[run.story].title)
    return _("Demo: no real rides. Story: %(title)s. Seed %(n)d.", title=title, n=run.seed)


def _about(title: str) -> str:
    lines = [
        title,
        f"ridedash {__version__}",
        "",
        _("checks.txt: how the last story ended, read from the orders and the ledger."),
        _("ride-*.jsonl: each call to the ride service, one a line, without secrets."),
        _("Pictures are not part of this package."),
    ]
    return "\n".join(lines) + "\n"


def _checks(title: str, run: Run | None) -> str:
    """The list at the end of the last story, a line each."""
    found = [] if run is None else run.kept.get("lines", [])
    if not found:
        return f"{title}\n" + _("No story has ended.") + "\n"
    return "".join(
        [f"{title}\n", *(f"[{'x' if holds else ' '}] {words}\n" for words, holds in found)]
    )


def _log(title: str, calls: list[Call]) -> str:
    """The calls of a ride as lines of JSON; the lens has left every secret out."""
    lines: list[dict[str, Any]] = [{"demo": title}]
    for call in sorted(calls, key=lambda each: each.began):
        lines.append(
            {
                "began": call.began.isoformat(),
                "operation": call.operation,
                "method": call.method,
                "path": call.path,
                "request": call.request.body,
                "status": call.status,
                "answer": call.answer.body,
                "result": call.result,
                "ms": call.ms,
                "same": call.same,
            }
        )
    return "".join(json.dumps(each, ensure_ascii=False, default=str) + "\n" for each in lines)
