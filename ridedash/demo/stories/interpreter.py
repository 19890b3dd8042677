"""The interpreter of stories: it takes a step when it is asked to, and says what is to be seen.

It has no thread: the page that plays a story asks again and again. The service's clock is held
while the presenter speaks. While a step waits for what must be seen it leaps to the ride's next
phase, or runs there and is held until pages show it: no phase is passed over, however late a poll
or the page is. So a story that is played has the same rides as one that is stepped.
"""

import contextlib
import math
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from ridedash.demo.beginning import ALONE, SUBJECT, Start, begin, control, follow, starts
from ridedash.demo.phone import give_newest
from ridedash.demo.sandbox_control import ClockNow, NotDone, NothingAhead
from ridedash.demo.stories.deeds import do
from ridedash.demo.stories.here import NotPlayed, NotYet
from ridedash.demo.stories.model import Act, Answering, Book, Clock, Fault, KioskBook, Step, Story
from ridedash.demo.stories.runs import RESUMED, Phase, Run, Runs
from ridedash.demo.stories.seen import Line, all_shown, is_seen, lines, ride_behind
from ridedash.demo.stories.waiting import in_vain
from ridedash.extensions import services
from ridedash.store.models.orders import Ride
from ridedash.store.models.people import Property
from ridedash.views.admin.property import record
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.formatting import zone

REHEARSED: Final = range(1, 4)  # seeds with which every story is known to end as it says
SEEDS: Final = range(1, 1_000_001)
LEAP: Final = 0  # the speed of a story that is stepped: the clock leaps and is held
PEOPLES: Final = 1  # the speed of people's time, in which an outage lasts
TAKES: Final = timedelta(seconds=20)  # a deed that began before that was cut off
PATIENCE: Final = timedelta(seconds=150)  # after the last turn; then nothing will come
TRIES: Final = 5  # to leave a step that others take at the same time


@dataclass(frozen=True)
class Moment:
    """Where a run stands: the step, and the list at the end once the story is over."""

    run: Run
    story: Story
    lines: tuple[Line, ...] = ()

    @property
    def step(self) -> Step | None:
        """The step that is to be taken, or was taken and waits; None after the last."""
        steps = self.story.steps
        return steps[self.run.step] if self.run.step < len(steps) else None


def start(story: Story, seed: int) -> Run:
    """Begin a story: rides and guests are gone, the clock is held where the story begins.

    Raises StillSending and NotDone, and sqlite3.Error when no run can be kept; nothing has changed
    then.
    """
    s, mine = services(), current_staff().property_id
    with s.db.read() as session:
        home = zone(session.get_one(Property, mine).timezone)
    at = starts(story.weekday, story.at, home)
    runs().check()
    with ALONE:  # of two presenters one begins after the other: clock and seed are those of the run
        begin(
            lambda session: record(session, "demo.story", SUBJECT, story=story.id, seed=seed),
            Start(at, seed),
        )
        return runs().begin(story.id, seed, mine, now())


def advance(moment: Moment, speed: int) -> Moment:
    """Take the next bit of a run: its deed, a look at what must be seen, or a leap towards it.

    Raises NotDone when the sandbox does not answer: nothing has moved then.
    """
    run, step = moment.run, moment.step
    if run.is_over:
        return moment
    if step is None:
        return _ended(moment)
    if run.phase is Phase.DOING:
        return moment if now() - run.phase_at < TAKES else _cut_off(moment, step)
    if run.phase is Phase.TODO:
        with ALONE:  # else a Reset could come between, and the ride be booked after it
            claimed = runs().move(run, Phase.DOING, now())
            return latest(moment) if claimed is None else _do(replace(moment, run=claimed), step)
    return _look(moment, step, speed)


def skip(moment: Moment, wanted: int) -> Moment:
    """Go on without a step; another one than the present is not skipped."""
    moment = _left(moment, Phase.TODO, wanted)
    if moment.step is None and not moment.run.is_over:
        with contextlib.suppress(NotDone):  # then the next press of Step makes the list
            return _ended(moment)
    return moment


def fail(moment: Moment, why: str) -> Moment:
    """The story is over before its end. Its rides stand still for whoever looks what came of it.

    Raises NotDone when the sandbox does not answer: nothing has changed then.
    """
    _turn(LEAP)
    return _moved(moment, Phase.FAILED, why=why)


def drop(moment: Moment) -> Moment:
    """End a story before its end; its rides stay."""
    return _left(moment, Phase.DROPPED)


def _left(moment: Moment, phase: Phase, wanted: int | None = None) -> Moment:
    """The moment once its step is left undone, and the clock held if the step has let it run.

    A page that plays the story moves it at the same time: then once more.
    """
    for _ in range(TRIES):
        run = moment.run
        if run.is_over or wanted not in (None, run.step):
            return moment
        step = None if wanted is None else min(wanted + 1, len(moment.story.steps))
        moved = runs().move(run, phase, now(), step=step)
        if moved is not None:
            if run.phase is Phase.WAITING:
                with contextlib.suppress(NotDone):  # a sandbox that is silent has none that runs
                    _turn(LEAP)
            return with_lines(replace(moment, run=moved))
        moment = latest(moment)
    return moment


