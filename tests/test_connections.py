"""The guard over the tests' connections notices ports that no test opened."""

import socket

import pytest

from tests import connections


@pytest.mark.parametrize(
    ("address", "allowed"),
    [
        (("127.0.0.1", connections.OWN.start), True),
        (("::1", connections.OWN.start, 0, 0), True),
        (("localhost", connections.OWN.start), True),
        (("127.0.0.1", 9), True),
        ("/tmp/server.sock", True),
        (("127.0.0.1", 8001), False),
        (("127.0.0.1", 5432), False),
        (("192.0.2.1", connections.OWN.start), False),
        (("rides.example", 443), False),
    ],
)
def test_a_test_connects_only_to_ports_that_it_may_have_opened(
    address: object, allowed: bool
) -> None:
    assert connections.is_of_tests(address) is allowed


def test_a_connection_to_a_port_of_others_is_seen_and_one_to_an_own_port_is_not() -> None:
    with socket.create_server(("127.0.0.1", 0)) as own, socket.socket() as asking:
        asking.connect(own.getsockname())
    assert connections.seen == []
    with socket.socket() as asking, pytest.raises(OSError):
        asking.connect(("127.0.0.1", 7))
    assert connections.seen == [("127.0.0.1", 7)]
    connections.seen.clear()
