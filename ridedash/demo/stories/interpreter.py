"""The interpreter of stories: each request of the page that plays a story takes it further.

It has no thread. The clock of the service is held while the presenter speaks. While a step waits
for what must be seen, the clock leaps to the next phase of the ride, or runs there and is held
until pages show it: no phase is passed over, however late a poll or the page is. So a story has the
same rides whether it is played or stepped.
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
from ridedash.demo.stories.runs import LATE, RESUMED, Phase, Run, Runs
from ridedash.demo.stories.seen import Line, all_shown, is_seen, lines, ride_behind
from ridedash.demo.stories.waiting import came_late, in_vain
from ridedash.extensions import services
from ridedash.store.models.orders import Ride
from ridedash.store.models.people import Property
from ridedash.views.admin.property import record
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.formatting import zone

REHEARSED: Final = range(1, 4)  # seeds with which tests have played every story to its end
SEEDS: Final = range(1, 1_000_001)
HELD: Final = 0  # a speed: the clock is held, and leaps when the story is stepped
REAL_TIME: Final = 1  # a speed: outages last for seconds of real time
TAKES: Final = timedelta(seconds=20)  # the longest deed; after that its process has died
PATIENCE: Final = timedelta(seconds=150)  # for what must be seen, after the last turn of the clock
LATE_TRIES: Final = 2  # of a booking that is not sent in time: no computer sleeps that often
TRIES: Final = 5  # to leave a step that others take at the same time


@dataclass(frozen=True)
class Moment:
    """How far a run is; `lines` are the results at its end, empty before."""

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
    mine = current_staff().property_id
    with services().db.read() as session:
        home = zone(session.get_one(Property, mine).timezone)
    at = starts(story.weekday, story.at, home)
    runs().check()
    with ALONE:  # two presenters begin one after the other, so the clock and seed are of this run
        begin(
            lambda session: record(session, "demo.story", SUBJECT, story=story.id, seed=seed),
            Start(at, seed),
        )
        return runs().begin(story.id, seed, mine, now())


def advance(moment: Moment, speed: int) -> Moment:
    """Take a run further: do the deed of its step, look for what must be seen, or leap towards it.

    Raises NotDone when the sandbox does not answer: nothing has moved then.
    """
    run, step = moment.run, moment.step
    if run.is_over:
        return moment
    if step is None:
        return _ended(moment)
    if run.phase is Phase.DOING:
        is_busy = now() - run.phase_at < TAKES
        return moment if is_busy else _after_death(moment, step)
    if run.phase is Phase.TODO:
        with ALONE:  # so that no Reset comes between the claim and the deed
            claimed = runs().move(run, Phase.DOING, now())
            if claimed is None:
                return latest(moment)
            return _do(replace(moment, run=claimed), step)
    return _look(moment, step, speed)


def skip(moment: Moment, wanted: int) -> Moment:
    """Go on without the step `wanted`; nothing if that is not the present one."""
    moment = _left(moment, Phase.TODO, wanted)
    if moment.step is None and not moment.run.is_over:
        with contextlib.suppress(NotDone):  # the next press of Step tries again
            return _ended(moment)
    return moment


def fail(moment: Moment, why: str) -> Moment:
    """End a story that can't go on. The clock is held, so that its rides can be looked at.

    Raises NotDone when the sandbox does not answer: nothing has changed then.
    """
    _turn(HELD)
    return _moved(moment, Phase.FAILED, why=why)


def drop(moment: Moment) -> Moment:
    """End a story before its end; its rides stay."""
    return _left(moment, Phase.DROPPED)


def _left(moment: Moment, phase: Phase, wanted: int | None = None) -> Moment:
    """Leave the present step, to `phase`; hold the clock if the step has let it run.

    Tries again when a page that plays the story moves it at the same time.
    """
    for _ in range(TRIES):
        run = moment.run
        if run.is_over or wanted not in (None, run.step):
            return moment
        step = None if wanted is None else min(wanted + 1, len(moment.story.steps))
        moved = runs().move(run, phase, now(), step=step)
        if moved is not None:
            if run.phase is Phase.WAITING:
                with contextlib.suppress(NotDone):  # a sandbox that is silent has no clock to hold
                    _turn(HELD)
            return with_lines(replace(moment, run=moved))
        moment = latest(moment)
    return moment


def _do(moment: Moment, step: Step) -> Moment:
    """Do the deed of a step, and go on if nothing has to be seen before the next."""
    calls = services().metrics.calls_in_vain()
    began = now()
    kept: dict[str, Any] = {"told": ""}
    try:
        if step.do is not None:
            kept |= do(moment.run, step.do)
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


def _after_death(moment: Moment, step: Step) -> Moment:
    """Go on after a process has ended in the middle of a deed.

    An order is made once, however often it is repeated; other deeds are taken as done.
    """
    if step.do is None or isinstance(step.do, Book | KioskBook):
        return _moved(moment, Phase.TODO)
    return _moved(moment, Phase.WAITING) if step.until else _on(moment)


def _look(moment: Moment, step: Step, speed: int) -> Moment:
    """Look for what must be seen. Go on if it is, else let the clock go on if that may bring it."""
    run = runs().ask(moment.run, now())
    clock = control().clock()
    moment = replace(moment, run=run)
    if not _knows(clock):
        follow()  # the clock was turned, and this process has not heard of it
        return moment
    if clock.stops and clock.speed == speed:
        return moment  # the clock runs, and the sandbox holds it at the next phase of the ride
    # In this order, first what rules the step out, then what is seen: what comes in between counts.
    over = "" if step.until is None else in_vain(run, step.until)
    ride = None if step.until is None else ride_behind(run, step.until)
    shown = all_shown(run.property_id)
    is_there = step.until is None or is_seen(run, step.until)
    if is_there:
        _turn(HELD)
        if _may_go_on(moment):
            return _on(moment, **_of_outage(run, step))
    if over and not is_there:
        return _booked_again(moment, step) or fail(moment, over)
    if now() - max(run.phase_at, services().time().turned_at or run.phase_at) > PATIENCE:
        return fail(moment, "what was to come did not come")
    if is_there:
        return moment
    if isinstance(step.until, Answering):
        _turn(min(speed, REAL_TIME))
        return moment
    if ride is not None and shown:
        return _forward(moment, ride, speed)
    return moment


def _booked_again(moment: Moment, step: Step) -> Moment | None:
    """The step once more, if its booking was not sent in time: nothing was booked. Else None."""
    if not isinstance(step.do, Book | KioskBook):
        return None
    run, ride = moment.run, step.do.ride
    order_id, late, words = run.order(ride), run.late(ride), came_late(run, ride)
    if order_id is None or not words or len(late) >= LATE_TRIES:
        return None
    orders = {name: each for name, each in run.kept["orders"].items() if name != ride}
    again = run.kept.get(LATE, {}) | {ride: [*late, order_id]}
    return _moved(moment, Phase.TODO, told=words, orders=orders, **{LATE: again})


def _knows(clock: ClockNow) -> bool:
    """Whether this process has read the last turn of the clock."""
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

    That time is unknown if the outage ended while no page asked for the story, as on a computer
    that was asleep.
    """
    if not isinstance(step.until, Answering):
        return {}
    made = services().metrics.calls_in_vain()
    ends = run.kept.get("outage_ends")
    found = {"calls": made - run.kept.get("calls_before", made)}
    if step.until.answers and ends is not None:
        if run.kept.get(RESUMED, ends) > ends:
            found["unwatched"] = True
        else:
            found["silent_s"] = math.ceil(now().timestamp() - ends)
    return found


