"""Who reads which language, and which languages are whole enough to be offered."""

import json
from pathlib import Path

import pytest

from ridedash.wording.languages import LANGUAGES
from ridedash.wording.offered import Level, read
from ridedash.wording.readers import TAGS, Reader, Surface, choose, negotiate, of_poll

OFFERED = ["ar", "de", "fr", "hi", "zh_Hans"]


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        (["zh-CN"], "zh_Hans"),
        (["zh"], "zh_Hans"),
        (["zh-Hans-SG"], "zh_Hans"),
        (["zh-TW"], "en"),
        (["zh-TW", "zh", "en-US", "en"], "en"),
        (["zh-Hant-HK", "zh", "fr"], "fr"),
        (["pt"], "en"),
        (["pt-BR", "pt", "fr;q=0"], "en"),
        (["pt-BR", "de"], "de"),
        (["de-AT"], "de"),
        (["DE-at"], "de"),
        (["en-GB", "de"], "en"),
        (["ja", "hi-IN"], "hi"),
        (["ar-u-nu-arab"], "ar"),
        (["ja"], ""),
        (["*"], ""),
        (["", "..", "../../etc/passwd", "x" * 5_000, "de\n"], ""),
        (["xx"] * 500 + ["de"], ""),
        ([], ""),
    ],
)
def test_what_a_browser_prefers_finds_a_language(tags: list[str], expected: str) -> None:
    assert negotiate(tags, OFFERED) == expected


ALL = Reader(asked="fr", own="ar", accepts=("de-AT", "en"), house="hi")


@pytest.mark.parametrize(
    ("surface", "reader", "expected"),
    [
        (Surface.STAFF, ALL, "ar"),
        (Surface.STAFF, Reader(house="hi", accepts=("de",)), "hi"),
        (Surface.STAFF, Reader(own="ja", house="hi"), "hi"),
        (Surface.STAFF, Reader(accepts=("de",)), "en"),
        (Surface.DOOR, ALL, "de"),
        (Surface.DOOR, Reader(own="ar", accepts=("ja",), house="hi"), "hi"),
        (Surface.GUEST, ALL, "fr"),
        (Surface.GUEST, Reader(own="ar", accepts=("de",)), "ar"),
        (Surface.GUEST, Reader(asked="ja", own="ar"), "ar"),
        (Surface.GUEST, Reader(accepts=("de",), house="hi"), "de"),
        (Surface.GUEST, Reader(house="hi"), "hi"),
        (Surface.GUEST, Reader(own="bn", accepts=("de",), house="hi"), "en"),
        (Surface.FOLLOWER, ALL, "fr"),
        (Surface.FOLLOWER, Reader(own="ar", accepts=("de",)), "de"),
        (Surface.FOLLOWER, Reader(own="ar"), "en"),
        (Surface.PRINT, ALL, "ar"),
        (Surface.PRINT, Reader(own="bn", house="hi"), "en"),
        (Surface.PRINT, Reader(accepts=("de",), house="hi"), "hi"),
        (Surface.RECORD, ALL, "en"),
    ],
)
def test_each_surface_asks_whom_it_should(surface: Surface, reader: Reader, expected: str) -> None:
    """docs/languages.md 4. A guest whose language is not offered reads what the desk expects."""
    assert choose(surface, reader, OFFERED) == expected


def test_a_poll_names_its_language_and_is_english_without_one() -> None:
    assert [of_poll(tag) for tag in ("zh-Hans", "ar", "", "AR", "zh_Hans", "xx")] == [
        *("zh_Hans", "ar"),
        *("en",) * 4,
    ]
    assert set(TAGS.values()) == set(LANGUAGES)


def folder_of(folder: Path, found: dict[str, dict[str, list[int]]], *compiled: str) -> Path:
    (folder / "figures.json").write_text(json.dumps(found))
    for code in compiled:
        path = folder / code / "LC_MESSAGES" / "messages.mo"
        path.parent.mkdir(parents=True)
        path.write_bytes(b"")
    return folder


def figures(*done: int) -> dict[str, list[int]]:
    names, of = ("guests", "staff", "critical", "reviewed"), (520, 1000, 40, 520)
    return {name: [part, whole] for name, part, whole in zip(names, done, of, strict=True)}


def test_a_language_is_offered_to_those_for_whom_it_is_whole(tmp_path: Path) -> None:
    known = {
        "xx": figures(520, 1000, 40, 520),
        "hi": figures(520, 950, 0, 0),
        "ar": figures(520, 949, 40, 100),
        "de": figures(519, 1000, 40, 519),
        "ja": figures(520, 1000, 40, 494),
        "es": figures(520, 1000, 40, 494),
    }
    found = read(folder_of(tmp_path, known, "hi", "ar", "de", "ja"), [tmp_path / "no", tmp_path])
    assert found.guests == ("hi", "ar", "ja")
    assert found.staff == ("hi", "ja")
    assert [found.level(code) for code in ("hi", "ar", "ja", "en")] == [
        Level.MACHINE,
        Level.CHECKED,
        Level.REVIEWED,
        Level.REVIEWED,
    ]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"ar": 1}', '{"ar": {"guests": ["1", 2, 3]}}'])
def test_figures_that_cant_be_read_offer_nothing_and_the_log_says_so(
    tmp_path: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    folder = folder_of(tmp_path, {}, "ar")
    (folder / "figures.json").write_text(text)
    assert read(folder, [folder]).figures == {}
    assert [each.levelname for each in caplog.records] == ["ERROR"] or text == "[]"


def test_the_figures_of_this_release_can_be_read() -> None:
    folder = Path("translations")
    assert json.loads((folder / "figures.json").read_text()).keys() == {
        code for code in LANGUAGES if code != "en"
    }
