"""/demo/lens/rides/<order>: a ride's path through the documented states, for the lens's drawer."""

from dataclasses import dataclass
from typing import Final

from flask import Blueprint, Response, abort, jsonify, render_template, request

from ridedash.demo.beginning import only_in_a_demo
from ridedash.demo.lens.drawing import LYING, STANDING, picture
from ridedash.demo.lens.elements import SURFACES
from ridedash.demo.lens.origins import OrderKeys, Origins, origins
from ridedash.demo.lens.recording import Lens
from ridedash.demo.lens.states import CREATE, RidePath, StatusEdge, way_of
from ridedash.extensions import services
from ridedash.views.rides.access import own_order
from ridedash.views.rides.facts import RideFacts
from ridedash.views.web.permissions import MANAGE, needs
from ridedash.views.web.responses import locale
from ridedash.wire import Kind
from ridedash.wording import gettext as _
from ridedash.wording import status_step
from ridedash.wording.say import with_pauses

bp: Final = only_in_a_demo(
    Blueprint("lens_rides", __name__, url_prefix="/demo/lens/rides/<int:order_id>")
)


@dataclass(frozen=True)
class StepRow:
    """One edge of the graph, as a row of the table beside it."""

    start: str
    end: str
    by: str
    source: str  # whether docs/service-interface.md has this edge
    times: str  # when this ride took it, by the service's clock


@bp.get("/states")
@needs(MANAGE)
def states(order_id: int) -> str:
    """The states of the ride's kind as a graph, with this ride's own steps; also as a table.

    A request with the header `X-Part: drawer` gets only the part of the page for the drawer.
    """
    page = own_order(order_id)
    s = services()
    facts = RideFacts(page, s.clock(), s.time(), locale())
    way = way_of(page)
    part = request.headers.get("X-Part") == "drawer"
    times = {edge: tuple(facts.at(at, seconds=True) for at in way.at(edge)) for edge in _edges(way)}
    return render_template(
        "demo/_states.html" if part else "demo/states.html",
        page=page,
        pictures=[picture(way, grid) for grid in (LYING, STANDING)],
        times=times,
        rows=[_row(edge, times[edge]) for edge in _edges(way)],
        title=_title(way),
        present=way.present or "",
        create=CREATE,
        steps=_words_of(way),
    )


@bp.get("/elements.json")
@needs(MANAGE)
def elements(order_id: int) -> Response:
    """The origins of the elements of one page of a ride, by their names; `on` names the page.

    {"elements": {name: {how, ours, fields: [{operation, pointer, call, raw, age}]}}}
    """
    page = own_order(order_id)
    s = services()
    surface = request.args.get("on", "ride")
    if surface not in SURFACES:
        abort(400)
    about = OrderKeys(page.order.category, page.order.seats)
    with s.db.read() as db:
        lens = Lens(db, page.order.property_id)
        sources = Origins(lens.calls(order_id), lens.call, about)
        found = origins(sources, s.clock(), surface)
    return jsonify({"elements": found})


def _edges(way: RidePath) -> tuple[StatusEdge, ...]:
    return way.graph.edges


def _row(edge: StatusEdge, times: tuple[str, ...]) -> StepRow:
    source = _("in the document") if edge.published else _("seen in practice")
    by = edge.by or "track_ride"
    return StepRow(edge.start, edge.end, by, source, with_pauses(*times))


def _title(way: RidePath) -> str:
    return {
        Kind.SHARE: _("States of a shared ride"),
        Kind.AUTO: _("States of an auto"),
        Kind.POINT_TO_POINT: _("States of a point-to-point ride"),
    }[way.kind]


def _words_of(way: RidePath) -> dict[str, str]:
    """Words for staff by status, including statuses that the progress line does not have."""
    own = {
        CREATE: "",
        "ALLOTMENT_RETRYING": _("Finding another"),
        "SOFT_ALLOCATED": _("In the queue"),
        "ALLOTMENT_FAILED": _("No driver"),
        "BOOKING_CANCELLED": _("Cancelled"),
    }
    return {s: own[s] if s in own else status_step(s, way.kind) for s in way.graph.places}
