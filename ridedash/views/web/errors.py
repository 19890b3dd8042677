"""Error pages: what happened, what it means, one next step, and a reference to the log line."""

import logging
from collections.abc import Sequence
from typing import Any, Final

from flask import Flask, Response, current_app, g, jsonify, render_template, request
from flask_login import current_user
from flask_wtf.csrf import CSRFError
from sqlalchemy.exc import SQLAlchemyError
from werkzeug.exceptions import HTTPException, SecurityError
from werkzeug.wrappers import Response as BaseResponse

from ridedash.extensions import login_manager, services
from ridedash.observability.exceptions import reason
from ridedash.store import restores
from ridedash.store.database.database import CommitUnknown, DatabaseBusy
from ridedash.store.database.migrate import misses_tables
from ridedash.views.web import kept_forms
from ridedash.views.web.current_user import form_page, sign_in_address
from ridedash.views.web.request_log import reference, route
from ridedash.views.web.responses import wants_json
from ridedash.wording import lazy as _

log = logging.getLogger(__name__)
Answer = tuple[str | Response, int]
RETRY_S: Final = "5"  # seconds; a locked or restarted database is usually back by then

PAGES: Final = {
    400: (
        _("That request can't be used"),
        _("Nothing was changed."),
        _("Go back, reload the page and try again."),
    ),
    403: (
        _("That isn't open to you"),
        _("Nothing was changed."),
        _("Ask a manager if you need it."),
    ),
    404: (
        _("There is nothing here"),
        _("The address may be wrong, or the ride belongs elsewhere."),
        _("Go to the list of rides."),
    ),
    405: (_("That can't be done here"), _("Nothing was changed."), _("Go to the list of rides.")),
    413: (
        _("That was too much to send"),
        _("Nothing was saved."),
        _("Shorten the text, or choose a smaller file, and send it again."),
    ),
    429: (
        _("Too many requests at once"),
        _("Nothing was booked."),
        _("Wait a moment, then try again."),
    ),
    500: (
        _("Something went wrong here"),
        _("Rides that are under way go on. Nothing is booked twice."),
        _("Try again; if it stays, pass on the reference."),
    ),
    503: (
        _("ridedash can't save right now, so it won't book"),
        _("Rides that are under way go on."),
        _("Try again in a minute, or call the cab desk."),
    ),
}
# nothing has failed: the user can go on with the top bar
WITH_BAR: Final = frozenset({403, 404, 405, 409})
WITHOUT_SIGN_IN: Final = ("/sign-in", "/kiosk/pair")  # forms for people who are not signed in
EXPIRED_FORM: Final = (
    _("This page was open for too long"),
    _("Nothing was changed."),
    _("Go back, reload the page and send it again."),
)
# for a row whose number was given out, and which a restored database does not have
FORGOTTEN: Final = (
    _("This is not in the database any more"),
    _("The database was restored to an earlier moment. Nothing was done."),
    _("See what is missing, or go to the list of rides."),
)
OTHER_SITE: Final = (
    _("That came from another address"),
    _("Nothing was changed."),
    _("Open ridedash at its own address and send it from there."),
)
# for any other page, in a browser that is a device and where no one is signed in
DEVICE: Final = (
    _("This browser is a kiosk or a door display"),
    _("It opens nothing else."),
    _("To sign in here, un-pair it first, or revoke it in the settings."),
)
# paths of devices' pages: in a lobby no one reloads a page, or knows what a reference is
DEVICE_PAGES: Final = ("/kiosk", "/door")
AGAIN_S: Final = 10
OUT_OF_ORDER: Final = (
    _("Out of order. Please ask our staff."),
    _("It comes back by itself."),
    "",
)
# the beginning of Flask-WTF's reasons that concern the address of the page, not its token
OF_ADDRESS: Final = "The referrer"
PASSED_ON: Final = "; does the proxy pass on the host as browsers send it, port included?"

NOT_KNOWN: Final = (
    _("The database went away while it was saving"),
    _("What you sent may have been saved."),
    _("Go back and send the same form again: nothing is booked twice."),
)
OTHER_TABLES: Final = (
    _("The database is not of this version"),
    _("Nothing was changed."),
    _("Whoever runs ridedash must run: ridedash db upgrade"),
)
SIGNED_OUT: Final = (
    _("You are signed out"),
    _("Nothing was changed."),
    _("Sign in, then send it again."),
)


def init_app(app: Flask) -> None:
    """Answer every failure with an error page, or with JSON when a script sent the request."""
    app.register_error_handler(CSRFError, on_csrf)
    app.register_error_handler(SecurityError, on_foreign_host)
    app.register_error_handler(HTTPException, on_http)
    app.register_error_handler(DatabaseBusy, on_database)
    app.register_error_handler(SQLAlchemyError, on_database)
    app.register_error_handler(Exception, on_anything)


