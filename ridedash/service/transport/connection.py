"""A network whose every step gets only the time that is left: httpx itself has no total deadline.

The pool's timeouts count from each read anew, so a peer that drips one byte at a time would hold a
thread for ever. Here each connect, handshake, read and write asks the current call how much time
remains.
"""

import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from queue import Empty, SimpleQueue
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

import httpcore

WRITE_STEP: Final = 4096  # bytes; the time left is looked at between steps
SocketOption = (
    tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]
)


class Call:
    """The time of one call, and whether a byte of its request may have left.

    Durations are monotonic.
    """

    def __init__(self, connect_s: float, total_s: float) -> None:
        started = time.monotonic()
        self._connect_by = started + min(connect_s, total_s)
        self._end = started + total_s
        self.wrote = False

    def left(self) -> float:
        """Seconds until the deadline."""
        return self._end - time.monotonic()

    def connect_left(self) -> float:
        """Seconds until the connection must stand."""
        return self._connect_by - time.monotonic()


# A pooled connection serves one call after another, so its stream can't hold the call; the thread's
# context can.
_current: ContextVar[Call | None] = ContextVar("current_call", default=None)


@contextmanager
def running(call: Call) -> Iterator[Call]:
    """Make a call the one whose time counts in this thread."""
    token = _current.set(call)
    try:
        yield call
    finally:
        _current.reset(token)


class DeadlineStream(httpcore.NetworkStream):
    """A network stream under the deadline of the current call."""

    def __init__(self, inner: httpcore.NetworkStream) -> None:
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read once, or raise ReadTimeout when the call's time is up."""
        call = _current.get()
        left = timeout if call is None else call.left()
        if left is not None and left <= 0:
            raise httpcore.ReadTimeout("deadline")
        return self._inner.read(max_bytes, left)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Write all, or raise WriteTimeout when the call's time is up.

        Marks the call as sent first.
        """
        call = _current.get()
        for start in range(0, len(buffer), WRITE_STEP):
            left = timeout if call is None else call.left()
            if left is not None and left <= 0:
                raise httpcore.WriteTimeout("deadline")
            if call is not None:
                call.wrote = True
            self._inner.write(buffer[start : start + WRITE_STEP], left)

    def close(self) -> None:
        """Close the socket."""
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        """Shake hands within the time for connecting; Python bounds the handshake as a whole."""
        call = _current.get()
        left = timeout if call is None else call.connect_left()
        if left is not None and left <= 0:
            self._inner.close()
            raise httpcore.ConnectTimeout("deadline")
        return DeadlineStream(self._inner.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> Any:
        """As of the stream within."""
        return self._inner.get_extra_info(info)


LookUp = Callable[[str, int], list[str] | None]


class DeadlineBackend(httpcore.NetworkBackend):
    """Opens TCP connections within the time for connecting, name lookup included."""

    def __init__(self, look_up: LookUp | None = None) -> None:
        self._inner = httpcore.SyncBackend()
        self._look_up = look_up or addresses_of

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SocketOption] | None = None,
    ) -> httpcore.NetworkStream:
        """A connection to the first address that takes it; each gets its share of the time left."""
        call = _current.get() or Call(timeout or 60, timeout or 60)
        addresses = _addresses(host, port, call, self._look_up)
        failure: Exception = httpcore.ConnectError("no address")
        for index, address in enumerate(addresses):
            share = call.connect_left() / (len(addresses) - index)
            if share <= 0:
                raise httpcore.ConnectTimeout("deadline")
            try:
                return DeadlineStream(
                    self._inner.connect_tcp(
                        address, port, share, local_address, socket_options or []
                    )
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as exc:
                failure = exc
        raise failure


def _addresses(host: str, port: int, call: Call, look_up: LookUp) -> list[str]:
    """The addresses of a host. A resolver can't be interrupted, so it works in a thread that may be
    left behind.
    """
    try:
        return [str(ipaddress.ip_address(host))]
    except ValueError:
        pass
    found: SimpleQueue[list[str] | None] = SimpleQueue()
    threading.Thread(
        target=lambda: found.put(look_up(host, port)), daemon=True, name="name-lookup"
    ).start()
    try:
        addresses = found.get(timeout=max(0.001, call.connect_left()))
    except Empty:
        raise httpcore.ConnectTimeout("name lookup") from None
    if not addresses:
        raise httpcore.ConnectError("name lookup")
    return addresses


def addresses_of(host: str, port: int) -> list[str] | None:
    """The addresses that the machine's resolver gives, in its order; None when it knows none."""
    try:
        answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return None
    return list(dict.fromkeys(str(answer[4][0]) for answer in answers))


# shorter than any server's idle limit, so that a kept connection is rarely a dead one
IDLE_S: Final = 5.0
_PORTS: Final = {"http": 80, "https": 443}


class Line:
    """One connection, opened anew when it can't be used again.

    Never retries; for one call at a time.
    """

    def __init__(self, tls: ssl.SSLContext) -> None:
        self._tls, self._network = tls, DeadlineBackend()
        self._connection: httpcore.HTTPConnection | None = None

    def send(self, request: httpcore.Request) -> httpcore.Response:
        """Send one request; its answer's body is to be read, and it is to be closed. Errors are
        httpcore's.
        """
        return self._ready(request.url.origin).handle_request(request)

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()

    def _ready(self, origin: httpcore.Origin) -> httpcore.HTTPConnection:
        kept = self._connection
        if (
            kept is not None
            and kept.is_available()
            and kept.can_handle_request(origin)
            and not kept.has_expired()
        ):
            return kept
        self.close()
        self._connection = httpcore.HTTPConnection(
            origin,
            ssl_context=self._tls,
            keepalive_expiry=IDLE_S,
            retries=0,
            network_backend=self._network,
        )
        return self._connection


def question(
    url: str,
    headers: Mapping[str, str],
    params: Mapping[str, str] | None,
    extensions: dict[str, Any],
) -> httpcore.Request:
    """A GET without a body. Raises ValueError for what can't be said in a header."""
    scheme, host, port, path, named = _address(url)
    said = [(b"Host", named)]
    said += [(name.encode("ascii"), value.encode("ascii")) for name, value in headers.items()]
    target = path if params is None else path + b"?" + urlencode(params).encode("ascii")
    address = httpcore.URL(scheme=scheme, host=host, port=port, target=target)
    return httpcore.Request("GET", address, headers=said, content=(), extensions=extensions)


def is_plain(url: str) -> bool:
    """Whether an address is one that `question` can read: of our own settings and paths, nearly all
    are.
    """
    return url.isascii() and url.isprintable() and not any(char in url for char in ' "<>\\^`{|}?#@')


@lru_cache(maxsize=64)
def _address(url: str) -> tuple[bytes, bytes, int | None, bytes, bytes]:
    """Scheme, host, port, path, and the host as its header says it. Reading one costs a sixth of a
    poll.
    """
    parts = urlsplit(url)
    host = (parts.hostname or "").encode("ascii")
    named = b"[%s]" % host if b":" in host else host
    port = None if parts.port in (None, _PORTS.get(parts.scheme)) else parts.port
    if port is not None:
        named += b":%d" % port
    return parts.scheme.encode("ascii"), host, port, (parts.path or "/").encode("ascii"), named
