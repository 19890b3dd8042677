"""The graphs of states match docs/service-interface.md, and show the way of a ride."""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ridedash.demo.lens.drawing import LYING, STANDING, Grid, picture
from ridedash.demo.lens.states import CREATE, GRAPHS, way_of
from ridedash.store.models.people import Staff
from ridedash.store.orders import OrderPage, TimelineEvent, order_page
from ridedash.wire import KNOWN_STATUSES, SEARCHING, Kind
from tests.views.ride_pages import STATUSES, Desk, compact, make_desk

DOCUMENT = (Path(__file__).parents[3] / "docs" / "service-interface.md").read_text()
PART = DOCUMENT.split("## States and transitions")[1].split("## Endpoints")[0]
pytestmark = pytest.mark.database
NAMES = {"share": Kind.SHARE, "point-to-point": Kind.POINT_TO_POINT, "auto": Kind.AUTO}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = make_desk(tmp_path)
    made.add(lambda s: setattr(s.get(Staff, made.ids["desk"]), "role", "manager"))
    yield made
    made.close()


def page_of(desk: Desk, order_id: int) -> OrderPage:
    with desk.services.db.read() as s:
        found = order_page(s, desk.ids["desk.property"], order_id)
    assert found is not None
    return found


def by_the_table() -> dict[Kind, set[tuple[str, str]]]:
    """The steps from each status to the next one, in the document's table of kinds."""
    table = PART.split("| status | meaning |")[0]
    found = {}
    for name, words in re.findall(r"^\| ([\w-]+) \| (.+) \|$", table, re.MULTILINE)[1:]:
        if name in NAMES and "the same words" not in words:
            in_order = re.findall(r"`(\w+)`", words.split(";")[0])
            found[NAMES[name]] = set(itertools.pairwise(in_order))
    return found | {Kind.POINT_TO_POINT: found[Kind.SHARE]}


def by_the_transitions() -> set[tuple[str, str]]:
    """The steps that are listed below the table, of all kinds together."""
    found = set()
    for edge in re.findall(r"^- \*\*(?:Auto: )?([A-Z_ or]+ → [A-Z_]+)\*\*", PART, re.MULTILINE):
        starts, end = edge.split(" → ")
        found |= {(start, end) for start in starts.split(" or ")}
    return found


def published(kind: Kind) -> set[tuple[str, str]]:
    return {(e.start, e.end) for e in GRAPHS[kind].edges if e.published and e.start != CREATE}


def test_every_published_edge_is_in_the_document_and_vice_versa() -> None:
    """Except for abort: it ends any search (Endpoints, 2), but only one such step is published."""
    below = by_the_transitions()
    assert len(below) == 10
    drawn = set()
    for kind, in_order in by_the_table().items():
        by_abort = {
            (e.start, e.end) for e in GRAPHS[kind].edges if e.by == "abort" and e.start in SEARCHING
        }
        assert published(kind) - by_abort <= in_order | below, kind
        assert in_order <= published(kind), kind
        drawn |= published(kind)
    assert below <= drawn


@pytest.mark.parametrize("kind", list(Kind))
def test_a_graph_knows_the_statuses_of_its_kind(kind: Kind) -> None:
    graph = GRAPHS[kind]
    assert set(STATUSES[kind.value]) <= graph.places.keys() <= {*KNOWN_STATUSES, CREATE}
    ends = {status for edge in graph.edges for status in (edge.start, edge.end)}
    assert ends == graph.places.keys()


@pytest.mark.parametrize("grid", [LYING, STANDING])
@pytest.mark.parametrize("kind", list(Kind))
def test_no_box_lies_on_another_one(desk: Desk, kind: Kind, grid: Grid) -> None:
    made = picture(way_of(page_of(desk, desk.order("SENDING", None, kind.value))), grid)
    for i, a in enumerate(made.boxes):
        assert a.width / 2 <= a.x <= made.width - a.width / 2
        assert a.height / 2 <= a.y <= made.height - a.height / 2
        for b in made.boxes[i + 1 :]:
            apart = abs(a.x - b.x) >= (a.width + b.width) / 2
            assert apart or abs(a.y - b.y) >= (a.height + b.height) / 2, (a.status, b.status)
    if grid is STANDING:
        assert made.width <= 390


def test_the_path_of_a_ride_is_marked_with_the_times_of_its_steps(desk: Desk) -> None:
    order_id = desk.order("BOOKED", "CLIENT_LOCATED", "share")
    path = way_of(page_of(desk, order_id))
    assert [(t.start, t.end) for t in path.taken] == [
        (CREATE, "ALLOTMENT_PENDING"),
        ("ALLOTMENT_PENDING", "CALL_DRIVER"),
        ("CALL_DRIVER", "CLIENT_LOCATED"),
    ]
    html = compact(desk.client().get(f"/demo/lens/rides/{order_id}/states").text)
    assert html.count('class="states-edge is-taken') == 2 * 3  # three steps in each of two grids
    assert html.count('class="states-box is-now"') == 2
    assert ">13:59:15</text>" in html  # when the driver arrived, according to the timeline
    start = '<tr class="is-taken"><td class="mono" translate="no">CALL_DRIVER</td>'
    assert f'{start}<td class="mono"><span translate="no">CLIENT_LOCATED' in html


def test_a_step_that_the_document_does_not_show_is_marked_as_seen(desk: Desk) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    again: Any = {"property_id": desk.ids["desk.property"], "order_id": order_id, "what": "ride"}
    names = ("COMPLETED", "ALLOTMENT_RETRYING")
    rows = [TimelineEvent(**again, name=name, detail=None, at=desk.now) for name in names]
    desk.add(lambda s: s.add_all(rows))
    path = way_of(page_of(desk, order_id))
    added = [edge for edge in path.graph.edges if edge not in GRAPHS[path.kind].edges]
    steps = [("CALL_DRIVER", "COMPLETED"), ("COMPLETED", "ALLOTMENT_RETRYING")]
    assert [(edge.start, edge.end) for edge in added] == steps
    assert not any(edge.published for edge in added)
    assert "ALLOTMENT_RETRYING" in path.graph.places
    html = desk.client().get(f"/demo/lens/rides/{order_id}/states").text
    assert "states-edge is-taken is-seen" in html


def test_an_order_without_a_status_has_a_graph_in_which_nothing_is_lit(desk: Desk) -> None:
    html = desk.client().get(f"/demo/lens/rides/{desk.order('UNKNOWN')}/states").text
    assert "No status has come yet." in html
    assert "is-now" not in html
    assert "states-edge is-taken" not in html


def test_the_drawer_gets_the_part_alone(desk: Desk) -> None:
    address = f"/demo/lens/rides/{desk.order('BOOKED', 'PENDING', 'auto')}/states"
    part = desk.client().get(address, headers={"X-Part": "drawer"}).text
    assert part.strip().startswith('<section class="states"')
    assert "<html" in desk.client().get(address).text
