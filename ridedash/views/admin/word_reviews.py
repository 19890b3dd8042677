"""Settings of languages: a manager records that a native reader has read the critical sentences."""

from typing import Final

from flask import Blueprint, abort, redirect, render_template, request
from werkzeug.wrappers import Response as BaseResponse

from ridedash.extensions import offered, services
from ridedash.store.models.people import Property, Staff
from ridedash.store.properties import locked_property
from ridedash.store.wordings import mark_read, reviews_of, unmark_read
from ridedash.views.admin.property import message_for, record
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.formatting import day_time, zone
from ridedash.views.web.own_words import critical_words, digest_of, property_words
from ridedash.views.web.permissions import MANAGE, needs
from ridedash.views.web.responses import locale
from ridedash.wording import gettext as _
from ridedash.wording.languages import LANGUAGES, Language
from ridedash.wording.readers import TAGS

bp = Blueprint("admin_word_reviews", __name__, url_prefix="/admin/languages/read")
HERE: Final = "/admin/languages/read"


@bp.get("")
@needs(MANAGE)
def show() -> str:
    """Show the critical sentences of a language beside the English ones, and who has read them."""
    language = _chosen()
    now = services().clock()
    at = by = ""
    with services().db.read() as s:
        prop = s.get_one(Property, current_staff().property_id)
        review = reviews_of(s, prop.id).get(language.code)
        if review:
            at = day_time(review.at, now, zone(prop.timezone), locale())
            reader = s.get(Staff, review.staff_id)
            by = reader.name if reader else ""
    words = property_words(prop)
    return render_template(
        "admin/word_reviews.html",
        language=language,
        sentences=critical_words(language.code, words.texts),
        digest=digest_of(language.code, words.texts),
        mark=bool(review),
        holds=language.code in words.read,
        by=by,
        at=at,
        message=message_for({"read": _("Saved."), "unread": _("Taken back.")}),
        tab="languages",
    )


@bp.post("")
@needs(MANAGE)
def save() -> BaseResponse:
    """Record that the sentences on the page were read, or undo that.

    The form has a digest of the sentences that it showed, so that later changes don't count as
    read.
    """
    language = _chosen()
    staff = current_staff()
    app = services()
    read = "undo" not in request.form
    subject = f"properties:{staff.property_id}"
    if read and "sure" not in request.form:
        return redirect(f"{HERE}?language={language.tag}", code=303)
    with app.db.write() as s:
        prop = locked_property(s, staff.property_id)
        if read:
            digest = request.form.get("digest", "")[:64]
            mark_read(s, prop, language.code, digest, (staff.id, app.clock()))
            record(s, "words.read", subject, language=language.code)
        else:
            unmark_read(s, prop, language.code)
            record(s, "words.unread", subject, language=language.code)
    outcome = "read" if read else "unread"
    return redirect(f"{HERE}?language={language.tag}&said={outcome}", code=303)


def _chosen() -> Language:
    """The language that the page is about; the first one if the request names no known one."""
    known = [code for code in LANGUAGES if code in offered().figures]
    code = TAGS.get(request.values.get("language", ""), "")
    if code not in known:
        code = next(iter(known), None) or abort(404)
    return LANGUAGES[code]
