"""Own words are written to a .po file and read back unchanged; other files are refused."""

import pytest

from ridedash.wording.own import SENTENCES
from ridedash.wording.own_files import MOST_BYTES, FileSentence, NotPoFile, lines_of, written


def test_a_file_comes_back_as_it_went() -> None:
    texts = {"thank_you": "Auf Wiedersehen", "card_desk": "Rezeption: {phone}"}
    lines = lines_of(written("zh_Hans", texts), "zh_Hans")
    assert set(lines) == set(SENTENCES)
    assert {name: line.text for name, line in lines.items() if line.text} == texts
    assert lines["card_desk"].english == "Desk: {phone}"
    assert lines["greeting"] == FileSentence("", "")


def test_what_is_fuzzy_is_left_out_and_long_words_stay_too_long() -> None:
    text = written("de", {}).decode()
    text = text.replace('msgctxt "thank_you"', '#, fuzzy\nmsgctxt "thank_you"')
    text = text.replace('msgid "Meet at"\nmsgstr ""', f'msgid "Meet at"\nmsgstr "{"x" * 300}"')
    lines = lines_of(text.encode(), "de")
    assert "thank_you" not in lines
    assert len(lines["card_meet"].text) == 201


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe\x00",
        b"no file of translators",
        b'msgid ""\nmsgstr "Language: xx\\n"',
        b'msgid ""\nmsgstr "Content-Type: text/plain; charset=none\\n"',
        written("ar", {"thank_you": "x"}),
        written("de", {}) + b"#" * MOST_BYTES,
    ],
)
def test_anything_else_is_refused(content: bytes) -> None:
    with pytest.raises(NotPoFile):
        lines_of(content, "de")
