"""axe finds nothing on any page: all routes and all states of rides, light and dark."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, Literal

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect
from sqlalchemy import update

from ridedash.demo.stories.runs import Runs
from ridedash.fits import Capacity
from ridedash.store import properties
from ridedash.store.capacities import set_capacities
from ridedash.store.guest_lists import NewLine
from ridedash.store.invitations import invite
from ridedash.store.kiosks import begin, new_device
from ridedash.store.models.kiosks import KioskKind, PickupHint
from ridedash.store.orders import Order
from ridedash.store.own_phones import make_link
from tests.views.lists.stored import stored_list
from tests.views.ride_pages import ENDS, HASH, NOON, ORDER_STATES, STATUSES, Desk
from tests.views.rides.test_restored import lost, planned, restored
from tests.views.served import PHONE, Served, served_desk, violations

pytestmark = [pytest.mark.browser, pytest.mark.database]

DESKTOP: Final[ViewportSize] = {"width": 1280, "height": 800}
FILES = {
    "demo_day.show",
    "demo_package.download",
    "demo_presenter.state",
    "demo_stage.newest",
    "demo_stage.partner_sheet",
    "accounts.callback",
    "admin_own_words.export",
    "desk.board_json",
    "door.rows",
    "own_phone.show",  # only for the browser that has opened the link: test_own_phone_browser.py
    "drop_price.show",
    "drop_price.way_back",
    "faces.file",
    "flights.read",
    "kiosk_visit.places",
    "lens.call",  # a part of the drawer: tests/demo/lens/test_pages.py
    "lens.calls",
    "lens.events",
    "lens.har",
    "lens.script",
    "lens_rides.elements",
    "guest.snapshot",
    "health.alive",
    "health.ready",
    "lookups.places",
    "lookups.products",
    "series.preview",
    "staying.show",
    "pickup_times.read",
    "metrics.show",
    "rides.path",
    "rides.snapshot",
    "static",
}
ADDRESSES: dict[str, Callable[[Served, int], str]] = {
    "invitations.show": lambda served, _: f"/invite/{_invitation(served.desk)}",
    "guest.show": lambda served, order_id: served.link(order_id),
    "own_phone.begin": lambda served, _: f"/k/{_link_of_kiosk(served.desk)}",
    "groups.show": lambda served, _: f"/groups/{_group(served.desk)}",
    "group_stop.ask": lambda served, _: f"/groups/{_group(served.desk)}/cancel",
    "lists.show": lambda served, _: f"/lists/{_list(served.desk)}",
    "series.show": lambda served, _: f"/series/{_series(served.desk)}",
    "series.ask": lambda served, _: f"/series/{_series(served.desk)}/cancel",
    "admin_kiosks.one": lambda served, _: f"/admin/kiosks/{_kiosk(served.desk)}",
    "group_cards.show": lambda served, _: f"/groups/{_group(served.desk)}/cards",
    "demo_stories.show": lambda served, _: f"/demo/runs/{_run(served.desk)}",
}


@pytest.fixture
def served(tmp_path: Path, browser: Browser) -> Iterator[Served]:
    with served_desk(tmp_path, browser) as found:
        property_id = found.desk.ids["desk.property"]
        found.desk.add(lambda s: properties.add_staff(s, property_id, "boss", HASH, "admin", NOON))
        names, known = {"mini": "Mini"}, {"mini": Capacity(4, 2)}
        found.desk.add(lambda s: set_capacities(s, property_id, names, known))
        yield found


def _invitation(desk: Desk) -> str:
    with desk.services.db.write() as s:
        boss = properties.find_staff(s, "boss")
        assert boss is not None
        return invite(s, boss.property_id, "concierge", "Desk Wren", boss.id, NOON)[1]


def _group(desk: Desk) -> int:
    """Two cars that were booked together; one was refused."""
    ids = [desk.order("BOOKED", "CALL_DRIVER"), desk.order("REJECTED")]
    desk.add(
        lambda s: s.execute(update(Order).where(Order.id.in_(ids)).values(group_key=f"G-{ids[0]}"))
    )
    return ids[0]


def _series(desk: Desk) -> int:
    """Two planned rides of one series."""
    ids = [desk.order("SCHEDULED"), desk.order("SCHEDULED")]
    together = update(Order).where(Order.id.in_(ids)).values(series_key=f"S-{ids[0]}")
    desk.add(lambda s: s.execute(together))
    return ids[0]


def _list(desk: Desk) -> int:
    """A guest list with a heading, a good line, a wrong one and one that asks."""
    cells = (
        ("Name", "Room", "Phone"),
        ("Guest Heron", "412", "+91 98450 11111"),
        ("Guest Wren", "413", "12"),
        ("Guest Teal", "", ""),
    )
    lines = [NewLine(n, each, None if n else "head", f"RD-LINE{n}") for n, each in enumerate(cells)]
    sheet = {"fields": ["name", "room", "phone"], "encoding": "cp1252", "oddities": ["merged"]}
    trip = {"account_id": desk.ids["desk.account"], "pickup": None}
    return stored_list(desk, lines, label="guests.csv", sheet=sheet, trip=trip)


def _link_of_kiosk(desk: Desk) -> str:
    """An unopened link for a guest's own phone."""
    with desk.services.db.write() as s:
        home, now = desk.ids["desk.property"], desk.now
        row = new_device(s, home, KioskKind.KIOSK, "Lobby", now)
        return make_link(s, row.id, home, "v" * 20, now)


