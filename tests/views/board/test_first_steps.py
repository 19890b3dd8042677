"""The checklist of a new property: what is done, what is left, and who sees it."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ridedash.store import properties
from ridedash.store.kiosks import new_device
from ridedash.store.models.kiosks import KioskKind
from ridedash.store.models.people import Account, Property
from tests.views.ride_pages import HASH, NOON, Desk, make_desk

pytestmark = pytest.mark.database
STEPS = ["Set the pickup", "Link an account", "Invite your colleagues", "Pair a kiosk"]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = make_desk(tmp_path)
    home = made.ids["desk.property"]
    made.add(lambda s: properties.add_staff(s, home, "boss", HASH, "manager", NOON))
    made.add(lambda s: set_pickup(s.get(Property, home), -38.5, -128.0))
    yield made
    made.close()


def set_pickup(prop: Property, lat: float | None, lng: float | None) -> None:
    prop.pickup_lat, prop.pickup_lng = lat, lng


def left(desk: Desk, name: str = "boss") -> list[str]:
    """The steps that are links on the board."""
    text = desk.client(name=name).get("/").text
    return [step for step in STEPS if re.search(rf'href="/admin/\w+">{step}</a>', text)]


def test_a_new_property_has_the_steps_that_are_left(desk: Desk) -> None:
    home = desk.ids["desk.property"]
    assert left(desk) == ["Pair a kiosk"]
    desk.add(lambda s: s.query(Account).update({"state": "new"}))
    desk.add(lambda s: set_pickup(s.get(Property, home), None, None))
    assert left(desk) == ["Set the pickup", "Link an account", "Pair a kiosk"]
    desk.add(lambda s: setattr(properties.find_staff(s, "desk"), "disabled_at", NOON))
    assert left(desk) == STEPS


def test_a_door_display_and_a_kiosk_that_is_not_paired_are_no_kiosk(desk: Desk) -> None:
    home = desk.ids["desk.property"]
    for kind in KioskKind:
        desk.add(lambda s, kind=kind: new_device(s, home, kind, f"A {kind}", NOON))
    assert left(desk) == ["Pair a kiosk"]


def test_when_all_is_done_there_is_no_checklist(desk: Desk) -> None:
    home = desk.ids["desk.property"]
    desk.add(
        lambda s: setattr(new_device(s, home, KioskKind.KIOSK, "Lobby", NOON), "paired_at", NOON)
    )
    assert left(desk) == []
    text = desk.client(name="boss").get("/").text
    assert "No rides yet today" in text
    assert "Before the first ride" not in text


def test_a_concierge_sees_no_checklist(desk: Desk) -> None:
    assert left(desk, "desk") == []


def test_with_a_ride_the_checklist_is_hidden(desk: Desk) -> None:
    desk.order("BOOKED", "CALL_DRIVER")
    text = desk.client(name="boss").get("/").text
    assert re.search(r'class="empty"\s+data-empty\s+hidden', text)
