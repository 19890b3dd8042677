"""`python -m bench.kiosk_faults`: everything that can fail, on each screen of the guest's kiosk.

It starts the program and a real browser with a profile of its own, and causes each fault on each
screen, in English and in Arabic or in the languages that are given. A case passes if the screen is
never empty, within 20 s has no spinner and is one of those to which this fault may lead, and has
every sentence in the guest's language. After a crash of the tab, a reload and a restart of the
program, nothing that the guest typed may be left in the page, in the browser's profile or in the
program's log. It takes about forty minutes, and is run by hand: the tests check only what the page
decides without a server.
"""

import argparse
import contextlib
import functools
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Error as PlaywrightError

from bench import frame
from bench.kiosk_lobby import (
    Guest,
    LobbyProgram,
    Stopped,
    browser,
    check_search,
    in_files,
    lobby_program,
)

LONGEST_S: Final = 20.0  # longest time that a guest may look at a spinner
PRESSED_MS: Final = 3_000
TRIES: Final = 3  # attempts to reach a screen, before its fault begins
# static/js/kiosk/pulse.js: a heartbeat every 2 s in a demo, given up after 5 s; and some time
KNOWN_S: Final = 9.0
SLACK_S: Final = 2.0  # added to LONGEST_S, for a busy machine
LANGUAGES: Final = ("en", "ar")
NAME, PHONE, PLACE = "zyxa", "9845550199", "zyzx"  # what guests type, and nothing may keep
SCREENS: Final = (
    *("start", "where", "place", "car", "who", "check"),
    *("booking", "booked", "find", "ride"),
)
# screens whose cases book a ride; limits count rides, so the demo is reset before each case
BOOKS: Final = frozenset({"check", "booking", "booked", "find", "ride"})
END: Final = frozenset({"broken", "start"})  # "out of order", or the start screen again
# Returns the texts of the page that have an English word of `words`, or without `words` any word in
# Latin letters. Facts, and the English below a text, are not counted.
FOREIGN: Final = """(words) => {
  const found = [];
  const english = words.length ? new RegExp(`\\\\b(${words.join("|")})\\\\b`, "i") : /[a-z]{3,}/;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const node = text.parentElement;
    if (!node.checkVisibility() || node.closest("script, noscript, bdi, .k-english, [lang=en], " +
      ".k-langs, .mono, .k-bar-language, .k-car, .k-card, .k-house, .k-demo, .k-walk, .k-meet, " +
      "[data-from], .k-key, .k-book")) continue;
    if (english.test(text.data)) found.push(text.data.trim());
  }
  return found;
}"""
# words of English sentences that the other languages with Latin letters don't have
ENGLISH: Final = ("the", "your", "our", "please", "this", "with", "ride", "can't")
LATIN: Final = frozenset({"es", "fr", "de"})
HELD: Final = """async () => {
  const held = [document.documentElement.outerHTML, document.title, location.href];
  for (const node of document.querySelectorAll("input")) held.push(node.value);
  for (const store of [localStorage, sessionStorage]) held.push(JSON.stringify({ ...store }));
  held.push(document.cookie, JSON.stringify(history.state), ...(await caches.keys()));
  return held.join(" ");
}"""


@dataclass
class Bench:
    """The program, the browser and what was found."""

    program: LobbyProgram
    context: Any
    profile: Path
    ride: tuple[str, str] = ("", "")  # number and PIN of a ride that is under way
    wrong: list[str] = field(default_factory=list)
    names: int = 0

    def guest(self) -> Guest:
        """A guest at a new page; earlier pages are closed, because a kiosk has one page."""
        for page in self.context.pages[1:]:
            page.close()
        return Guest(self.context.new_page(), self.program.url)

    def name(self) -> str:
        """The name of another guest: each guest books one ride."""
        self.names += 1
        return NAME + "".join(chr(ord("a") + int(digit)) for digit in str(self.names))

    def anew(self) -> None:
        """Reset the demo: no rides, no faults, no limits reached."""
        end = time.monotonic() + LONGEST_S
        with contextlib.closing(self.program.desk()) as http:
            # refused while a ride is being sent, or while the sandbox does not answer
            while "said=reset" not in http.post("/demo/reset").headers.get("Location", ""):
                if time.monotonic() > end:
                    raise RuntimeError("the demo could not be reset")
                time.sleep(0.5)
        self.ride = ("", "")

    def booked(self, guest: Guest) -> None:
        """Book a ride, so that it can be found by its number and PIN."""
        guest.open()
        guest.to_check(self.name())
        guest.press("book")
        self.ride = guest.ticket()
        guest.press("done")


