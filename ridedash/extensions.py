"""The Flask extensions, and `services()`, by which views get what create_app() built."""

from collections.abc import Collection, Sequence
from typing import Final, cast

from flask import current_app, g, has_request_context, request
from flask_babel import Babel
from flask_limiter import Limiter
from flask_login import LoginManager, current_user
from flask_wtf import CSRFProtect

from ridedash.inputs import network_of
from ridedash.services import Services
from ridedash.wording.languages import ENGLISH, LANGUAGES, Language
from ridedash.wording.offered import Level, OfferedLanguages
from ridedash.wording.readers import GUESTS, Reader, Surface, choose, of_poll

__all__ = [
    "Services",
    "babel",
    "by_address",
    "csrf",
    "guest_languages",
    "is_poll",
    "language",
    "limiter",
    "login_manager",
    "offered",
    "reader_language",
    "services",
    "staff_languages",
]
OFFERED: Final = "ridedash.offered"  # the key of an app's languages in app.extensions
# programs read these addresses and every .csv file: both get the language of Surface.RECORD
RECORDS: Final = ("/metrics", "/healthz", "/readyz")


class SignIns(LoginManager):  # type: ignore[misc] # flask_login ships no types
    """Flask-Login with only the request loader: no remember cookie, no browser fingerprint."""

    def _load_user(self) -> None:
        self._update_request_context_with_user(self._load_user_from_request(request))


def by_address() -> str:
    """The key of a rate limit by address; one IPv6 network shares a key (network_of)."""
    return network_of(request.remote_addr or "")


csrf = CSRFProtect()
login_manager = SignIns()
limiter = Limiter(by_address, headers_enabled=False)
babel = Babel()


def language() -> str:
    """The code of the language of this answer: the one set with `speak`, else the page's own.

    English outside of requests. A poll names its language in its address, so that a page and its
    polls never differ.
    """
    if not has_request_context():
        return ENGLISH
    if "language" not in g:
        g.language = of_poll(request.args.get("lang", "")) if is_poll() else _by_address()
    return str(g.language)


def is_poll() -> bool:
    """Whether this request is a poll of a page (views/poll_cache/)."""
    return request.path == "/board.json" or request.path.endswith("/snapshot.json")


def reader_language(
    surface: Surface,
    *,
    own: str | None = None,
    house: str | None = None,
    guests: Sequence[str] | None = None,
) -> str:
    """The code of the language in which a surface speaks to the reader of this request.

    `own` is the person's stored choice, `house` the property's default, `guests` the codes that the
    property offers its guests: by default all languages that are fully translated.
    """
    accepts = tuple(tag for tag, q in request.accept_languages if q)  # q=0 refuses a language
    reader = Reader(request.args.get("lang", "")[:20], own or "", accepts, house or "")
    if surface not in GUESTS:
        return choose(surface, reader, offered().staff)
    if guests is None:
        guests = offered().guests
    return choose(surface, reader, guests)


def guest_languages(machine: bool, read: Collection[str] = ()) -> tuple[str, ...]:
    """The codes of the languages that a property's guests are offered beside English.

    Without `machine`, only those whose translation a person has read: for ridedash, or for this
    property (`read`).
    """
    found = offered()
    codes = []
    for code in found.guests:
        if machine or code in read or found.level(code) is not Level.MACHINE:
            codes.append(code)
    return tuple(codes)


def offered() -> OfferedLanguages:
    """The languages of this process."""
    found: OfferedLanguages = current_app.extensions[OFFERED]
    return found


def staff_languages() -> list[Language]:
    """The languages that staff can work in, English included, in the order of the table."""
    return [row for code, row in LANGUAGES.items() if code == ENGLISH or code in offered().staff]


def _by_address() -> str:
    """The language of a page for which no view has set one: by its address and its reader."""
    path = request.path
    if path.endswith(".csv") or path in RECORDS:
        return reader_language(Surface.RECORD)
    if path.startswith("/t/"):
        return reader_language(Surface.GUEST)
    try:
        if current_user.is_authenticated:
            person = current_user._get_current_object()
            return reader_language(Surface.STAFF, own=person.language, house=person.house_language)
    except Exception:  # the database can't be read; the page itself will report that
        return ENGLISH
    return reader_language(Surface.DOOR)


def services() -> Services:
    """The services of the app that handles this request."""
    return cast(Services, current_app.extensions["ridedash"])
