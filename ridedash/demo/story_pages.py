"""/demo/stories and /demo/runs: begins a story and takes its steps; for managers.

Each press is a form that works without scripts. While a story plays, the page's script sends the
same form repeatedly and gets the progress of the run as JSON.
"""

import logging
import sqlite3
from datetime import timedelta
from typing import Any, Final

from flask import (
    Blueprint,
    Flask,
    Response,
    abort,
    current_app,
    jsonify,
    redirect,
    render_template,
    request,
)

from ridedash.demo.beginning import empty_too, only_in_a_demo
from ridedash.demo.emptying import StillSending
from ridedash.demo.sandbox_control import OWN_PACE, SPEEDS, NotDone
from ridedash.demo.stories import STORIES, interpreter
from ridedash.demo.stories.by_hand import TYPING, by_hand, screen_of
from ridedash.demo.stories.interpreter import RunState
from ridedash.demo.stories.model import HOTEL_RIDE, Story, StoryStep
from ridedash.demo.stories.runs import RunPhase, Runs, StoryRun
from ridedash.demo.stories.waiting import waits_for
from ridedash.demo.words import refusals
from ridedash.extensions import Services
from ridedash.inputs import whole_number
from ridedash.observability.exceptions import reason
from ridedash.text import one_line
from ridedash.views.admin.property import Answer, message_for
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.errors import page as error_page
from ridedash.views.web.permissions import MANAGE, needs
from ridedash.views.web.responses import wants_json
from ridedash.wording import gettext as _
from ridedash.wording import lazy

bp: Final = only_in_a_demo(Blueprint("demo_stories", __name__, url_prefix="/demo"))
PLAYED: Final = (20, 60)  # the speeds that the page offers
log = logging.getLogger(__name__)
GONE: Final = (
    lazy("This story is gone"),
    lazy("Its file was deleted, or many others were begun since."),
    lazy("Begin it again."),
)
AGAIN_S: Final = 0.4  # interval between the requests of a playing page while a step waits
SOON_S: Final = 0.15  # the same for SOON_FOR after an action, when most results come
SOON_FOR: Final = timedelta(seconds=1)
WAIT_SHOWN_AFTER: Final = timedelta(seconds=2)
REFUSAL_CHARS: Final = 200


def init_app(app: Flask) -> None:
    """Register the pages; a Reset ends the running story."""
    app.register_blueprint(bp)
    app.register_error_handler(sqlite3.Error, on_file)
    s: Services = app.extensions["ridedash"]
    empty_too(app, lambda: Runs(s.settings.instance).drop_all(s.clock()))


@bp.post("/stories/<story_id>/start")
@needs(MANAGE)
def start(story_id: str) -> Answer:
    """Begin a story: delete the demo's rides and guests, and hold the clock at the story's time."""
    story = story_called(story_id)
    seed = whole_number(request.form.get("seed", "1"), 1, interpreter.SEEDS[-1])
    if seed is None:
        abort(400)
    try:
        run = interpreter.start(story, seed)
    except StillSending:
        return _not_begun("sending")
    except NotDone:
        return _not_begun("silent")
    except sqlite3.Error as error:
        log.warning("a story was not begun: %s", reason(error))
        return _not_begun("file")
    return redirect(f"/demo/runs/{run.id}", code=303)


@bp.get("/runs/<run_id>")
@needs(MANAGE)
def show(run_id: str) -> str | Response:
    """The progress of a story."""
    return _shown(moment_of(run_id))


@bp.post("/runs/<run_id>/step")
@needs(MANAGE)
def step(run_id: str) -> Answer:
    """Take the step that the page shows, if it is still the present step.

    `speed`: 0 sets the clock to the ride's next phase, 1 to 60 lets it run there; "own" lets it
    run if that is short, and sets it otherwise. `desk`, `kiosk`:
    "1" if this screen is on the stage; a step that one of them can do by itself is returned as
    `hand` and not done here. `refused`: the words in which the desk's form refused the step; the
    story fails with them.
    """
    moment = moment_of(run_id)
    wanted = whole_number(request.form.get("step", ""), 0, len(moment.story.steps))
    speed = _speed(request.form.get("speed", "0"))
    if wanted is None or speed is None:
        abort(400)
    if wanted != moment.run.step:
        return _answer(moment)
    shown = frozenset(each for each in TYPING if request.form.get(each) == "1")
    hand = by_hand(moment.run, moment.step, shown)
    refused = one_line(request.form.get("refused", ""), REFUSAL_CHARS).rstrip(".")
    try:
        if hand is not None and refused:
            return _answer(interpreter.fail(moment, refused))
        if hand is not None:
            return jsonify(facts(moment, ahead=True) | {"state": "hand", "hand": hand, "told": ""})
        return _answer(interpreter.advance(moment, speed))
    except NotDone:
        return _answer(moment, refused="silent")


