"""Requests that two servers could read differently are refused, with all that follows them."""

import contextlib
import re
import socket
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from waitress.adjustments import Adjustments
from waitress.server import BaseWSGIServer

from ridedash.cli.http_requests import HEADERS, IDLE_S, REQUEST_S, Channel, StrictParser
from ridedash.cli.http_server import HEADER_BYTES, listen, make_server
from tests.sandbox.serving import run_until_closed, stop

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

ANSWERS_S = 30.0  # an upper bound on a busy machine
CPU_S = 1.0  # a header is read in milliseconds; without the guard some took many seconds
NEXT = b"GET /next HTTP/1.1\r\nHost: desk\r\nConnection: close\r\n\r\n"
CHUNKS = b"5\r\nhello\r\n0\r\n\r\n"


def _echo(environ: "WSGIEnvironment", start: "StartResponse") -> list[bytes]:
    """Method, path and the length of the body; below /early/ the body stays unread."""
    path = environ["PATH_INFO"]
    early = path.startswith("/early/")
    size = 0 if early else len(environ["wsgi.input"].read())
    text = f"{environ['REQUEST_METHOD']} {path} {size}\n".encode()
    start("413 Too Large" if early else "200 OK", [("Content-Length", str(len(text)))])
    return [text]


@pytest.fixture(scope="module")
def address() -> Iterator[tuple[str, int]]:
    """Where the server of `ridedash up` listens, with a small application."""
    listening = listen("127.0.0.1", 0, "RIDEDASH_PORT")
    server = make_server(_echo, listening, 2, {"/photo": 3_000_000})
    server.adj.asyncore_loop_timeout = 0.05  # seconds until the server notices that it was closed
    thread = threading.Thread(target=run_until_closed, args=(server,))
    thread.start()
    yield listening.getsockname()
    stop(server, thread, server._map)
    server.task_dispatcher.shutdown()


def _whole_answer(address: tuple[str, int], sent: bytes) -> bytes:
    """All that the server answers until it closes the connection."""
    got = b""
    with socket.create_connection(address, timeout=ANSWERS_S) as line:
        with contextlib.suppress(ConnectionError):  # the server may close before it has read all
            line.sendall(sent)
        with contextlib.suppress(ConnectionError):
            while data := line.recv(65536):
                got += data
    return got


def _request(first: bytes, *headers: bytes, body: bytes = b"") -> bytes:
    return b"\r\n".join([first, b"Host: desk", *headers, b"", body])


def _post(*headers: bytes, body: bytes = b"hello", version: bytes = b"1.1") -> bytes:
    return _request(b"POST / HTTP/" + version, *headers, body=body)