@contextlib.contextmanager
def away(bench: Bench, _guest: Guest) -> Iterator[None]:
    """The ride company does not answer."""
    bench.program.control("faults", operation="*", fault="down", seconds=120)
    try:
        yield
    finally:
        bench.program.control("faults", operation="*", fault="down", seconds=0)


@contextlib.contextmanager
def errors(_bench: Bench, guest: Guest) -> Iterator[None]:
    """Our server answers every request of a visit with 500, except heartbeats."""
    pattern = "**/kiosk/*"

    def answer(route: Any) -> None:
        if route.request.url.endswith("/beat"):
            route.fallback()
        else:
            route.fulfill(status=500, body="")

    guest.page.route(pattern, answer)
    try:
        yield
    finally:
        guest.page.unroute(pattern)


@contextlib.contextmanager
def slow(_bench: Bench, guest: Guest) -> Iterator[None]:
    """Our server answers heartbeats, but no request of a visit during the block."""
    pattern, held = "**/kiosk/*", []

    def hold(route: Any) -> None:
        if route.request.url.endswith("/beat"):
            route.fallback()
        else:
            held.append(route)

    guest.page.route(pattern, hold)
    try:
        yield
    finally:
        for route in held:
            with contextlib.suppress(Exception):  # the page has cancelled the request
                route.abort()
        guest.page.unroute(pattern)


@contextlib.contextmanager
def cut_after(bench: Bench, _guest: Guest) -> Iterator[None]:
    """The ride company makes the booking, and its answer is lost."""
    bench.program.control("faults", operation="create", fault="cut_after", times=1)
    yield


@contextlib.contextmanager
def locked(bench: Bench, _guest: Guest) -> Iterator[None]:
    """Another connection holds the write lock of the database."""
    with contextlib.closing(sqlite3.connect(bench.program.database, timeout=30)) as held:
        held.isolation_level = None
        held.execute("BEGIN IMMEDIATE")
        yield  # closing the connection rolls the transaction back


@contextlib.contextmanager
def restarted(bench: Bench, _guest: Guest) -> Iterator[None]:
    """Our program is killed and started again at once."""
    bench.program.kill()
    bench.program.start()
    yield


@contextlib.contextmanager
def killed(bench: Bench, _guest: Guest) -> Iterator[None]:
    """Our program is killed and is away for longer than a page waits."""
    bench.program.kill()
    try:
        yield
    finally:
        bench.program.start()


@contextlib.contextmanager
def offline(bench: Bench, _guest: Guest) -> Iterator[None]:
    """The kiosk has no network."""
    bench.context.set_offline(True)
    try:
        yield
    finally:
        bench.context.set_offline(False)


Fault = Callable[[Bench, Guest], contextlib.AbstractContextManager[None]]
# the screens to which a fault may lead from a screen; a screen that is not named stays as it is
GOES_ON: Final[dict[str, set[str]]] = {
    "where": {"car"},
    "place": {"place"},
    "who": {"check"},
    "check": {"sending", "booked", "unknown"},
    "booking": {"sending", "booked", "unknown"},
    "find": {"ride"},
}
ONLY_VISIT: Final[dict[str, set[str]]] = {
    "where": {"car"},  # the screen asks again by itself
    "place": {"place"},
    "who": {"check"},
    "check": {"unknown"},
    "booking": {"unknown", "booked"},
    "find": {"sorry"},
}
GONE: Final[dict[str, set[str]]] = {
    **{screen: {"broken", "start"} for screen in SCREENS},
    "check": {"unknown", "broken", "sorry"},
    "booking": {"unknown"},
    "booked": {"booked"},
}
FAULTS: Final[dict[str, tuple[Fault, dict[str, set[str]]]]] = {
    "service away": (away, GOES_ON | {"check": {"sending", "unknown", "sorry"}}),
    "errors": (errors, ONLY_VISIT),
    "slow": (slow, ONLY_VISIT),
    "cut after create": (cut_after, GOES_ON),
    "database locked": (
        locked,
        # A heartbeat is stored every 15 s, and waits for the lock. Until one fails, a screen that
        # sends no request stays, and one that sends a request leads the guest to the staff.
        {screen: GOES_ON.get(screen, {screen}) | END for screen in SCREENS}
        | {"check": {"sorry", "unknown", "broken"}, "find": {"sorry"} | END}
        | {"booking": GONE["booking"], "booked": GONE["booked"]},
    ),
    # a restart that takes longer than 5 s ends the visit, but loses no booking
    "server restarted": (
        restarted,
        {screen: GOES_ON.get(screen, {screen}) | END for screen in SCREENS}
        | {"booking": GOES_ON["booking"], "booked": {"booked"}},
    ),
    "server killed": (killed, GONE),
    "no network": (offline, GONE),
}


