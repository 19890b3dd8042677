"""Catalogues are compiled where they are needed, and a broken one makes no page fail."""

import logging
import os
from pathlib import Path
from typing import Any

import pytest
from babel.support import Translations

from ridedash.extensions import babel
from ridedash.wording import catalogues
from tests.views.ride_pages import make_desk

HEAD = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n\n'
HERE = 'msgid "Here"\nmsgstr "Da"\n'
FUZZY = '#, fuzzy\nmsgid "Done"\nmsgstr "Weg"\n'


def text_of(folder: Path, words: str, language: str = "de") -> Path:
    path = folder / language / "LC_MESSAGES" / "messages.po"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HEAD + words)
    return path


def translated(folder: Path, text: str, language: str = "de") -> str:
    return Translations.load(str(folder), [language]).gettext(text)


def test_a_text_is_compiled_beside_it_without_what_is_fuzzy(tmp_path: Path) -> None:
    text_of(tmp_path, HERE + "\n" + FUZZY)
    assert catalogues.prepare(tmp_path, tmp_path / "spare") == [tmp_path]
    assert (translated(tmp_path, "Here"), translated(tmp_path, "Done")) == ("Da", "Done")


def test_a_text_is_compiled_again_only_when_it_has_another_time(tmp_path: Path) -> None:
    text = text_of(tmp_path, HERE)
    catalogues.prepare(tmp_path, tmp_path)
    made = text.with_suffix(".mo")
    first = made.stat().st_ino
    catalogues.prepare(tmp_path, tmp_path)
    assert made.stat().st_ino == first
    text_of(tmp_path, HERE.replace("Da", "Hier"))
    os.utime(text, ns=(1, 1))  # an older version was checked out
    catalogues.prepare(tmp_path, tmp_path)
    assert translated(tmp_path, "Here") == "Hier"


def test_a_broken_text_is_logged_and_the_last_words_stay(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text_of(tmp_path, HERE)
    text_of(tmp_path, HERE, "fr")
    catalogues.prepare(tmp_path, tmp_path)
    text_of(tmp_path, "<<<<<<< HEAD\n" + HERE)
    os.utime(tmp_path / "de" / catalogues.TEXT, ns=(1, 1))
    with caplog.at_level(logging.ERROR):
        catalogues.prepare(tmp_path, tmp_path)
    assert (translated(tmp_path, "Here"), translated(tmp_path, "Here", "fr")) == ("Da", "Da")
    (line,) = caplog.messages
    assert line.startswith("the words of de can't be read")


def test_where_nothing_can_be_written_the_spare_folder_is_used(tmp_path: Path) -> None:
    folder, spare = tmp_path / "words", tmp_path / "spare"
    text_of(folder, HERE)
    (folder / "de" / "LC_MESSAGES" / "messages.mo").mkdir()  # no file can replace a folder
    assert catalogues.prepare(folder, spare) == [folder, spare]
    assert translated(spare, "Here") == "Da"
    assert not list((folder / "de" / "LC_MESSAGES").glob(".messages*"))


def test_without_texts_there_is_nothing_to_do(tmp_path: Path) -> None:
    assert catalogues.prepare(tmp_path / "none", tmp_path / "spare") == [tmp_path / "none"]


def test_the_figures_of_a_text_are_in_the_compiled_head(tmp_path: Path) -> None:
    figures = "guests=1/2 staff=0/3 critical=0/0 reviewed=0/2"
    path = text_of(tmp_path, HERE)
    path.write_text(HEAD.rstrip() + f'\n"X-Figures: {figures}\\n"\n\n' + HERE)
    catalogues.prepare(tmp_path, tmp_path)
    found = Translations.load(str(tmp_path), ["de"])
    assert found.info()["x-figures"] == figures
    assert found.gettext("Here") == "Da"


@pytest.mark.database
def test_a_catalogue_is_read_once_in_a_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, read, load = make_desk(tmp_path), [], Translations.load

    def noted(*args: Any) -> Any:
        read.append(str(args[1][0]))
        return load(*args)

    monkeypatch.setattr(Translations, "load", noted)
    with desk.app.app_context():
        babel.domain_instance.cache.clear()  # earlier tests may have read some
    client = desk.client(signed_in=False)
    for tag in ("ar", "de", "ja", "hi") * 3:
        page = client.get("/sign-in", headers={"Accept-Language": tag}).text
        assert f'<html lang="{tag}"' in page
    desk.close()
    assert sorted(read) == ["ar", "de", "hi", "ja"]
