"""Settings of languages: the property's own words for its guests."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from flask import Blueprint, Response, redirect, render_template, request
from werkzeug.wrappers import Response as BaseResponse

from ridedash.extensions import offered, services
from ridedash.store.models.people import Property, Wording
from ridedash.store.properties import locked_property
from ridedash.store.wordings import Own, wordings_of, write_wordings
from ridedash.text import one_line
from ridedash.views.admin.property import Answer, message_for, record
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.formatting import money
from ridedash.views.web.permissions import MANAGE, needs
from ridedash.views.web.top_bar import demo_words, marked
from ridedash.wording import gettext as _
from ridedash.wording import lazy
from ridedash.wording.languages import ENGLISH, LANGUAGES, Language
from ridedash.wording.own import (
    LONGEST,
    SENTENCES,
    Sentence,
    SentenceFault,
    Where,
    Wrong,
    filled,
    is_stale,
    wrong_with,
)
from ridedash.wording.own_files import MOST_BYTES, NotPoFile, lines_of, written
from ridedash.wording.readers import TAGS
from ridedash.wording.say import in_language

bp = Blueprint("admin_own_words", __name__, url_prefix="/admin/languages/words")
GROUPS: Final = {
    Where.PAGE: lazy("On the page of the guest's link, and in messages"),
    Where.PAPER: lazy("On the guest card and the receipt"),
    Where.PAYMENT: lazy("About payment"),
    Where.HELP: lazy("Where guests are sent to you"),
    Where.KIOSK: lazy("At the kiosk"),
}


@dataclass(frozen=True)
class SentenceRow:
    """A sentence on the page. Its texts have slots for facts, as {phone}; "": there is no text."""

    sentence: Sentence
    ours: str  # our sentence in the chosen language
    text: str  # the property's own words, stored or typed
    look: str  # the own words with example facts
    wrong: str
    stale: bool


@bp.get("")
@needs(MANAGE)
def show() -> str:
    """Show the sentences in one language, with the words that are stored."""
    return _page({}, {})


@bp.post("")
@needs(MANAGE)
def save() -> Answer:
    """Store the typed words, or preview them with facts, or show which of them can't be used."""
    form = request.form
    typed = {name: one_line(form[name], LONGEST + 1) for name in SENTENCES if name in form}
    if form.get("reset") in SENTENCES:
        typed[form["reset"]] = ""
    wrong = wrong_words(typed)
    if wrong:
        return _page(typed, wrong), 422
    if "look" in form:
        return _page(typed, {})
    _store({name: _own(name, text, form.get("keep") == name) for name, text in typed.items()})
    return redirect(f"/admin/languages/words?language={_chosen().tag}&said=saved", code=303)


@bp.get("/file.po")
@needs(MANAGE)
def export() -> BaseResponse:
    """Export the sentences of one language as a file for translators, with the stored words."""
    code = _chosen().code
    content = written(code, {name: row.text for name, row in _stored(code).items()})
    if words := demo_words(services().settings):
        content = f"# {words}\n".encode() + content
    answer = Response(content, content_type="text/x-gettext-translation; charset=utf-8")
    answer.headers.set("Content-Disposition", "attachment", filename=marked(f"own-words-{code}.po"))
    return answer


@bp.post("/file")
@needs(MANAGE)
def take_in() -> Answer:
    """Import the words of a translator's file: all of them, or none with the reasons."""
    language = _chosen()
    file = request.files.get("file")
    try:
        lines = lines_of(file.read(MOST_BYTES + 1) if file else b"", language.code)
    except NotPoFile:
        lines = {}
    if not lines:
        why = _("This is no file of own words in %(language)s.", language=language.own_name)
        return _page({}, {}, refused=why), 422
    unknown = sorted(set(lines) - set(SENTENCES))
    if unknown:
        why = _("The file has a sentence that is not in the list: %(name)s", name=unknown[0][:40])
        return _page({}, {}, refused=why), 422
    typed = {name: line.text for name, line in lines.items()}
    wrong = wrong_words(typed)
    if wrong:
        why = _("Nothing of the file was saved. Look at the marked sentences.")
        return _page(typed, wrong, refused=why), 422
    _store({name: Own(line.text, line.english) for name, line in lines.items()})
    return redirect(f"/admin/languages/words?language={language.tag}&said=file", code=303)


