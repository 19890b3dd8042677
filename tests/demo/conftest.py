"""A demo with its sandbox. The module is imported when the fixture runs: it builds both cities."""

import pytest


@pytest.fixture
def stage(tmp_path):
    from tests.demo.stages import Stage

    made = Stage(tmp_path)
    yield made
    made.close()