def _run(desk: Desk) -> str:
    """The id of a demo's story that has begun."""
    runs = Runs(desk.services.settings.instance)
    return runs.begin("receipt", 1, desk.ids["desk.property"], NOON).id


def _kiosk(desk: Desk) -> int:
    """A kiosk that has sent a heartbeat: no PIN, one voice, directions to a pickup point."""
    with desk.services.db.write() as s:
        home = desk.ids["desk.property"]
        row = new_device(s, home, KioskKind.KIOSK, "Lobby", NOON)
        begin(row, NOON)
        row.seen_at, row.health = NOON, {"voices": ["en"], "fonts": ["en"]}
        directions = {"words": {"en": "Past the fountain"}, "metres": 40, "steps": False}
        s.add(PickupHint(property_id=home, kiosk_id=row.id, point="Gate 2", **directions))
        return row.id


def routes(desk: Desk) -> dict[str, str]:
    """The addresses that a browser may open, by endpoint."""
    rules = (rule for rule in desk.app.url_map.iter_rules() if "GET" in (rule.methods or ()))
    return {rule.endpoint: rule.rule for rule in rules}


def still(served: Served, name: str = "desk", scheme: str = "light", **options: Any) -> Page:
    """A signed-in page without motion; set later, this would style and draw each page twice."""
    return served.staff(name, scheme=scheme, reduced_motion="reduce", **options)


def check(page: Page, address: str, what: object, *, status: int = 200) -> None:
    """Check that axe finds nothing on a page, light and dark.

    Only the contrast is checked in the dark, because nothing but colours differs there.
    """
    answer = page.goto(address)
    assert answer is not None
    assert answer.status == status, what
    look(page, what, "light")
    look(page, what, "dark", "color-contrast")


def look(page: Page, what: object, scheme: Literal["light", "dark"], *rules: str) -> None:
    """Check that axe finds nothing in a scheme, and that nothing is wider than the window."""
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    assert violations(page, *rules) == [], (what, scheme)
    wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    assert not wide, (what, "too wide")


def answered(desk: Desk, order_id: int) -> None:
    """Keep an answer of the ride company that is longer than the box that shows it."""
    desk.add(lambda s: setattr(s.get_one(Order, order_id), "evidence", "{}\n" * 40))


def unfold(page: Page) -> None:
    """Open “How we know” on the page of a ride: axe does not check what is folded."""
    page.locator("details.known").evaluate_all("all => all.forEach((each) => (each.open = true))")


def test_no_page_of_any_route_fails_on_a_light_desk_or_a_dark_phone(served: Served) -> None:
    order_id = served.desk.order("BOOKED", "COMPLETED")
    answered(served.desk, order_id)
    found = routes(served.desk)
    assert found.keys() >= FILES
    page = still(served, "boss")
    for endpoint in sorted(found.keys() - FILES):
        rule = found[endpoint].replace("<int:order_id>", str(order_id))
        address = ADDRESSES[endpoint](served, order_id) if endpoint in ADDRESSES else rule
        page.set_viewport_size(DESKTOP)
        answer = page.goto(address)
        assert answer is not None
        assert answer.status == 200, endpoint
        unfold(page)
        look(page, endpoint, "light")
        page.set_viewport_size(PHONE)  # the same page: a second load would cost as much as axe
        look(page, endpoint, "dark")


@pytest.mark.parametrize("kind", list(STATUSES))
def test_no_state_of_a_ride_fails(served: Served, kind: str) -> None:
    page = still(served, viewport=DESKTOP)
    for status in (*STATUSES[kind], *ENDS):
        check(
            page, f"/rides/{served.desk.order('BOOKED', status, kind, otp='4821')}", (kind, status)
        )


def test_no_state_of_an_order_fails(served: Served) -> None:
    page = still(served, viewport=DESKTOP)
    for state in ORDER_STATES:
        check(page, f"/rides/{served.desk.order(state)}", state)
    old = {"seen_at": NOON - timedelta(minutes=2)}
    page.goto(f"/rides/{served.desk.order('BOOKED', 'CALL_DRIVER', ride=old)}")
    expect(page.locator(".map-cab.is-stale .map-cab-flag")).to_have_text("4 min")
    look(page, "without news", "light")
    look(page, "without news", "dark", "color-contrast")
    check(page, "/", "all of them in the list")


def test_no_error_page_fails(served: Served) -> None:
    page = still(served, viewport=DESKTOP)
    for path, status in (("/nothing-here", 404), ("/rides/999999", 404), ("/admin/staff", 403)):
        check(page, path, path, status=status)


def test_the_sign_in_page_does_not_fail(served: Served) -> None:
    for scheme in ("light", "dark"):
        page = served.phone(scheme, reduced_motion="reduce")
        page.goto("/sign-in")
        assert violations(page) == [], scheme


def test_the_page_after_a_restore_and_its_band_do_not_fail(served: Served) -> None:
    planned(served.desk)
    restored(served.desk)
    lost(served.desk)
    lost(served.desk, "RD-HOMELESS", property_id=None)
    desk, phone = (still(served, "boss", viewport=size) for size in (DESKTOP, PHONE))
    for page in (desk, phone):
        check(page, "/restored", "with rides to decide about")
        expect(page.get_by_role("link", name="Decide")).to_be_visible()
        expect(page.get_by_role("button", name="Take up again")).to_be_visible()
        expect(page.get_by_role("button", name="Dealt with")).to_be_visible()
