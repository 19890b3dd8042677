"""`ridedash doctor` checks everything that the program depends on, and names wrong settings."""

import re
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from werkzeug.serving import make_server
from werkzeug.wrappers import Request, Response

from ridedash.cli.doctor import _origin, examine, report_line
from ridedash.cli.doctor_stores import Finding
from ridedash.cli.doctor_stores import database as stored
from ridedash.config import load
from ridedash.services import Services, build_services, utc_now
from ridedash.store import accounts, properties
from ridedash.store.encryption import new_key
from ridedash.store.models.people import Property
from tests.cli.test_commands import RIDEDASH, ridedash
from tests.databases import POSTGRESQL, new_database
from tests.processes.fleet import free_port
from tests.running import clean_environment
from tests.service.tls_servers import NAME, private_certificate, tls_server, tunnels_to

OTHERS = {"files", "address", "service", "oauth", "tiles", "geocoder", "clock"}
KEY = "hush-51f0c7"
PRODUCTS = '{"categories": [], "hotspot_zone": {}, "ride_estimate": {}}'
Answers = dict[str, Callable[[], Response]]


def answer_with(status: int, body: str, kind: str = "application/json") -> Callable[[], Response]:
    return lambda: Response(body, status, mimetype=kind)


def refusal(code: str, status: int = 200) -> Callable[[], Response]:
    return answer_with(status, f'{{"status": "FAILURE", "code": "{code}", "message": "no"}}')


PICTURE = answer_with(200, "<svg/>", "image/svg+xml")


@contextmanager
def other_server(answers: Answers) -> Iterator[tuple[str, list[str]]]:
    """Answers by the first word of a path. Yields the server's address and the requested paths."""
    requests: list[str] = []

    def app(environ: Any, start: Any) -> Any:
        request = Request(environ)
        requests.append(request.path)
        if request.referrer:
            requests.append(f"Referer: {request.referrer}")
        answer = answers.get(
            request.path.split("/")[1], answer_with(404, "nothing", "text/plain")
        )()
        return answer(environ, start)

    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.port}", requests
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Installation:
    """A property in a database; `findings` lets the doctor examine it and a server."""

    def __init__(self, folder: Path, database: str) -> None:
        self.settings = {
            "RIDEDASH_INSTANCE": str(folder / "instance"),
            "RIDEDASH_DATABASE_URL": database,
            "RIDEDASH_SERVICE_APP_TOKEN": KEY,
        }
        self.requests: list[str] = []
        self.services = self.build()
        with self.services.db.write() as s:
            self.property_id = properties.add_property(s, "Hotel A", "UTC", utc_now()).id

    def build(self, **settings: str) -> Services:
        return build_services(load(self.settings | settings), utc_now)

    def pickup(self) -> None:
        with self.services.db.write() as s:
            prop = s.get_one(Property, self.property_id)
            prop.pickup_lat, prop.pickup_lng = -38.5, -128.0

    def link(self, *labels: str, state: str = "ok", services: Services | None = None) -> None:
        made = services or self.services
        with made.db.write() as s:
            for label in labels:
                row = accounts.add_account(
                    s, made.vault, self.property_id, label, f"{KEY} of {label}", utc_now()
                )
                row.state = state

    def findings(self, answers: Answers | None = None, **settings: str) -> dict[str, list[Finding]]:
        with other_server(answers or {}) as (url, self.requests):
            at = {
                "RIDEDASH_SERVICE_URL": url,
                "RIDEDASH_PUBLIC_URL": url,
                "RIDEDASH_TILES_URL": url + "/tiles/{z}/{x}/{y}.svg",
            }
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
def installation(tmp_path: Path, database: str) -> Iterator[Installation]:
    made = Installation(tmp_path, database)
    yield made
    made.services.db.close()


