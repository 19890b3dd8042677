"""A desk on a port with browsers, and the violations that axe finds on a page."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from axe_playwright_python.sync_playwright import Axe
from flask.testing import FlaskClient
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect
from werkzeug.serving import WSGIRequestHandler, make_server

from ridedash.extensions import limiter
from ridedash.rides.share_links import LinkKind, make_link
from ridedash.store.actors import by_staff
from ridedash.store.orders import Order, Ride, TimelineEvent
from ridedash.views.ops.demo_tiles import TILE
from tests.running import whole
from tests.views.ride_pages import NOON, Desk, make_desk, snapshot_facts

PHONE: Final[ViewportSize] = {"width": 390, "height": 844}
AXE = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations"],  # passed rules need no list of nodes
}
# the device's clock is set back by a day
SET_BACK = """() => {
  const before = Date.now.bind(Date);
  Date.now = () => before() - 86_400_000;
}"""
# ends all transitions, so that axe sees the final colours; animations without an end go on
RUN = """(options) => {
  for (const each of document.getAnimations())
    if (Number.isFinite(each.effect.getComputedTiming().endTime)) each.finish();
  return axe.run(options).then((all) => all.violations);
}"""


@dataclass
class Served:
    """A desk on a port, and its browsers; their errors are collected."""

    desk: Desk
    url: str
    browser: Browser
    contexts: list[BrowserContext] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def phone(self, scheme: str = "light", **options: Any) -> Page:
        context = self.browser.new_context(
            **({"viewport": PHONE, "color_scheme": scheme, "base_url": self.url} | options)
        )
        self.contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on(
            "request", lambda r: None if r.url.startswith(self.url) else self.faults.append(r.url)
        )
        return page

    def staff(self, name: str = "desk", **options: Any) -> Page:
        """A signed-in page, still blank."""
        page = self.phone(**options)
        carry_sign_in(self.desk.client(name=name), page, self.url)
        return page

    def link(self, order_id: int, kind: str = "rider") -> str:
        property_id, staff = self.desk.ids["desk.property"], self.desk.ids["desk"]
        db, now = self.desk.services.db, self.desk.now
        token = make_link(db, now, property_id, order_id, LinkKind(kind), by_staff(staff))
        return f"/t/{token}"

    def move(self, order_id: int, status: str, otp: str = "") -> None:
        """Record an update of the ride, as the worker does."""

        def rows(s: Any) -> None:
            order = s.get(Order, order_id)
            order.version += 1
            ride = s.query(Ride).filter(Ride.order_id == order_id).one()
            ride.status, ride.facts = status, snapshot_facts("point_to_point", status)
            ride.otp_enc = (
                self.desk.services.vault.encrypt(otp, "rides", ride.id, "otp") if otp else None
            )
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


def carry_sign_in(client: FlaskClient, page: Page, url: str) -> None:
    """Give a browser the sign-in of a test client, which saves two page loads."""
    name = client.application.config["SESSION_COOKIE_NAME"]
    cookie = client.get_cookie(name)
    assert cookie is not None
    page.context.add_cookies([{"name": name, "value": cookie.value, "url": url}])


class Silent(WSGIRequestHandler):
    """Logs no requests: pytest would keep some seventy lines for each page."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        pass


@contextmanager
def on_a_port(app: Any) -> Iterator[str]:
    """Serve the app on a free port. Yields its address.

    No sandbox draws the tiles of maps here. A map requests twenty tiles at once, and Flask would
    make an error page for each of them, which takes as long as all other requests of a page.
    """

    def answer(environ: Any, start: Any) -> Any:
        if TILE.fullmatch(environ["PATH_INFO"]):
            start("404 Not Found", [("Content-Length", "0")])
            return []
        return app(environ, start)

    server = make_server("127.0.0.1", 0, whole(answer), threaded=True, request_handler=Silent)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def served_desk(folder: Path, browser: Browser) -> Iterator[Served]:
    """A desk on a port; checks at the end that there was no script error and no foreign request."""
    held: list[Desk] = []
    try:
        with on_a_port(lambda environ, start: held[0].app(environ, start)) as url:
            held.append(make_desk(folder, PUBLIC_URL=url))
            with held[0].app.app_context():
                limiter.reset()
            found = Served(held[0], url, browser)
            try:
                yield found
                assert found.faults == [], found.faults
            finally:
                for context in found.contexts:
                    context.close()
    finally:
        for desk in held:
            desk.close()


def map_there(page: Page) -> None:
    """Wait for the map of the board or of the booking page, which is loaded after the page."""
    parts = "[data-board] .map-canvas, [data-booking] .leaflet-container"
    expect(page.locator(parts)).to_be_attached()


def press_in_more(page: Page, name: str) -> None:
    """Press a button of the menu at the end of the top bar."""
    page.locator("[data-bar-more] > summary").click()
    page.get_by_role("button", name=name).click()


def violations(page: Page, *rules: str) -> list[str]:
    """The violations that axe finds, by all its rules or by these alone."""
    options = AXE | {"runOnly": rules} if rules else AXE
    if not page.evaluate("'axe' in window"):  # load its 570 kB once
        page.evaluate(Axe().axe_script)
    found = page.evaluate(RUN, options)
    return [
        f"{each['id']}: {node['html'][:120]} {node['failureSummary'][:200]}"
        for each in found
        for node in each["nodes"]
    ]
