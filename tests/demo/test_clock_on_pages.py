"""Whatever is done to the demo's clock, pages count as the sandbox does, and never backwards.

`RIDEDASH_TEST_TURNS=200` tries that many series of turns of the clock; the default is a few.
"""

import html
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, Final
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import update

from ridedash.demo.emptying import delete_rides
from ridedash.extensions import limiter
from ridedash.rides.share_links import LinkKind, make_link
from ridedash.service_time import ServiceTime
from ridedash.store.actors import by_staff
from ridedash.store.models.orders import Ride
from ridedash.store.orders import OrderPage, order_page
from ridedash.turns import turns_of
from ridedash.views.kiosk.ride_view import cancel_json, view_json
from tests.demo.stages import Stage
from tests.sandbox.sandbox_desk import CONTROL

pytestmark = pytest.mark.database
RUNS: Final = int(os.environ.get("RIDEDASH_TEST_TURNS", "3"))
ZONE: Final = ZoneInfo("Asia/Kolkata")  # of the property
SEARCH_S, FREE_S = 90, 300  # of the orders of tests/views/ride_pages.py
HOUR_S: Final = 3600
WITHIN_S: Final = 2  # seconds of the service's clock by which pages may differ
TIMER: Final = re.compile(r'data-slot="timer".*?>(.*?)<', re.DOTALL)
KINDS: Final = {
    "searching": ("BOOKED", "ALLOTMENT_PENDING", "point_to_point"),
    "matching": ("MATCHING", "ALLOTMENT_PENDING", "share"),
    "waiting": ("BOOKED", "CLIENT_LOCATED", "point_to_point"),
    "coming": ("BOOKED", "CALL_DRIVER", "point_to_point"),
    "over": ("BOOKED", "COMPLETED", "point_to_point"),
}


@dataclass
class Shown:
    """A ride, the sandbox's time when it entered its state, and what pages have shown of it."""

    kind: str
    order: int
    link: str
    began: float
    ups: list[int] = field(default_factory=list)
    downs: list[int] = field(default_factory=list)
    steps: Any = None
    took: Any = None


class StageProperty:
    """A stage whose app follows the sandbox's clock, with a ride of each of KINDS."""

    def __init__(self, stage: Stage) -> None:
        self.stage, self.desk, self.sandbox = stage, stage.desk, stage.sandbox
        self.desk.services.time = self.line
        self.rides: list[Shown] = []
        self.held: dict[str, Any] = {}  # what pages have answered since the clock was held

    def line(self) -> ServiceTime:
        """The service's time, as known to a process that has just read the clock."""
        return ServiceTime(turns_of(self.clock()))

    def clock(self) -> dict[str, Any]:
        found: dict[str, Any] = self.sandbox.web.get("/control/clock", headers=CONTROL).json
        return found

    def begin(self) -> None:
        desk = self.desk
        self.pass_by(0)
        desk.add(delete_rides)
        now, home, who = desk.now, desk.ids["desk.property"], by_staff(desk.ids["desk"])
        self.rides, self.held, began = [], {}, self.clock()["now"]
        for kind, (state, status, of) in KINDS.items():
            ended = {"ended_at": now} if kind == "over" else {}
            facts = {"age_s": 0, "in_state_s": 0, "ride": {"allotted_at": now} | ended}
            order = desk.order(state, status, of, **facts)
            link = make_link(desk.services.db, now, home, order, LinkKind.RIDER, who)
            self.rides.append(Shown(kind, order, link, began))
        self.pass_by(0.001)  # the clock is not turned at the very time at which the rides began

    def pass_by(self, seconds: float) -> None:
        """Let these seconds of people's time pass; then each ride has just been seen."""
        self.sandbox.clock.advance(seconds)
        self.desk.now = self.sandbox.clock()
        self.desk.add(lambda s: s.execute(update(Ride).values(seen_at=self.desk.now)))

    def page(self, order: int) -> OrderPage:
        with self.desk.services.db.read() as s:
            found = order_page(s, self.desk.ids["desk.property"], order)
        assert found is not None
        return found

    def kiosk(self, order: int) -> dict[str, Any]:
        """What the kiosk shows to a guest who has typed the number of this ride."""
        with self.desk.app.test_request_context():
            args = self.page(order), self.desk.now, self.line(), "en"
            return view_json(*args) | cancel_json(*args)