CHUNKED = b"Transfer-Encoding: chunked"
LENGTH = b"Content-Length: 5"
REFUSED: dict[str, tuple[int, bytes]] = {
    "length and chunks": (411, _post(LENGTH, CHUNKED, body=CHUNKS)),
    "chunks": (411, _post(CHUNKED, body=CHUNKS)),
    "chunks with a trailer": (411, _post(CHUNKED, body=CHUNKS[:-2] + b"Host: evil\r\n\r\n")),
    "chunks in HTTP/1.0": (
        411,
        _post(b"Connection: keep-alive", CHUNKED, body=CHUNKS, version=b"1.0"),
    ),
    "chunks, written strangely": (411, _post(LENGTH, b"tRANSFER-eNCODING:\t,chunked")),
    "another coding": (411, _post(LENGTH, b"Transfer-Encoding: identity")),
    "a blank before the colon": (411, _post(LENGTH, b"Transfer-Encoding : chunked")),
    "a blank before another colon": (400, _post(b"Content-Length : 5")),
    "two lengths": (400, _post(LENGTH, b"Content-Length: 6")),
    "the same length twice": (400, _post(LENGTH, LENGTH)),
    "a list of lengths": (400, _post(b"Content-Length: 5, 5")),
    "a signed length": (400, _post(b"Content-Length: +5")),
    "a hexadecimal length": (400, _post(b"Content-Length: 0x5")),
    "no length": (400, _post(b"Content-Length:")),
    "a length of thousands of digits": (400, _post(b"Content-Length: " + b"9" * 5000)),
    "a body that is too long": (413, _post(b"Content-Length: 2000000")),
    "one that is too long for an upload": (
        413,
        _request(b"POST /photo HTTP/1.1", b"Content-Length: 3000000"),
    ),
    "a folded header": (400, _post(b"X-A: b", b" Content-Length: 5")),
    "a first header that is folded": (400, b"GET / HTTP/1.1\r\n Host: desk\r\n\r\n"),
    "bare line feeds": (400, b"GET / HTTP/1.1\nHost: desk\n\n"),
    "a bare line feed in a header": (400, _post(b"X-A: b\nContent-Length: 5")),
    "a bare carriage return": (400, _post(b"X-A: b\rContent-Length: 5")),
    "a NUL in a header": (400, _post(LENGTH, b"X-A: \0")),
    "no version": (400, _request(b"GET /")),
    "a version to come": (400, _post(b"Connection: keep-alive", LENGTH, version=b"1.2")),
    "a method in small letters": (400, _request(b"get / HTTP/1.1")),
    "two blanks": (400, _request(b"GET  / HTTP/1.1")),
    "no slash": (400, _request(b"GET next HTTP/1.1")),
    "a tunnel": (400, _request(b"CONNECT desk:443 HTTP/1.1")),
    "an address that is none": (400, _request(b"GET http://[ HTTP/1.1")),
    "another host than Host": (400, _request(b"GET http://evil/ HTTP/1.1")),
    "a header of 100 kB": (431, _request(b"GET / HTTP/1.1", b"X-A: " + b"a" * 100_000)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_request_of_two_meanings_is_refused_with_all_that_follows(
    address: tuple[str, int], name: str
) -> None:
    status, sent = REFUSED[name]
    answer = _whole_answer(address, sent + NEXT)
    assert answer.startswith((b"HTTP/1.1 %d " % status, b"HTTP/1.0 %d " % status))
    assert answer.count(b"HTTP/1.") == 1
    head = answer.partition(b"\r\n\r\n")[0].decode()
    assert all(f"{name}: {value}" in head for name, value in HEADERS)
    assert "Connection: close" in head


@pytest.mark.parametrize(
    "first",
    [
        _post(LENGTH),
        _request(b"POST /early/ HTTP/1.1", b"Content-Length: %d" % len(NEXT), body=NEXT),
        _request(b"POST /photo HTTP/1.1", b"Content-Length: 2000000", body=b"x" * 2_000_000),
        _request(b"GET http://Desk/ HTTP/1.1"),
        _request(b"GET / HTTP/1.0", b"Connection: keep-alive"),
        _request(b"GET / HTTP/1.1", b"Expect: 100-continue"),
        _request(b"GET / HTTP/1.1", b"X-A:  \t padded \t ", b"X-B:"),
    ],
    ids=["a form", "refused unread", "an upload", "whole address", "1.0", "expects", "padded"],
)
def test_a_request_of_one_meaning_is_served_and_so_is_the_next_one(
    address: tuple[str, int], first: bytes
) -> None:
    answer = _whole_answer(address, first + NEXT)
    statuses = re.findall(rb"HTTP/1\.[01] ([0-9]+) ", answer)
    assert statuses == [b"413" if b"/early/" in first else b"200", b"200"]
    assert answer.endswith(b"GET /next 0\n")


@pytest.mark.parametrize(
    "sent",
    [
        _request(b"GET / HTTP/1.1", b"X-A:" + b" " * 30_000 + b"b", body=b""),
        _request(b"GET / HTTP/1.1", b"X-A:" + b" " * 30_000 + b"\0", body=b""),
        _request(b"GET / HTTP/1.1", b"X-A: b", b" " * 30_000 + b"c", body=b""),
        _request(b"GET a://" + b"1" * 30_000 + b" x", body=b""),
        _request(b"GET / HTTP/1.1", b"X-A:" + b" b" * 15_000 + b"\0", body=b""),
    ],
    ids=["padded", "padded and broken", "folded", "address", "words"],
)
def test_no_header_keeps_the_server_busy(sent: bytes) -> None:
    assert len(sent) < HEADER_BYTES
    adjustments = Adjustments()
    adjustments.uploads = {}
    parser = StrictParser(adjustments)
    before = time.thread_time()
    parser.received(sent)
    assert parser.completed
    assert time.thread_time() - before < CPU_S


@pytest.mark.parametrize(("late_s", "closed"), [(REQUEST_S - 5, False), (REQUEST_S + 1, True)])
def test_a_request_that_comes_byte_after_byte_is_given_up(late_s: int, closed: bool) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        server = SimpleNamespace(adj=Adjustments(channel_timeout=IDLE_S), active_channels={})
        channel = Channel(server, ours, ("", 0), server.adj, {})
        theirs.sendall(b"GE")
        channel.handle_read()
        channel.request.began -= late_s
        theirs.sendall(b"T")
        channel.handle_read()
        BaseWSGIServer.maintenance(server, time.time())
        assert channel.will_close is closed
        channel.close()