def on_csrf(error: CSRFError) -> Answer | BaseResponse:
    """A form without its CSRF token, with one of an earlier sign-in, or sent after a sign-out.

    A booking form that was sent after a sign-out is kept: see kept_forms.py.

    Also a form whose page has another address than the request: a proxy that forwards the host
    without its port causes that for every form (docs/operating.md, Behind a proxy).
    """
    log_refused_form(error)
    if is_of_another_address(error):
        return _answer(error.code or 400, OTHER_SITE)
    if _signed_in():
        return _answer(error.code or 400, EXPIRED_FORM)
    if not wants_json() and kept_forms.sealed():
        return current_app.make_response(login_manager.unauthorized())
    return _answer(401, SIGNED_OUT, sign_in=sign_in_address())


def is_of_another_address(error: CSRFError) -> bool:
    """Whether a form was refused for the address of its page, not for its token."""
    return (error.description or "").startswith(OF_ADDRESS)


def log_refused_form(error: CSRFError) -> None:
    """Log why a form was refused; a wrong address is a warning, because it affects every form."""
    why = error.description or ""
    level = logging.INFO
    hint = ""
    if is_of_another_address(error):
        level = logging.WARNING
        hint = PASSED_ON
    log.log(level, "a form was refused: %s%s At %s, reference %s", why, hint, route(), reference())


def _signed_in() -> bool:
    """Whether the user is signed in, or the form needs no sign-in; True if the database can't be
    read.
    """
    try:
        return bool(current_user.is_authenticated) or request.path in WITHOUT_SIGN_IN
    except (DatabaseBusy, SQLAlchemyError):
        return True


def on_foreign_host(_error: SecurityError) -> BaseResponse:
    """An untrusted host name: plain text, since no address can be built for that host."""
    words = _(
        "This address is not one that ridedash answers to. RIDEDASH_TRUSTED_HOSTS lists those."
    )
    return Response(str(words), 400, mimetype="text/plain")


def on_http(error: HTTPException) -> BaseResponse:
    """Any HTTP error; redirects pass unchanged. The headers Allow and Retry-After are kept."""
    given = error.get_response()
    if error.code is None or error.code < 400:
        return given
    named = [each for each in (request.view_args or {}).values() if isinstance(each, int)]
    if error.code == 404 and is_forgotten(named):
        return current_app.make_response(_answer(409, FORGOTTEN, forgotten=True))
    answer: BaseResponse = current_app.make_response(
        _answer(
            error.code,
            PAGES.get(error.code, PAGES[400 if error.code < 500 else 500]),
            # for an address to which a form posts, and which was opened as a page
            ride=form_page() if error.code == 405 else "",
        )
    )
    for name in ("Allow", "Retry-After"):
        if name in given.headers:
            answer.headers[name] = given.headers[name]
    return answer


def is_forgotten(numbers: Sequence[int]) -> bool:
    """Whether a restored database has forgotten one of these numbers, which are none of its rows.

    See docs/booking-protocol.md 1.7. False while the database can't be read.
    """
    try:
        if not numbers or not current_user.is_authenticated:
            return False
        with services().db.read() as s:
            return any(restores.forgot(s, number, services().clock()) for number in numbers)
    except (DatabaseBusy, SQLAlchemyError):
        return False


def on_database(error: Exception) -> BaseResponse:
    """The database failed, or lacks tables; after CommitUnknown the form may have been saved."""
    log.error("database failed: %s at %s, reference %s", reason(error), route(), reference())
    words = PAGES[503]
    if isinstance(error, CommitUnknown):
        words = NOT_KNOWN
    elif misses_tables(error):
        words = OTHER_TABLES
    answer: BaseResponse = current_app.make_response(_answer(503, words))
    answer.headers["Retry-After"] = RETRY_S
    return answer


def on_anything(error: Exception) -> Answer:
    """An unexpected exception: logged with its reference, never shown."""
    log.exception("unexpected %s at %s, reference %s", type(error).__name__, route(), reference())
    return _answer(500, PAGES[500])


def page(status: int, words: tuple[str, str, str], back: str = "") -> Answer:
    """An error page: what happened, what it means, one next step; `back` is a page to link to."""
    return _answer(status, words, ride=back)


def _answer(
    status: int,
    words: tuple[object, object, object],
    sign_in: str = "",
    ride: str = "",
    *,
    forgotten: bool = False,
) -> Answer:
    again_s = ""
    if status >= 500 and request.path in DEVICE_PAGES and request.method == "GET":
        words = OUT_OF_ORDER  # nobody stands at the device, which tries again by itself
        again_s = str(AGAIN_S)
    title, meaning, step = (str(word) for word in words)
    if wants_json():
        return jsonify(error=title, message=f"{meaning} {step}", reference=reference()), status
    g.error_page = status not in WITH_BAR  # such a page has no top bar, which queries the database
    facts: dict[str, Any] = {"title": title, "meaning": meaning, "step": step, "sign_in": sign_in}
    facts |= {"reference": reference(), "again_s": again_s}
    facts |= {"ride": ride, "forgotten": forgotten}
    return render_template("web/error.html", status=status, **facts), status
