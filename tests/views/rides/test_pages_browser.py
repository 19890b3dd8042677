"""The tracking page in Chromium: forms with errors, signing out elsewhere, and a silent server."""

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Response, Route, expect

from ridedash.geo import LatLng
from ridedash.places import SandboxPlaces
from ridedash.rides.accounts.tokens import NeedsReconnect
from ridedash.rides.health import Alarms, write_heartbeat
from ridedash.service.client import RideClient
from ridedash.service.transport.http import Http
from ridedash.store.models.people import SignIn
from ridedash.store.orders import Order, Ride, TimelineEvent
from ridedash.store.properties import set_favourite
from tests.views.fake_service import FakeService
from tests.views.ride_pages import NOON, PASSWORD, Desk, make_desk, snapshot_facts
from tests.views.served import SET_BACK, carry_sign_in, on_a_port

pytestmark = [pytest.mark.browser, pytest.mark.database]


class NoTokens:
    """No account has tokens, so the service is never called."""

    def bearer(self, _account_id: int) -> str:
        raise NeedsReconnect("house")


@dataclass
class Browsed:
    """A desk, a signed-in page, and the POST requests from it."""

    desk: Desk
    page: Page
    url: str
    posted: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def open_ride(self, status: str = "ALLOTMENT_PENDING", query: str = "", **facts: Any) -> int:
        order_id = self.desk.order("BOOKED", status, ride={"interval_s": 0.5}, **facts)
        self.page.goto(f"{self.url}/rides/{order_id}{query}")
        self.posted.clear()
        return order_id

    def move(self, order_id: int, status: str) -> None:
        """Record an update of the ride, as the worker does."""

        def rows(s: Any) -> None:
            order = s.get(Order, order_id)
            order.version += 1
            ride = s.query(Ride).filter(Ride.order_id == order_id).one()
            ride.status, ride.facts = status, snapshot_facts("point_to_point", status)
            property_id = order.property_id
            s.add(
                TimelineEvent(
                    property_id=property_id,
                    order_id=order_id,
                    what="ride",
                    name=status,
                    detail=None,
                    at=NOON,
                )
            )

        self.desk.add(rows)

    def send_a_drop_that_is_no_place(self) -> None:
        self.page.locator("summary", has_text="Change drop").click()
        self.page.get_by_role("combobox", name="New drop").fill("Nowhere at all")
        self.page.get_by_role("button", name="Change drop").click()
        expect(self.page.locator("#form-error")).to_be_visible()
        # the script is loaded after the page: what is typed before that opens no list
        expect(self.page.locator("[data-drop][data-ready]")).to_be_attached()


@pytest.fixture
def browsed(tmp_path: Path, browser: Browser) -> Iterator[Browsed]:
    with (
        closing(make_desk(tmp_path)) as desk,
        on_a_port(desk.app) as url,
        browser.new_page(viewport={"width": 1280, "height": 800}) as page,
    ):
        desk.services.tokens = NoTokens()
        found = Browsed(desk, page, url)
        page.on("request", lambda r: found.posted.append(r.url) if r.method == "POST" else None)
        page.on("pageerror", lambda error: found.faults.append(str(error)))
        carry_sign_in(desk.client(), page, url)
        yield found
        assert found.faults == []


def test_after_a_form_with_errors_the_page_updates_and_offers_new_actions(
    browsed: Browsed,
) -> None:
    page, order_id = browsed.page, browsed.open_ride()
    browsed.send_a_drop_that_is_no_place()
    expect(page).to_have_url(f"{browsed.url}/rides/{order_id}")
    expect(page.get_by_role("combobox", name="New drop")).to_have_value("Nowhere at all")
    browsed.move(order_id, "CALL_DRIVER")
    expect(page.locator('[data-action="cancel"] form')).to_be_attached()
    # the typed text is still there
    expect(page.get_by_role("combobox", name="New drop")).to_have_value("Nowhere at all")
    page.locator("summary", has_text="Cancel ride").click()
    expect(page.get_by_role("button", name="Cancel ride")).to_be_visible()