def wrong_words(typed: Mapping[str, str]) -> dict[str, str]:
    """The errors of typed words, by the names of their sentences."""
    checked = {name: wrong_with(SENTENCES[name], text) for name, text in typed.items() if text}
    return {name: _why(SENTENCES[name], found) for name, found in checked.items() if found}


def _why(sentence: Sentence, wrong: Wrong) -> str:
    if wrong.fault is SentenceFault.LONG:
        return _("Use %(n)d characters at most.", n=sentence.longest)
    if wrong.fault is SentenceFault.MISSING:
        return _("Keep %(slot)s: a fact of the ride is put there.", slot=wrong.what)
    if wrong.fault is SentenceFault.UNKNOWN:
        return _("This sentence has no fact called %(slot)s.", slot=wrong.what)
    return _("Write it without the sign %(sign)s.", sign=wrong.what)


def _own(name: str, text: str, keep: bool) -> Own:
    """Words to store, with our English sentence that they replace.

    It is the present sentence. If the words are unchanged it is the stored one, unless `keep` says
    that they also fit the present sentence.
    """
    stored = _stored(_chosen().code).get(name)
    if stored is not None and stored.text == text and not keep:
        return Own(text, stored.english)
    return Own(text, SENTENCES[name].english)


def _store(texts: Mapping[str, Own]) -> None:
    app = services()
    staff = current_staff()
    code = _chosen().code
    with app.db.write() as s:
        prop = locked_property(s, staff.property_id)
        changed = write_wordings(s, prop, code, texts, (staff.id, app.clock()))
        if changed:
            record(s, "words.written", f"properties:{prop.id}", language=code, changed=changed)


def _stored(code: str) -> dict[str, Wording]:
    with services().db.read() as s:
        rows = wordings_of(s, current_staff().property_id)
    return {row.name: row for row in rows if row.language == code}


def _chosen() -> Language:
    """The language that the page is about; English if the request names none that is known."""
    return LANGUAGES[TAGS.get(request.values.get("language", ""), ENGLISH)]


def _page(typed: Mapping[str, str], wrong: Mapping[str, str], refused: str = "") -> str:
    language = _chosen()
    with services().db.read() as s:
        prop = s.get_one(Property, current_staff().property_id)
        rows = wordings_of(s, prop.id)
    stored = {row.name: row for row in rows if row.language == language.code}
    with in_language(language.code):
        ours = {name: str(_(each.text)) if each.text else "" for name, each in SENTENCES.items()}
        facts = _facts(prop)
    found = [
        _line(SENTENCES[name], ours[name], stored.get(name), (typed, wrong), facts)
        for name in SENTENCES
    ]
    groups = [
        (title, [line for line in found if line.sentence.where is where])
        for where, title in GROUPS.items()
    ]
    counts = {code: sum(row.language == code for row in rows) for code in LANGUAGES}
    return render_template(
        "admin/own_words.html",
        groups=groups,
        language=language,
        languages=[(LANGUAGES[code], counts[code]) for code in LANGUAGES if _is_there(code)],
        wrong=wrong if not refused else {},
        refused=refused,
        unsaved=bool(typed) and not wrong,
        message=message_for({"saved": _("Saved."), "file": _("The words of the file are saved.")}),
        tab="languages",
    )


def _is_there(code: str) -> bool:
    return code == ENGLISH or code in offered().figures


def _line(
    sentence: Sentence,
    ours: str,
    stored: Wording | None,
    form: tuple[Mapping[str, str], Mapping[str, str]],
    facts: Mapping[str, str],
) -> SentenceRow:
    typed, wrong = form
    text = typed.get(sentence.name, stored.text if stored else "")
    unused = stored is not None and sentence.name not in typed and wrong_with(sentence, text)
    why = wrong.get(sentence.name, "")
    if unused and not why:
        why = _why(sentence, unused)
    look = ""
    if not why:
        look = filled(text, facts)
    return SentenceRow(
        sentence=sentence,
        ours=_slots(ours),
        text=text,
        look=look,
        wrong=why,
        stale=stored is not None and is_stale(stored),
    )


def _slots(ours: str) -> str:
    """Our sentence as people write it: "%(phone)s" becomes the slot {phone}."""
    return Sentence("", Where.PAGE, ours).english


def _facts(prop: Property) -> dict[str, str]:
    """Example facts for a preview of the sentences, in the current language."""
    place = prop.pickup_name or prop.name
    return {
        "pickup": place,
        "text": place,
        "phone": prop.phone or "",
        "amount": money(Decimal(240), prop.currency, _chosen().code),
    }
