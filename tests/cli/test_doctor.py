"""`ridedash doctor` says of each thing that ridedash stands on what is true, and points to the
right setting.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from werkzeug.serving import make_server
from werkzeug.wrappers import Request, Response

from ridedash.cli.doctor import examine, report_line
from ridedash.cli.doctor_stores import Finding
from ridedash.config import load
from ridedash.services import Services, build_services, utc_now
from ridedash.store import accounts, properties
from ridedash.store.encryption import new_key
from ridedash.store.models.people import Property
from tests.cli.test_commands import ridedash
from tests.processes.fleet import free_port

OTHERS = {"service", "oauth", "tiles", "geocoder", "clock"}
KEY = "hush-51f0c7"
PRODUCTS = '{"categories": [], "hotspot_zone": {}, "ride_estimate": {}}'
Answers = dict[str, Callable[[], Response]]


def said(status: int, body: str, kind: str = "application/json") -> Callable[[], Response]:
    return lambda: Response(body, status, mimetype=kind)


def refused(code: str, status: int = 200) -> Callable[[], Response]:
    return said(status, f'{{"status": "FAILURE", "code": "{code}", "message": "no"}}')


PICTURE = said(200, "<svg/>", "image/svg+xml")


@contextmanager
def far_side(answers: Answers) -> Iterator[tuple[str, list[str]]]:
    """A server for service and tiles alike: answers by the first word of the path. Its address, and
    what was asked.
    """
    asked: list[str] = []

    def app(environ: Any, start: Any) -> Any:
        request = Request(environ)
        asked.append(request.path)
        answer = answers.get(request.path.split("/")[1], said(404, "nothing", "text/plain"))()
        return answer(environ, start)

    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class House:
    """A database with a property, and what the doctor says of it beside a far side that answers
    so.
    """

    def __init__(self, folder: Path, database: str) -> None:
        self.settings = {
            "RIDEDASH_INSTANCE": str(folder / "instance"),
            "RIDEDASH_DATABASE_URL": database,
            "RIDEDASH_SERVICE_APP_TOKEN": KEY,
        }
        self.asked: list[str] = []
        self.services = self.build()
        with self.services.db.write() as s:
            self.house = properties.add_property(s, "Hotel A", "UTC", utc_now()).id

    def build(self, **settings: str) -> Services:
        return build_services(load(self.settings | settings), utc_now)

    def pickup(self) -> None:
        with self.services.db.write() as s:
            house = s.get_one(Property, self.house)
            house.pickup_lat, house.pickup_lng = -38.5, -128.0

    def link(self, *labels: str, state: str = "ok", services: Services | None = None) -> None:
        made = services or self.services
        with made.db.write() as s:
            for label in labels:
                row = accounts.add_account(
                    s, made.vault, self.house, label, f"{KEY} of {label}", utc_now()
                )
                row.state = state

    def told(self, answers: Answers | None = None, **settings: str) -> dict[str, list[Finding]]:
        with far_side(answers or {}) as (url, self.asked):
            at = {"RIDEDASH_SERVICE_URL": url, "RIDEDASH_TILES_URL": url + "/tiles/{z}/{x}/{y}.svg"}
            services = self.build(**(at | settings))
            found: dict[str, list[Finding]] = {}
            try:
                for each in examine(services):
                    assert KEY not in each.text
                    found.setdefault(each.name, []).append(each)
            finally:
                services.db.close()
        return found


@pytest.fixture
def house(tmp_path: Path, database: str) -> Iterator[House]:
    made = House(tmp_path, database)
    yield made
    made.services.db.close()


def test_a_database_that_is_away_is_a_line_with_the_drivers_words_and_the_others_follow(
    tmp_path: Path,
) -> None:
    port = free_port()
    away = f"postgresql+psycopg://desk:{KEY}@127.0.0.1:{port}/rides"
    ports = {"RIDEDASH_PORT": str(port), "RIDEDASH_SANDBOX_PORT": str(port)}
    done = ridedash(tmp_path, "doctor", RIDEDASH_DATABASE_URL=away, **ports)
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (1, "")
    assert lines[0].startswith(
        f"FAIL  database   postgresql+psycopg://desk:***@127.0.0.1:{port}/rides: "
    )
    assert "Connection refused" in lines[0]
    assert lines[0].endswith("Is it up, and is RIDEDASH_DATABASE_URL right?")
    assert {line.split()[1] for line in lines[1:]} == OTHERS
    assert KEY not in done.stdout


def test_a_file_that_is_no_database_is_a_line_too(tmp_path: Path) -> None:
    (tmp_path / "some.db").write_text("nonsense " * 200)
    port = str(free_port())
    ports = {"RIDEDASH_PORT": port, "RIDEDASH_SANDBOX_PORT": port}
    done = ridedash(
        tmp_path, "doctor", RIDEDASH_DATABASE_URL=f"sqlite:///{tmp_path}/some.db", **ports
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert "some.db: file is not a database. Is it up" in done.stdout


@pytest.mark.parametrize(
    ("tile", "found"),
    [
        (said(404, "no", "text/plain"), "HTTP 404"),
        (said(200, "<p>", "text/html"), "text/html, which is no picture"),
    ],
)
def test_a_tile_that_is_none_is_a_failure_that_names_the_setting(
    house: House, tile: Callable[[], Response], found: str
) -> None:
    (tiles,) = house.told({"tiles": tile})["tiles"]
    assert not tiles.ok
    assert f" answers {found}. Check RIDEDASH_TILES_URL." in tiles.text


def test_the_tile_that_is_fetched_is_around_a_pickup_of_a_property(house: House) -> None:
    house.pickup()
    (tiles,) = house.told({"tiles": PICTURE})["tiles"]
    assert tiles.ok
    assert "/tiles/15/4733/20186.svg" in house.asked


@pytest.mark.parametrize("code", ["BAD_REQUEST", "INVALID_CITY", "OUT_OF_AREA"])
def test_without_a_pickup_of_ours_a_refused_place_shows_that_the_service_answers(
    house: House, code: str
) -> None:
    (service,) = house.told({"v1": refused(code)})["service"]
    assert service.ok
    assert service.text.endswith(
        " answers and accepts our key (no property has a usual pickup to ask about yet)"
    )


def test_a_service_without_products_at_the_pickup_passes_and_one_that_refuses_more_fails(
    house: House,
) -> None:
    house.pickup()
    (service,) = house.told({"v1": refused("INVALID_CITY")})["service"]
    assert (
        service.ok,
        service.text.endswith("but offers nothing at our usual pickup (INVALID_CITY)"),
    ) == (True, True)
    (service,) = house.told({"v1": refused("rate_limit")})["service"]
    assert (service.ok, service.text.endswith("refuses to say what it offers (rate_limit).")) == (
        False,
        True,
    )
    (service,) = house.told({"v1": said(200, PRODUCTS)})["service"]
    assert (service.ok, service.text.endswith(" answers and accepts our key")) == (True, True)


@pytest.mark.parametrize(
    "answer",
    [
        refused("invalid_partner_key"),
        refused("invalid_partner_key", 403),
        refused("X", 403),
        said(401, "{}"),
        said(403, "forbidden", "text/plain"),
    ],
)
def test_a_wrong_partner_key_names_its_setting_and_no_other(
    house: House, answer: Callable[[], Response]
) -> None:
    (service,) = house.told({"v1": answer})["service"]
    assert not service.ok
    assert service.text.endswith("Check RIDEDASH_SERVICE_APP_TOKEN.")
    assert "RIDEDASH_SERVICE_URL" not in service.text


def test_a_service_that_is_another_names_its_address(house: House) -> None:
    (service,) = house.told({"v1": said(404, "nothing", "text/plain")})["service"]
    assert (service.ok, service.text) == (
        False,
        "HTTP 404. Is RIDEDASH_SERVICE_URL right, and is it up?",
    )


def test_each_linked_account_has_a_line(house: House) -> None:
    assert [each.ok for each in house.told()["account"]] == [False]
    other = house.build(RIDEDASH_TOKEN_KEYS="k7:" + new_key())
    house.link("House")
    house.link("Events", state="reconnect")
    house.link("Old", services=other)
    house.link("Gone", state="removed")
    other.db.close()
    assert [(each.ok, each.text) for each in house.told()["account"]] == [
        (True, "Hotel A, House: ok"),
        (False, "Hotel A, Events: needs reconnecting (Settings, Accounts)"),
        (False, "Hotel A, Old: can't be read with the keys of RIDEDASH_TOKEN_KEYS"),
    ]


def test_many_linked_accounts_are_counted(house: House) -> None:
    house.link(*(f"Account {n}" for n in range(20)))
    assert len(house.told()["account"]) == 20
    house.link("Events", state="reconnect")
    (counted,) = house.told()["account"]
    assert not counted.ok
    assert counted.text == (
        "21 accounts: 20 ok, 1 need reconnecting, 0 can't be read with the keys of "
        "RIDEDASH_TOKEN_KEYS"
    )


def test_redis_has_a_line_when_it_is_set_and_says_what_its_absence_means(house: House) -> None:
    assert "redis" not in house.told()
    at = f"redis://:{KEY}@127.0.0.1:{free_port()}/0"
    (redis,) = house.told(RIDEDASH_REDIS_URL=at)["redis"]
    assert not redis.ok
    assert redis.text.startswith(at.replace(f":{KEY}@", "") + ": Error 111 connecting to")
    assert "While it is away each process counts limits for itself." in redis.text
    assert redis.text.endswith("is RIDEDASH_REDIS_URL right?")


def test_a_redis_that_answers_is_well(house: House, redis_url: str) -> None:
    (redis,) = house.told(RIDEDASH_REDIS_URL=redis_url)["redis"]
    assert (redis.ok, redis.text) == (True, f"{redis_url} answers")


def test_a_label_can_not_forge_a_line_or_paint_the_terminal() -> None:
    finding = Finding(name="accounts", text="a\nok    all\x1b[2J  well", ok=False)
    assert report_line(finding) == "FAIL  accounts   a ok all[2J well"
