"""A ride from sign-in to the guest's page in Firefox and in WebKit, and the way Back in each."""

from typing import Any

from tests.e2e.conftest import control
from tests.engines import steps
from tests.engines.engine import Engine
from tests.running import Running

BUTTON = "return document.querySelector('[data-book-go]').textContent;"
PLATE = """
const row = [...document.querySelectorAll(".row")].find(
  (each) => each.textContent.includes(arguments[0]));
return row?.querySelector(".plate:not([hidden])")?.textContent.trim();
"""
DROP = """
return ["drop", "drop_lat", "drop_lng"].map(
  (name) => document.querySelector(`[name=${name}]`).value);
"""
LINK = "return document.querySelector('[data-link]').value;"
OVERFLOW = "const page = document.scrollingElement; return page.scrollWidth - page.clientWidth;"


def reach(desk: Running, status: str) -> None:
    """Advance the sandbox's clock to this status of its last booking."""
    phases = control(desk, "ledger")["bookings"][-1]["phases"]
    at = next(phase["at"] for phase in phases if phase["status"] == status)
    control(desk, "advance", seconds=max(0.0, at - control(desk, "clock")["now"]))


def booked(desk: Running) -> list[Any]:
    """The bookings that the service has."""
    return list(control(desk, "ledger")["bookings"])


def test_a_ride_is_booked_followed_and_handed_to_the_guest(engine: Engine, desk: Running) -> None:
    guest = f"Guest Curlew {engine.name}"
    steps.sign_in(engine, desk)
    steps.book(engine, guest)
    plate = engine.until(PLATE, guest)
    engine.press("Escape")
    steps.step_to(engine, guest)
    engine.press("Enter")
    engine.shows("[data-detail] .plate", plate)
    engine.until("return document.activeElement.matches('[data-detail]');")
    engine.click("[data-detail] [data-link-use=rider]")
    link = engine.until(LINK)
    engine.resize(*steps.PHONE)
    engine.go(link)
    assert engine.run("return innerWidth;") == steps.PHONE[0]
    engine.shows("[data-slot=plate]", plate)
    engine.shows(".guest-map .leaflet-container")
    assert engine.run(OVERFLOW) == 0
    reach(desk, "CLIENT_LOCATED")
    engine.shows("main", "here")


def test_back_leads_to_a_form_whose_button_books_what_is_in_its_fields(
    engine: Engine, desk: Running
) -> None:
    steps.sign_in(engine, desk)
    engine.go(f"{desk.url}/rides/new")
    engine.fill("[name=guest_name]", "Guest Whimbrel")
    engine.click("#drop")
    steps.type_drop(engine)
    chosen = engine.run(BUTTON)
    engine.run("window.isLeft = true;")
    engine.click(".bar-link[href='/history']")
    engine.at("/history")
    engine.back()
    engine.at("/rides/new")
    # a page that a browser has cached is hidden, and loaded anew: shared/anew.js
    engine.until("return !window.isLeft && document.querySelector('.has-script') && true;")
    assert engine.run(DROP) == ["", "", ""]
    assert engine.run(BUTTON) != chosen
    assert booked(desk) == []


def test_back_after_signing_out_shows_no_guest(engine: Engine, desk: Running) -> None:
    guest = f"Guest Godwit {engine.name}"
    steps.sign_in(engine, desk)
    steps.book(engine, guest)
    for _ in range(20):  # the page does not refresh itself
        engine.go(f"{desk.url}/history")
        if not engine.lacks("main", guest):
            break
    engine.shows("main", guest)
    engine.click("[data-bar-more] > summary")
    engine.click("form[action='/sign-out'] button")
    engine.at("/sign-in")
    engine.back()
    engine.at("/sign-in")
    assert engine.lacks("body", guest)