def _forward(moment: Moment, ride: Ride, speed: int) -> Moment:
    """Leap or run to the ride's next phase, once pages show what the last turn has brought."""
    run = moment.run
    if not (ride.booking_id or ride.txn_id):
        return moment
    claimed = runs().move(run, Phase.WAITING, run.phase_at)  # one of two windows turns the clock
    if claimed is None:
        return latest(moment)
    give_newest(run.property_id)
    try:
        control().leap(ride.booking_id or ride.txn_id, speed)
    except NothingAhead:
        return moment  # the ride has ended; pages will show it
    follow()
    return replace(moment, run=claimed)


def _turn(speed: int) -> None:
    """Hold the clock, or let it run at a speed; nothing if it does so already."""
    if control().clock().speed != speed:
        control().run_at(speed)
        follow()


def _on(moment: Moment, **kept: Any) -> Moment:
    """Go to the next step. After the last one there is none yet: its words are shown first."""
    return _moved(moment, Phase.TODO, step=moment.run.step + 1, **kept)


def _ended(moment: Moment) -> Moment:
    """The story at its end, with its results."""
    found = lines(moment.run, moment.story.ends, control().ledger())
    kept = [[each.words, each.holds] for each in found]
    return _moved(moment, Phase.ENDED, lines=kept)


def _moved(moment: Moment, phase: Phase, *, step: int | None = None, **kept: Any) -> Moment:
    """Move the run, and keep these facts with it; the latest run if somebody else has moved it."""
    moved = runs().move(moment.run, phase, now(), step=step, **kept)
    if moved is not None:
        return with_lines(replace(moment, run=moved))
    if kept:  # facts of what was done are kept, even if the step was skipped meanwhile
        runs().keep(moment.run, **kept)
    return latest(moment)


def latest(moment: Moment) -> Moment:
    """The run as somebody else has just moved it."""
    found = runs().find(moment.run.id)
    return moment if found is None else with_lines(replace(moment, run=found))


def with_lines(moment: Moment) -> Moment:
    """The moment with the results at the end of its story, once there are any."""
    kept = moment.run.kept.get("lines", ())
    return replace(moment, lines=tuple(Line(words, holds) for words, holds in kept))


def runs() -> Runs:
    """The runs of this installation."""
    return Runs(services().settings.instance)


def now() -> datetime:
    """The wall clock."""
    return services().clock()
