"""A demo with its sandbox. Its module is slow to import, so only tests that need it import it."""

import pytest


@pytest.fixture
def stage(tmp_path):
    from tests.demo.stages import Stage

    made = Stage(tmp_path)
    yield made
    made.close()
