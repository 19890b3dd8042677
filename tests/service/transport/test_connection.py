"""The time for connecting covers name lookup and all addresses; every read and write asks what is
left.
"""

import ssl
import threading

import httpcore
import pytest

from ridedash.service.transport.connection import Deadline, DeadlineBackend, DeadlineStream, active
from ridedash.service.transport.egress import Egress
from tests.service.servers import answer, serving

LONG_S = 60.0  # an upper bound on a busy machine


def connect(look_up, port=1, connect_s=LONG_S):
    with active(Deadline(connect_s, LONG_S)):
        return DeadlineBackend(look_up).connect_tcp("rides.example", port)


def test_a_resolver_that_hangs_is_left_behind():
    release = threading.Event()
    try:
        # its own end, much later, would be a ConnectError
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
    asked = []
    egress = Egress(proxy="http://proxy.example:3128")
    backend = DeadlineBackend(
        lambda host, port: asked.append((host, port)), egress, ssl.create_default_context()
    )
    for host in ("rides.example", "localhost"):
        with active(Deadline(LONG_S, LONG_S)), pytest.raises(httpcore.ConnectError):
            backend.connect_tcp(host, 443)
    assert asked == [("proxy.example", 3128), ("localhost", 443)]


class FakeStream(httpcore.NetworkStream):
    """Takes whatever is written and says how much time it was given."""

    def __init__(self):
        self.written, self.given = [], []

    def write(self, buffer, timeout=None):
        self.written.append(buffer)
        self.given.append(timeout)


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
