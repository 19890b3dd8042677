"""A demo with its sandbox. Its module is slow to import: runs without these tests don't do it."""

import pytest


@pytest.fixture
def stage(tmp_path):
    from tests.demo.stages import Stage

    made = Stage(tmp_path)
    yield made
    made.close()
