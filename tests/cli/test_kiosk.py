"""`ridedash kiosk check`: a line for the address and for each kiosk, and what is missing."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ridedash.cli import demo_kiosks
from ridedash.cli.kiosk import check, examine
from ridedash.sandbox.city.city import cities
from ridedash.store.kiosks import devices_of
from ridedash.store.models.kiosks import PickupHint
from ridedash.store.models.people import Account, Property
from ridedash.store.properties import favourites_of
from tests.views.admin.test_kiosks import add_kiosk
from tests.views.kiosk.devices import give_pickup
from tests.views.ride_pages import NOON, Desk, make_desk

pytestmark = pytest.mark.database
WELL: dict[str, Any] = {
    "health": {"voices": ["en", "zh-CN"], "fonts": ["en", "zh"], "skew_s": 1, "px": [1920, 1080]},
    "languages": ["en"],
    "mm_per_px": 0.25,
    "pin_hash": "x",
}


@pytest.fixture
def desk(tmp_path: Path) -> Any:
    made = make_desk(tmp_path)
    give_pickup(made)
    yield made
    made.close()


def lines(desk: Desk) -> list[tuple[bool, str]]:
    return [(each.ok, each.text) for each in examine(desk.services)]


def test_a_kiosk_that_lacks_nothing_passes_and_others_get_advice_on_what_to_mend(
    desk: Desk,
) -> None:
    add_kiosk(desk, **WELL)
    health = {"voices": ["en"], "fonts": ["en"], "skew_s": -75}
    add_kiosk(desk, name="Old", health=health, languages=["en", "hi"], release="0.0-abc")
    add_kiosk(desk, name="Away", seen_at=NOON - timedelta(hours=1), **WELL)
    add_kiosk(desk, name="New", token_hash=None)
    small = WELL | {"mm_per_px": 0.1344, "health": WELL["health"] | {"px": [800, 1280]}}
    add_kiosk(desk, name="Small", **small)
    add_kiosk(desk, name="Door", kind="door")
    tls, *found = lines(desk)
    assert tls[0]
    assert "a demo needs no TLS" in tls[1]
    findings = {text.split(", ", 1)[1].split(":")[0]: (ok, text) for ok, text in found}
    assert findings["Lobby"][0]
    assert findings["Door"][0]
    for missing in (
        "shows release 0.0-abc",
        "clock is wrong by 75 s",
        "no staff PIN",
        "its screen is not measured",
        "no voices for hi",
        "no fonts for hi",
    ):
        assert missing in findings["Old"][1], missing
    assert "silent since 2026-05-04 07:30 UTC" in findings["Away"][1]
    assert "not paired yet" in findings["New"][1]
    assert "its screen of 108 x 172 mm is smaller than 215 x 134 mm" in findings["Small"][1]
    assert [ok for ok, _text in found].count(False) == 4


def test_a_kiosk_that_can_not_book_is_named_with_what_it_lacks(desk: Desk) -> None:
    add_kiosk(desk, **WELL)
    add_kiosk(desk, kind="door")
    with desk.services.db.write() as s:
        s.get_one(Property, desk.ids["desk.property"]).pickup_lat = None
        s.get_one(Account, desk.ids["desk.account"]).state = "reconnect"
    kiosk, door = lines(desk)[1:]
    assert not kiosk[0]
    assert "can't book: no pickup point" in kiosk[1]
    assert "can't book: its ride account needs reconnecting" in kiosk[1]
    assert door[0], "a door display books nothing"
    with desk.services.db.write() as s:
        s.get_one(Account, desk.ids["desk.account"]).state = "removed"
    assert "can't book: no ride account" in lines(desk)[1][1]


def test_a_kiosk_that_speaks_and_writes_every_language_passes(desk: Desk) -> None:
    """A kiosk reports the first part of each voice's tag, and our languages that it can display."""
    voices = ["en", "hi", "ar", "es", "fr", "de", "ja", "zh"]
    fonts = [*voices[:-1], "zh-Hans"]
    health = {"voices": voices, "fonts": fonts, "skew_s": 0}
    add_kiosk(desk, **WELL | {"health": health, "languages": []})
    assert [ok for ok, _text in lines(desk)] == [True, True]


def test_the_command_says_so_where_there_is_none(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = desk.services.settings
    environ = {
        "RIDEDASH_INSTANCE": str(settings.instance),
        "RIDEDASH_DATABASE_URL": settings.database_url,
    }
    assert check(environ) == 0
    assert "no property has one" in capsys.readouterr().out


def test_a_demo_gets_two_kiosks_with_directions_and_favourites_once(desk: Desk) -> None:
    home = desk.ids["desk.property"]
    for _again in range(2):
        with desk.services.db.write() as s:
            demo_kiosks.seed(s, home, NOON)
    with desk.services.db.read() as s:
        lobby, station = devices_of(s, home)
        hints = s.query(PickupHint).all()
        drops = favourites_of(s, home)
    assert (lobby.name, lobby.lat, station.name) == ("Lobby", None, "Central station")
    zone = next(each for each in cities()[0].hotspots if each.name == demo_kiosks.STATION)
    assert {each.point for each in hints} == {point.name for point in zone.points}
    assert all(each.words["en"] and each.metres and each.minutes for each in hints)
    assert [drops["drop", slot].name for slot in range(1, 7)] == list(demo_kiosks.DROPS)


def test_without_tables_the_check_says_what_to_run_and_makes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    database = {"RIDEDASH_DATABASE_URL": f"sqlite:///{tmp_path}/desk.db"}
    assert check({"RIDEDASH_INSTANCE": str(tmp_path), **database}) == 1
    assert "is not there yet: run `ridedash db upgrade`" in capsys.readouterr().out
    assert not (tmp_path / "desk.db").exists()
