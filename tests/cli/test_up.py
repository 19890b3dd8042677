"""The web server of `ridedash up`, through real sockets: proxies in front, many connections."""

import contextlib
import re
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest

from tests.processes.fleet import free_port, get
from tests.running import Running, running

IDLE = 200  # twice waitress's own limit of connections
ANSWERS_S = 30.0  # an upper bound on a busy machine; idle connections would block for 120 s
ATTACKER = {"X-Forwarded-For": "203.0.113.66", "X-Forwarded-Proto": "http"}
COLLEAGUE = {"X-Forwarded-For": "198.51.100.7", "X-Forwarded-Proto": "http"}
TRIES = 30  # wrong passwords that one address may send in ten minutes (docs/security.md ASVS 6.3.1)


@pytest.fixture(scope="module")
def behind_a_proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A running `ridedash up` that trusts one proxy."""
    with running(tmp_path_factory.mktemp("up"), RIDEDASH_TRUSTED_PROXIES="1") as made:
        yield made


def _sign_in(made: Running, headers: dict[str, str], name: str, password: str) -> httpx.Response:
    with httpx.Client(
        base_url=made.url,
        headers=headers | {"Accept": "text/html"},
        trust_env=False,
        timeout=ANSWERS_S,
    ) as client:
        page = client.get("/sign-in").text
        found = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', page)
        assert found
        return client.post(
            "/sign-in", data={"name": name, "password": password, "csrf_token": found[1]}
        )


def test_wrong_passwords_of_one_address_behind_the_proxy_lock_out_no_other_address(
    behind_a_proxy: Running,
) -> None:
    refused = [
        _sign_in(behind_a_proxy, ATTACKER, f"Nobody {n}", "a wrong password").status_code
        for n in range(TRIES + 1)
    ]
    assert refused[-1] == 429  # the address of the guesser is refused
    welcome = _sign_in(behind_a_proxy, COLLEAGUE, behind_a_proxy.name, behind_a_proxy.password)
    assert welcome.status_code == 303


def test_metrics_are_refused_to_clients_behind_the_proxy(behind_a_proxy: Running) -> None:
    url = behind_a_proxy.url + "/metrics"
    assert get(url, COLLEAGUE).status_code == 404
    assert get(url).status_code == 200  # from this machine


def test_metrics_are_refused_to_clients_behind_a_proxy_that_is_not_trusted(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with running(tmp_path_factory.mktemp("untrusted")) as made:
        url = made.url + "/metrics"
        assert get(url, COLLEAGUE).status_code == 404


def test_a_demo_on_another_service_does_not_say_that_its_rides_are_not_real(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    port = free_port()  # where a tunnel to a real service could begin
    with running(
        tmp_path_factory.mktemp("tunnel"), RIDEDASH_SERVICE_URL=f"http://127.0.0.1:{port}"
    ) as made:
        assert made.sandbox_url == ""
        page = get(made.url + "/sign-in").text
        assert "no real rides" not in page
        assert "Demo on a service that is not our sandbox: rides may be real" in page
        guest = get(made.url + "/t/unknown-link").text
        assert "rides may be real" in guest


def _keep_alive(address: tuple[str, int]) -> socket.socket:
    """A keep-alive connection that has had one answer."""
    made = socket.create_connection(address, timeout=ANSWERS_S)
    made.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    assert made.recv(65536).startswith(b"HTTP/1.1 200")
    return made


def test_the_site_answers_beside_two_hundred_idle_connections(behind_a_proxy: Running) -> None:
    parts = urlsplit(behind_a_proxy.url)
    address = parts.hostname or "", parts.port or 0
    with contextlib.ExitStack() as stack:
        for _ in range(IDLE):
            stack.enter_context(_keep_alive(address))
        answer = httpx.get(behind_a_proxy.url + "/sign-in", trust_env=False, timeout=ANSWERS_S)
        assert answer.status_code == 200