def test_an_unreachable_database_has_a_line_with_the_drivers_message_before_the_others(
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


def test_a_reader_that_closes_the_report_early_gets_no_traceback(tmp_path: Path) -> None:
    port = str(free_port())
    environ = clean_environment(
        RIDEDASH_INSTANCE=str(tmp_path), RIDEDASH_PORT=port, RIDEDASH_SANDBOX_PORT=port
    )
    started = subprocess.Popen(
        [*RIDEDASH, "doctor"], env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with started as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
    assert process.returncode == 141


@pytest.mark.parametrize("there", [True, False])
def test_before_the_first_upgrade_the_line_says_what_to_run_and_makes_nothing(
    tmp_path: Path, there: bool
) -> None:
    instance = tmp_path / "instance"
    if there:
        instance.mkdir()
    database = {"RIDEDASH_DATABASE_URL": f"sqlite:///{instance}/desk.db"}
    services = build_services(load({"RIDEDASH_INSTANCE": str(instance), **database}))
    found, ours = stored(services)
    services.db.close()
    (line,) = map(report_line, found)
    assert line.startswith("FAIL  database")
    assert line.endswith("is not there yet: run `ridedash db upgrade`")
    assert ours is None
    assert not (instance / "desk.db").exists()


def test_a_file_that_is_no_database_has_a_line(tmp_path: Path) -> None:
    (tmp_path / "some.db").write_text("nonsense " * 200)
    port = str(free_port())
    ports = {"RIDEDASH_PORT": port, "RIDEDASH_SANDBOX_PORT": port}
    done = ridedash(
        tmp_path, "doctor", RIDEDASH_DATABASE_URL=f"sqlite:///{tmp_path}/some.db", **ports
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert "some.db: file is not a database. Bring back its last backup" in done.stdout


@pytest.mark.parametrize(
    ("tile", "found"),
    [
        (answer_with(404, "no", "text/plain"), "HTTP 404"),
        (answer_with(200, "<p>", "text/html"), "text/html, which is no picture"),
    ],
)
def test_an_invalid_tile_is_a_failure_that_names_the_setting(
    installation: Installation, tile: Callable[[], Response], found: str
) -> None:
    (tiles,) = installation.findings({"tiles": tile})["tiles"]
    assert not tiles.ok
    assert f" answers {found}. Check RIDEDASH_TILES_URL." in tiles.text


def test_a_host_of_tiles_that_refuses_our_pages_is_named_with_the_origin_that_it_got(
    installation: Installation,
) -> None:
    (tiles,) = installation.findings({"tiles": answer_with(403, "no", "text/plain")})["tiles"]
    assert not tiles.ok
    (sent,) = [each for each in installation.requests if each.startswith("Referer: ")]
    origin = sent.removeprefix("Referer: ")
    assert f"HTTP 403: its host refuses pages of {origin} (sent as Referer" in tiles.text
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", origin)  # the origin alone


def test_the_fetched_tile_contains_a_pickup_of_a_property(installation: Installation) -> None:
    installation.pickup()
    (tiles,) = installation.findings({"tiles": PICTURE})["tiles"]
    assert tiles.ok
    assert "/tiles/15/4733/20186.svg" in installation.requests


@pytest.mark.parametrize("code", ["BAD_REQUEST", "INVALID_CITY", "OUT_OF_AREA"])
def test_without_a_pickup_a_refused_place_shows_that_the_service_answers(
    installation: Installation, code: str
) -> None:
    (service,) = installation.findings({"v1": refusal(code)})["service"]
    assert service.ok
    assert service.text.endswith(
        " answers and accepts our key (no property has a usual pickup to ask about yet)"
    )


def test_a_service_without_products_passes_and_other_refusals_fail(
    installation: Installation,
) -> None:
    installation.pickup()
    (service,) = installation.findings({"v1": refusal("INVALID_CITY")})["service"]
    assert (
        service.ok,
        service.text.endswith("but offers nothing at our usual pickup (INVALID_CITY)"),
    ) == (True, True)
    (service,) = installation.findings({"v1": refusal("rate_limit")})["service"]
    assert (service.ok, service.text.endswith("refuses to say what it offers (rate_limit).")) == (
        False,
        True,
    )
    (service,) = installation.findings({"v1": answer_with(200, PRODUCTS)})["service"]
    assert (service.ok, service.text.endswith(" answers and accepts our key")) == (True, True)


@pytest.mark.parametrize(
    "answer",
    [
        refusal("invalid_partner_key"),
        refusal("invalid_partner_key", 403),
        refusal("X", 403),
        answer_with(401, "{}"),
        answer_with(403, "forbidden", "text/plain"),
    ],
)
def test_a_wrong_partner_key_names_its_setting_and_no_other(
    installation: Installation, answer: Callable[[], Response]
) -> None:
    (service,) = installation.findings({"v1": answer})["service"]
    assert not service.ok
    assert service.text.endswith("Check RIDEDASH_SERVICE_APP_TOKEN.")
    assert "RIDEDASH_SERVICE_URL" not in service.text


def test_an_answer_of_another_server_names_its_address(installation: Installation) -> None:
    (service,) = installation.findings({"v1": answer_with(404, "nothing", "text/plain")})["service"]
    assert (service.ok, service.text) == (
        False,
        "HTTP 404. Is RIDEDASH_SERVICE_URL right, and is it up?",
    )


def test_each_linked_account_has_a_line(installation: Installation) -> None:
    assert [each.ok for each in installation.findings()["account"]] == [False]
    other = installation.build(RIDEDASH_TOKEN_KEYS="k7:" + new_key())
    installation.link("Installation")
    installation.link("Events", state="reconnect")
    installation.link("Old", services=other)
    installation.link("Gone", state="removed")
    other.db.close()
    assert [(each.ok, each.text) for each in installation.findings()["account"]] == [
        (True, "Hotel A, Installation: ok"),
        (False, "Hotel A, Events: needs reconnecting (Settings, Accounts)"),
        (False, "Hotel A, Old: can't be read with the keys of RIDEDASH_TOKEN_KEYS"),
    ]


def test_many_linked_accounts_are_counted(installation: Installation) -> None:
    installation.link(*(f"Account {n}" for n in range(20)))
    assert len(installation.findings()["account"]) == 20
    installation.link("Events", state="reconnect")
    (counted,) = installation.findings()["account"]
    assert not counted.ok
    assert counted.text == (
        "21 accounts: 20 ok, 1 need reconnecting, 0 can't be read with the keys of "
        "RIDEDASH_TOKEN_KEYS"
    )


def test_redis_has_a_line_when_it_is_configured_with_the_effect_of_its_absence(
    installation: Installation,
) -> None:
    assert "redis" not in installation.findings()
    at = f"redis://:{KEY}@127.0.0.1:{free_port()}/0"
    (redis,) = installation.findings(RIDEDASH_REDIS_URL=at)["redis"]
    assert not redis.ok
    assert redis.text.startswith(at.replace(f":{KEY}@", "") + ": Error 111 connecting to")
    assert "While it is away each process counts limits for itself." in redis.text
    assert redis.text.endswith("is RIDEDASH_REDIS_URL right?")


def test_a_redis_that_answers_passes(installation: Installation, redis_url: str) -> None:
    (redis,) = installation.findings(RIDEDASH_REDIS_URL=redis_url)["redis"]
    assert (redis.ok, redis.text) == (True, f"{redis_url} answers")


def test_files_that_other_users_can_read_are_named_with_the_command_that_closes_them(
    installation: Installation, tmp_path: Path
) -> None:
    instance = tmp_path / "instance"
    instance.mkdir(exist_ok=True)
    instance.chmod(0o755)
    open_file = instance / "ridedash.db"
    open_file.write_text("x")
    open_file.chmod(0o644)
    (files,) = installation.findings()["files"]
    assert not files.ok
    assert str(open_file) in files.text
    assert f"chmod -R go= {instance}" in files.text
    instance.chmod(0o700)  # now no other user can reach the files
    for path in tmp_path.glob("desk.sqlite*"):
        path.chmod(0o600)
    (files,) = installation.findings()["files"]
    assert files.ok


@pytest.mark.sqlite_only
def test_a_database_beside_the_instance_that_others_can_read_is_named(
    installation: Installation, tmp_path: Path
) -> None:
    (tmp_path / "desk.sqlite").chmod(0o644)
    (files,) = installation.findings()["files"]
    assert not files.ok
    assert f"chmod -R go= {tmp_path / 'instance'} {tmp_path / 'desk.sqlite'}" in files.text


@pytest.mark.parametrize(
    ("seen", "well"),
    [
        ("https://desk.hotel.example:8443", True),
        ("https://Desk.hotel.example:8443", True),
        ("https://desk.hotel.example", False),  # the proxy drops the port
        ("http://desk.hotel.example:8443", False),  # the proxy does not forward the scheme
        ("None", False),
    ],
)
def test_the_public_address_must_arrive_as_browsers_send_it(seen: str, well: bool) -> None:
    assert (_origin(seen) == _origin("https://desk.hotel.example:8443")) is well


def test_a_public_address_that_arrives_otherwise_is_a_failure_with_the_reason(
    installation: Installation,
) -> None:
    (address,) = installation.findings({})["address"]
    assert not address.ok
    assert "answers HTTP 404. Does it lead to ridedash" in address.text
    for body in ("[1]", "{}"):
        (address,) = installation.findings({"healthz": answer_with(200, body)})["address"]
        assert not address.ok
        assert address.text.startswith("another program answers at http://127.0.0.1:")
    other = answer_with(200, '{"status": "ok", "address": "http://127.0.0.1"}')
    (address,) = installation.findings({"healthz": other})["address"]
    assert not address.ok
    assert " arrives here as http://127.0.0.1: forms would be refused. " in address.text


def test_a_certificate_that_is_not_trusted_is_the_cause_in_each_finding_and_a_ca_file_mends_it(
    installation: Installation, tmp_path: Path
) -> None:
    certificate = private_certificate(tmp_path)
    with tls_server(certificate, PRODUCTS.encode()) as server:
        url = f"https://127.0.0.1:{server.port}"
        places = {"RIDEDASH_GEOCODER": "photon", "RIDEDASH_GEOCODER_URL": url}
        at = places | dict.fromkeys(("RIDEDASH_SERVICE_URL", "RIDEDASH_PUBLIC_URL"), url)
        found = installation.findings(**at)
        for name in ("service", "oauth", "geocoder", "address"):
            assert not found[name][0].ok
            assert "certificate verify failed: self-signed certificate. " in found[name][0].text
            assert "RIDEDASH_CA_FILE" in found[name][0].text
        assert "outgoing" not in found
        found = installation.findings(**at, RIDEDASH_CA_FILE=str(certificate))
        assert [found[name][0].ok for name in ("outgoing", "service", "oauth")] == [True] * 3
        assert f"{certificate} is trusted too, until " in found["outgoing"][0].text


def test_every_call_of_the_doctor_goes_through_the_proxy(
    installation: Installation, tmp_path: Path
) -> None:
    certificate = private_certificate(tmp_path)
    with tls_server(certificate, PRODUCTS.encode()) as server, tunnels_to(server.port) as proxy:
        url = f"https://{NAME}"
        found = installation.findings(
            RIDEDASH_SERVICE_URL=url,
            RIDEDASH_MODE="live",
            RIDEDASH_SECRET_KEY="0123456789abcdefghijklmnopqrstuv",
            RIDEDASH_TOKEN_KEYS="k1:" + new_key(),
            RIDEDASH_TILES_ATTRIBUTION="nobody",
            RIDEDASH_TILES_URL=url + "/{z}/{x}/{y}",
            RIDEDASH_GEOCODER="photon",
            RIDEDASH_GEOCODER_URL=url,
            RIDEDASH_CA_FILE=str(certificate),
            RIDEDASH_HTTPS_PROXY=proxy[0].replace("//", f"//desk:{KEY}@"),
        )
    assert found["outgoing"][0].text.startswith("https goes through the proxy 127.0.0.1:")
    assert [found[name][0].ok for name in ("service", "oauth", "clock")] == [True] * 3
    assert all(head.startswith(b"CONNECT rides.example:443 ") for head in proxy[1])
    paths = {request.split(b" ")[1].partition(b"?")[0] for request in server.requests}
    tile = b"/15/16383/16383"
    assert paths == {b"/v1/products", b"/oauth/authorize", tile, b"/api", b"/"}


@pytest.mark.database
def test_more_connections_for_a_process_than_the_server_has_are_a_failure(tmp_path: Path) -> None:
    made = Installation(tmp_path, new_database(tmp_path, POSTGRESQL))
    try:
        (well,) = made.findings()["database"]
        assert well.ok
        assert re.search(r", 20 of its \d+ connections at most for each process$", well.text)
        (ill,) = made.findings(RIDEDASH_DATABASE_POOL="500")["database"]
        assert not ill.ok
        assert ill.text.endswith("or raise the server's max_connections.")
        (few,) = made.findings(RIDEDASH_WORKER_THREADS="21")["database"]
        assert not few.ok
        assert "RIDEDASH_WORKER_THREADS is 21" in few.text
    finally:
        made.services.db.close()


@pytest.mark.parametrize(
    ("answer", "well", "ending"),
    [
        (answer_with(200, '{"status": "ok", "round_s": 0.1}'), True, "ended 0.1 s ago"),
        (answer_with(503, '{"status": "stuck", "round_s": 130}'), False, "stands still."),
        (answer_with(200, '{"status": "ok"}'), False, "stands still."),  # as a web process answers
    ],
)
def test_the_health_of_a_worker_is_requested_at_its_port_when_that_is_set(
    installation: Installation, answer: Callable[[], Response], well: bool, ending: str
) -> None:
    assert "workerport" not in installation.findings()
    with other_server({"healthz": answer}) as (url, _requests):
        (port,) = installation.findings(RIDEDASH_WORKER_PORT=url.rpartition(":")[2])["workerport"]
    assert (port.ok, port.text.endswith(ending)) == (well, True), port.text


def test_a_worker_that_does_not_answer_on_its_port_is_a_failure_with_the_cause(
    installation: Installation,
) -> None:
    found = installation.findings(RIDEDASH_WORKER_PORT=str(free_port()))
    (port,) = found["workerport"]
    assert not port.ok
    assert "Connection refused. Does a worker run here with this RIDEDASH_WORKER_PORT?" in port.text


def test_a_label_can_not_forge_a_line_or_paint_the_terminal() -> None:
    finding = Finding(name="accounts", text="a\nok    all\x1b[2J  well", ok=False)
    assert report_line(finding) == "FAIL  accounts   a ok all[2J well"