def stand(bench: Bench, guest: Guest, screen: str) -> None:
    """Go from the start to a screen; the press on that screen which sends a request is not made."""
    if screen in ("find", "ride"):
        guest.find(*bench.ride)
        if screen == "ride":
            guest.press("next")
            guest.wait("ride")
    elif screen in ("car", "who"):
        guest.cars()
        if screen == "who":
            guest.press("car-0")
    elif screen in ("where", "place"):
        guest.press("start")
        if screen == "place":
            guest.press("other")
            if guest.page.locator(".k-tabs").count():
                guest.press("swap")
    elif screen != "start":
        _to_booking(bench, guest, screen)


def _to_booking(bench: Bench, guest: Guest, screen: str) -> None:
    guest.cars()
    guest.press("car-0")
    _type_name(bench, guest)
    guest.press("next")
    guest.wait("check")
    if screen == "booking":
        bench.program.control("faults", operation="create", fault="delay", seconds=8)
    if screen in ("booking", "booked"):
        with guest.page.expect_response("**/kiosk/order"):  # the order is stored before the fault
            guest.press("book")
        guest.wait("sending" if screen == "booking" else "booked")


def _type_name(bench: Bench, guest: Guest) -> None:
    """Type a name, or a room number if the keyboard has no Latin letters."""
    if guest.page.locator('[data-press="key-z"]').count():
        guest.type(bench.name())
        return
    bench.names += 1
    guest.press("key-digits")
    guest.type(str(7000 + bench.names))


PRESSES: Final = {"where": "place-0", "check": "book", "find": "next"}


def _press(guest: Guest, screen: str) -> None:
    """Press what sends a request on a screen, unless the fault has replaced the screen already."""
    if guest.screen != screen:
        return
    if screen == "place":
        keys = guest.page.locator(".k-key:not(.k-key-other)")
        for n in (3, 4):
            keys.nth(n).evaluate("node => node.click()")
    elif screen == "who":
        guest.page.locator(".k-key:not(.k-key-other)").nth(3).evaluate("node => node.click()")
        guest.press("next")
    elif screen in PRESSES:
        with contextlib.suppress(PlaywrightError):  # the control has just gone
            guest.page.locator(f'[data-press="{PRESSES[screen]}"]').evaluate(
                "node => node.click()", timeout=PRESSED_MS
            )


def case(bench: Bench, fault: str, screen: str, language: str) -> list[str]:
    """What was wrong with one fault on one screen."""
    breaks, leads = FAULTS[fault]
    guest = _standing(bench, screen, language)
    here = guest.screen
    with breaks(bench, guest):
        _press(guest, screen)
        allowed = leads.get(screen, {here}) | ({here} if screen == "start" else set())
        wrong = _watched(guest, allowed, here)
        if language != "en":
            english = [*ENGLISH] if language in LATIN else []
            found = guest.page.evaluate(FOREIGN, english)
            wrong += [f"not in {language}: {each}" for each in found]
    return wrong


def _standing(bench: Bench, screen: str, language: str) -> Guest:
    """A guest at a screen. On a busy machine it may take several tries to get there."""
    for left in reversed(range(TRIES)):
        guest = bench.guest()
        try:
            guest.open(language)
            stand(bench, guest, screen)
        except (PlaywrightError, Stopped):
            if not left:
                raise
        else:
            break
    return guest


def _watched(guest: Guest, leads: set[str], here: str) -> list[str]:
    """Watch what the guest sees until a screen of `leads` is shown and stays, or for 22 s.

    The screen from which the fault began is accepted late, when the page knows of the fault.
    Returns messages about what was wrong.
    """
    began = time.monotonic()
    wrong, end, since = [], began + LONGEST_S + SLACK_S, 0.0
    while time.monotonic() < end:
        words = guest.page.locator("[data-stage]").inner_text().strip()
        if not words:
            wrong.append("an empty screen")
            break
        turning = guest.page.locator(".k-working").count() > 0
        screen = guest.screen
        known = screen != here or time.monotonic() - began > KNOWN_S
        settled = not turning and screen in leads and known
        since = since or time.monotonic() if settled else 0.0
        if since and time.monotonic() - since > 1.5:
            return wrong
        time.sleep(0.2)
    turning = " with a ring that turns" if guest.page.locator(".k-working").count() else ""
    if turning or guest.screen not in leads:
        wrong.append(f"{guest.screen}{turning} after 22 s, and not {'/'.join(sorted(leads))}")
    return wrong