@bp.post("/runs/<run_id>/skip")
@needs(MANAGE)
def skip(run_id: str) -> Answer:
    """Skip the step that the page shows, if it is still the present step."""
    moment = moment_of(run_id)
    wanted = whole_number(request.form.get("step", ""), 0, len(moment.story.steps))
    if wanted is None:
        abort(400)
    return _answer(interpreter.skip(moment, wanted))


@bp.post("/runs/<run_id>/drop")
@needs(MANAGE)
def drop(run_id: str) -> Answer:
    """End a story before its end."""
    interpreter.drop(moment_of(run_id))
    if wants_json():
        return jsonify(facts(moment_of(run_id)))
    return redirect("/demo", code=303)


def story_called(story_id: str) -> Story:
    """The story with this id. Raises NotFound."""
    return STORIES.get(story_id) or abort(404)


def moment_of(run_id: str) -> RunState:
    """The moment of a run of this property. Raises NotFound."""
    run = interpreter.runs().find(run_id)
    if run is None or run.property_id != current_staff().property_id or run.story not in STORIES:
        abort(current_app.make_response(error_page(404, GONE, back="/demo")))
    return interpreter.with_lines(RunState(run, STORIES[run.story]))


def offered() -> list[dict[str, Any]]:
    """The stories as the director's page lists them, and the one that is running."""
    present = interpreter.runs().present(current_staff().property_id)
    running = {} if present is None else {present.story: present}
    return [
        {
            "story": story,
            "minutes": max(1, round(story.seconds / 60)),
            "run": running.get(story.id),
        }
        for story in STORIES.values()
    ]


def chosen() -> dict[str, Any]:
    """The story that an address like /demo?story=receipt&seed=7 names, ready to begin."""
    seed = whole_number(request.args.get("seed", "1"), 1, interpreter.SEEDS[-1]) or 1
    story = request.args.get("story", "")
    return {
        "story": story if story in STORIES else "",
        "seed": seed,
        "rehearsed": seed in interpreter.REHEARSED,
        "last_rehearsed": interpreter.REHEARSED[-1],
    }


def on_file(error: sqlite3.Error) -> Answer:
    """Answer a press whose run could not be read or stored; the rides are in another file."""
    log.warning("the file of the stories failed: %s", reason(error))
    words = (
        _("The file of the stories can't be used"),
        _("The story stands where it was. Rides go on."),
        _("Is the disk full? Make room, then press again."),
    )
    return current_app.make_response(error_page(503, words, back="/demo"))


def _not_begun(why: str) -> Answer:
    if wants_json():
        return current_app.make_response((jsonify(message=refusals()[why]), 503))
    return redirect(f"/demo?said={why}", code=303)


def _answer(moment: RunState, refused: str = "") -> Answer:
    """The answer with the moment; `refused` says why the run has not changed."""
    if wants_json():
        return jsonify(facts(moment) | {"refused": refusals().get(refused, "")})
    query = f"?said={refused}" if refused else ""
    return redirect(f"/demo/runs/{moment.run.id}{query}", code=303)


def _shown(moment: RunState) -> str | Response:
    if wants_json():
        return jsonify(facts(moment))
    return render_template(
        "demo/run.html",
        moment=moment,
        refused=message_for(refusals()),
        shown=facts(moment),
        rehearsed=moment.run.seed in interpreter.REHEARSED,
        speeds=PLAYED,
    )


