"""tools/words.py: texts of the code reach the translators, and marks of a translation stay."""

import io

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po

from ridedash.wording.languages import with_catalogues
from tools import words

OLD = """
msgid ""
msgstr ""
"Language: de\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\\n"

#, machine
msgid "Here"
msgstr "Da"

# reviewed: native, 2026-12
msgid "The driver waits for you at the door"
msgstr "Der Fahrer wartet an der Tür"

#, machine
msgid "Nobody says this any more"
msgstr "Weg"
"""


def updated() -> Catalog:
    catalogue, template = read_po(io.BytesIO(OLD.encode()), locale="de"), Catalog()
    template.add("Done", locations=[("b.py", 1)])
    template.add("The driver waits for you at this door", locations=[("a.py", 9)])
    template.add("Here", locations=[("a.py", 10)], auto_comments=["critical"])
    changes = words.update(catalogue, template)
    assert changes == words.Changes(new=2, gone=2, changed=1)
    return catalogue


def test_an_update_keeps_marks_and_takes_a_review_from_what_has_changed() -> None:
    catalogue = updated()
    assert catalogue["Here"].flags == {"machine"}
    changed = catalogue["The driver waits for you at this door"]
    assert changed.fuzzy
    assert changed.user_comments == []


def test_a_new_text_with_a_count_takes_no_guess_of_another() -> None:
    catalogue, template = read_po(io.BytesIO(OLD.encode()), locale="de"), Catalog()
    template.add(("The driver waits for %(num)d", "The drivers wait for %(num)d"))
    template.add(("The driver waits for you at the doors", "The drivers wait for you at the doors"))
    words.update(catalogue, template)
    for message in words.messages(catalogue):
        assert (words.forms(message), set(message.flags) - {"python-format"}) == ((), set())


def test_an_update_without_a_change_of_the_code_changes_nothing() -> None:
    catalogue, template = updated(), words.extract()
    words.update(catalogue, template)
    first = words.written(catalogue)
    again = read_po(io.BytesIO(first), locale="de")
    assert words.update(again, template) == words.Changes(0, 0, 0)
    assert words.written(again) == first


def test_a_file_has_the_order_of_the_code_and_nothing_that_changes_by_itself() -> None:
    text = words.written(updated()).decode()
    assert text == words.written(updated()).decode()
    _head, *entries = text.strip().split("\n\n")
    assert [entry.splitlines()[0] for entry in entries] == ["#: a.py", "#. critical", "#: b.py"]
    assert "#, machine\nmsgid" in entries[1]
    assert "Weg" not in text
    assert not any(each in text for each in words.LEFT_OUT)
    again = read_po(io.BytesIO(text.encode()), locale="de")
    assert again["Here"].string == "Da"


def test_the_template_has_texts_of_modules_tables_and_templates() -> None:
    template = words.extract()
    for text in ("just now", "Finding a driver", "Skip to content"):
        assert template.get(text), text
    assert template.get("%(num)d star") or template.get(("%(num)d star", "%(num)d stars"))


def entry(text: str) -> Message:
    """The only message of a file."""
    return next(words.messages(read_po(io.BytesIO(text.encode()), locale="de")))


LINE = 'msgid "Line %(n)d"\nmsgstr "Zeile %(n)d"\n'


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("#, machine\n" + LINE, ""),
        ("# reviewed: native, 2026-12\n" + LINE, ""),
        (LINE, "it needs one mark"),
        ("# reviewed: native, 2026-12\n#, machine\n" + LINE, "it needs one mark"),
        ("#, machine\n" + LINE.replace("Zeile %(n)d", "Zeile"), "%(n)d is missing"),
        ('msgid "Here"\nmsgstr ""\n', ""),
    ],
)
def test_a_translation_keeps_its_facts_and_says_who_read_it(text: str, fault: str) -> None:
    found = words.faults_of(entry(text))
    assert (fault in found[0]) if fault else found == []


FUZZY = "#, fuzzy, machine\n" + LINE
EMPTY = 'msgid "Here"\nmsgstr ""\n'


@pytest.mark.parametrize(
    ("text", "readers", "whole", "why"),
    [
        (FUZZY, "guests", True, ["fuzzy"]),
        (FUZZY, "staff", True, ["fuzzy"]),
        (FUZZY, "staff", False, ["fuzzy"]),
        (FUZZY, "demo", True, []),
        (EMPTY, "staff", True, ["missing"]),
        (EMPTY, "staff", False, []),
        ("#, machine\n" + LINE, "staff", True, []),
    ],
)
def test_a_text_of_a_screen_that_is_left_in_english_is_found(
    text: str, readers: str, whole: bool, why: list[str]
) -> None:
    assert words.left_in_english(entry(text), readers, whole=whole) == why


def test_no_guess_is_kept_of_a_text_that_a_demo_alone_says() -> None:
    catalogue, template = read_po(io.BytesIO(OLD.encode()), locale="de"), Catalog()
    template.add("The driver waits at this door", locations=[("ridedash/demo/day.py", 1)])
    words.update(catalogue, template)
    found = catalogue["The driver waits at this door"]
    assert (found.string, found.fuzzy) == ("", False)


def test_a_quote_that_is_missing_is_found() -> None:
    right = 'msgid ""\n"Here \\"and\\" there"\nmsgstr[0] "x"\n# a comment with "one\n'
    assert words.unclosed(right) == []
    assert words.unclosed('msgid "Here\nmsgstr Da"\nmsgstr "a" b') == [1, 3]


def test_the_glossary_has_a_word_in_every_language() -> None:
    for language in with_catalogues():
        agreed = words.glossary(language.code)
        assert len(agreed) >= 40
        assert all(all(each) for each in agreed.values()), language.code
    assert words.glossary("tlh") == {}


def test_a_translation_without_the_agreed_word_is_named() -> None:
    agreed = {"ride": ["Fahrt"], "shared ride": ["geteilte Fahrt"], "about #": ["etwa"]}
    agreed |= {"tomorrow": ["morgen"], "ride app": [words.NOT_CHECKED]}

    def missing(english: str, translated: str) -> list[str]:
        return [word for word, _ in words.missing_words(english, translated, agreed)]

    assert missing("Your ride is planned", "Ihre Fahrt ist geplant") == []
    assert missing("Your rides are planned", "Ihre Reisen sind geplant") == ["ride"]
    assert missing("A shared ride", "Eine Fahrt") == ["shared ride"]
    assert missing("It is {ride}", "Es ist {ride}") == []
    assert missing("about {n} min, all about it", "{n} min, alles dazu") == ["about #"]
    assert missing("all about it", "alles dazu") == []
    assert missing("The ride app", "Die App") == []
    assert missing("Type tomorrow 0615", "Schreiben Sie tomorrow 0615") == []


def test_figures_count_what_guests_meet_and_what_was_read() -> None:
    done, key = Catalog(locale="de"), next(iter(words.tier_1()))
    done.add(key[1], "Da", auto_comments=["critical"], user_comments=["reviewed: native, 2026-12"])
    done.add("Nobody reads this anywhere", "", flags=["machine"])
    done.add("Play this story", "", locations=[("templates/demo/page.html", 3)])
    both = [("ridedash/demo/words.py", 3), ("ridedash/forms/booking.py", 9)]
    done.add("Staff read it too", "Auch", flags=["machine"], locations=both)
    statistics = "guests=1/1 staff=1/2 demo=0/1 critical=1/1 reviewed=1/1"
    assert words.figures_of(done) == statistics
