"""/demo: the director's page, for managers: the clock of a demo, what happens next, and Reset.

Every press is a form, so that it works without scripts, and is written into the audit log.
"""

from typing import Any, Final
from urllib.parse import urlencode

from flask import Blueprint, Flask, abort, redirect, render_template, request
from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from ridedash.demo import package, pictures, presenter_pages, sheet, stage_pages, story_pages
from ridedash.demo.beginning import (
    EXTENSION,
    SUBJECT,
    begin,
    control,
    follow,
    only_in_a_demo,
)
from ridedash.demo.day import progress
from ridedash.demo.emptying import StillSending
from ridedash.demo.lens import pages as lens_pages
from ridedash.demo.lens import recording, ride_pages
from ridedash.demo.sandbox_control import SPEEDS, NotDone, NothingAhead, SandboxControl
from ridedash.demo.words import (
    FAULTS,
    SCENARIOS,
    clock_now,
    fault_words,
    refusals,
    scenario_words,
    speed_words,
)
from ridedash.extensions import Services, services
from ridedash.inputs import whole_number
from ridedash.service.transport.http import Http
from ridedash.services import egress
from ridedash.store.models.orders import Order
from ridedash.store.models.people import Guest, Property
from ridedash.views.admin.property import Answer, message_for, record
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.permissions import MANAGE, needs
from ridedash.views.web.top_bar import on_stage
from ridedash.wire import KNOWN_STATUSES, Kind
from ridedash.wording import gettext as _
from ridedash.wording.say import Audience
from ridedash.wording.states import status_words

bp: Final = only_in_a_demo(Blueprint("demo", __name__, url_prefix="/demo"))
ADDRESS: Final = "/demo"
# longest wait between polls of a page, so that pages soon show the result of `leap`
POLL_WITHIN_MS: Final = 750
# the largest number of other rides that the message after `leap` may name
MOST_OTHERS: Final = 1_000_000
LONGEST_ID: Final = 300  # characters of a booking id in an address


def init_app(app: Flask) -> None:
    """Register the pages of the director, the lens and the stage.

    The band of each page links to the director where the sandbox is our own.
    """
    s: Services = app.extensions["ridedash"]
    app.extensions[EXTENSION] = SandboxControl(s.settings, Http(egress=egress(s.settings)))
    recording.init_app(app)
    story_pages.init_app(app)
    pictures.init_app(app)
    presenter_pages.init_app(app)
    app.register_blueprint(bp)
    for module in (lens_pages, ride_pages, stage_pages, pictures, sheet, package):
        app.register_blueprint(module.bp)
    progress.init_app(app)
    app.context_processor(lambda: {"on_stage": on_stage(s.settings)})
    if s.settings.sandboxed:
        app.jinja_env.globals["director_address"] = ADDRESS
        app.jinja_env.globals["poll_within_ms"] = POLL_WITHIN_MS


@bp.get("")
@needs(MANAGE)
def show() -> str:
    """The clock, what can be set for the next booking, and Reset."""
    with services().db.read() as s:
        prop = s.get_one(Property, current_staff().property_id)
        arrived = _arrived(s)
    return render_template(
        "demo/page.html",
        clock=clock_now(prop),
        speeds=[(str(speed), speed_words(speed)) for speed in SPEEDS if speed],
        scenarios=scenario_words(),
        faults=fault_words(),
        arrived=arrived,
        message=_message(),
        refused=message_for(refusals()),
        stories=story_pages.offered(),
        chosen=story_pages.chosen(),
    )


@bp.post("/clock")
@needs(MANAGE)
def turn() -> Answer:
    """Hold the clock (speed 0), or let it run at one of SPEEDS."""
    speed = whole_number(request.form.get("speed", ""), SPEEDS[0], SPEEDS[-1])
    if speed not in SPEEDS:
        abort(400)  # a speed that the page does not offer
    try:
        control().run_at(speed)
    except NotDone:
        return _back("silent")
    _turned("demo.clock", speed=speed)
    return _back("runs" if speed else "held")


@bp.post("/next")
@needs(MANAGE)
def leap() -> Answer:
    """Set the clock to the next event of any ride."""
    try:
        leapt = control().leap()
    except NothingAhead:
        return _back("nothing")
    except NotDone:
        return _back("silent")
    _turned("demo.next")
    return _back("next", ride=leapt.booking_id, status=leapt.status, others=leapt.others)


@bp.post("/scenario")
@needs(MANAGE)
def arm() -> Answer:
    """Choose a scenario for the next booking to which it can happen."""
    chosen = request.form.get("scenario", "")
    if chosen not in SCENARIOS:
        abort(400)
    try:
        control().arm(chosen)
    except NotDone:
        return _back("silent")
    _note("demo.armed", scenario=chosen)
    return _back("armed", what=chosen)


@bp.post("/fault")
@needs(MANAGE)
def break_something() -> Answer:
    """Add a fault, to the next booking or to the whole service."""
    chosen = request.form.get("fault", "")
    if chosen not in FAULTS:
        abort(400)
    try:
        control().add_fault(FAULTS[chosen].body)
    except NotDone:
        return _back("silent")
    _note("demo.fault", fault=chosen)
    return _back("fault", what=chosen)


@bp.post("/reset")
@needs(MANAGE)
def reset() -> Answer:
    """Delete the rides of this demo, here and in the sandbox."""
    try:
        begin(lambda s: record(s, "demo.reset", SUBJECT))
    except StillSending:
        return _back("sending")
    except NotDone:
        return _back("silent")
    return _back("reset")


def _turned(what: str, **facts: Any) -> None:
    """Write a change of the clock to the audit log, and let pages and the worker follow it."""
    _note(what, **facts)
    follow()


def _note(what: str, **facts: Any) -> None:
    with services().db.write() as s:
        record(s, what, SUBJECT, **facts)


def _back(message: str, **values: Any) -> Answer:
    """Redirect to the page; `message` is the key of its message, `values` are those in it."""
    return redirect(f"{ADDRESS}?{urlencode({'said': message} | values)}", code=303)


def _message() -> str:
    """The message about the last press; "" without one, and after `leap` (see `_arrived`)."""
    what = request.args.get("what", "")
    if request.args.get("said") == "armed" and what in SCENARIOS:
        return _("Set for the next booking: %(what)s", what=SCENARIOS[what])
    if request.args.get("said") == "fault" and what in FAULTS:
        return _("This goes wrong next: %(what)s", what=FAULTS[what].words)
    return message_for(
        {
            "held": _("The clock is held. All rides stand still."),
            "runs": _("The clock runs."),
            "reset": _("All rides and guests are deleted. The demo begins anew."),
        }
    )


def _arrived(s: Session) -> dict[str, Any] | None:
    """The result of `leap`: words of the status, ride, other rides; None after another press."""
    status = request.args.get("status", "")
    others = whole_number(request.args.get("others", ""), 0, MOST_OTHERS)
    if request.args.get("said") != "next" or others is None:
        return None
    if status not in KNOWN_STATUSES:
        return None
    booking = request.args.get("ride", "")[:LONGEST_ID]
    query = (
        select(Order.id, Order.kind, Order.room, Guest.name)
        .join(Guest, Guest.id == Order.guest_id)
        .where(Order.property_id == current_staff().property_id)
        .where(or_(Order.booking_id == booking, Order.txn_id == booking))
    )
    found = s.execute(query).first()
    kind = Kind.POINT_TO_POINT if found is None else Kind(found.kind)
    return {
        "words": status_words(status, kind, Audience.STAFF, {}).headline,
        "order": found,
        "others": _("Other rides that moved on: %(n)d.", n=others),
    }
