"""The interpreter of stories: each request of the page that plays a story advances it.

The interpreter has no thread. The clock of the service is held while the presenter speaks. A step
may wait until something is seen on the pages. Meanwhile the clock leaps, or runs, to the next phase
of the ride (its next change in the sandbox) and is held there until pages show it, so that no phase
is skipped, however late a poll comes. So a story has the same rides whether it is played or
stepped.
"""

import contextlib
import math
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from ridedash.demo.beginning import ALONE, SUBJECT, Start, begin, control, follow, starts
from ridedash.demo.phone import give_newest
from ridedash.demo.sandbox_control import OWN_PACE, ClockNow, NotDone, NothingAhead, Wait
from ridedash.demo.stories.actions import do
from ridedash.demo.stories.figures import card
from ridedash.demo.stories.here import NotPlayed, NotYet
from ridedash.demo.stories.model import (
    Act,
    AddFault,
    Answering,
    Book,
    KioskBook,
    SetClock,
    Story,
    StoryStep,
)
from ridedash.demo.stories.runs import LATE, RESUMED, RunPhase, Runs, StoryRun
from ridedash.demo.stories.seen import CheckedLine, all_shown, is_seen, lines, ride_behind
from ridedash.demo.stories.waiting import came_late, in_vain
from ridedash.extensions import services
from ridedash.store.models.orders import Order, Ride
from ridedash.store.models.people import Property
from ridedash.views.admin.property import record
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.formatting import zone

REHEARSED: Final = range(1, 4)  # the seeds with which bench/stories.py plays every story to its end
SEEDS: Final = range(1, 1_000_001)
HELD: Final = 0  # a speed: the clock stands still; a request with this speed makes it leap
# the greatest speed while a step waits for an outage or its end: outages last for wall-clock time
REAL_TIME: Final = 1
# the longest time that an action may take; after it, its process is assumed dead
TAKES: Final = timedelta(seconds=20)
# how long a step may wait after its action, or after the last change of the clock if that is later
PATIENCE: Final = timedelta(seconds=150)
# how many times a booking is repeated if it was not sent in time, e.g. because the computer slept
LATE_TRIES: Final = 2
TRIES: Final = 5  # attempts to leave a step while other requests change the run


@dataclass(frozen=True)
class RunState:
    """The progress of a run, here called a moment.

    `lines` are the results of the story's checks; empty before its end.
    """

    run: StoryRun
    story: Story
    lines: tuple[CheckedLine, ...] = ()

    @property
    def step(self) -> StoryStep | None:
        """The step that is to be taken, or that was taken and waits; None after the last."""
        steps = self.story.steps
        if self.run.step >= len(steps):
            return None
        return steps[self.run.step]


def start(story: Story, seed: int) -> StoryRun:
    """Begin a story: delete rides and guests, and hold the clock at the story's time.

    Raises StillSending, NotDone, and sqlite3.Error when the run can't be stored. Nothing has
    changed then, unless storing the run fails although `check` found that it works.
    """
    mine = current_staff().property_id
    with services().db.read() as session:
        home = zone(session.get_one(Property, mine).timezone)
    at = starts(story.weekday, story.at, home)
    runs().check()
    with ALONE:
        # with the lock, clock and seed stay those of this run, even if two presenters begin at once
        begin(
            lambda session: record(session, "demo.story", SUBJECT, story=story.id, seed=seed),
            Start(at, seed),
        )
        return runs().begin(story.id, seed, mine, now())


def advance(moment: RunState, speed: int) -> RunState:
    """Continue a run: do the action of its step, check the step's condition, or move the clock.

    Raises NotDone when the sandbox does not answer: the run has the same step and phase then.
    """
    run = moment.run
    step = moment.step
    if run.is_over:
        return moment
    if step is None:
        return _end(moment)
    if run.phase is RunPhase.DOING:
        if now() - run.phase_at < TAKES:
            return moment
        return _after_death(moment, step)
    if run.phase is RunPhase.TODO:
        with ALONE:  # so that no Reset comes between the claim and the action
            claimed = runs().update(run, RunPhase.DOING, now())
            if claimed is None:
                return latest(moment)
            return _do(replace(moment, run=claimed), step)
    return _look(moment, step, speed)


def skip(moment: RunState, wanted: int) -> RunState:
    """Skip the step `wanted`; do nothing if it is not the present step."""
    moment = _left(moment, RunPhase.TODO, wanted)
    if moment.step is None and not moment.run.is_over:
        with contextlib.suppress(NotDone):  # the next press of Step tries again
            return _end(moment)
    return moment