def _do(moment: Moment, step: Step) -> Moment:
    calls, began = services().metrics.calls_in_vain(), now()
    try:
        kept = {"told": ""} | ({} if step.do is None else do(moment.run, step.do))
    except NotPlayed as error:
        return _moved(moment, Phase.FAILED, why=str(error))
    except NotYet as error:
        _moved(moment, Phase.TODO)
        raise NotDone from error
    if isinstance(step.do, Fault) and step.do.lasts_s is not None:
        ends = began + timedelta(seconds=step.do.lasts_s)
        kept |= {"calls_before": calls, "outage_ends": ends.timestamp()}
    if step.until is None and _may_go_on(moment):
        return _on(moment, **kept)
    return _moved(moment, Phase.WAITING, **kept)


def _cut_off(moment: Moment, step: Step) -> Moment:
    """A process ended in the middle of a deed. An order is made once, whoever repeats it."""
    if step.do is None or isinstance(step.do, Book | KioskBook):
        return _moved(moment, Phase.TODO)
    return _moved(moment, Phase.WAITING) if step.until else _on(moment)


def _look(moment: Moment, step: Step, speed: int) -> Moment:
    run, clock = runs().ask(moment.run, now()), control().clock()
    moment = replace(moment, run=run)
    if not _knows(clock):
        follow()  # it was turned, and no answer told so
        return moment
    if clock.stops and clock.speed == speed:
        return moment  # it is held by itself at the ride's next phase
    # in this order: what comes in between is not passed over
    over = "" if step.until is None else in_vain(run, step.until)
    ride = None if step.until is None else ride_behind(run, step.until)
    shown = all_shown(run.property_id)
    is_there = step.until is None or is_seen(run, step.until)
    if is_there:
        _turn(LEAP)
        if _may_go_on(moment):
            return _on(moment, **_of_outage(run, step))
    if over and not is_there:
        return fail(moment, over)
    if now() - max(run.phase_at, services().time().turned_at or run.phase_at) > PATIENCE:
        return fail(moment, "what was to come did not come")
    if is_there:
        return moment
    if isinstance(step.until, Answering):
        _turn(min(speed, PEOPLES))
        return moment
    return _forward(moment, ride, speed) if ride is not None and shown else moment


def _knows(clock: ClockNow) -> bool:
    """Whether this process computes with the last turn of the clock."""
    turns = services().time().turns
    return bool(turns) and turns[-1].wall == clock.turned_at


def _may_go_on(moment: Moment) -> bool:
    """Whether the next step may be taken: no press, no turn and no fault before all is shown."""
    after = moment.run.step + 1
    following = moment.story.steps[after : after + 1]
    matters = not following or isinstance(following[0].do, Act | Clock | Fault)
    return not matters or all_shown(moment.run.property_id)


def _of_outage(run: Run, step: Step) -> dict[str, Any]:
    """What is counted of an outage: its calls, and how long rides were silent after it.

    How long nobody knows when it ended while the story rested: the computer was closed, say.
    """
    if not isinstance(step.until, Answering):
        return {}
    made, ends = services().metrics.calls_in_vain(), run.kept.get("outage_ends")
    found = {"calls": made - run.kept.get("calls_before", made)}
    if step.until.answers and ends is not None:
        if run.kept.get(RESUMED, ends) > ends:
            found["unwatched"] = True
        else:
            found["silent_s"] = math.ceil(now().timestamp() - ends)
    return found


def _forward(moment: Moment, ride: Ride, speed: int) -> Moment:
    """Leap or run to the ride's next phase; pages show what the last turn has brought."""
    run = moment.run
    if not (ride.booking_id or ride.txn_id):
        return moment
    claimed = runs().move(run, Phase.WAITING, run.phase_at)  # of two windows one turns the clock
    if claimed is None:
        return latest(moment)
    give_newest(run.property_id)
    try:
        control().leap(ride.booking_id or ride.txn_id, speed)
    except NothingAhead:
        return moment  # its end has come; the page shows it in a moment
    follow()
    return replace(moment, run=claimed)


def _turn(speed: int) -> None:
    """Hold the clock, or let it run; nothing if it does so already."""
    if control().clock().speed != speed:
        control().run_at(speed)
        follow()


def _on(moment: Moment, **kept: Any) -> Moment:
    """To the next step. What the last one says is heard before the list at the end."""
    return _moved(moment, Phase.TODO, step=moment.run.step + 1, **kept)


def _ended(moment: Moment) -> Moment:
    found = lines(moment.run, moment.story.ends, control().ledger())
    kept = [[each.words, each.holds] for each in found]
    return _moved(moment, Phase.ENDED, lines=kept)


def _moved(moment: Moment, phase: Phase, *, step: int | None = None, **kept: Any) -> Moment:
    moved = runs().move(moment.run, phase, now(), step=step, **kept)
    if moved is not None:
        return with_lines(replace(moment, run=moved))
    if kept:  # the ride was ordered, whoever has skipped the step meanwhile
        runs().keep(moment.run, **kept)
    return latest(moment)


def latest(moment: Moment) -> Moment:
    """The run as somebody else has just moved it."""
    found = runs().find(moment.run.id)
    return moment if found is None else with_lines(replace(moment, run=found))


def with_lines(moment: Moment) -> Moment:
    """The moment with the list at the end, once there is one."""
    kept = moment.run.kept.get("lines", ())
    return replace(moment, lines=tuple(Line(words, holds) for words, holds in kept))


def runs() -> Runs:
    """The runs of this installation."""
    return Runs(services().settings.instance)


def now() -> datetime:
    """The wall clock."""
    return services().clock()
