"""The states of a booking as a graph for each kind, and the path of one ride through it. Pure.

The edges are those of docs/service-interface.md, States and transitions: the order of the statuses
in its first table, and the transitions below that table. Further steps of real rides, from
docs/field-notes.md, docs/booking-protocol.md 3.3 or this ride itself, are marked as seen in
practice.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Final

from ridedash.store.orders import OrderPage
from ridedash.wire import (
    ALLOTMENT_FAILED,
    ALLOTMENT_PENDING,
    ALLOTMENT_RETRYING,
    BOOKING_CANCELLED,
    CALL_DRIVER,
    CLIENT_LOCATED,
    COMPLETED,
    IN_PROGRESS,
    INVOICE,
    PENDING,
    SOFT_ALLOCATED,
    Kind,
    kind_of,
)

CREATE: Final = "create"  # the start of each graph: the answer of create, before any status
STRAY_COLUMN: Final = 2.5  # the column of the first status that the kind's graph does not contain

# distance along the line from create to COMPLETED, and distance from this line
Place = tuple[float, float]


@dataclass(frozen=True)
class StatusEdge:
    """A step from one status to another; `by` is the operation that causes it, "" without one."""

    start: str
    end: str
    published: bool = True  # in docs/service-interface.md; otherwise seen in practice
    by: str = ""


@dataclass(frozen=True)
class Graph:
    """The statuses of a kind, their places in the picture, and the steps between them."""

    places: Mapping[str, Place]
    edges: tuple[StatusEdge, ...]


@dataclass(frozen=True)
class Taken:
    """A step that a ride took, and the wall-clock instant at which we learned of it."""

    start: str
    end: str
    at: datetime


@dataclass(frozen=True)
class RidePath:
    """The graph of a ride's kind, with the ride's own steps. `present`: None before any status."""

    kind: Kind
    graph: Graph
    taken: tuple[Taken, ...]
    present: str | None

    @property
    def been(self) -> frozenset[str]:
        """The statuses that the ride has had, the present one among them."""
        ends = [status for each in self.taken for status in (each.start, each.end)]
        return frozenset(filter(None, (*ends, self.present)))

    def at(self, edge: StatusEdge) -> tuple[datetime, ...]:
        """When the ride took an edge, the earliest first."""
        return tuple(t.at for t in self.taken if (t.start, t.end) == (edge.start, edge.end))


def _line(*statuses: str) -> Iterator[StatusEdge]:
    """Edges that lead through these statuses in their published order."""
    for start, end in itertools.pairwise(statuses):
        yield StatusEdge(start, end)


def _seen(start: str, end: str, by: str = "") -> StatusEdge:
    return StatusEdge(start, end, published=False, by=by)


_CANCELLED: Final = (
    StatusEdge(ALLOTMENT_PENDING, BOOKING_CANCELLED, by="abort"),
    # docs/service-interface.md does not say which status follows a cancel
    _seen(CALL_DRIVER, BOOKING_CANCELLED, "cancel"),
    _seen(CLIENT_LOCATED, BOOKING_CANCELLED, "cancel"),
)
_SIDES: Final = {ALLOTMENT_FAILED: (0.5, 1.0), BOOKING_CANCELLED: (2.5, 1.0)}

GRAPHS: Final[Mapping[Kind, Graph]] = {
    Kind.SHARE: Graph(
        {
            CREATE: (0.0, 0.0),
            ALLOTMENT_PENDING: (1.0, 0.0),
            CALL_DRIVER: (2.0, 0.0),
            CLIENT_LOCATED: (3.0, 0.0),
            INVOICE: (4.0, 0.0),
            IN_PROGRESS: (5.0, 0.0),
            COMPLETED: (6.0, 0.0),
            **_SIDES,
        },
        (
            StatusEdge(CREATE, ALLOTMENT_PENDING, by="create"),
            *_line(ALLOTMENT_PENDING, CALL_DRIVER, CLIENT_LOCATED, INVOICE, IN_PROGRESS, COMPLETED),
            StatusEdge(ALLOTMENT_PENDING, ALLOTMENT_FAILED),
            *_CANCELLED,
            _seen(INVOICE, BOOKING_CANCELLED, "cancel"),
        ),
    ),
    Kind.POINT_TO_POINT: Graph(
        {
            CREATE: (0.0, 0.0),
            ALLOTMENT_PENDING: (1.0, 0.0),
            CALL_DRIVER: (2.0, 0.0),
            CLIENT_LOCATED: (3.0, 0.0),
            IN_PROGRESS: (5.0, 0.0),
            COMPLETED: (6.0, 0.0),
            SOFT_ALLOCATED: (1.5, -1.0),
            INVOICE: (4.0, -1.0),
            **_SIDES,
        },
        (
            StatusEdge(CREATE, ALLOTMENT_PENDING, by="create"),
            *_line(ALLOTMENT_PENDING, CALL_DRIVER, CLIENT_LOCATED, INVOICE, IN_PROGRESS, COMPLETED),
            _seen(CLIENT_LOCATED, IN_PROGRESS),
            _seen(ALLOTMENT_PENDING, SOFT_ALLOCATED),
            _seen(SOFT_ALLOCATED, CALL_DRIVER),
            StatusEdge(ALLOTMENT_PENDING, ALLOTMENT_FAILED),
            *_CANCELLED,
        ),
    ),
    Kind.AUTO: Graph(
        {
            CREATE: (0.0, 0.0),
            PENDING: (1.0, 0.0),
            CALL_DRIVER: (2.0, 0.0),
            IN_PROGRESS: (3.0, 0.0),
            INVOICE: (4.0, 0.0),
            COMPLETED: (5.0, 0.0),
            ALLOTMENT_RETRYING: (1.5, 1.0),
            ALLOTMENT_FAILED: (0.5, 1.0),
            BOOKING_CANCELLED: (1.5, -1.0),
        },
        (
            StatusEdge(CREATE, PENDING, by="create"),
            *_line(PENDING, CALL_DRIVER, IN_PROGRESS, INVOICE, COMPLETED),
            StatusEdge(PENDING, ALLOTMENT_RETRYING),
            _seen(CALL_DRIVER, ALLOTMENT_RETRYING),
            _seen(ALLOTMENT_RETRYING, CALL_DRIVER),
            StatusEdge(PENDING, ALLOTMENT_FAILED),
            StatusEdge(ALLOTMENT_RETRYING, ALLOTMENT_FAILED),
            StatusEdge(PENDING, BOOKING_CANCELLED, by="abort"),
            StatusEdge(ALLOTMENT_RETRYING, BOOKING_CANCELLED, by="abort"),
            _seen(CALL_DRIVER, BOOKING_CANCELLED, "cancel"),
        ),
    ),
}


def way_of(page: OrderPage) -> RidePath:
    """The path of an order's ride so far. Steps that the graph lacks are added to it."""
    kind = kind_of(page.order.category)
    taken = tuple(_taken(page))
    present = page.ride.status if page.ride else None
    return RidePath(kind, _with(GRAPHS[kind], taken, present), taken, present)


def _taken(page: OrderPage) -> Iterator[Taken]:
    before = CREATE
    for event in sorted(page.events, key=attrgetter("at")):
        if event.what == "ride":
            yield Taken(before, event.name, event.at)
            before = event.name


def _with(graph: Graph, taken: Sequence[Taken], present: str | None) -> Graph:
    """The graph with further statuses and steps that the ride has had."""
    places = dict(graph.places)
    for status in filter(None, (*(each.end for each in taken), present)):
        strays = len(places) - len(graph.places)
        places.setdefault(status, (STRAY_COLUMN + strays, -1.0))
    known = {(edge.start, edge.end) for edge in graph.edges}
    added = dict.fromkeys((t.start, t.end) for t in taken if (t.start, t.end) not in known)
    return Graph(places, (*graph.edges, *(_seen(start, end) for start, end in added)))