def fail(moment: RunState, why: str) -> RunState:
    """End a story that can't go on. The clock is held, so that its rides can be looked at.

    Raises NotDone when the sandbox does not answer: nothing has changed then.
    """
    _turn(HELD)
    return _change_run(moment, RunPhase.FAILED, why=why)


def drop(moment: RunState) -> RunState:
    """End a story before its end; its rides stay."""
    return _left(moment, RunPhase.DROPPED)


def _left(moment: RunState, phase: RunPhase, wanted: int | None = None) -> RunState:
    """Leave the present step, and set the run to `phase`; hold the clock if the step let it run.

    Tries again when a page that plays the story changes the run at the same time.
    """
    for _ in range(TRIES):
        run = moment.run
        if run.is_over or wanted not in (None, run.step):
            return moment
        step = None if wanted is None else min(wanted + 1, len(moment.story.steps))
        changed = runs().update(run, phase, now(), step=step)
        if changed is not None:
            if run.phase is RunPhase.WAITING:
                with contextlib.suppress(NotDone):
                    # if the sandbox does not answer, its clock stays as it is
                    _turn(HELD)
            return with_lines(replace(moment, run=changed))
        moment = latest(moment)
    return moment


def _do(moment: RunState, step: StoryStep) -> RunState:
    """Do the action of a step, and go on if the step waits for nothing."""
    calls = services().metrics.calls_in_vain()
    began = now()
    values: dict[str, Any] = {"told": ""}
    try:
        if step.do is not None:
            values |= do(moment.run, step.do)
    except NotPlayed as error:
        return _change_run(moment, RunPhase.FAILED, why=str(error))
    except NotYet as error:
        _change_run(moment, RunPhase.TODO)
        raise NotDone from error
    if isinstance(step.do, AddFault) and step.do.lasts_s is not None:
        ends = began + timedelta(seconds=step.do.lasts_s)
        values |= {"calls_before": calls, "outage_ends": ends.timestamp()}
    if step.until is None and _may_go_on(moment):
        return _go_on(moment, **values)
    return _change_run(moment, RunPhase.WAITING, **values)


def _after_death(moment: RunState, step: StoryStep) -> RunState:
    """Go on after a process died in the middle of an action.

    A booking is done again, which makes no second order; other actions are assumed to be done.
    """
    if step.do is None or isinstance(step.do, Book | KioskBook):
        return _change_run(moment, RunPhase.TODO)
    if step.until:
        return _change_run(moment, RunPhase.WAITING)
    return _go_on(moment)


def _look(moment: RunState, step: StoryStep, speed: int) -> RunState:
    """Check the step's condition. Go on if it holds; else let the clock run, if that may help."""
    run = runs().ask(moment.run, now())
    clock = control().clock()
    moment = replace(moment, run=run)
    if not _knows(clock):
        follow()  # the clock has changed, and this process has not read it yet
        return moment
    if clock.stops and speed in (OWN_PACE, clock.speed):
        return moment  # the clock runs, and the sandbox holds it at the next phase of the ride
    # Polls may come between these reads, so their order matters. Whether all rides are shown is
    # read first: once they are, no poll can change for which ride the step waits, so the clock
    # skips no phase. Failure is read before success: if the state changes between the two reads,
    # the step has succeeded.
    shown = all_shown(run.property_id)
    over = ""
    ride = None
    is_there = True
    if step.until is not None:
        over = in_vain(run, step.until)
        ride = ride_behind(run, step.until)
        is_there = is_seen(run, step.until)
    if is_there:
        _turn(HELD)
        if _may_go_on(moment):
            return _go_on(moment, **_outage_metrics(run, step))
    if over and not is_there:
        return _booked_again(moment, step) or fail(moment, over)
    if now() - max(run.phase_at, services().time().turned_at or run.phase_at) > PATIENCE:
        return fail(moment, "what was to come did not come")
    if is_there:
        return moment
    if isinstance(step.until, Answering):
        _turn(REAL_TIME if speed else HELD)
        return moment
    if ride is not None and shown:
        return _forward(moment, ride, speed)
    return moment


def _booked_again(moment: RunState, step: StoryStep) -> RunState | None:
    """Set the run back to its step, to be taken again, if the step's booking was not sent in time.

    None, without a change, for any other step, and if the booking was repeated LATE_TRIES times.
    """
    if not isinstance(step.do, Book | KioskBook):
        return None
    run = moment.run
    ride = step.do.ride
    order_id = run.order(ride)
    late = run.late(ride)
    words = came_late(run, ride)
    if order_id is None or not words or len(late) >= LATE_TRIES:
        return None
    orders = {name: each for name, each in run.values["orders"].items() if name != ride}
    again = run.values.get(LATE, {}) | {ride: [*late, order_id]}
    return _change_run(moment, RunPhase.TODO, told=words, orders=orders, **{LATE: again})


