"""How calls leave this machine: a private CA, and a proxy that gives tunnels for https."""

import ssl

import httpcore
import pytest

from ridedash.service.errors import NoAnswer
from ridedash.service.responses import result_of_error
from ridedash.service.throttle.traffic import Result
from ridedash.service.transport import egress as egress_module
from ridedash.service.transport.egress import Egress, open_tunnel
from ridedash.service.transport.http import Http, Request
from tests.processes.fleet import free_port
from tests.service.servers import answer, serving
from tests.service.tls_servers import NAME, private_certificate, tls_server, tunnels_to

TOKEN = "canary-user-token-9f3a"
LONG_S = 30.0  # an upper bound on a busy machine


def call(egress, url, **limits):
    with Http(egress=egress) as http:
        given = {"total_s": LONG_S, "connect_s": LONG_S} | limits
        return http.call(Request("GET", url, headers={"Authorization": TOKEN}, **given))


def failed(egress, url, **limits):
    with pytest.raises(NoAnswer) as caught:
        call(egress, url, **limits)
    assert TOKEN not in str(caught.value) + caught.value.cause
    return caught.value


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    return private_certificate(tmp_path_factory.mktemp("ca"))


def test_a_private_ca_is_trusted_when_its_file_is_named_and_else_the_cause_is_given(certificate):
    with tls_server(certificate) as server:
        url = f"https://127.0.0.1:{server.port}/x"
        error = failed(Egress(), url)
        assert (error.sent, error.why) == (False, "ConnectError")
        assert error.cause == "certificate verify failed: self-signed certificate"
        assert call(Egress(ca_file=str(certificate)), url).status == 200


def test_a_refused_connection_has_its_cause():
    assert failed(Egress(), f"http://127.0.0.1:{free_port()}").cause == "Connection refused"


def test_https_goes_through_the_proxy_which_sees_the_name_and_no_call(certificate):
    with tls_server(certificate, keep=True) as server, tunnels_to(server.port) as (proxy, heads):
        named = proxy.replace("//", "//desk:p%40ss@")
        egress = Egress(str(certificate), named)
        with Http(egress=egress) as http:
            for fresh in (False, False, True):
                got = http.call(
                    Request(
                        "GET",
                        f"https://{NAME}:8443/rides?q=1",
                        LONG_S,
                        headers={"Authorization": TOKEN},
                        connect_s=LONG_S,
                        fresh=fresh,
                    )
                )
                assert got.status == 200
    assert len(server.requests) == 3
    assert all(TOKEN.encode() in request for request in server.requests)
    assert b"GET /rides?q=1 " in server.requests[0]
    assert len(heads) == 2  # a reused connection goes on through its tunnel
    for head in heads:
        assert head.startswith(f"CONNECT {NAME}:8443 HTTP/1.1\r\n".encode())
        assert b"Proxy-Authorization: Basic ZGVzazpwQHNz\r\n" in head
        assert TOKEN.encode() not in head


def test_a_proxy_that_refuses_is_the_cause_and_nothing_was_sent(certificate):
    with serving(lambda line, stop: line.sendall(answer(b"", status="407 No"))) as proxy:
        error = failed(Egress(proxy=proxy.url), f"https://{NAME}")
    assert (error.sent, error.why, error.cause) == (
        False,
        "ProxyError",
        "the proxy answers HTTP 407",
    )
    assert result_of_error(error) is Result.FAILED  # like a service that can't be reached


def test_a_proxy_that_hangs_up_or_speaks_nonsense_proves_that_nothing_was_sent():
    for nonsense in (b"", b"no HTTP at all\r\n\r\n"):
        with serving(lambda line, stop, sent=nonsense: line.sendall(sent)) as proxy:
            error = failed(Egress(proxy=proxy.url), f"https://{NAME}")
        assert (error.sent, error.why) == (False, "ProxyError")


def test_a_silent_proxy_ends_with_the_time_for_connecting():
    with serving(lambda line, stop: stop.wait(LONG_S)) as proxy:
        error = failed(Egress(proxy=proxy.url), f"https://{NAME}", connect_s=0.3)
    assert (error.sent, error.why) == (False, "ConnectTimeout")
    assert error.cause == "the proxy does not answer"


