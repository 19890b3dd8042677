"""Each translation can be shown with its facts known and unknown, and is read fast."""

import re
import time
from pathlib import Path

from babel.messages.pofile import read_po
from babel.support import Translations

from ridedash.text import ascii_digits
from ridedash.wording import catalogues, say
from ridedash.wording.languages import with_catalogues
from tools import words

LEFT = re.compile(r"\{|\}|\[|\]|%\(")
NAMES = re.compile(r"%\((\w+)\)([a-z])|%\((\w+)\)\.\d([a-z])")
TEXTS = re.compile(r"\{(\w+)\}")
ONE = re.compile(r"(?:^|^\w+ )1 (?!or )[a-z]")  # "1 seat", "Cancel 1 car"
SECONDS = 0.03
# what a text may say with "order", which is our record of a booking and no word of the readers
OF_ORDER = {
    "out of order": "of a kiosk that is broken",
    "in order": "of a kiosk that works again",
    "The order is now": "the lens shows the record and its state beside the calls",
    "The order may be sent": "the lens, of the same record",
}
# letters of each script, and the languages that are written with it
SCRIPTS = {
    re.compile("[\u0900-\u097f]"): {"hi"},
    re.compile("[\u0600-\u06ff]"): {"ar"},
    re.compile("[\u3041-\u30fa]"): {"ja"},
    re.compile("[\u4e00-\u9fff]"): {"ja", "zh_Hans"},
}
# a property may be a hospital or a venue as well: no word of ours calls it a hotel
ONE_KIND = re.compile(
    r"hotel|hôtel|huésped|aloja|übernacht|होटल|ठहर|فندق|نزيل|ホテル|宿泊|当館|酒店|宾馆|住店",
    re.IGNORECASE,
)

# punctuation that is wrong in a language; in French, no line may break before ; : ! ? »
MISPUT = {
    "fr": re.compile(r" [;:!?»]|« |[\w)}][;!?]|\w'\w|[“”„\"]"),
    "es": re.compile(r"^[^¿]*\w\?|^[^¡]*!|[“”„\"]| [;:!?]"),
    "de": re.compile(r"[«»”\"]|^[^„]*“|\w'\w| [;:!?]"),
}


def filled(text: str, fact: str | None) -> str:
    """A translation as pages fill it: its %(names), then its {slots} with facts or without."""
    if "%(" in text:
        found = [(a or c, b or d) for a, b, c, d in NAMES.findall(text)]
        text %= {name: "x" if kind == "s" else 3 for name, kind in found}
    return str(say(text, dict.fromkeys(TEXTS.findall(text), fact)))


def test_booking_has_one_verb_on_every_screen() -> None:
    with words.TEMPLATE.open("rb") as file:
        ids = [each.id for each in words.messages(read_po(file))]
    texts = [text for each in ids for text in ([each] if isinstance(each, str) else each)]
    said = [each for each in texts if re.search(r"\border", TEXTS.sub("", each), re.IGNORECASE)]
    allowed = re.compile("|".join(OF_ORDER), re.IGNORECASE)
    assert [each for each in said if not allowed.search(each)] == [], "a ride is booked"
    unused = [each for each in OF_ORDER if not re.search(each, "\n".join(said), re.IGNORECASE)]
    assert unused == []


def test_every_translation_can_be_shown_with_facts_and_without() -> None:
    wrong = []
    for language in with_catalogues():
        for message in words.messages(words.read(language.code)):
            if not words.is_done(message):
                continue
            for text in words.forms(message):
                shown = [filled(text, "x"), filled(text, None)]
                if any(map(LEFT.search, shown)):
                    wrong.append((language.code, text, shown))
    assert wrong == []


def test_no_translation_names_one_kind_of_property() -> None:
    wrong = [
        (language.code, text)
        for language in with_catalogues()
        for message in words.messages(words.read(language.code))
        if words.is_done(message)
        for text in words.forms(message)
        if ONE_KIND.search(text)
    ]
    assert wrong == []


