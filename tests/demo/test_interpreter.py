"""A story turns the clock only after each ride shows what the turn before has changed."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest
from flask_login import login_user
from sqlalchemy import select, update

from ridedash.demo.sandbox_control import SandboxControl
from ridedash.demo.stories import STORIES, interpreter
from ridedash.demo.stories.here import NotYet, place_named
from ridedash.demo.stories.interpreter import RunState, _look, _outage_metrics, advance, runs
from ridedash.demo.stories.model import AllReached, Answering, Count, CountCheck, Fresh, StoryStep
from ridedash.demo.stories.runs import RESUMED, RunPhase, StoryRun
from ridedash.demo.stories.seen import CheckedLine, all_shown, lines
from ridedash.geo import LatLng
from ridedash.places import Place, PlacesUnavailableError
from ridedash.service.transport.http import Http
from ridedash.store.accounts import add_account
from ridedash.store.models.orders import Ride
from ridedash.store.models.people import Property
from ridedash.turns import SandboxTime
from ridedash.views.web.current_user import SignedIn
from tests.demo.stages import Stage

pytestmark = pytest.mark.database
SECOND = timedelta(seconds=1)
LATE_TRIES = 2  # how often a story books again when a booking was not sent in time


def shown(stage: Stage) -> bool:
    with stage.desk.app.app_context():
        return all_shown(stage.desk.ids["desk.property"])


def seen(stage: Stage, order_id: int, at: datetime | None) -> None:
    mine = update(Ride).where(Ride.order_id == order_id)
    stage.desk.add(lambda s: s.execute(mine.values(seen_at=at)))


def held(stage: Stage) -> SandboxTime:
    """Hold the sandbox's clock. Returns the service's time of an app that has read this clock."""
    time = SandboxTime(
        Http(httpx.WSGITransport(stage.sandbox.app)),
        "http://127.0.0.1:8001",
        1.0,
        lambda: stage.desk.now,
    )
    stage.desk.services.time = time
    stage.sandbox.control("clock", speed=0)
    time.read()
    return time


def test_a_ride_that_was_not_polled_since_the_last_clock_turn_holds_the_clock(stage: Stage) -> None:
    http = Http(httpx.WSGITransport(stage.sandbox.app))
    time = SandboxTime(http, "http://127.0.0.1:8001", 1.0, stage.sandbox.clock)
    stage.desk.services.time = time
    first, second = (stage.desk.order("BOOKED", "CALL_DRIVER") for _ in range(2))
    stage.sandbox.control("clock", speed=0, leap=60)
    stage.sandbox.clock.advance(5)
    time.read()
    turned = stage.sandbox.clock()
    seen(stage, first, turned - SECOND)
    seen(stage, second, turned)
    for order_id in (first, second):
        assert not shown(stage)
        seen(stage, order_id, turned + SECOND)
    assert shown(stage)
    seen(stage, second, turned - SECOND)  # before this process knew of the turn
    assert not shown(stage)
    over = update(Ride).where(Ride.order_id == second)
    stage.desk.add(lambda s: s.execute(over.values(ended_at=turned)))
    assert shown(stage)
    seen(stage, first, None)
    assert not shown(stage)
    time.stop()


def test_a_poll_between_two_reads_leads_no_ride_past_a_phase(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which ride is behind is read after `all_shown`: a poll before may have changed it."""
    desk, led = stage.desk, list[str]()
    time = held(stage)
    rides = {name: desk.order("BOOKED", "ALLOTMENT_PENDING") for name in ("first", "second")}
    with desk.services.db.read() as s:
        of_second = s.scalar(select(Ride.booking_id).where(Ride.order_id == rides["second"]))

    def shown_by_a_poll(_property_id: int) -> bool:
        mine = update(Ride).where(Ride.order_id == rides["first"])
        desk.add(lambda s: s.execute(mine.values(status="CALL_DRIVER")))
        return True

    monkeypatch.setattr(interpreter, "all_shown", shown_by_a_poll)
    monkeypatch.setattr(
        SandboxControl, "leap", lambda _self, booking_id, _speed: led.append(booking_id)
    )
    home = desk.ids["desk.property"]
    with desk.app.test_request_context():
        login_user(SignedIn(desk.ids["desk"], home, "Desk", "manager", None, None))
        begun = runs().begin("down", 1, home, desk.now)
        run = runs().update(begun, RunPhase.WAITING, desk.now, orders=rides)
        assert run is not None
        wanted = StoryStep("", until=AllReached("CALL_DRIVER", tuple(rides)))
        _look(RunState(run, STORIES["down"]), wanted, 0)
    assert led == [of_second]
    time.stop()


