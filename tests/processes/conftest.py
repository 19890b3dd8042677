"""One fleet for the tests of each kind of database."""

from collections.abc import Iterator

import pytest

from tests import databases
from tests.processes.fleet import GRANIAN, GUNICORN, Fleet, Person, fleet, wait_for


@pytest.fixture(scope="module", params=[databases.SQLITE, databases.POSTGRESQL])
def running(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Fleet]:
    """Two servers of two web processes each, two workers, sandbox and Redis, over one database."""
    folder = tmp_path_factory.mktemp(request.param)
    url = databases.new_database(folder, request.param)
    # limits are counted by staff ids, which both fleets share: each uses its own Redis database
    number = 1 + (databases.SQLITE, databases.POSTGRESQL).index(request.param)
    limits = databases.shared_redis().url.removesuffix("0") + str(number)
    with fleet(folder, url, RIDEDASH_REDIS_URL=limits) as made:
        made.ridedash("worker-1", "worker")
        made.ridedash("worker-2", "worker")
        made.web("granian", GRANIAN)
        made.web("gunicorn", GUNICORN)
        wait_for(
            lambda: "worker" in made.output("worker-1") and "worker" in made.output("worker-2")
        )
        yield made
    databases.forget(folder)


@pytest.fixture
def person(running: Fleet) -> Iterator[Person]:
    """A member of staff who is signed in, at the first web process."""
    signed_in = Person(running)
    signed_in.sign_in(running.webs[0])
    yield signed_in
    signed_in.close()
