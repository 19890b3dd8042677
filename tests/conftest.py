"""Fixtures for all tests, and a summary of the tests that a missing browser or server skipped."""

import gc
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from xdist.scheduler import LoadScopeScheduling

# A failed assertion in a helper says what it compared, as in a test.
pytest.register_assert_rewrite(*(f"tests.{each.stem}" for each in Path(__file__).parent.iterdir()))

from tests import (  # noqa: E402 - after the line above, which is for these too
    cheap_hashes,
    compiled,
    compiled_shares,
    connections,
    databases,
    statements,
    tiers,
)

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from ridedash.store.database.database import Database
    from tests.views.ride_pages import Desk

# Hypothesis would load the plugin of trio (which selenium needs): it warns after gc.freeze() below.
os.environ.setdefault("HYPOTHESIS_NO_PLUGINS", "1")

# The first is the headless build of the same browser, which needs a quarter less CPU time.
BROWSER_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


# the programs that `make engines` starts
ENGINES = {"Firefox": ["firefox-esr"], "WebKit": ["WebKitWebDriver", "Xvfb"]}

# An upper bound for a condition on a busy machine, never a pause; Playwright's own is 5 s.
EXPECT_MS = 60_000

LAUNCH = [  # root in a container can't use the browser's sandbox; no background requests of its own
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


# Each of these has shared fixtures that start slowly: `make test` runs its tests in one process.
TOGETHER = {
    "processes",
    "e2e",
    "engines",
    "tiles",
    "test_canary.py",
    "test_day.py",
    "test_upkeep.py",
}

# What takes longest begins first, so that no process works alone at the end.
FIRST = (
    "test_hostile_input.py",
    *("processes", "e2e", "test_canary.py", "test_day.py", "test_upkeep.py"),
    *("faults", "test_stage_browser.py", "test_mutants.py", "test_elements.py"),
    *("test_stories.py", "test_axe.py", "test_crashes.py", "test_planned_machine.py"),
    *("test_permissions.py", "test_same_answers.py", "cli"),
)


class Together(LoadScopeScheduling):
    """Schedule each test for itself, but the tests of a folder or file in TOGETHER as one group.

    The groups of pytest-xdist itself are not used: with pytest 9.2 they are silently ignored.
    """

    def _split_scope(self, nodeid: str) -> str:
        return min(TOGETHER & _names(nodeid), default=nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    config.option.loadscopereorder = False  # pytest-xdist would begin with the largest group
    return Together(config, log)


def _names(nodeid: str) -> set[str]:
    """The names of a test's folders and file."""
    return set(nodeid.partition("::")[0].split("/"))


def _rank(item: pytest.Item) -> int:
    names = _names(item.nodeid)
    return next((rank for rank, name in enumerate(FIRST) if name in names), len(FIRST))


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """The one Chromium of a test run: Playwright's event loop allows no second one beside it."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=EXPECT_MS)
    with sync_playwright() as started:
        found = started.chromium.launch(executable_path=browser_path() or "chromium", args=LAUNCH)
        yield found
        found.close()


def browser_path() -> str | None:
    """The Chromium to drive: `RIDEDASH_TEST_CHROMIUM`, or the first one on the PATH."""
    return os.environ.get("RIDEDASH_TEST_CHROMIUM") or next(
        filter(None, map(shutil.which, BROWSER_NAMES)), None
    )


@pytest.fixture(autouse=True)
def _in_its_tier(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail each test that is too slow for its tier."""
    watch = tiers.Watch()
    yield
    needed = watch.ended(request.node)
    if "RIDEDASH_TEST_DURATIONS" in os.environ:
        request.node.user_properties.append((tiers.PROPERTY, needed))
    elif wrong := tiers.fault(request.node, needed):
        pytest.fail(wrong)


@pytest.fixture(scope="session")
def postgres() -> str:
    """The address of a PostgreSQL server; `new_database(folder, "postgresql")` adds a database."""
    return databases.shared_postgres().url()


@pytest.fixture(scope="session")
def redis_url() -> str:
    """The address of a Redis server that all tests of a session share: use your own key names."""
    return databases.shared_redis().url


@pytest.fixture
def database(tmp_path: Path) -> str:
    """The address of a fresh database with all tables, of this run's kind."""
    return databases.new_database(tmp_path)


@pytest.fixture
def db(database: str) -> "Iterator[Database]":
    """A fresh database with all tables, opened."""
    from ridedash.store.database.database import Database

    made = Database(database)
    yield made
    made.close()


@pytest.fixture
def desk(tmp_path: Path) -> "Iterator[Desk]":
    """A desk with its app and its clock at noon; the database has another property as well."""
    from tests.views.ride_pages import make_desk

    made = make_desk(tmp_path)
    yield made
    made.close()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=_rank)  # after pytest-randomly has shuffled them
    for item in items:
        if "database" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.database)
        if item.get_closest_marker("sqlite_only") and databases.kind() != databases.SQLITE:
            item.add_marker(pytest.mark.skip(reason="about SQLite alone"))
    if others := [item for item in items if not tiers.is_chosen(item)]:
        items[:] = [item for item in items if tiers.is_chosen(item)]
        config.hook.pytest_deselected(items=others)
    tiers.mark(items)
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    whole = whole and not config.getoption("lf")  # that collects the files of failures alone
    if whole and databases.kind() == databases.SQLITE and "RIDEDASH_TEST_TIER" not in os.environ:
        tiers.check_shares(items)
    # if a browser is required but missing, each test runs, and fails when it launches the browser
    if not browser_path() and os.environ.get("RIDEDASH_TEST_BROWSER") != "required":
        for item in items:
            if item.get_closest_marker("browser"):
                item.add_marker(pytest.mark.skip(reason="no Chromium on this machine"))
    if os.environ.get("RIDEDASH_TEST_ENGINES") != "required":
        for item in items:
            _skip_without_engine(item)


