"""Times and bytes of pages on a line of 1.6 Mbit/s and 150 ms: first and second opening."""

import contextlib
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

from bench import frame
from bench.browser import NO_BROWSER
from bench.frame import Absent, Result, Run, line
from bench.people import Desk, Tally
from tests.conftest import LAUNCH, browser_path
from tests.running import running

LATENCY_MS: Final = 150  # from a request to the first byte of its answer
BYTES_A_SECOND: Final = 1_600_000 / 8
UP_BYTES_A_SECOND: Final = 750_000 / 8
RIDES: Final = 12  # on the board
DESK_SIZE: Final = {"width": 1280, "height": 800}
PHONE_SIZE: Final = {"width": 390, "height": 844}
QUIET_S: Final = 0.5  # a page counts as loaded when no request was under way for this long
LONGEST_S: Final = 60.0
FAST: Final = "Staff and guests on hotel Wi-Fi or a bad cell see a page before they give up on it."
ONCE: Final = "A page that is opened a hundred times a day loads its scripts once."


@dataclass
class Load:
    """What one opening of a page took."""

    usable_s: float  # to the end of DOMContentLoaded: its scripts have run
    kilobytes: float  # over the line, headers included, without tiles
    files: int  # requests below /static/ that went over the line


@dataclass
class Site:
    """The running program, a browser, and the addresses of the pages that are measured."""

    url: str
    browser: Any
    cookies: list[dict[str, str]]
    pages: dict[str, str]

    def opened(self, name: str) -> tuple[Load, Load]:
        """Load a page with a cold cache, and then once more."""
        size = PHONE_SIZE if name == "guest" else DESK_SIZE
        context = self.browser.new_context(viewport=size)
        if name != "guest":
            context.add_cookies(self.cookies)
        try:
            page = context.new_page()
            line_to = PoorConnection(page)
            address = self.url + self.pages[name]
            first = line_to.load(address)
            page.goto("about:blank")
            return first, line_to.load(address)
        finally:
            context.close()


class PoorConnection:
    """A page behind an emulated line, and what goes over it."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self._cdp = page.context.new_cdp_session(page)
        self._urls: dict[str, str] = {}  # addresses by request
        self._bytes: dict[str, float] = {}
        self._pending: set[str] = set()
        self._last = time.monotonic()
        self._cdp.on("Network.requestWillBeSent", self._sent)
        self._cdp.on("Network.requestServedFromCache", self._from_memory)
        self._cdp.on("Network.responseReceived", self._answered)
        self._cdp.on("Network.loadingFinished", self._finished)
        self._cdp.on("Network.loadingFailed", self._finished)
        self._cdp.send("Network.enable")
        emulated = {"offline": False, "latency": LATENCY_MS}
        speeds = {"downloadThroughput": BYTES_A_SECOND, "uploadThroughput": UP_BYTES_A_SECOND}
        self._cdp.send("Network.emulateNetworkConditions", emulated | speeds)

    def load(self, address: str) -> Load:
        """Open an address, and wait until the page makes no more requests."""
        self._urls, self._bytes, self._pending = {}, {}, set()
        answer = self.page.goto(address, wait_until="domcontentloaded", timeout=LONGEST_S * 1000)
        if answer.status != 200 or self.page.url != address:
            raise RuntimeError(f"{address} answered {answer.status} at {self.page.url}")
        usable = self.page.evaluate(
            "performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"
        )
        end = time.monotonic() + LONGEST_S
        while not self._is_quiet():
            if time.monotonic() > end:
                raise RuntimeError(f"{address} still makes requests after {LONGEST_S:g} s")
            self.page.wait_for_timeout(50)
        paths = {request: urlsplit(url).path for request, url in self._urls.items()}
        ours = {request: path for request, path in paths.items() if "/tiles/" not in path}
        sent = sum(self._bytes.get(request, 0) for request in ours)
        files = [path for path in ours.values() if path.startswith("/static/")]
        return Load(usable / 1000, sent / 1000, len(files))

    def _is_quiet(self) -> bool:
        return not self._pending and time.monotonic() - self._last > QUIET_S

    def _sent(self, event: dict[str, Any]) -> None:
        if event["request"]["url"].startswith("http"):
            self._urls[event["requestId"]] = event["request"]["url"]
            self._pending.add(event["requestId"])

    def _from_memory(self, event: dict[str, Any]) -> None:
        self._forget(event["requestId"])

    def _answered(self, event: dict[str, Any]) -> None:
        if event["response"].get("fromDiskCache") or event["response"].get("fromPrefetchCache"):
            self._forget(event["requestId"])

    def _forget(self, request: str) -> None:
        self._urls.pop(request, None)
        self._pending.discard(request)

    def _finished(self, event: dict[str, Any]) -> None:
        self._bytes[event["requestId"]] = event.get("encodedDataLength", 0)
        self._pending.discard(event["requestId"])
        self._last = time.monotonic()


@contextlib.contextmanager
def _site() -> Iterator[Site | None]:
    """`ridedash up` with RIDES rides and a guest's link; None without a browser."""
    if browser_path() is None:
        yield None
        return
    from playwright.sync_api import sync_playwright

    with frame.folder() as folder, running(folder / "instance") as demo:
        desk = Desk(demo.url, demo.name, Tally(), 7, password=demo.password)
        booked = sum(desk.book(number) for number in range(RIDES))
        if booked < RIDES:
            raise RuntimeError(f"only {booked} of {RIDES} rides were booked: {desk.tally.wrong}")
        cookies = [
            {"name": each.name, "value": each.value or "", "url": demo.url}
            for each in desk.http.cookies.jar
        ]
        ride = desk.rides[0]
        pages = {"board": "/", "picker": "/rides/new", "ride": ride, "guest": _link(desk, ride)}
        pages["list"] = _list(desk)
        with sync_playwright() as started:
            browser = started.chromium.launch(executable_path=browser_path(), args=LAUNCH)
            yield Site(demo.url, browser, cookies, pages)
            browser.close()
        desk.http.close()


