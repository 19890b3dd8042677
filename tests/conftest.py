"""What every test may use, and what is said at the end about tests that a missing browser skipped."""

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

BROWSER_NAMES = ("chromium", "chromium-browser", "google-chrome")


LAUNCH = [  # no sandbox inside a container's root; nothing of the browser's own goes out
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """The one Chromium of a test run: Playwright's loop allows no second one beside it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        found = started.chromium.launch(executable_path=browser_path() or "chromium", args=LAUNCH)
        yield found
        found.close()


def browser_path() -> str | None:
    """The Chromium to drive: `RIDEDASH_TEST_CHROMIUM`, or the first one on the PATH."""
    return os.environ.get("RIDEDASH_TEST_CHROMIUM") or next(filter(None, map(shutil.which, BROWSER_NAMES)), None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if browser_path() or os.environ.get("RIDEDASH_TEST_BROWSER") == "required":
        return  # required and missing: the tests run and fail at the launch, by name
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.skip(reason="no Chromium on this machine"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = [r for r in terminalreporter.stats.get("skipped", []) if "no Chromium" in str(r.longrepr)]
    if skipped:
        terminalreporter.write_sep("=", "browser tests were skipped")
        terminalreporter.write_line(f"{len(skipped)} tests need a Chromium and did not run:")
        for report in skipped:
            terminalreporter.write_line(f"  {report.nodeid}")
        terminalreporter.write_line(
            "On Debian or Ubuntu: apt install chromium. Elsewhere: RIDEDASH_TEST_CHROMIUM=/path/to/chromium make test"
        )
