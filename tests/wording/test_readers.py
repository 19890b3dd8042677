"""Who reads which language, and which languages are complete enough to be offered."""

from pathlib import Path

import pytest

from ridedash.wording.catalogues import prepare
from ridedash.wording.languages import LANGUAGES
from ridedash.wording.offered import CatalogueShares, Level, figures_of, read
from ridedash.wording.readers import TAGS, Reader, Surface, choose, negotiate, of_poll

OFFERED = ["ar", "de", "fr", "hi", "zh_Hans"]


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        (["zh-CN"], "zh_Hans"),
        (["zh"], "zh_Hans"),
        (["zh-Hans-SG"], "zh_Hans"),
        (["zh-Hans-HK", "en"], "zh_Hans"),
        (["zh-Hans-TW"], "zh_Hans"),
        (["zh-US", "en"], "zh_Hans"),
        (["zh-Hant", "zh-Hans"], "zh_Hans"),
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
        (["", "..", "../../etc/passwd", "x" * 5_000, "x_" * 5_000, "de\n"], ""),
        (["xx"] * 500 + ["de"], ""),
        ([], ""),
    ],
)
def test_what_a_browser_prefers_finds_a_language(tags: list[str], expected: str) -> None:
    assert negotiate(tags, OFFERED) == expected


ALL = Reader(requested="fr", own="ar", accepts=("de-AT", "en"), house="hi")


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
        (Surface.GUEST, Reader(requested="ja", own="ar"), "ar"),
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
    """docs/languages.md 5. Guests whose language is not offered get English, as staff read."""
    assert choose(surface, reader, OFFERED) == expected


def test_a_poll_names_its_language_and_is_english_without_one() -> None:
    assert [of_poll(tag) for tag in ("zh-Hans", "ar", "", "AR", "zh_Hans", "xx")] == [
        *("zh_Hans", "ar"),
        *("en",) * 4,
    ]
    assert set(TAGS.values()) == set(LANGUAGES)


def folder_of(folder: Path, found: dict[str, str]) -> Path:
    """Compiled catalogues with these figures in their heads."""
    for code, figures in found.items():
        path = folder / code / "LC_MESSAGES" / "messages.po"
        path.parent.mkdir(parents=True)
        head = f'"Content-Type: text/plain; charset=utf-8\\n"\n"X-Figures: {figures}\\n"\n'
        path.write_text(f'msgid ""\nmsgstr ""\n{head}\nmsgid "Booked"\nmsgstr "{code}"\n')
    prepare(folder, folder / "spare")
    return folder


def test_a_language_is_offered_to_those_for_whom_it_is_whole(tmp_path: Path) -> None:
    known = {
        "hi": "guests=520/520 staff=950/1000 critical=0/40 reviewed=0/520",
        "ar": "guests=520/520 staff=949/1000 critical=40/40 reviewed=100/520",
        "de": "guests=519/520 staff=1000/1000 critical=40/40 reviewed=519/520",
        "ja": "guests=520/520 staff=1000/1000 critical=40/40 reviewed=494/520",
        "fr": "guests=0/0 staff=0/0 critical=0/0 reviewed=0/0",
        "it": "guests=1/1 staff=1/1 critical=1/1 reviewed=1/1",
    }
    found = read([tmp_path / "nowhere", folder_of(tmp_path, known)], tmp_path)
    assert found.guests == ("hi", "ar", "ja")
    assert found.staff == ("hi", "ja")
    assert [found.level(code) for code in ("hi", "ar", "ja", "fr", "en")] == [
        *(Level.MACHINE, Level.CHECKED, Level.REVIEWED),
        *(Level.MACHINE, Level.REVIEWED),
    ]


def test_a_broken_catalogue_is_not_offered_and_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    whole = "guests=1/1 staff=1/1 critical=0/1 reviewed=0/1"
    folder = folder_of(tmp_path, {"hi": whole, "ar": whole})
    (folder / "hi" / "LC_MESSAGES" / "messages.mo").write_bytes(b"\xde\x12\x04\x95 cut")
    (tmp_path / "critical.txt").write_text("Booked\n")
    assert read([folder], tmp_path).guests == ("ar",)
    assert [record.levelname for record in caplog.records] == ["ERROR"]


@pytest.mark.parametrize("written", ["", "guests", "guests=1", "nonsense=1/1", "guests=-1/1"])
def test_figures_that_make_no_sense_offer_nothing(written: str) -> None:
    assert figures_of(written) == CatalogueShares()