def facts(moment: RunState, *, ahead: bool = False) -> dict[str, Any]:
    """The progress of a run, as scripts and pages read it.

    `state`: "todo" (press Step), "waiting" (ask again after `again_s`), "ended" (with `lines`),
    "failed" (with `why`) or "dropped". `show` and `point` belong to the step that waits or was
    taken last, and so does `say`; but while a step without an action waits, `say` is still the
    line before. All three are empty before the first step. `taken` is the number of lines said so
    far, `next` the line after `say`. `waits` says what the step waits for and until when, if that
    takes longer than a moment. `told` is what the desk has learned and no ride shows, such as a
    price. `hand`: the screen that does the coming step by itself, if it is on the stage. The
    argument `ahead` makes `say`, `show` and `point` those of the coming step. `acts`: whether the
    coming step does what `next` says; if it only waits, `ahead_s` is about how long. `card`: the
    figures of a story that has ended, for its end card.
    """
    run = moment.run
    steps = moment.story.steps
    waits = run.phase in (RunPhase.DOING, RunPhase.WAITING)
    taken = run.step if waits or ahead else run.step - 1
    present = _step_at(moment, taken)
    line = taken
    if waits and present is not None and present.do is None:
        line -= 1
    order = run.order(getattr(present and present.do, "ride", HOTEL_RIDE))
    return {
        "run": run.id,
        "step": run.step,
        "of": len(steps),
        **_phase_facts(moment),
        "say": _said(_step_at(moment, line)),
        "show": "" if present is None else str(present.show),
        "point": "" if present is None else present.point,
        "next": _said(_step_at(moment, line + 1)),
        "taken": line + 1,
        "acts": _acts(moment),
        "ahead_s": _ahead_s(moment),
        "title": str(moment.story.title),
        "told": run.values.get("told", ""),
        "why": run.values.get("why", ""),
        "order": order,
        "link": run.values.get("link", ""),
        "card": run.values.get("card"),
        "lines": [[each.words, each.holds] for each in moment.lines],
    }


def _speed(text: str) -> int | None:
    """The speed at which a step waits; None for one that the pages do not offer."""
    if text == "own":
        return OWN_PACE
    speed = whole_number(text, SPEEDS[0], SPEEDS[-1])
    return speed if speed in SPEEDS else None


def _acts(moment: RunState) -> bool:
    """Whether the coming step does something, which its line announces."""
    step = moment.step
    return step is not None and step.do is not None


def _ahead_s(moment: RunState) -> float:
    """About how many seconds a coming step without an action waits, at the story's own pace."""
    step = moment.step
    if moment.run.phase is not RunPhase.TODO or step is None or step.do is not None:
        return 0.0
    try:
        return interpreter.wait_ahead(moment.run, step).seconds
    except NotDone:
        return 0.0


def _step_at(moment: RunState, number: int) -> StoryStep | None:
    """The step of this number, from 0; None before the first and after the last."""
    steps = moment.story.steps
    if not 0 <= number < len(steps):
        return None
    return steps[number]


def _said(step: StoryStep | None) -> str:
    return "" if step is None else str(step.say)


def _phase_facts(moment: RunState) -> dict[str, Any]:
    """Who acts next: the page that presses Step, a screen, or the service's clock."""
    run = moment.run
    if run.phase in (RunPhase.DOING, RunPhase.WAITING):
        again_s = _again_s(run)
        return {"state": "waiting", "again_s": again_s, "waits": _waits(moment), "hand": ""}
    hand = screen_of(moment.step) if run.phase is RunPhase.TODO else ""
    return {"state": str(run.phase), "again_s": 0, "waits": "", "hand": hand}


def _again_s(run: StoryRun) -> float:
    """How long a playing page waits before it asks again."""
    if interpreter.now() - run.phase_at < SOON_FOR:
        return SOON_S
    return AGAIN_S


def _waits(moment: RunState) -> str:
    """What the present step waits for; "" shortly after its action, when most results come."""
    run = moment.run
    step = moment.step
    if step is None or interpreter.now() - run.phase_at < WAIT_SHOWN_AFTER:
        return ""
    if run.phase is RunPhase.DOING:
        return _("The ride company is asked. Its answer is on the way.")
    return waits_for(run, step.until)
