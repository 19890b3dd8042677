"""The table of languages."""

from gettext import c2py  # type: ignore[attr-defined] # as gettext itself reads the rule
from pathlib import Path

import pytest
from babel.core import Locale
from babel.messages.pofile import read_po

from ridedash.wording.languages import LANGUAGES, formats_of, with_catalogues

TRANSLATIONS = Path(__file__).parent.parent.parent / "translations"


def test_each_language_but_english_has_a_catalogue_and_each_catalogue_a_language() -> None:
    folders = {path.parent.parent.name for path in TRANSLATIONS.glob("*/LC_MESSAGES/messages.po")}
    assert folders == {language.code for language in with_catalogues()}
    assert folders | {"en"} == set(LANGUAGES)


@pytest.mark.parametrize(
    ("code", "tag", "direction"),
    [("en", "en", "ltr"), ("ar", "ar", "rtl"), ("zh_Hans", "zh-Hans", "ltr")],
)
def test_a_page_can_say_what_language_it_is_in(code: str, tag: str, direction: str) -> None:
    language = LANGUAGES[code]
    assert (language.tag, language.direction) == (tag, direction)


def test_names_and_formats_are_known() -> None:
    for language in LANGUAGES.values():
        assert language.own_name.strip()
        assert Locale.parse(formats_of(language.code)).language == language.code.split("_")[0]
    assert formats_of("en") == "en_GB"
    assert formats_of("xx") == "xx"


def test_plural_forms_are_those_of_the_language() -> None:
    """The rule in a catalogue's head picks the same form for a count as CLDR, in CLDR's order.

    The form "many" of es and fr is for whole millions, which nothing here counts.
    """
    order = ["zero", "one", "two", "few", "many", "other"]
    for language in with_catalogues():
        with (TRANSLATIONS / language.code / "LC_MESSAGES" / "messages.po").open("rb") as file:
            head = read_po(file, locale=language.code)
        rule = Locale.parse(language.code).plural_form
        used = {rule(n) for n in range(1000)}
        names = [name for name in order if name in used]
        assert head.num_plurals == len(names), language.code
        choose = c2py(head.plural_expr)
        assert [names[choose(n)] for n in range(300)] == [rule(n) for n in range(300)]