def _skip_without_engine(item: pytest.Item) -> None:
    marker = item.get_closest_marker("engine")
    if marker and not all(map(shutil.which, ENGINES[marker.args[0]])):
        item.add_marker(pytest.mark.skip(reason=f"no {marker.args[0]} on this machine"))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the files without a test of this tier, or of this kind of database."""
    if not collection_path.name.startswith("test_"):
        return None
    return not tiers.is_collected(statements.name_of(collection_path, config.rootpath)) or None


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[object]:
    """Switch garbage collection off meanwhile: it finds hardly any, and takes half the time."""
    gc.disable()
    try:
        compiled_shares.compile_own(session.config)
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Exempt the collected tests from garbage collection, and collect the rest seldom.

    Reference counts free nearly all that a test makes. Both save more than a fifth of the time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 100)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Fail each test that makes a database without the marker `database`; note its statements."""
    databases.allowed = item.get_closest_marker("database") is not None
    statements.begin(item)
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Iterator[object]:
    with tiers.noting(fixturedef):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Fail each test that connects to a port that no test opened."""
    connections.seen.clear()
    try:
        done = yield
    finally:
        _end_routes(getattr(item, "funcargs", {}).get("browser"))
    assert connections.seen == [], "the test connects to ports of others: see tests/connections.py"
    return done


def _end_routes(browser: "Browser | None") -> None:
    """Remove the routes by which a test answers its pages, before the pages close.

    Otherwise Playwright raises the error of a late answer in the next test.
    """
    # in some tests the fixture `browser` is a client of Flask
    for context in getattr(browser, "contexts", ()):
        for page in context.pages:
            page.unroute_all(behavior="ignoreErrors")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Remove the test's databases after its fixtures have ended."""
    done = yield
    folder = getattr(item, "funcargs", {}).get("tmp_path")
    if folder is not None:
        databases.forget(folder)
    return done


def pytest_configure(config: pytest.Config) -> None:
    from hypothesis import HealthCheck, settings

    # an example that takes long only shows that the machine is busy
    settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("steady")
    connections.watch()
    tiers.watch()
    statements.watch()
    if "RIDEDASH_TEST_DURATIONS" in os.environ and not hasattr(config, "workerinput"):
        config.pluginmanager.register(tiers.Measured())
    if "RIDEDASH_TEST_TEMPLATES" not in os.environ:  # else set by tools/test.sh or a parent
        folder = tempfile.TemporaryDirectory(prefix="ridedash-templates-")
        config.add_cleanup(folder.cleanup)
        os.environ["RIDEDASH_TEST_TEMPLATES"] = folder.name
    compiled.share(os.environ["RIDEDASH_TEST_TEMPLATES"])
    cheap_hashes.begin()


def pytest_unconfigure() -> None:
    statements.write()
    databases.close()


SKIPPED = {
    "no Chromium": "need a Chromium and did not run (Debian: apt install chromium-headless-shell; "
    "elsewhere: "
    "RIDEDASH_TEST_CHROMIUM=/path/to/chromium make test)",
    "no Firefox": "need Firefox and did not run (Debian: apt install firefox-esr)",
    "no WebKit": "need WebKit and did not run (Debian: apt install webkit2gtk-driver xvfb)",
    "no server": "need PostgreSQL or Redis and did not run (Debian, Ubuntu: apt install postgresql "
    "redis-server)",
    "about SQLite alone": "are about SQLite alone and did not run on PostgreSQL",
}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for reason, why in SKIPPED.items():
        skipped = [
            r for r in terminalreporter.stats.get("skipped", []) if reason in str(r.longrepr)
        ]
        if skipped:
            terminalreporter.write_sep("=", reason)
            terminalreporter.write_line(f"{len(skipped)} tests {why}:")
            for report in skipped:
                terminalreporter.write_line(f"  {report.nodeid}")
