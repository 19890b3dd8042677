"""What is known of a device by its last heartbeat: silence, voices and fonts, clock, version."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ridedash.__about__ import __version__
from ridedash.rides.kiosk import health
from ridedash.store.models.kiosks import Kiosk

NOON = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def device(**health: Any) -> Kiosk:
    return Kiosk(health=health)


def test_a_device_counts_as_seen_within_a_minute() -> None:
    row = device()
    assert health.is_alive(row, NOON) is False
    row.seen_at = NOON - MINUTE
    assert health.is_alive(row, NOON) is True
    row.seen_at -= timedelta(milliseconds=1)
    assert health.is_alive(row, NOON) is False


@pytest.mark.parametrize(
    ("reported", "code", "known"),
    [
        (["en-US", "HI "], "hi", True),
        (["en-US", "HI "], "en", True),
        (["en-US"], "en_us", True),
        (["en"], "en-GB", True),
        (["en", "zh"], "zh_Hans", True),
        (["xen"], "en", False),
        ([], "en", False),
        (None, "en", None),
        ("en", "en", None),
    ],
)
def test_a_voice_speaks_all_variants_of_its_language(
    reported: Any, code: str, known: bool | None
) -> None:
    assert health.can(device(voices=reported), "voices", code) is known
    assert health.can(device(voices=reported), "fonts", code) is None


@pytest.mark.parametrize(
    ("reported", "code", "known"),
    [
        (["en", "zh-Hans"], "zh_Hans", True),
        (["en-US"], "en", True),
        (["zh-Hant"], "zh_Hans", False),
        (["en"], "en-GB", False),
        (["xen"], "en", False),
    ],
)
def test_fonts_are_known_by_the_tag_of_the_language(
    reported: list[str], code: str, known: bool
) -> None:
    assert health.can(device(fonts=reported), "fonts", code) is known


def test_a_clock_is_wrong_by_more_than_half_a_minute_ahead_or_behind() -> None:
    assert health.skew_s(device()) is None
    assert health.skew_s(device(skew_s="9")) is None
    assert health.skew_s(device(skew_s=-9)) == -9.0
    skews = (None, 0.0, 30.0, -30.0, 30.5, -30.5)
    wrong = [False, False, False, False, True, True]
    assert [health.is_wrong(each) for each in skews] == wrong


def test_a_document_of_another_version_is_old() -> None:
    row = device()
    assert health.is_old(row) is False, "it has not reported"
    for release, old in ((__version__, False), (f"{__version__}-abc", False), ("0.0-x", True)):
        row.release = release
        assert health.is_old(row) is old
