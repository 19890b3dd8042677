"""Fixtures: a city, and a partner's client with its own sandbox.

The fixtures import the client's module only when they run, because the import is slow and pytest
imports this file also in runs without these tests.
"""

import pytest

from ridedash.sandbox.city.city import cities


@pytest.fixture
def city(request):
    """The city whose slug is the parameter. Its streets are built when a test first uses them."""
    return next(each for each in cities() if each.slug == request.param)


@pytest.fixture
def desk(tmp_path):
    from tests.sandbox.sandbox_desk import Desk

    made = Desk(tmp_path)
    yield made
    made.close()


@pytest.fixture
def desk_at(tmp_path):
    """A factory for clients whose clock starts at another time: desk_at(time)."""
    from tests.sandbox.sandbox_desk import Desk

    made = []

    def at(now, **settings):
        made.append(Desk(tmp_path / str(len(made)), now, **settings))
        return made[-1]

    yield at
    for each in made:
        each.close()
