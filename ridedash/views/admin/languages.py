"""Settings of languages: the progress of each, and the offer of machine translations."""

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from babel.core import Locale
from flask import Blueprint, redirect, render_template, request
from werkzeug.wrappers import Response as BaseResponse

from ridedash.extensions import offered, services
from ridedash.store.models.people import Property
from ridedash.views.admin.property import message_for, record
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.own_words import languages_for, property_words
from ridedash.views.web.permissions import MANAGE, needs
from ridedash.views.web.responses import locale
from ridedash.wording import gettext as _
from ridedash.wording import in_language, lazy
from ridedash.wording.languages import ENGLISH, LANGUAGES, Language, formats_of
from ridedash.wording.offered import Level

bp = Blueprint("admin_languages", __name__, url_prefix="/admin/languages")
LEVELS: Final = {
    Level.REVIEWED: lazy("Reviewed"),
    Level.CHECKED: lazy("Checked"),
    Level.MACHINE: lazy("Machine"),
}


@dataclass(frozen=True)
class LanguageRow:
    """A language in the table. `guests`, `staff`: translated % of their texts, rounded down.

    `named`: its name in the reader's language; `sample`: a sentence with which the browser checks
    whether it can display the letters of the language.
    """

    language: Language
    named: str
    sample: str
    level: str
    guests: int
    staff: int
    for_guests: bool
    for_staff: bool
    # whether the language is "Checked" only because this property's reader has read the critical
    # sentences
    here: bool


@bp.get("")
@needs(MANAGE)
def show() -> str:
    """Show the languages, and the switch for machine translations."""
    with services().db.read() as s:
        prop = s.get_one(Property, current_staff().property_id)
    return render_template(
        "admin/languages.html",
        lines=lines(languages_for(prop), property_words(prop).read),
        machine_words=prop.machine_words,
        message=message_for({"saved": _("Saved.")}),
        tab="languages",
    )


@bp.post("")
@needs(MANAGE)
def save() -> BaseResponse:
    """Turn the offer of machine translations to guests on or off."""
    wanted = "machine_words" in request.form
    with services().db.write() as s:
        prop = s.get_one(Property, current_staff().property_id)
        if prop.machine_words != wanted:
            prop.machine_words = wanted
            record(s, "property.changed", f"properties:{prop.id}", changed=["machine_words"])
    return redirect("/admin/languages?said=saved", code=303)


def lines(guests: Collection[str], read: Collection[str]) -> list[LanguageRow]:
    """Each language except English.

    `guests`: the languages offered to guests; `read`: those whose critical sentences the property's
    own reader has read.
    """
    known = offered()
    found = []
    for code, language in LANGUAGES.items():
        shares = known.figures.get(code)
        if code == ENGLISH or shares is None:
            continue
        level = known.level(code)
        here = level is Level.MACHINE and code in read
        found.append(
            LanguageRow(
                language,
                _named(code),
                _sample(code),
                str(LEVELS[Level.CHECKED if here else level]),
                _percent(shares.guests),
                _percent(shares.staff),
                code in guests,
                shares.for_staff,
                here,
            )
        )
    return found


def _named(code: str) -> str:
    return Locale.parse(code).get_display_name(formats_of(locale())) or code


def _sample(code: str) -> str:
    with in_language(code):
        return _("Your driver is here")


def _percent(share: Fraction) -> int:
    return int(share * 100)