def _link(desk: Desk, ride: str) -> str:
    """The path of a new link for the guest of the ride with this page."""
    page = desk.http.get(ride).text
    token = re.search(r'name="csrf-token" content="([^"]+)"', page)
    data = {"csrf_token": token[1] if token else ""}
    answer = desk.http.post(f"{ride}/links/rider", data=data, follow_redirects=True)
    found = re.search(r"/t/[\w-]{20,}", answer.text)
    if found is None:
        raise RuntimeError(f"no link was made: {answer.status_code}")
    return found[0]


def _list(desk: Desk) -> str:
    """The path of a list of 60 guests."""
    page = desk.http.get("/lists/new").text
    token = re.search(r'name="csrf-token" content="([^"]+)"', page)
    guests = "\n".join(f"Guest N{n};{n};+91 98450 {n:05};tomorrow 06:15" for n in range(60))
    data = {"csrf_token": token[1] if token else "", "text": f"Name;Room;Phone;Time\n{guests}"}
    answer = desk.http.post("/lists/new", data=data)
    if answer.status_code != 303:
        raise RuntimeError(f"no list was read: {answer.status_code}")
    return str(answer.headers["Location"])


Opened = tuple[Load, Load]
STAFF: Final = ("board", "picker", "ride", "list")
EVERYONE: Final = (*STAFF, "guest")


@line(
    "poor-line-staff",
    "pages of staff on a line of 1.6 Mbit/s and 150 ms, cold cache: to DOMContentLoaded",
    aim="≤ 1.6 s",
    protects=FAST,
)
def staff_cold(run: Run) -> list[Result]:
    """Seconds until the scripts of the page have run."""
    return _measured(run, STAFF, lambda opened: opened[0].usable_s, "s")


@line(
    "poor-line-guest",
    "the guest's page on that line, cold cache: to DOMContentLoaded",
    aim="≤ 1 s",
    protects=FAST,
)
def guest_cold(run: Run) -> list[Result]:
    """Seconds until the scripts of the page have run."""
    return _measured(run, ("guest",), lambda opened: opened[0].usable_s, "s")


@line(
    "poor-line-bytes",
    "what the board transfers with a cold cache, without tiles",
    aim="≤ 150 kB",
    protects=FAST,
)
def board_bytes(run: Run) -> list[Result]:
    """All requests until the page is quiet, headers included."""
    return _measured(run, ("board",), lambda opened: opened[0].kilobytes, "kB")


@line(
    "poor-line-guest-bytes",
    "what the guest's page transfers with a cold cache, without tiles",
    aim="≤ 75 kB",
    protects=FAST,
)
def guest_bytes(run: Run) -> list[Result]:
    """All requests until the page is quiet, headers included."""
    return _measured(run, ("guest",), lambda opened: opened[0].kilobytes, "kB")


@line(
    "poor-line-again",
    "the second opening of a page on that line: to DOMContentLoaded",
    aim="≤ 0.6 s",
    protects=ONCE,
)
def again(run: Run) -> list[Result]:
    """Seconds until the scripts of the page have run."""
    return _measured(run, EVERYONE, lambda opened: opened[1].usable_s, "s")


@line(
    "poor-line-again-files",
    "requests of the second opening for files that have not changed",
    aim="≤ 0",
    protects=ONCE,
)
def again_files(run: Run) -> list[Result]:
    """Requests below /static/ that went over the line."""
    return _measured(run, EVERYONE, _files_again, "requests")


def _files_again(opened: Opened) -> int:
    if not opened[0].files:
        raise RuntimeError("the first opening was counted without files")
    return opened[1].files


def _measured(
    run: Run, names: Sequence[str], figure: Callable[[Opened], float], unit: str
) -> list[Result]:
    with _site() as site:
        if site is None:
            return [Absent(NO_BROWSER)]
        found: list[Result] = []
        for name in names:
            site.opened(name)  # warms up the server, whose first answers are slow
            took = partial(_figure, site, name, figure)
            found.append(frame.alone(run, took, unit, label=name))
        return found


def _figure(site: Site, name: str, figure: Callable[[Opened], float]) -> float:
    return figure(site.opened(name))