def traces(bench: Bench, how: str, screen: str) -> list[str]:
    """What is left of a guest after a crash of the tab, a reload, or a restart of the program."""
    guest = bench.guest()
    guest.open()
    marks = [PLACE]
    if screen == "place":
        guest.press("start", "other")
        guest.type(PLACE)
    else:
        guest.to_check(bench.name())
        guest.press("bar-back", "field-phone")
        guest.type(PHONE)
        guest.press("next")
        marks = [NAME, PHONE]
    if screen == "booked":
        guest.press("book")
        marks.append(guest.ticket()[1])
    page, crashes = guest.page, list[bool]()
    if how == "crash":
        page.on("crash", lambda _page: crashes.append(True))
        with contextlib.suppress(PlaywrightError):
            page.goto("chrome://crash", timeout=PRESSED_MS)
        page = bench.context.new_page()
        guest = Guest(page, bench.program.url)
    if how == "restart":
        bench.program.kill()
        guest.wait("broken", "booked")
        bench.program.start()
        if guest.screen == "booked":  # a ticket stays for a minute, so that nobody loses it
            guest.press("done")
    guest.open()
    guest.wait("start")
    held = page.evaluate(HELD).casefold()
    left = [f"the page has {mark}" for mark in marks if mark in held]
    if how == "crash" and not crashes:
        left.append("the tab did not crash")
    if page.evaluate("history.length") > 3:
        left.append("the history has grown")
    left += [f"the profile has {mark}" for mark in marks if in_files(bench.profile, mark)]
    left += [f"the log has {mark}" for mark in marks if mark in bench.program.written.casefold()]
    return left


def main(arguments: list[str]) -> int:
    """Run the chosen cases, and print a line for each. Returns 1 if anything was wrong."""
    parser = argparse.ArgumentParser(prog="python -m bench.kiosk_faults", description=__doc__)
    parser.add_argument("--faults", nargs="*", default=[*FAULTS], choices=[*FAULTS])
    parser.add_argument("--screens", nargs="+", default=SCREENS, choices=SCREENS)
    parser.add_argument("--languages", nargs="+", default=LANGUAGES)
    parser.add_argument("--no-traces", action="store_true")
    options = parser.parse_args(arguments)
    with (
        frame.folder() as folder,
        lobby_program(folder) as place,
        browser(folder, place) as context,
    ):
        bench = Bench(place, context, folder / "profile")
        _matrix(bench, options)
        if not options.no_traces:
            check_search(bench.profile)
            for how in ("crash", "reload", "restart"):
                for screen in ("place", "check", "booked"):
                    act = functools.partial(traces, bench, how, screen)
                    _run_case(bench, f"traces after a {how}", screen, "", act)
    print(f"{len(bench.wrong)} wrong")
    return 1 if bench.wrong else 0


def _matrix(bench: Bench, options: argparse.Namespace) -> None:
    for fault in options.faults:
        for screen in options.screens:
            for language in options.languages:
                if fault == "cut after create" and screen != "check":
                    continue  # this fault is about a create
                act = functools.partial(case, bench, fault, screen, language)
                _run_case(bench, fault, screen, language, act)


def _run_case(
    bench: Bench, fault: str, screen: str, language: str, act: Callable[[], list[str]]
) -> None:
    """Run one case and print its result."""
    began = time.monotonic()
    try:
        if screen in BOOKS:
            bench.anew()
        if screen in ("find", "ride"):
            bench.booked(bench.guest())
        wrong = act()
    except Exception as error:  # one case must not end the others
        wrong = [f"{type(error).__name__}: {str(error).splitlines()[0]}", _shown(bench)]
    bench.wrong += wrong
    took = f"{time.monotonic() - began:5.1f} s"
    verdict = "ok" if not wrong else f"WRONG {'; '.join(wrong)}"
    print(f"{fault:22} {screen:8} {language:3} {took}  {verdict}", flush=True)


def _shown(bench: Bench) -> str:
    """What the guest sees after a case has failed."""
    with contextlib.suppress(PlaywrightError):
        page = bench.context.pages[-1]
        screen = page.locator("body").get_attribute("data-screen")
        return f"{screen} says {page.locator('[data-stage]').inner_text()[:120]!r}"
    return "nothing is shown"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
