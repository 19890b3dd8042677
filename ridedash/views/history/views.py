"""Saves filters of the history under a name, and deletes them."""

from flask import Blueprint, abort, redirect, request
from werkzeug.wrappers import Response

from ridedash.extensions import services
from ridedash.store.saved_views import (
    MOST_VIEWS,
    VIEW_NAME_MAX,
    TooManyViews,
    ViewNameTaken,
    save_view,
    view_of,
)
from ridedash.text import one_line
from ridedash.views.history.filters import HistoryQuery, history_query
from ridedash.views.history.pages import history_page
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.permissions import MANAGE, SEE, may, needs
from ridedash.wording import gettext as _

bp = Blueprint("history_views", __name__, url_prefix="/history/views")


@bp.get("")
@needs(SEE)
def refused_again() -> Response:
    """Where a page that refused a name is reloaded: the same filters, which its address has."""
    query = request.query_string.decode("latin-1")
    return redirect(f"/history?{query}", code=303)


@bp.post("")
@needs(SEE)
def save() -> Response | tuple[str, int]:
    """Save the filters of the page under a name, for the user or, by a manager, for everybody.

    A guest and a room are never saved.
    """
    with services().db.read() as db:
        query = history_query(db, request.form)
    name = one_line(request.form.get("name", ""), VIEW_NAME_MAX + 1)
    if not name:
        return _refused(_("What is the view called? Type a name."))
    if len(name) > VIEW_NAME_MAX:
        return _refused(_("That name is too long: use %(n)d letters at most.", n=VIEW_NAME_MAX))
    of_all = "of_all" in request.form
    if of_all and not may(MANAGE):
        abort(403)
    try:
        _store(query, name, of_all=of_all)
    except ViewNameTaken:
        return _refused(_("There is one of this name already."))
    except TooManyViews:
        return _refused(_("There are %(n)d views already: delete one first.", n=MOST_VIEWS))
    return redirect(f"/history?{query.filters.query()}", code=303)


def _store(query: HistoryQuery, name: str, *, of_all: bool) -> None:
    owner = None if of_all else current_staff().id
    with services().db.write() as db:
        save_view(db, query.prop.id, owner, name, query.filters.kept_query())


def _refused(why: str) -> tuple[str, int]:
    return history_page(request.form, wrong=why), 422


@bp.post("/<int:view_id>/delete")
@needs(SEE)
def delete(view_id: int) -> Response:
    """Delete a view of the user, or, by a manager, one of the property."""
    staff = current_staff()
    with services().db.write() as db:
        view = view_of(db, staff.property_id, view_id)
        if view is None or view.staff_id not in (None, staff.id):
            abort(404)
        if view.staff_id is None and not may(MANAGE):
            abort(403)
        query = view.query
        db.delete(view)
    return redirect(f"/history?{query}", code=303)