@pytest.fixture(scope="module")
def stage_property(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StageProperty]:
    stage = Stage(tmp_path_factory.mktemp("clock"))
    limiter.enabled, before = False, limiter.enabled
    yield StageProperty(stage)
    limiter.enabled = before
    stage.close()


turns = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.4, 3.0, 17.0, 61.0]),  # seconds of people's time before the turn
        st.sampled_from([None, 0, 0, 1, 5, 20, 60]),  # the new speed
        st.one_of(st.none(), st.floats(0.5, 400)),  # and how far the clock leaps
    ),
    min_size=2,
    max_size=6,
)


@settings(
    max_examples=RUNS, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(turns=turns)
def test_pages_compute_time_as_the_sandbox_over_any_clock_turns(
    stage_property: StageProperty, turns: list[tuple[float, float | None, float | None]]
) -> None:
    stage_property.begin()
    for wait_s, speed, leap in turns:
        stage_property.pass_by(wait_s)
        turned = {"speed": speed, "leap": leap}
        changes = {name: value for name, value in turned.items() if value is not None}
        if changes:
            stage_property.sandbox.control("clock", **changes)
            stage_property.held = {}
        check(stage_property)
    stage_property.pass_by(60)
    check(stage_property)


def check(stage_property: StageProperty) -> None:
    """Look at each page of each ride."""
    clock, web = stage_property.clock(), stage_property.stage.web
    rows = {row["id"]: row for row in web.get("/board.json").json["rows"]}
    for n, ride in enumerate(stage_property.rides):
        passed = clock["now"] - ride.began
        seen = web.get(f"/rides/{ride.order}/snapshot.json").json
        link = web.get(f"/t/{ride.link}/snapshot.json").json
        kiosk = stage_property.kiosk(ride.order)
        check_timer(ride, seen.get("timer"), stage_property.desk.now, passed)
        timer = (rows.get(ride.order) or {}).get("timer")
        if timer and timer["since"]:  # a timer that stands still has only its words
            assert spans(timer, stage_property.desk.now) == spans(
                seen["timer"], stage_property.desk.now
            )
        check_fee(ride, (seen, kiosk), clock, stage_property.desk.now, passed)
        check_times(ride, seen, link, clock)
        if n == int(clock["now"]) % len(stage_property.rides):
            text = html.unescape(TIMER.findall(web.get(f"/rides/{ride.order}").text)[0])
            counted = ride.ups[-1:] + ride.downs[-1:]
            shown = spans({"pattern": text}, stage_property.desk.now)[:1]
            # the page counts from an instant in whole milliseconds: see is_rising()
            assert shown == pytest.approx(
                counted, abs=60 if max(counted, default=0) >= HOUR_S else 1
            )
        check_held(stage_property, f"{ride.order}", (seen, link, kiosk), clock)


def check_timer(ride: Shown, timer: Any, now: datetime, passed: float) -> None:
    """A timer shows what the sandbox has counted, and never goes back."""
    if ride.kind in ("coming", "over"):
        assert timer is None
        return
    found = spans(timer, now)
    if ride.kind == "matching":
        ride.downs.append(found[0])
        assert found[0] == pytest.approx(max(0.0, SEARCH_S - passed), abs=WITHIN_S)
    else:
        ride.ups.append(found[0])
        assert found[0] == pytest.approx(passed, abs=within(passed))
        assert found[1:] in ([], [SEARCH_S])
        is_searching = ride.kind == "searching" and passed < SEARCH_S - WITHIN_S
        assert found[1:] or not is_searching
    assert is_rising(ride.ups), f"a duration went back: {ride.ups}"
    assert is_rising([-each for each in ride.downs]), f"a countdown went up: {ride.downs}"


def is_rising(shown: list[int]) -> bool:
    """Whether no value falls by more than 1 s: a millisecond is 0.06 s of a clock at 60 times."""
    return all(b >= a - 1 for a, b in pairwise(shown))


def check_fee(ride: Shown, answers: Any, clock: Any, now: datetime, passed: float) -> None:
    """While cancelling is free, pages say from when it costs, by the service's clock."""
    if ride.kind != "coming":
        return
    seen, kiosk = answers
    left, fee_from = FREE_S - passed, seen.get("fee_from", "")
    if not clock["speed"]:
        assert bool(fee_from) == (left <= 0) or abs(left) < WITHIN_S
        return
    in_s = (datetime.fromisoformat(fee_from) - now).total_seconds() * clock["speed"]
    if left > 0:
        assert in_s == pytest.approx(left, abs=WITHIN_S)
        around = (at(ride.began + FREE_S + each) for each in (-WITHIN_S, 0, WITHIN_S))
        assert any(each in kiosk["fee_words"] for each in around), kiosk["fee_words"]
    else:
        assert in_s <= WITHIN_S


def check_times(ride: Shown, seen: Any, link: Any, clock: Any) -> None:
    """The time of an event stays the time that the sandbox's clock showed at the event."""
    steps, took = seen.get("steps"), seen.get("took")
    now = [time for state, time in steps if state == "now"] if ride.kind != "over" else []
    assert now in ([], [at(ride.began)]), (now, at(ride.began))
    if ride.steps is None:
        ride.steps, ride.took = steps, took
    assert (steps, took) == (ride.steps, ride.took)
    assert link.get("steps", steps) == steps
    assert seen.get("held", "") == ("" if clock["speed"] else at(clock["now"]))


def check_held(stage_property: StageProperty, name: str, answers: Any, clock: Any) -> None:
    """While the clock is held, answers of pages do not change.

    Only the version may: that the guest's page has shown a plate is recorded once.
    """
    if clock["speed"] == 0:
        shown = [{**answer, "version": None} for answer in answers]
        assert stage_property.held.setdefault(name, shown) == shown


def as_shown(seconds: int) -> str:
    """A time as static/js/shared/ages.js writes it: from an hour on without seconds."""
    if seconds >= HOUR_S:
        return f"{seconds // HOUR_S} h {seconds % HOUR_S // 60} min"
    return f"{seconds // 60}:{seconds % 60:02}"


def within(seconds: float) -> float:
    """How exact a shown time is, in seconds."""
    return 60 + WITHIN_S if seconds >= HOUR_S - WITHIN_S else WITHIN_S


def spans(timer: Any, now: datetime) -> list[int]:
    """The times in a timer's text in seconds, as static/js/shared/ages.js writes them."""
    text, speed = timer["pattern"], timer.get("speed") or 1
    if timer.get("since"):
        began = datetime.fromisoformat(timer["since"])
        ends = datetime.fromisoformat(timer["until"]) if timer.get("until") else began
        for slot, took in (("up", now - began), ("down", ends - now), ("total", ends - began)):
            whole = max(0, int(took.total_seconds() * speed))
            text = text.replace(f"{{{slot}}}", as_shown(whole))
    # from an hour on a page has hours and minutes
    found = re.findall(r"(\d+):(\d\d)|(\d+) h (\d+) min", text)
    return [
        HOUR_S * int(hours) + 60 * int(rest) if hours else 60 * int(minutes) + int(seconds)
        for minutes, seconds, hours, rest in found
    ]


def at(service: float) -> str:
    """An instant of the service's clock, as a local time of the property."""
    return (
        (datetime.fromtimestamp(0, UTC) + timedelta(seconds=service))
        .astimezone(ZONE)
        .strftime("%H:%M")
    )
