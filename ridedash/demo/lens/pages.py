"""/demo/lens: the calls of this demo as a list, one by one, and as files of a ride."""

import json
from collections.abc import Callable, Sequence
from typing import Any, Final
from zoneinfo import ZoneInfo

from flask import Blueprint, Response, abort, jsonify, render_template, request
from sqlalchemy.orm import Session

from ridedash.demo.beginning import only_in_a_demo
from ridedash.demo.lens import exports
from ridedash.demo.lens.again import MAY_REPEAT, NotRepeated, repeat
from ridedash.demo.lens.code import curl, httpx_code
from ridedash.demo.lens.exports import Origin
from ridedash.demo.lens.paragraphs import about
from ridedash.demo.lens.recording import MOST_LISTED, Lens, recorder
from ridedash.demo.lens.store import RecordedCall
from ridedash.demo.lens.trees import tree
from ridedash.demo.lens.writing import MOST_CALLS
from ridedash.demo.stories.interpreter import runs
from ridedash.extensions import services
from ridedash.inputs import whole_number
from ridedash.rides.worker import PROBE
from ridedash.store.models.people import Property
from ridedash.views.rides.access import own_order
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.formatting import clock_time, zone
from ridedash.views.web.permissions import MANAGE, needs
from ridedash.views.web.top_bar import demo_words
from ridedash.wording import gettext as _

bp: Final = only_in_a_demo(Blueprint("lens", __name__, url_prefix="/demo/lens"))
MOST_NUMBER: Final = 2**53  # integers up to this one are exact in JavaScript
MOST_EXPORTED: Final = 1_000  # calls in one file of a ride at most


@bp.get("/calls.json")
@needs(MANAGE)
def calls() -> Response:
    """The latest calls, of one order or of all.

    Parameters: `order`; `errors`, for failed calls only; `after`, for calls that have changed since
    an earlier answer: its `turn`, a number that rises with every change of a call; `limit`,
    MOST_LISTED unless given. Returns {"turn", "dropped", "calls": [{number, at, operation, status,
    ms, result, order, why, same, failed}]}. For a call that belongs to no ride, `why` says what
    made it.
    """
    order = whole_number(request.args.get("order", ""), 1, MOST_NUMBER)
    after = whole_number(request.args.get("after", ""), 0, MOST_NUMBER) or 0
    limit = whole_number(request.args.get("limit", ""), 1, MOST_CALLS) or MOST_LISTED
    with services().db.read() as s:
        lens, tz = _lens(s)
        found = lens.calls(order, bool(request.args.get("errors")), after, limit)
    newest = max((each.turn for each in found), default=after)
    rows = [_row(each, tz) for each in found]
    return jsonify({"turn": newest, "dropped": recorder().dropped, "calls": rows})


@bp.get("/calls/<int:number>")
@needs(MANAGE)
def call(number: int) -> str:
    """One call as HTML, for the drawer."""
    return _shown(number)


@bp.post("/calls/<int:number>/again")
@needs(MANAGE)
def try_again(number: int) -> str:
    """Repeat a call that only reads, and show the new call."""
    if number > MOST_NUMBER:
        abort(404)
    with services().db.read() as s:
        lens, _tz = _lens(s)
        found = lens.call(number)
        if found is None or found.operation not in MAY_REPEAT:
            abort(404)
    try:
        repeat(found, current_staff().property_id)
    except NotRepeated:
        return _shown(number, _("The sandbox gave no answer."))
    with services().db.read() as s:
        lens, _tz = _lens(s)
        same_call = [each for each in lens.calls() if each.path == found.path]
    newest = max(same_call, key=lambda each: each.ended, default=found)
    return _shown(newest.number, _("This is the answer of now."))


@bp.get("/rides/<int:order_id>/har")
@needs(MANAGE)
def har(order_id: int) -> Response:
    """The calls of a ride as an HTTP archive."""
    return _file(order_id, exports.har, "har", "application/json")


@bp.get("/rides/<int:order_id>/curl")
@needs(MANAGE)
def script(order_id: int) -> Response:
    """The calls of a ride as lines of curl."""
    return _file(order_id, exports.script, "sh", "text/plain")


