"""tools/words.py: texts of the code reach the translators, and marks of a translation stay."""

import io

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po

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
