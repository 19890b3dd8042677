"""The time to connect covers the lookup and all addresses; reads and writes get what is left."""

import ssl
import threading

import httpcore
import pytest

from ridedash.service.transport.connection import (
    Connection,
    Deadline,
    DeadlineBackend,
    DeadlineStream,
    active,
    resolve,
    simple_get,
)
from ridedash.service.transport.egress import Egress
from tests.service.servers import answer, serving

LONG_S = 60.0  # an upper bound on a busy machine


def connect(look_up, port=1, connect_s=LONG_S):
    with active(Deadline(connect_s, LONG_S)):
        return DeadlineBackend(look_up).connect_tcp("rides.example", port)


def test_a_resolver_that_hangs_is_left_behind():
    release = threading.Event()
    try:
        # if the lookup ended by itself, much later, this would be a ConnectError
        with pytest.raises(httpcore.ConnectTimeout):
            connect(lambda host, port: release.wait(LONG_S) and None, connect_s=0.3)
    finally:
        release.set()


@pytest.mark.parametrize("found", [None, []])
def test_a_name_without_an_address_is_no_connection(found):
    with pytest.raises(httpcore.ConnectError):
        connect(lambda host, port: found)


def test_the_next_address_is_tried_when_one_refuses():
    with serving(lambda stream, stop: stream.sendall(answer(b"{}")), read_first=False) as server:
        stream = connect(lambda host, port: ["127.0.0.2", "127.0.0.1"], server.port)
        with active(Deadline(LONG_S, LONG_S)):
            assert stream.read(100).startswith(b"HTTP/1.1 200")
        stream.close()


def test_a_name_that_the_proxy_leads_to_is_not_looked_up_here():
    opened = []
    egress = Egress(proxy="http://proxy.example:3128")
    backend = DeadlineBackend(
        lambda host, port: opened.append((host, port)), egress, ssl.create_default_context()
    )
    for host in ("rides.example", "localhost"):
        with active(Deadline(LONG_S, LONG_S)), pytest.raises(httpcore.ConnectError):
            backend.connect_tcp(host, 443)
    assert opened == [("proxy.example", 3128), ("localhost", 443)]


class FakeStream(httpcore.NetworkStream):
    """Accepts whatever is written, and records how much time each step was given."""

    def __init__(self):
        self.written, self.given, self.closed = [], [], False

    def read(self, max_bytes, timeout=None):
        self.given.append(timeout)
        return b"x" * max_bytes

    def write(self, buffer, timeout=None):
        self.written.append(buffer)
        self.given.append(timeout)

    def start_tls(self, ssl_context, server_hostname=None, timeout=None):
        self.given.append(timeout)
        return self

    def close(self):
        self.closed = True


class Left(Deadline):
    """A deadline that always has `seconds` left."""

    def __init__(self, seconds):
        super().__init__(LONG_S, LONG_S)
        self.seconds = seconds

    def left(self):
        return self.seconds

    connect_left = left


STEPS = {
    "read": (lambda stream: stream.read(3), httpcore.ReadTimeout),
    "write": (lambda stream: stream.write(b"x"), httpcore.WriteTimeout),
    "handshake": (
        lambda stream: stream.start_tls(ssl.create_default_context()),
        httpcore.ConnectTimeout,
    ),
}


@pytest.mark.parametrize("step", STEPS)
def test_a_call_uses_its_time_to_the_end_and_no_longer(step):
    stream, (act, error) = FakeStream(), STEPS[step]
    with active(Left(0.25)):
        act(DeadlineStream(stream))
    with active(Left(0.0)) as late, pytest.raises(error):
        act(DeadlineStream(stream))
    assert (stream.given, late.wrote) == ([0.25], False)
    assert stream.closed is (step == "handshake"), "no one else would close it"


class FakeNetwork:
    """Refuses all addresses but `good`, and records how much time each was given."""

    def __init__(self, good):
        self.good, self.given = good, []

    def connect_tcp(self, address, port, timeout, *_options):
        self.given.append((address, timeout))
        if address != self.good:
            raise httpcore.ConnectTimeout("slow")
        return FakeStream()


def test_each_address_of_a_name_gets_its_share_of_the_time():
    known = ["192.0.2.1", "192.0.2.2", "192.0.2.3"]
    backend = DeadlineBackend(lambda host, port: known)
    backend._inner = network = FakeNetwork("192.0.2.3")
    with active(Left(0.6)):
        assert backend.connect_tcp("rides.example", 443).read(1) == b"x"
    assert network.given == [(known[0], 0.6 / 3), (known[1], 0.6 / 2), (known[2], 0.6)]
    with active(Left(0.0)), pytest.raises(httpcore.ConnectTimeout, match="deadline"):
        backend.connect_tcp("rides.example", 443)
    with active(Left(0.6)), pytest.raises(httpcore.ConnectTimeout, match="slow"):
        backend.connect_tcp("192.0.2.9", 443)
    assert network.given[3:] == [("192.0.2.9", 0.6)], "an address needs no look-up"


def test_a_connection_that_does_not_open_is_tried_once():
    connection = Connection(ssl.create_default_context())
    connection._network._inner = network = FakeNetwork("")
    request = simple_get("http://192.0.2.1/v1/products", {}, None, {})
    with active(Deadline(LONG_S, LONG_S)), pytest.raises(httpcore.ConnectTimeout):
        connection.send(request)
    assert len(network.given) == 1


def test_the_machine_looks_up_each_address_once_and_no_name_that_is_none():
    assert resolve("127.0.0.1", 80) == ["127.0.0.1"]
    assert resolve("a" * 64 + ".example", 80) is None


def test_a_long_request_is_written_in_steps_that_share_the_time():
    stream, deadline = FakeStream(), Deadline(LONG_S, LONG_S)
    with active(deadline):
        assert not deadline.wrote
        DeadlineStream(stream).write(b"x" * 10_000, 99)
    assert deadline.wrote
    assert [len(part) for part in stream.written] == [4096, 4096, 1808]
    assert all(0 < given <= LONG_S for given in stream.given)


def test_nothing_is_written_once_the_time_is_up():
    stream, deadline = FakeStream(), Deadline(0, 0)
    with active(deadline), pytest.raises(httpcore.WriteTimeout):
        DeadlineStream(stream).write(b"x", 99)
    assert (stream.written, deadline.wrote) == ([], False)


def test_each_thread_has_its_own_call():
    calls = {}

    def work(name):
        with active(Deadline(LONG_S, LONG_S)) as deadline:
            DeadlineStream(FakeStream()).write(b"x" if name == "writes" else b"")
            calls[name] = deadline

    threads = [threading.Thread(target=work, args=(name,)) for name in ("writes", "waits")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (calls["writes"].wrote, calls["waits"].wrote) == (True, False)
