"""A running demo that can be killed and started again, and a guest at its kiosk in a browser."""

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final

import httpx

from bench.serving import ROOT, free_port
from tests.conftest import LAUNCH, browser_path
from tests.running import clean_environment

OPEN_HERE: Final = re.compile(r'action="(/admin/kiosks/\d+/here)"')
SIZE: Final = {"width": 1080, "height": 1920}
STOP_S: Final = 40.0
START_S: Final = 60.0
WITHIN_MS: Final = 30_000
LOOK_MS: Final = 100
# the cars, or a final apology: one with a control `again` is not final, its screen asks again
CARS_OR_END: Final = '.k-car, body[data-look="sorry"]:not(:has([data-press="again"]))'
PLANTED: Final = "mark-of-the-search"


class Stopped(Exception):
    """The visit can't go on to the screen that should come next."""


@dataclass
class LobbyProgram:
    """`ridedash up` on fixed ports, so that it has the same addresses after a restart."""

    folder: Path
    pace: float = 60.0
    port: int = field(default_factory=free_port)
    sandbox_port: int = field(default_factory=free_port)
    process: "subprocess.Popen[str] | None" = None
    sign_in: tuple[str, str] = ("", "")
    log: IO[str] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def sandbox_url(self) -> str:
        return f"http://127.0.0.1:{self.sandbox_port}"

    @property
    def database(self) -> Path:
        return self.folder / "ridedash.db"

    @property
    def written(self) -> str:
        """What the program has logged so far."""
        return (self.folder / "stderr.log").read_text(errors="replace")

    def start(self) -> None:
        """Start the program, and wait for its greeting."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.log = self.log or (self.folder / "stderr.log").open("w")
        environ = clean_environment(
            RIDEDASH_INSTANCE=str(self.folder),
            RIDEDASH_PORT=str(self.port),
            RIDEDASH_SANDBOX_PORT=str(self.sandbox_port),
            RIDEDASH_PACE=f"{self.pace:g}",
            RIDEDASH_DEMO="empty",
        )
        self.process = subprocess.Popen(
            [sys.executable, "-m", "ridedash.cli", "up"],
            cwd=ROOT,
            env=environ,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        greeting = ""
        for text in self.process.stdout:
            greeting += text
            if "Ctrl-C" in text:
                break
        found = re.search(r"sign in as +(\S+)[\s\S]*?password +(\S+)", greeting)
        if found:
            self.sign_in = found[1], found[2]
        if "Ctrl-C" not in greeting or not self.sign_in[0]:  # a restart shows no password
            raise RuntimeError(f"it did not start:\n{greeting}\n{self.written[-2000:]}")

    def kill(self) -> None:
        """Kill the program and its sandbox, as a power cut does."""
        if self.process is not None:
            self._still_runs()
            os.killpg(self.process.pid, signal.SIGKILL)
            self._gone()

    def stop(self) -> None:
        try:
            if self.process is not None:
                self._still_runs()
                self.process.terminate()
                if code := self._gone():
                    raise RuntimeError(f"it ended with code {code}:\n{self.written[-2000:]}")
        finally:
            if self.log is not None:
                self.log.close()

    def _still_runs(self) -> None:
        assert self.process is not None
        if (code := self.process.poll()) is not None:
            raise RuntimeError(f"it ended by itself, with code {code}:\n{self.written[-2000:]}")

    def _gone(self) -> int:
        """Wait for the end of the process. Returns its exit code."""
        assert self.process is not None
        code = self.process.wait(STOP_S)
        if self.process.stdout is not None:
            self.process.stdout.close()
        self.process = None
        return code

    def control(self, what: str, **body: object) -> None:
        """Post a command to the sandbox: a clock, a fault (docs/operating.md)."""
        head = {"X-Sandbox-Control": "1"}
        url = f"{self.sandbox_url}/control/{what}"
        httpx.post(url, json=body, headers=head, trust_env=False, timeout=20).raise_for_status()

    def desk(self) -> httpx.Client:
        """The client of a signed-in manager; its requests carry the CSRF token."""
        http = httpx.Client(base_url=self.url, timeout=60, trust_env=False)
        name, password = self.sign_in
        form = {"name": name, "password": password, "csrf_token": _csrf(http, "/sign-in")}
        if http.post("/sign-in", data=form).status_code != 303:
            raise RuntimeError("nobody can sign in")
        http.headers["X-CSRFToken"] = _csrf(http, "/")
        return http

    def cookies(self) -> list[dict[str, str]]:
        """The cookie that makes a browser the kiosk of the lobby."""
        with contextlib.closing(self.desk()) as http:
            return kiosk_cookies(http, self.url)


def kiosk_cookies(http: httpx.Client, url: str) -> list[dict[str, str]]:
    """The cookie that makes a browser the kiosk of the demo's lobby.

    `http` is signed in as a manager, and sends the CSRF token.
    """
    pages = re.findall(r'href="(/admin/kiosks/\d+)"', http.get("/admin/kiosks").text)
    opened = [OPEN_HERE.search(http.get(page).text) for page in dict.fromkeys(pages)]
    lobby = next((found[1] for found in opened if found), None)
    if lobby is None:
        raise RuntimeError("the demo has no kiosk that can be opened here")
    http.post(lobby)
    found = [each for each in http.cookies.jar if each.name == "ridedash_kiosk"]
    if not found:
        raise RuntimeError("the kiosk could not be paired")
    return [{"name": c.name, "value": c.value or "", "url": url} for c in found]


@contextlib.contextmanager
def lobby_program(folder: Path, pace: float = 60.0) -> Iterator[LobbyProgram]:
    """A started House, stopped at the end."""
    made = LobbyProgram(folder / "instance", pace)
    made.start()
    try:
        yield made
    finally:
        made.stop()


@contextlib.contextmanager
def browser(folder: Path, place: LobbyProgram) -> Iterator[Any]:
    """A context with a profile folder of its own, as a kiosk has, and the cookie of the kiosk."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        context = started.chromium.launch_persistent_context(
            str(folder / "profile"),
            executable_path=browser_path(),
            args=LAUNCH,
            viewport=SIZE,
            has_touch=True,
            reduced_motion="reduce",
        )
        context.set_default_timeout(WITHIN_MS)
        context.add_cookies(place.cookies())
        yield context
        context.close()