class Untrusted(httpcore.NetworkStream):
    """A connection to a proxy whose certificate is not trusted."""

    closed = 0

    def start_tls(self, ssl_context, server_hostname=None, timeout=None):
        raise httpcore.ConnectError("certificate verify failed")

    def close(self):
        self.closed += 1


def test_no_connection_to_a_proxy_that_is_not_trusted_stays_open():
    stream, egress = Untrusted(), Egress(proxy="https://proxy.example")
    with pytest.raises(httpcore.ConnectError):
        open_tunnel(stream, egress, ssl.create_default_context(), (NAME, 443))
    assert stream.closed == 1


def test_a_service_that_hangs_up_behind_the_proxy_may_have_got_the_call(certificate):
    with (
        tls_server(certificate, hang_up=True) as server,
        tunnels_to(server.port) as (proxy, _),
    ):
        assert failed(Egress(str(certificate), proxy), f"https://{NAME}").sent
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("host", "through"),
    [
        ("rides.example", True),
        ("localhost", False),
        ("127.0.0.1", False),
        ("127.8.0.1", False),
        ("::1", False),
        ("geo.hotel.example", False),
        ("hotel.example", False),
        ("Hotel.Example.", False),
        ("grandhotel.example", True),
        ("10.0.0.7", False),
    ],
)
def test_this_machine_and_the_listed_hosts_are_called_directly(host, through):
    egress = Egress(proxy="http://proxy.example:3128", direct=("hotel.example", "10.0.0.7"))
    assert egress.goes_through_proxy(host) is through
    assert not Egress().goes_through_proxy(host)


def test_the_password_of_a_proxy_is_in_no_text_of_its_settings():
    assert "secret" not in repr(Egress(proxy="http://desk:secret@proxy.example:3128"))


@pytest.mark.parametrize(
    ("proxy", "address"),
    [
        ("http://proxy.example", ("proxy.example", 80)),
        ("https://proxy.example", ("proxy.example", 443)),
        ("http://desk:pw@proxy.example:3128", ("proxy.example", 3128)),
    ],
)
def test_a_proxy_is_at_the_usual_port_unless_it_names_one(proxy, address):
    assert Egress(proxy=proxy).proxy_address == address


def test_a_name_without_a_password_is_shown_to_the_proxy_and_nothing_without_a_name():
    assert Egress(proxy="http://proxy.example").proxy_headers == []
    [(name, value)] = Egress(proxy="http://desk@proxy.example").proxy_headers
    assert (name, value) == (b"Proxy-Authorization", b"Basic ZGVzazo=")


class Line(httpcore.NetworkStream):
    """A working connection to a proxy, with or without TLS."""

    def __init__(self):
        self.closed, self.named = 0, []

    def start_tls(self, ssl_context, server_hostname=None, timeout=None):
        self.named.append(server_hostname)
        return self

    def close(self):
        self.closed += 1


@pytest.mark.parametrize(
    ("outcome", "error"),
    [
        (httpcore.ReadTimeout("slow"), httpcore.ConnectTimeout),
        (httpcore.ReadError("torn"), httpcore.ProxyError),
        (httpcore.Response(407), httpcore.ProxyError),
        (httpcore.Response(300), httpcore.ProxyError),
        (httpcore.Response(199), httpcore.ProxyError),
    ],
)
def test_a_line_without_a_tunnel_is_closed(monkeypatch, outcome, error):
    def connect(_stream, _egress, _target):
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    monkeypatch.setattr(egress_module, "_connect", connect)
    line = Line()
    with pytest.raises(error):
        open_tunnel(line, Egress(proxy="http://proxy.example"), None, (NAME, 443))
    assert (line.closed, line.named) == (1, [])


@pytest.mark.parametrize("status", [200, 299])
def test_a_tunnel_is_requested_by_name_or_by_address(monkeypatch, status):
    targets, tunnel = [], Line()

    def connect(_stream, _egress, target):
        targets.append(target)
        return httpcore.Response(status, extensions={"network_stream": tunnel})

    monkeypatch.setattr(egress_module, "_connect", connect)
    line, egress = Line(), Egress(proxy="https://proxy.example")
    for host in (NAME, "2001:db8::7"):
        assert open_tunnel(line, egress, None, (host, 8443)) is tunnel
    assert targets == [f"{NAME}:8443", "[2001:db8::7]:8443"]
    assert (line.closed, line.named) == (0, ["proxy.example"] * 2)