class Slow:
    """A place search that fails the first `silent` times."""

    def __init__(self, silent: int) -> None:
        self.silent = silent

    def search(self, q: str, near: LatLng | None = None, limit: int = 8) -> list[Place]:
        self.silent -= 1
        if self.silent >= 0:
            raise PlacesUnavailableError
        return [Place("1", q, "airport", "", LatLng(1, 2))]


def test_a_place_search_that_is_slow_at_first_ends_no_story(stage: Stage) -> None:
    """The sandbox makes its list of places at the first search, which therefore takes long."""
    services: Any = stage.desk.services
    with stage.desk.app.app_context():
        services.geocoder = Slow(2)
        assert place_named("Airport", LatLng(0, 0)) == LatLng(1, 2)
        services.geocoder = Slow(100)
        with pytest.raises(NotYet):
            place_named("Airport", LatLng(0, 0))


def test_a_search_without_an_answer_leaves_the_step_to_be_taken(stage: Stage) -> None:
    """On a busy computer a new sandbox may need long for its first answer."""
    services: Any = stage.desk.services
    home, token = stage.desk.ids["desk.property"], "user-token-0123456789"
    with stage.desk.services.db.write() as s:
        add_account(s, services.vault, home, "House", token, stage.desk.now)
        s.get_one(Property, home).pickup_lat, s.get_one(Property, home).pickup_lng = -38.5, -128.0
    begun = stage.web.post("/demo/stories/receipt/start", data={"csrf_token": stage.csrf})
    run = begun.headers["Location"]
    services.geocoder = Slow(100)
    step = {"step": "0", "speed": "0", "csrf_token": stage.csrf}
    for _ in range(2):
        answer = stage.web.post(f"{run}/step", data=step, headers={"Accept": "application/json"})
        body: Any = answer.json
        assert (body["state"], body["step"]) == ("todo", 0)
        assert body["refused"] == "The sandbox does not answer. Nothing was changed."


def test_the_silence_of_rides_is_not_counted_while_no_one_looked(stage: Stage) -> None:
    """For example, the computer was asleep when an outage ended."""
    desk = stage.desk
    ends = desk.now.timestamp() - 70
    found = []
    for resumed in ({}, {RESUMED: ends - 1}, {RESUMED: ends + 65}):
        values = {"outage_ends": ends} | resumed
        home, now = desk.ids["desk.property"], desk.now
        run = StoryRun("run", "down", 1, home, now, 0, RunPhase.WAITING, now, values=values)
        with desk.app.test_request_context():
            counted = _outage_metrics(run, StoryStep("", until=Answering(True)))
            run = replace(run, values=values | counted)
            found.append(lines(run, (Fresh(45),), []))
    late = [CheckedLine("Every ride was fresh 70 s after the outage, 45 s at most", False)]
    assert found == [
        late,
        late,
        [CheckedLine("Every ride is fresh. Nobody watched the outage end.", True)],
    ]


def test_a_booking_that_was_not_sent_in_time_is_made_once_more(stage: Stage) -> None:
    """For example, the computer was asleep for a minute between the press and the send."""
    desk, story = stage.desk, STORIES["down"]
    home, guest = desk.ids["desk.property"], story.steps[0].do.ride  # type: ignore[union-attr]
    time = held(stage)
    tokens = set()
    with desk.app.test_request_context():
        run = runs().begin(story.id, 1, home, desk.now)
        for _ in range(LATE_TRIES):
            tokens.add(run.token(guest))
            late = desk.order("NOT_SENT", code="EXPIRED")
            booked = runs().update(run, RunPhase.WAITING, desk.now, orders={guest: late})
            assert booked is not None
            run = advance(RunState(booked, story), 60).run
            assert (run.phase, run.step, run.order(guest)) == (RunPhase.TODO, 0, None)
            assert "was not sent in time" in run.values["told"]
        assert len(tokens | {run.token(guest)}) == LATE_TRIES + 1
        desk.order("BOOKED", "CALL_DRIVER")
        proof = lines(run, (Count.exactly(CountCheck.ORDERS, 1),), [])
        assert proof == [
            CheckedLine("1 booking here", True),
            CheckedLine("2 bookings were not sent in time, and made once more", True),
        ]
        late = desk.order("NOT_SENT", code="EXPIRED")
        booked = runs().update(run, RunPhase.WAITING, desk.now, orders={guest: late})
        assert booked is not None
        run = advance(RunState(booked, story), 60).run
        assert run.phase is RunPhase.FAILED  # so many late bookings are no chance
    time.stop()
