"""Texts in the reader's language: faults of catalogues, plural forms, and facts set apart."""

import logging
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from flask import Flask, render_template_string
from flask_babel import Babel

from ridedash.wording import catalogues, in_language, ngettext, pgettext, say
from ridedash.wording.say import gettext, install_words, lazy, with_pauses

HEAD = r"""
msgid ""
msgstr ""
"Content-Type: text/plain; charset=utf-8\n"
"Plural-Forms: {plurals}\n"

"""
TWO = "nplurals=2; plural=(n != 1);"
SIX = "nplurals=6; plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : 3);"
GERMAN = r"""
msgid "Line %(n)d"
msgstr "Zeile %(nn)d"

msgid "Here"
msgstr "Da, 100 %"

msgid "By %(who)s"
msgstr "Von %(who)s"

msgid "%(num)d star"
msgid_plural "%(num)d stars"
msgstr[0] "ein Stern"
msgstr[1] "%(num)d Sterne"

msgid "%(num)d seat"
msgid_plural "%(num)d seats"
msgstr[0] "%(num)d Platz"
msgstr[1] "%(numb)d Plätze"

msgctxt "of time"
msgid "Now"
msgstr "Jetzt"

msgctxt "of a list"
msgid "Now"
msgstr "Läuft"
"""
ARABIC = r"""
msgid "By %(who)s"
msgstr "بواسطة %(who)s"

msgid "Meet at {pickup}"
msgstr "اللقاء عند {pickup}"

msgid "{one}, {two}"
msgstr "{one}، {two}"

msgid "%(num)d star"
msgid_plural "%(num)d stars"
msgstr[0] "بلا نجوم"
msgstr[1] "نجمة واحدة"
msgstr[2] "نجمتان"
msgstr[3] "%(num)d نجوم"
msgstr[4] "%(num)d نجمة"
msgstr[5] "%(num)d نجمة"
"""


def compiled(folder: Path, code: str, text: str) -> None:
    made = BytesIO()
    write_mo(made, read_po(BytesIO(text.encode()), locale=code))
    path = folder / code / catalogues.COMPILED
    path.parent.mkdir(parents=True)
    path.write_bytes(made.getvalue())


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Flask]:
    """An app whose catalogues are those above; Japanese has a file that is no catalogue."""
    compiled(tmp_path, "de", HEAD.format(plurals=TWO) + GERMAN)
    compiled(tmp_path, "ar", HEAD.format(plurals=SIX) + ARABIC)
    broken = tmp_path / "ja" / catalogues.COMPILED
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"no catalogue")
    app = Flask(__name__)
    Babel(app, default_translation_directories=str(tmp_path))
    install_words(app.jinja_env)
    with app.test_request_context("/"):
        yield app


@pytest.mark.usefixtures("app")
def test_a_translators_slip_costs_the_translation_and_no_page(
    caplog: pytest.LogCaptureFixture,
) -> None:
    page = """{{ _("Line %(n)d", n=4) }} {{ _("Here") }}
        {{ ngettext("%(num)d seat", "%(num)d seats", 3) }} {{ _("By %(who)s", who="A & B") }}"""
    with in_language("de"), caplog.at_level(logging.WARNING):
        assert gettext("Line %(n)d", n=4) == "Line 4"
        assert render_template_string(page).split() == (
            ["Line", "4", "Here", "3", "seats", "Von", "A", "&amp;", "B"]
        )
        assert ngettext("%(num)d seat", "%(num)d seats", 1) == "1 Platz"
        assert ngettext("%(num)d seat", "%(num)d seats", 3) == "3 seats"


@pytest.mark.usefixtures("app")
@pytest.mark.parametrize("code", ["fr", "ja", "en", "tlh"])
def test_a_language_without_a_readable_catalogue_is_english(
    code: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A missing .mo, a broken one, none at all, and a language that Babel doesn't know."""
    with caplog.at_level(logging.ERROR), in_language(code):
        assert gettext("By %(who)s", who="us") == "By us"
        assert ngettext("%(num)d star", "%(num)d stars", 2) == "2 stars"
        assert str(lazy("Here")) == "Here"
    assert len(caplog.messages) == (code in ("ja", "tlh"))


@pytest.mark.usefixtures("app")
def test_a_count_and_a_context_choose_the_words() -> None:
    stars = [0, 1, 2, 3]
    with in_language("de"):
        assert pgettext("of time", "Now") == "Jetzt"
        assert pgettext("of a list", "Now") == "Läuft"
        assert pgettext("of a door", "Now") == "Now"
        assert [ngettext("%(num)d star", "%(num)d stars", n) for n in stars[:2]] == [
            "0 Sterne",
            "ein Stern",
        ]
    with in_language("ar"):
        assert [ngettext("%(num)d star", "%(num)d stars", n) for n in stars] == [
            "بلا نجوم",
            "نجمة واحدة",
            "نجمتان",
            "3 نجوم",
        ]
    assert gettext("By %(who)s", who="us") == "By us"


APART = "\u2068{}\u2069"


@pytest.mark.usefixtures("app")
def test_a_fact_that_runs_against_the_page_is_set_apart() -> None:
    """In both directions, in sentences of modules and of templates."""
    page = '{{ _("By %(who)s", who=who) }}'
    for who in ("Meridian Airport", "+91 22 2778 3300", "KA 01 AB 1234"):
        with in_language("ar"):
            assert gettext("By %(who)s", who=who) == "بواسطة " + APART.format(who)
            assert render_template_string(page, who=who) == "بواسطة " + APART.format(who)
            assert say("Meet at {pickup}", {"pickup": who}) == "Meet at " + APART.format(who)
        assert gettext("By %(who)s", who=who) == f"By {who}"
        assert render_template_string(page, who=who) == f"By {who}"
    with in_language("ar"):
        assert gettext("By %(who)s", who="ليلى") == "بواسطة ليلى"
    assert gettext("By %(who)s", who="ليلى") == "By " + APART.format("ليلى")
    assert render_template_string(page, who="ليلى") == "By " + APART.format("ليلى")


@pytest.mark.usefixtures("app")
def test_the_comma_between_two_facts_is_the_readers() -> None:
    facts = ("LH 760", "", "تغادر", None, "{two}")
    with in_language("ar"):
        assert with_pauses(*facts) == f"{APART.format('LH 760')}، تغادر، {APART.format('{two}')}"
        assert with_pauses("تغادر", "") == "تغادر"
    assert with_pauses("LH 760", "leaves 21:40") == "LH 760, leaves 21:40"
    assert with_pauses("", None) == ""


def test_without_a_request_texts_are_english() -> None:
    assert gettext("By %(who)s", who="us") == "By us"
    assert ngettext("%(num)d star", "%(num)d stars", 1) == "1 star"
