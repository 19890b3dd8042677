"""A real `ridedash up` in a temporary folder, and a real Chromium in front of it."""

import json
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.conftest import EXPECT_MS
from tests.running import Running, running

SHOTS = Path(__file__).parent.parent / "screenshots"
# A page whose scripts have run. Its load waits for each tile of its map, which are drawn for a
# minute on a busy machine.
READY: Final = "domcontentloaded"
SIZES = {"desktop": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}


@pytest.fixture(scope="session")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("desk"), pace="60") as started:
        yield started


def control(desk: Running, what: str, **body: object) -> Any:
    """Steer the sandbox by POST to `next`, `faults`, `speed`, `advance`, `reset`, or read it."""
    data = None if what in ("ledger", "clock") else json.dumps(body).encode()
    headers = {"X-Sandbox-Control": "1", "Content-Type": "application/json"}
    request = urllib.request.Request(
        f"{desk.sandbox_url}/control/{what}", data=data, headers=headers
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


@pytest.fixture(autouse=True)
def calm_sandbox(desk: Running) -> Iterator[None]:
    """Each test starts and ends with a sandbox at full speed and without faults or rides."""
    control(desk, "reset")
    yield
    control(desk, "reset")


@dataclass
class Seen:
    """Errors and foreign requests of a page, which no user should ever meet."""

    foreign: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


@pytest.fixture
def open_page(browser: Browser, desk: Running) -> Iterator[Callable[..., Page]]:
    """A page of a given size and colour scheme; errors and foreign requests fail the test."""
    contexts: list[BrowserContext] = []
    seen = Seen()

    def opened(size: str = "desktop", scheme: str = "light", **options: Any) -> Page:
        context = browser.new_context(
            viewport=SIZES[size],
            color_scheme=scheme,
            base_url=desk.url,
            has_touch=size == "phone",
            **options,
        )
        contexts.append(context)
        context.set_default_timeout(EXPECT_MS)
        page = context.new_page()
        watch(page, (desk.url, f"{desk.sandbox_url}/oauth/"), seen)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert seen.foreign == []
    assert seen.errors == []


def watch(page: Page, ours: tuple[str, ...], seen: Seen) -> None:
    known = (*ours, "data:", "blob:")
    page.on("request", lambda r: None if r.url.startswith(known) else seen.foreign.append(r.url))
    page.on("pageerror", lambda error: seen.errors.append(str(error)))
    page.on("console", lambda m: seen.errors.append(m.text) if is_bad(m.type, m.text) else None)


def is_bad(kind: str, text: str) -> bool:
    """Whether a console message is an error; a line about an expected HTTP status is none."""
    return kind == "error" and not text.startswith("Failed to load resource")


@pytest.fixture
def staff_page(open_page: Callable[..., Page], desk: Running) -> Callable[..., Page]:
    """A page on which the demo's front desk is signed in."""

    def signed_in(size: str = "desktop", scheme: str = "light", **options: Any) -> Page:
        page = open_page(size, scheme, **options)
        page.goto("/sign-in")
        page.get_by_label("Name").fill(desk.name)
        page.get_by_label("Password", exact=True).fill(desk.password)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url("**/", wait_until=READY)
        return page

    return signed_in


def shot(page: Page, name: str) -> None:
    """A screenshot for people, in a folder that git ignores."""
    SHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SHOTS / f"{name}.png", full_page=True, animations="disabled")