def in_files(folder: Path, mark: str) -> bool:
    """Whether a file in a folder, such as a browser's profile, has a mark (in small letters)."""
    # Chromium writes a text in UTF-16 if one of its letters is not Latin
    wanted = mark.encode(), mark.encode("utf-16-le")
    for path in folder.rglob("*"):
        # the browser deletes files meanwhile: the others are looked through all the same
        with contextlib.suppress(OSError):
            if path.is_file() and any(each in path.read_bytes().lower() for each in wanted):
                return True
    return False


def check_search(profile: Path) -> None:
    """Raise RuntimeError unless the search of the profile finds a mark, in both its encodings."""
    for encoding in ("utf-8", "utf-16-le"):
        planted = profile / "planted"
        planted.write_bytes(f"before{PLANTED.upper()}after".encode(encoding))
        found = in_files(profile, PLANTED)
        planted.unlink()
        if not found:
            raise RuntimeError(f"a mark in {encoding} is not found in the profile")


class Guest:
    """Somebody at the kiosk: presses its controls, types with its keys."""

    def __init__(self, page: Any, url: str) -> None:
        self.page, self.url = page, url

    @property
    def screen(self) -> str:
        """The screen that is shown."""
        return str(self.page.locator("body").get_attribute("data-screen"))

    def open(self, language: str = "en") -> None:
        """Open the kiosk as after a start of the browser, and choose a language."""
        self.page.goto(f"{self.url}/kiosk")
        self.wait("start", "trouble", "broken")
        if language != "en":
            self.press(f"lang-{language}")

    def press(self, *names: str) -> None:
        """Press controls by their names, each as soon as it is there."""
        for name in names:
            self.page.locator(f'[data-press="{name}"]').last.evaluate("node => node.click()")

    def type(self, text: str) -> None:
        for letter in text:
            self.press("key-space" if letter == " " else f"key-{letter}")

    def wait(self, *screens: str, within_s: float = START_S) -> str:
        """The first of these screens that is shown. Raises playwright's TimeoutError."""
        shown = "(names) => names.includes(document.body.dataset.screen)"
        look = {"polling": LOOK_MS, "timeout": within_s * 1000}
        self.page.wait_for_function(shown, arg=list(screens), **look)
        return self.screen

    def cars(self, place: str = "place-0") -> None:
        """Go from the start to the cars. Raises Stopped if the kiosk says that there are none."""
        self.press("start", place)
        self.page.locator(CARS_OR_END).first.wait_for()
        if not self.page.locator(".k-car").count():
            raise Stopped(f"no cars: {self.page.locator('h1').inner_text()}")

    def to_check(self, name: str, place: str = "place-0") -> None:
        """Go from the start to the last screen before Book."""
        self.cars(place)
        self.press("car-0")
        self.type(name)
        self.press("next")
        self.wait("check")

    def ticket(self) -> tuple[str, str]:
        """Number and PIN of the ride that was booked just now."""
        self.wait("booked")
        number = self.page.locator("h1").inner_text()
        pin = self.page.locator(".k-pin").inner_text()
        return "".join(re.findall(r"\d+", number)), "".join(pin.split())

    def find(self, number: str, pin: str) -> None:
        """Go from the start to "find a ride", and type number and PIN without pressing Next."""
        self.press("have")
        self.type(number)
        self.press("field-pin")
        self.type(pin)


def _csrf(http: httpx.Client, path: str) -> str:
    found = re.search(r'name="csrf-token" content="([^"]+)"', http.get(path).text)
    return found[1] if found else ""
