"""Pages declare their language and its direction; arrows and the like turn with the direction."""

import re
from pathlib import Path

import pytest

from ridedash.rides.share_links import LinkKind, make_link
from ridedash.store.actors import by_staff
from tests.pseudo import use
from tests.views.ride_pages import Desk
from tools.styles import SHEETS, declarations, rules

ROOT = Path(__file__).parents[2]
FOUR = ("padding", "margin", "inset", "border-width", "border-color", "border-style")
OF_MAPS = {"left", "border-radius"}  # allowed in map.css: a map is never mirrored
SIDE = re.compile(r"(?:^|-)(?:left|right)$")


@pytest.mark.database
def test_every_page_says_the_language_and_the_direction_of_its_words(desk: Desk) -> None:
    order_id, property_id = desk.order("BOOKED", "CALL_DRIVER"), desk.ids["desk.property"]
    db, now, staff = desk.services.db, desk.now, desk.ids["desk"]
    link = "/t/" + make_link(db, now, property_id, order_id, LinkKind("rider"), by_staff(staff))
    stranger, client = desk.client(signed_in=False), desk.client()
    ride = f"/rides/{order_id}"
    for locale, marks in {
        "ar": '<html lang="ar" dir="rtl">',
        "zh_Hans": '<html lang="zh-Hans" dir="ltr">',
        "en": '<html lang="en" dir="ltr">',
    }.items():
        use(desk.app, locale)
        for path in ("/sign-in", link, "/t/nothing"):
            assert marks in stranger.get(path).text, (locale, path)
        for path in ("/", ride, f"{ride}/receipt", "/me", "/nothing-here"):
            assert marks in client.get(path).text, (locale, path)


def test_no_style_sheet_names_a_side_that_a_direction_would_swap() -> None:
    found = [
        f"{sheet.name}: {selector.strip()[-40:]} {name}: {value}"
        for sheet in SHEETS
        for selector, body in rules(sheet.read_text())
        if '[dir="' not in selector  # a rule for one direction may name a side
        for name, value in declarations(body)
        if _names_a_side(name, value) and not (sheet.name == "map.css" and name in OF_MAPS)
    ]
    assert found == []


def _names_a_side(name: str, value: str) -> bool:
    parts = re.findall(r"(?:[^\s(]|\([^)]*\))+", value)
    if name in FOUR and len(parts) == 4:
        return parts[1] != parts[3]
    if name == "border-radius" and len(parts) == 4:
        return parts[0] != parts[1] or parts[2] != parts[3]
    if name == "box-shadow" and re.search(r"inset -?[1-9]", value):
        return True
    return any(SIDE.search(word) for word in (name, *parts))


def test_arrows_that_mean_to_come_from_one_rule_that_mirrors_them() -> None:
    arrows = re.compile("[←→‹›«»]")
    kinds = {"templates": "html", "static/js": "js", "static/css": "css", "ridedash": "py"}
    found = {
        path.name
        for folder, kind in kinds.items()
        for path in (ROOT / folder).rglob(f"*.{kind}")
        if arrows.search(path.read_text())
    }
    assert found == {"base.css"}


def test_mirrored_signs_are_signs_of_the_sprite() -> None:
    base = (ROOT / "static/css/shared/base.css").read_text()
    turned = set(re.findall(r'\[href\$="#(\w+)"\]', base))
    sprite = (ROOT / "static/img/icons.svg").read_text()
    assert {"back", "next", "coming"} <= turned <= set(re.findall(r'symbol id="(\w+)"', sprite))