def test_a_reload_after_a_form_with_errors_sends_nothing_again(browsed: Browsed) -> None:
    page, order_id = browsed.page, browsed.open_ride()
    browsed.send_a_drop_that_is_no_place()
    expect(page).to_have_url(f"{browsed.url}/rides/{order_id}")
    page.reload()
    expect(page.locator("#headline")).to_have_text("Finding a driver")
    expect(page.locator("#form-error")).to_have_count(0)
    assert browsed.posted == [f"{browsed.url}/rides/{order_id}/drop"]


def test_signed_out_elsewhere_the_page_is_covered_and_sends_nothing_again(
    browsed: Browsed,
) -> None:
    page, order_id = browsed.page, browsed.open_ride()
    browsed.send_a_drop_that_is_no_place()
    browsed.desk.add(lambda s: s.query(SignIn).delete())
    expect(page.locator("[data-cover]")).to_be_visible()
    expect(page.locator("main")).to_be_hidden()
    assert browsed.posted == [f"{browsed.url}/rides/{order_id}/drop"]
    page.fill("#cover-name", "desk")
    page.fill("#cover-password", PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_visible()
    expect(page.get_by_role("combobox", name="New drop")).to_have_value("Nowhere at all")
    assert browsed.posted[1:] == [f"{browsed.url}/sign-in"]
    browsed.move(order_id, "CALL_DRIVER")  # polls go on
    expect(page.locator('[data-action="cancel"] form')).to_be_attached()


def test_panels_that_could_not_be_fetched_are_requested_again(browsed: Browsed) -> None:
    page, order_id = browsed.page, browsed.open_ride()
    tries: list[int] = []

    def first_fails(route: Route) -> None:
        tries.append(1)
        route.abort() if len(tries) == 1 else route.continue_()

    page.route(re.compile(rf"/rides/{order_id}$"), first_fails)
    browsed.move(order_id, "CALL_DRIVER")
    expect(page.locator('[data-action="cancel"] form')).to_be_attached()
    page.locator("summary", has_text="Cancel ride").click()
    expect(page.get_by_role("button", name="Cancel ride")).to_be_visible()
    assert len(tries) == 2


def test_an_open_page_shows_that_the_service_is_silent_until_it_answers(
    browsed: Browsed,
) -> None:
    page, db, order_id = browsed.page, browsed.desk.services.db, browsed.open_ride("CALL_DRIVER")
    page.clock.install()
    for path in (f"/rides/{order_id}", "/"):
        page.goto(browsed.url + path)
        expect(page.locator("[data-silent-band]")).to_be_hidden()
        write_heartbeat(db, "w", NOON, Alarms(NOON))
        page.clock.fast_forward(5_000)
        expect(page.locator("[data-silent-band]")).to_contain_text(
            "The ride company has not answered since 14:00."
        )
        write_heartbeat(db, "w", NOON)
        page.clock.fast_forward(5_000)
        expect(page.locator("[data-silent-band]")).to_be_hidden()


def test_an_unchanged_page_is_answered_without_a_body(browsed: Browsed) -> None:
    def nothing_new(answer: Response) -> bool:
        return answer.url.endswith("/snapshot.json") and answer.status == 304

    with browsed.page.expect_response(nothing_new):
        browsed.open_ride("CALL_DRIVER")


def test_a_silent_server_is_shown_beside_the_headline_until_it_answers(browsed: Browsed) -> None:
    page = browsed.page
    page.clock.install()
    browsed.open_ride("CALL_DRIVER")
    page.route("**/snapshot.json", lambda route: route.abort())
    page.evaluate(SET_BACK)
    expect(page.locator("[data-cut]")).to_be_hidden()
    for _ in range(3):  # ten seconds in all, without waiting for them
        page.clock.fast_forward(3_500)
    expect(page.locator("[data-cut]")).to_contain_text(
        "Live updates stopped: no answer from ridedash."
    )
    expect(page.locator("[data-ride]")).to_have_class(re.compile("is-stale"))
    page.unroute("**/snapshot.json")
    page.clock.fast_forward(40_000)
    expect(page.locator("[data-cut]")).to_be_hidden()
    expect(page.locator("[data-ride]")).not_to_have_class(re.compile("is-stale"))


def test_the_result_of_an_action_is_shown_until_the_status_changes(browsed: Browsed) -> None:
    page, order_id = browsed.page, browsed.open_ride("CALL_DRIVER", "?said=drop-done")
    expect(page.locator("#said")).to_contain_text("Drop changed")
    expect(page).to_have_url(f"{browsed.url}/rides/{order_id}")
    browsed.move(order_id, "IN_PROGRESS")
    expect(page.locator("#headline")).to_contain_text("On trip")
    expect(page.locator("#said")).to_have_count(0)


def with_service(desk: Desk) -> FakeService:
    """Let prices and places come from a fake service."""
    fake = FakeService()
    http = Http(fake.transport())
    desk.services.client = RideClient(http, "http://127.0.0.1:9", "the key")
    desk.services.geocoder = SandboxPlaces(http, "http://127.0.0.1:9")
    return fake


def test_another_drop_comes_from_the_list_with_its_price_before_the_press(
    browsed: Browsed,
) -> None:
    page, fake = browsed.page, with_service(browsed.desk)
    browsed.open_ride("CALL_DRIVER")
    browsed.send_a_drop_that_is_no_place()
    browsed.posted.clear()
    field, price = page.get_by_role("combobox", name="New drop"), page.locator("[data-drop-price]")
    field.fill("airp")
    expect(page.locator("#form-error")).to_have_count(0)  # the error was about the former text
    option = page.locator("#drop-places [role=option]")
    expect(option).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(field).to_have_value("Meridian Airport")
    expect(field).not_to_have_attribute("aria-invalid", "true")
    expect(price).to_contain_text("To this drop: ₹240 fixed at the prices of now. Booked at")
    assert fake.questions("/v1/products")[-1]["drop_lat"].startswith("-38.55")
    expect(page.locator("[data-drop] [name=lat]")).to_have_value("-38.55")
    assert browsed.posted == []
    page.keyboard.press("Enter")  # Enter in the field sends nothing
    expect(page.locator("[data-drop] [type=submit]")).to_be_focused()
    assert browsed.posted == []
    field.fill("air")
    expect(price).to_have_text("")  # "air" is not a chosen place
    expect(option).to_be_visible()
    page.keyboard.press("Escape")  # the list covers the buttons
    expect(option).to_be_hidden()
    page.get_by_role("button", name="Keep the old drop").click()
    expect(field).to_be_hidden()
    expect(page.locator("#drop-name")).to_have_value("")


def test_a_favourite_is_the_new_drop_by_its_number_and_a_refused_drop_is_marked(
    browsed: Browsed,
) -> None:
    page, fake = browsed.page, with_service(browsed.desk)
    here, away = LatLng(-38.52, -128.02), LatLng(48.8584, 2.2945)
    desk = browsed.desk
    for slot, name, point in ((1, "Harbour Station", here), (2, "Far away", away)):
        desk.add(
            lambda s, slot=slot, name=name, point=point: set_favourite(
                s, desk.ids["desk.property"], "drop", slot, name, point
            )
        )
    ring = [[-40.0, -130.0], [-40.0, -120.0], [-30.0, -120.0], [-30.0, -130.0]]
    city = {"slug": "port", "name": "Port", "center": [-38.5, -128.0], "zoom": 14}
    fake.cities = [city | {"boundary": ring}]
    browsed.open_ride("CALL_DRIVER")
    page.keyboard.press("d")
    field, price = page.get_by_role("combobox", name="New drop"), page.locator("[data-drop-price]")
    expect(field).to_be_focused()
    options = page.locator("#drop-places [role=option]")
    expect(options.first).to_contain_text("Harbour Station")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(field).to_have_value("Harbour Station")
    expect(price).to_contain_text("To this drop: ₹240 fixed")
    field.fill("2")
    expect(field).to_have_value("Far away")
    expect(price).to_contain_text("No service at this drop")
    assert browsed.posted == []