def _knows(clock: ClockNow) -> bool:
    """Whether this process has read the last change of the clock."""
    turns = services().time().turns
    return bool(turns) and turns[-1].wall == clock.turned_at


def _may_go_on(moment: RunState) -> bool:
    """Whether the next step may be taken.

    An action on a ride, a change of the clock, a fault and the end wait until all rides are shown.
    """
    after = moment.run.step + 1
    following = moment.story.steps[after : after + 1]
    matters = not following or isinstance(following[0].do, Act | SetClock | AddFault)
    return not matters or all_shown(moment.run.property_id)


def _outage_metrics(run: StoryRun, step: StoryStep) -> dict[str, Any]:
    """The metrics of an outage: its calls, and how long rides got no update after it.

    The time is unknown if the outage ended while no page requested the story, as on a computer that
    was asleep.
    """
    if not isinstance(step.until, Answering):
        return {}
    calls = services().metrics.calls_in_vain()
    ends = run.values.get("outage_ends")
    found = {"calls": calls - run.values.get("calls_before", calls)}
    if step.until.answers and ends is not None:
        if run.values.get(RESUMED, ends) > ends:
            found["unwatched"] = True
        else:
            found["silent_s"] = math.ceil(now().timestamp() - ends)
    return found


def _forward(moment: RunState, ride: Ride, speed: int) -> RunState:
    """Set the clock to the ride's next phase, or let it run there at `speed`."""
    run = moment.run
    if not (ride.booking_id or ride.txn_id):
        return moment
    # if two windows show the story, only one of them changes the clock
    claimed = runs().update(run, RunPhase.WAITING, run.phase_at)
    if claimed is None:
        return latest(moment)
    give_newest(run.property_id)
    try:
        control().leap(ride.booking_id or ride.txn_id, _pace(moment, speed))
    except NothingAhead:
        return moment  # the ride has ended; pages will show it
    follow()
    return replace(moment, run=claimed)


def _pace(moment: RunState, speed: int) -> int:
    """The speed at which the clock runs to the next phase; at OWN_PACE that of the step's wait."""
    if speed != OWN_PACE:
        return speed
    return wait_ahead(moment.run, moment.step).speed


def wait_ahead(run: StoryRun, step: StoryStep | None) -> Wait:
    """How a step waits at the story's own pace; Wait(0, 0) if it waits for no single ride."""
    ride = getattr(step and step.until, "ride", None)
    order_id = None if ride is None else run.order(ride)
    if order_id is None:
        return Wait(HELD, 0.0)
    with services().db.read() as s:
        mtx = s.get_one(Order, order_id).mtx
    return control().wait_for(mtx)


def _turn(speed: int) -> None:
    """Hold the clock, or let it run at a speed; do nothing if it does so already."""
    if control().clock().speed != speed:
        control().run_at(speed)
        follow()


def _go_on(moment: RunState, **values: Any) -> RunState:
    """Go to the next step. After the last one, the next request brings the results."""
    return _change_run(moment, RunPhase.TODO, step=moment.run.step + 1, **values)


def _end(moment: RunState) -> RunState:
    """End the story, and store the results of its checks."""
    ledger = control().ledger()
    found = lines(moment.run, moment.story.ends, ledger)
    values: dict[str, Any] = {"lines": [[each.words, each.holds] for each in found]}
    if moment.story.counted:
        values["card"] = card(moment.run, ledger, found)
    return _change_run(moment, RunPhase.ENDED, **values)


def _change_run(
    moment: RunState, phase: RunPhase, *, step: int | None = None, **values: Any
) -> RunState:
    """Store the phase, step and values of a run.

    If another request has changed the run meanwhile, only the values are stored. Returns the moment
    with the run as it is now.
    """
    changed = runs().update(moment.run, phase, now(), step=step, **values)
    if changed is not None:
        return with_lines(replace(moment, run=changed))
    if values:  # values of an action are stored even if the step was skipped meanwhile
        runs().store_values(moment.run, **values)
    return latest(moment)


def latest(moment: RunState) -> RunState:
    """The moment with the run as another request has just changed it."""
    found = runs().find(moment.run.id)
    if found is None:
        return moment
    return with_lines(replace(moment, run=found))


def with_lines(moment: RunState) -> RunState:
    """The moment with the results of its story, if the story is at its end."""
    results = moment.run.values.get("lines", ())
    return replace(moment, lines=tuple(CheckedLine(words, holds) for words, holds in results))


def runs() -> Runs:
    """The runs of this installation."""
    return Runs(services().settings.instance)


def now() -> datetime:
    """The wall clock."""
    return services().clock()
