"""A real `ridedash up`, and Firefox and WebKit in front of it."""

from collections.abc import Iterator

import pytest

from tests.e2e.conftest import SHOTS, control
from tests.engines.engine import Engine
from tests.engines.firefox import Firefox
from tests.engines.steps import SIZE
from tests.engines.webkit import WebKit
from tests.running import Running, running

EACH = [pytest.param(kind, marks=pytest.mark.engine(kind.name)) for kind in (Firefox, WebKit)]


@pytest.fixture(scope="session")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("desk"), pace="12") as started:
        yield started


@pytest.fixture(scope="session", params=EACH, ids=lambda kind: kind.name.lower())
def started(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Engine]:
    """One browser for all tests of an engine."""
    engine: Engine = request.param(tmp_path_factory.mktemp(request.param.name))
    try:
        yield engine
    finally:
        engine.close()  # raises RuntimeError if a process stays


@pytest.fixture
def engine(request: pytest.FixtureRequest, started: Engine, desk: Running) -> Iterator[Engine]:
    """The browser at the size of a desk, without a sign-in, and a sandbox without rides."""
    control(desk, "reset")
    started.go(f"{desk.url}/sign-in")
    started.forget()
    started.resize(*SIZE)
    yield started
    started.shot(SHOTS / f"{request.node.name}.png")
    control(desk, "reset")