def test_signs_stand_as_each_language_puts_them() -> None:
    wrong = [
        (code, text)
        for code, misput in MISPUT.items()
        for message in words.messages(words.read(code))
        if words.is_done(message) and not message.context
        for text in words.forms(message)
        if misput.search(text)
    ]
    assert wrong == []


def test_no_translation_is_in_the_script_of_another_language() -> None:
    wrong = [
        (language.code, text)
        for language in with_catalogues()
        for message in words.messages(words.read(language.code))
        for text in words.forms(message)
        for script, written in SCRIPTS.items()
        if language.code not in written and script.search(text)
    ]
    assert wrong == []


def test_every_translation_has_ascii_digits() -> None:
    wrong = [
        (language.code, text)
        for language in with_catalogues()
        for message in words.messages(words.read(language.code))
        for text in words.forms(message)
        if text != ascii_digits(text)
    ]
    assert wrong == []


# calls that write digits, with their arguments; a call without any takes all from the browser
FORMATS = re.compile(
    r"\bIntl\.(?:DateTime|Number|RelativeTime|Duration)Format\b(?:\(((?:[^()]|\([^()]*\))*)\))?"
    r"|\.toLocale(?:Date|Time)?String\b"
)
DATES = re.compile(r"\b(?:weekday|day|month|year|dateStyle):")


def fixes_digits_and_calendar(given: str) -> bool:
    """Whether arguments of a format leave neither to the language or to the browser."""
    if given.startswith(('"en-GB"', '"sv-SE"')):
        return True
    calendar = not DATES.search(given) or 'calendar: "gregory"' in given
    return calendar and 'numberingSystem: "latn"' in given


def test_scripts_write_ascii_digits_and_the_gregorian_calendar() -> None:
    """This matters for later languages: for Persian, browsers would write other digits."""
    assert FORMATS.findall('Intl.NumberFormat(x).format(n); f({numberingSystem: "latn"})') == ["x"]
    assert FORMATS.findall("new Date().toLocaleString()") == [""]
    found = [
        (path.name, given)
        for path in (Path(__file__).parents[2] / "static/js").rglob("*.js")
        for given in FORMATS.findall(path.read_text())
    ]
    assert len(found) >= 4
    assert [each for each in found if not fixes_digits_and_calendar(each[1])] == []


def test_a_count_has_every_form_of_every_language() -> None:
    """A missing form makes its text English, also in a language that is translated in part.

    Only the words of a demo may be English (docs/languages.md 4).
    """
    guests = words.tier_1()
    plurals = {
        words.key_of(each)
        for each in words.messages(words.extract())
        if not isinstance(each.id, str) and words.group_of(each, guests) != "demo"
    }
    assert len(plurals) > 20
    for language in with_catalogues():
        catalogue = words.read(language.code)
        filled = {words.key_of(each) for each in words.messages(catalogue) if words.is_done(each)}
        assert plurals - filled == set(), language.code


def test_one_and_many_are_forms_of_one_text() -> None:
    """A language may have six plural forms; scripts get them all (ridedash/wording/counts.py)."""
    ids = [each.id for each in words.messages(words.extract())]
    assert [text for text in ids if isinstance(text, str) and ONE.search(text)] == []


def test_a_catalogue_is_read_quickly(tmp_path: Path) -> None:
    """Once in a process, for the first page in its language; the fastest of five runs counts."""
    folders = [str(each) for each in catalogues.prepare(words.FOLDER, tmp_path)]
    for language in with_catalogues():
        took = []
        for _ in range(5):
            began = time.process_time()
            found = [Translations.load(folder, [language.code]) for folder in folders]
            took.append(time.process_time() - began)
        assert any(isinstance(each, Translations) for each in found)
        assert min(took) <= SECONDS, language.code