@bp.get("/rides/<int:order_id>/events")
@needs(MANAGE)
def events(order_id: int) -> Response:
    """The calls of a ride as an event log, JSON lines."""
    return _file(order_id, exports.events, "jsonl", "application/jsonl")


def _lens(s: Session) -> tuple[Lens, ZoneInfo]:
    prop = s.get_one(Property, current_staff().property_id)
    return Lens(s, prop.id), zone(prop.timezone)


def _row(each: RecordedCall, tz: ZoneInfo) -> dict[str, Any]:
    return {
        "number": each.number,
        "at": clock_time(services().time().shown(each.began), tz, seconds=True),
        "operation": each.operation,
        "status": each.status,
        "ms": round(each.ms) if each.ms >= 10 else round(each.ms, 1),
        "result": each.result,
        "order": each.order,
        "why": "" if each.order else _why(each),
        "same": each.same,
        "failed": each.failed,
    }


def _why(each: RecordedCall) -> str:
    """What made a call that belongs to no ride: a page and its user's role, or a worker's step."""
    if each.cause == f"worker: {PROBE}":
        return _("the worker asks whether the ride company answers")
    kind, _space, rest = each.cause.partition(" ")
    if kind == "request":  # the format: "request <its id> GET /rides/new, manager"
        return rest.partition(" ")[2]
    return each.cause or _("nobody's page")


def _shown(number: int, message: str = "") -> str:
    if number > MOST_NUMBER:
        abort(404)
    with services().db.read() as s:
        lens, tz = _lens(s)
        found = lens.call(number)
        if found is None:
            abort(404)
        conclusion = lens.conclusion(found)
    base = services().settings.service_url.rstrip("/")
    time = services().time()
    return render_template(
        "demo/_call.html",
        call=found,
        said=message,
        made=conclusion,
        at=clock_time(time.shown(found.began), tz, seconds=True),
        last_at=clock_time(time.shown(found.ended), tz, seconds=True),
        sent=tree(found.request.body),
        got=tree(found.answer.body),
        query=_query_tree(found),
        curl=curl(found, base),
        httpx=httpx_code(found, base),
        paragraph=about(found.operation),
        may_repeat=found.operation in MAY_REPEAT,
        raw=_raw(found),
    )


def _query_tree(found: RecordedCall) -> Any:
    """The query of a call as a tree, like its body; None without a query."""
    pairs = exports.query_pairs(found)
    if not pairs:
        return None
    return tree(json.dumps(pairs, ensure_ascii=False))


def _raw(found: RecordedCall) -> str:
    """The whole call as text: headers and bodies of request and answer."""
    head = [f"{found.method} {found.path}"]
    head += [f"{name}: {value}" for name, value in found.request.headers.items()]
    parts = ["\n".join(head), found.request.body]
    answer = [f"HTTP {found.status}" if found.status else found.failure]
    answer += [f"{name}: {value}" for name, value in found.answer.headers.items()]
    return "\n\n".join(each for each in (*parts, "\n".join(answer), found.answer.body) if each)


def _file(
    order_id: int, written: Callable[[Sequence[RecordedCall], Origin], str], ending: str, kind: str
) -> Response:
    """The calls of a ride as a file to download; `written` makes its text."""
    page = own_order(order_id)
    s = services()
    with s.db.read() as db:
        lens = Lens(db, page.order.property_id)
        found = lens.whole(order_id, MOST_EXPORTED)
        conclusions = lens.conclusions(found)
    title = title_of(order_id, page.order.property_id)
    origin = Origin(title, s.settings.service_url.rstrip("/"), s.time(), conclusions)
    answer = Response(written(found, origin), mimetype=kind)
    name = f"demo-ride-{order_id}.{ending}"
    answer.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


def title_of(order_id: int, property_id: int) -> str:
    """The title of a ride's files: it names the demo, the ride, the story and its seed."""
    words = demo_words(services().settings)
    return f"{words} · ridedash · ride {order_id} · {_seed(property_id)}"


def _seed(property_id: int) -> str:
    """The latest story and its seed, on which drivers and codes depend."""
    run = runs().latest(property_id)
    if run is None:
        return "the usual seed"
    return f"story {run.story} · seed {run.seed}"
