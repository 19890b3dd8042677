"""The search: a page of rides for a few words. The list below its box: board/search_list.py.

The words identify guests, so they are posted, and encrypted in the address of the page
(docs/security.md ASVS 14.2.1).
"""

from typing import Final

from flask import Blueprint, redirect, render_template, request
from werkzeug.wrappers import Response as BaseResponse

from ridedash.extensions import limiter, services
from ridedash.store.history import records
from ridedash.store.models.people import Property
from ridedash.store.search import find_orders
from ridedash.text import one_line
from ridedash.views.history.filters import decrypted_words, encrypted
from ridedash.views.history.rows import RecordLine, lines
from ridedash.views.web.current_user import by_staff_key, current_staff
from ridedash.views.web.formatting import zone
from ridedash.views.web.permissions import SEE, needs
from ridedash.views.web.responses import locale
from ridedash.wording import gettext as _

bp = Blueprint("search", __name__)

MOST: Final = 20  # rides on the page
LONGEST_QUERY: Final = 80  # characters; the rest is cut off
# for page and list together: the list makes a request at each pause in typing
searches: Final = limiter.shared_limit("240/minute", scope="search", key_func=by_staff_key)


@bp.get("/search")
@needs(SEE)
@searches
def show() -> str:
    """Show the page of matching rides; without words, an empty box."""
    given = request.args.get("q", "")
    words = decrypted_words("search", given) if given else ""
    prop, lines = found(words or "", MOST)
    wrong = ""
    if words is None:
        wrong = _("This address can't be read any more. Type your words again.")
    return render_template(
        "history/search.html",
        asked=words or "",
        lines=lines,
        most=MOST,
        zone=prop.timezone,
        wrong=wrong,
    )


@bp.post("/search")
@needs(SEE)
def ask() -> BaseResponse:
    """Redirect to the page of these words; its address holds them encrypted."""
    words = typed_words()
    if not words:
        return redirect("/search", code=303)
    return redirect(f"/search?q={encrypted('search', words)}", code=303)


def typed_words() -> str:
    """The words of the posted form, on one line."""
    return one_line(request.form.get("q", ""), LONGEST_QUERY)


def found(words: str, most: int) -> tuple[Property, list[RecordLine]]:
    """The user's property, and its rides that match the words."""
    now = services().clock()
    with services().db.read() as db:
        prop = db.get_one(Property, current_staff().property_id)
        found = records(db, prop.id, find_orders(db, prop.id, words, most))
    return prop, lines(found, now, zone(prop.timezone), locale())
