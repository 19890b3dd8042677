"""The kiosk's screens stand in one list, which its scripts and the settings follow."""

import re
from pathlib import Path

from ridedash.store.kiosk_visits import KioskScreen
from ridedash.views.admin.kiosk_health import SCREEN_NAMES, screen_name

SCRIPTS = Path(__file__).parents[3] / "static" / "js" / "kiosk"
SHOWN = [each for each in KioskScreen if each is not KioskScreen.UNSHOWN]
INSTEAD = {"trouble", "broken"}  # shown in place of another screen, and never stored


def table(script: str, name: str) -> list[str]:
    """The keys of a table of a script, in their order."""
    text = (SCRIPTS / script).read_text()
    body = text.partition(f"const {name} = {{")[2].partition("};")[0]
    return re.findall(r"^  (\w+)\b", body, re.MULTILINE)


def test_a_visit_has_the_stored_screens_in_their_order() -> None:
    assert table("visit.js", "WAITS") == SHOWN


def test_the_kiosk_draws_each_screen() -> None:
    assert set(table("kiosk.js", "SCREENS")) == set(SHOWN)


def test_scripts_go_to_no_other_screen() -> None:
    naming = re.compile(r'\b(?:(?:go|leap|begin)\(|screen [!=]== )"(\w+)"')
    named = {name for path in SCRIPTS.glob("*.js") for name in naming.findall(path.read_text())}
    assert {"place", "sending", "sorry"} <= named
    assert named - {*SHOWN, *INSTEAD} == set()


def test_the_settings_name_each_screen_that_is_stored() -> None:
    assert list(SCREEN_NAMES) == list(KioskScreen)
    assert screen_name("of another version") == "of another version"
