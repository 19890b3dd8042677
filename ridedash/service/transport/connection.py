"""One TCP connection to the service under a total deadline, which httpx itself does not have.

The timeouts of httpx begin anew with each read, so a server that sends one byte at a time would
hold a thread without end. Here every connect, handshake, read and write asks the active deadline
how much time is left.

A connection belongs to one call at a time, outside a pool: a pool looks at each of its connections
at every call and reads a response through several layers, and that is most of the cost of a poll.
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

from ridedash.service.transport.egress import DIRECT, PORTS, Egress, open_tunnel

# shorter than any server's idle limit, so that a cached connection is rarely dead
IDLE_S: Final = 5.0
WRITE_STEP: Final = 4096  # bytes; the deadline is checked between steps

SocketOption = (
    tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]
)
Resolver = Callable[[str, int], list[str] | None]


class Deadline:
    """The time limit of one call, monotonic, and whether a byte of its request may have left."""

    def __init__(self, connect_s: float, total_s: float) -> None:
        started = time.monotonic()
        self._connect_by = started + min(connect_s, total_s)
        self._end = started + total_s
        self.wrote = False

    def left(self) -> float:
        """Seconds until the call must be over."""
        return self._end - time.monotonic()

    def connect_left(self) -> float:
        """Seconds until the connection must be open."""
        return self._connect_by - time.monotonic()


# A cached connection serves one call after another, so the deadline of a call can't be stored in
# its stream. It is stored in the context of the calling thread; without a deadline nothing is sent.
_active: ContextVar[Deadline] = ContextVar("active_deadline")


@contextmanager
def active(deadline: Deadline) -> Iterator[Deadline]:
    """Make a deadline the one that limits the network operations of this thread."""
    token = _active.set(deadline)
    try:
        yield deadline
    finally:
        _active.reset(token)


class Connection:
    """A connection that is opened again when it can't be reused. It never retries a request."""

    def __init__(self, tls: ssl.SSLContext, egress: Egress = DIRECT) -> None:
        self._tls = tls
        self._network = DeadlineBackend(egress=egress, tls=tls)
        self._connection: httpcore.HTTPConnection | None = None

    def send(self, request: httpcore.Request) -> httpcore.Response:
        """Send one request.

        The caller reads the body and closes the response. Errors are httpcore's.
        """
        return self._ready(request.url.origin).handle_request(request)

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()

    def _ready(self, origin: httpcore.Origin) -> httpcore.HTTPConnection:
        cached = self._connection
        if (
            cached is not None
            and cached.is_available()
            and cached.can_handle_request(origin)
            and not cached.has_expired()
        ):
            return cached
        self.close()
        self._connection = httpcore.HTTPConnection(
            origin,
            ssl_context=self._tls,
            keepalive_expiry=IDLE_S,
            retries=0,
            network_backend=self._network,
        )
        return self._connection


def simple_get(
    url: str,
    headers: Mapping[str, str],
    params: Mapping[str, str] | None,
    extensions: dict[str, Any],
) -> httpcore.Request:
    """A GET request without a body. Raises ValueError for a header that is not ASCII.

    It skips httpx, whose request object costs more than the rest of a poll.
    """
    scheme, host, port, path, host_header = _address(url)
    raw_headers = [(b"Host", host_header)]
    raw_headers += [
        (name.encode("ascii"), value.encode("ascii")) for name, value in headers.items()
    ]
    if params is not None:
        path += b"?" + urlencode(params).encode("ascii")
    address = httpcore.URL(scheme=scheme, host=host, port=port, target=path)
    return httpcore.Request("GET", address, headers=raw_headers, content=(), extensions=extensions)


def is_simple(url: str) -> bool:
    """Whether `simple_get` can handle a URL: it can for nearly all of our settings and paths."""
    return url.isascii() and url.isprintable() and not any(char in url for char in ' "<>\\^`{|}?#@')


@lru_cache(maxsize=64)
def _address(url: str) -> tuple[bytes, bytes, int | None, bytes, bytes]:
    """Scheme, host, port, path and Host header. Parsing them costs a sixth of a poll."""
    parts = urlsplit(url)
    host = (parts.hostname or "").encode("ascii")
    host_header = b"[%s]" % host if b":" in host else host
    port = None if parts.port in (None, PORTS.get(parts.scheme)) else parts.port
    if port is not None:
        host_header += b":%d" % port
    path = (parts.path or "/").encode("ascii")
    return parts.scheme.encode("ascii"), host, port, path, host_header


class DeadlineBackend(httpcore.NetworkBackend):
    """Opens connections within the time for connecting, name resolution and proxy included.

    `tls` is for a proxy that is reached by https; without it no proxy is used. `timeout`: see
    DeadlineStream.
    """

    def __init__(
        self,
        resolver: Resolver | None = None,
        egress: Egress = DIRECT,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._inner = httpcore.SyncBackend()
        self._resolver = resolver or resolve
        self._egress = egress
        self._tls = tls

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002
        local_address: str | None = None,
        socket_options: Iterable[SocketOption] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to a host, or get a tunnel to it from its proxy."""
        deadline = _active.get()
        if self._tls is None or not self._egress.goes_through_proxy(host):
            return self._connect(host, port, deadline, (local_address, socket_options or []))
        # connecting has its own Deadline: bytes to the proxy don't mark the call as sent
        left = deadline.connect_left()
        with active(Deadline(left, left)) as connecting:
            to_proxy = *self._egress.proxy_address, connecting
            stream = self._connect(*to_proxy, (local_address, socket_options or []))
            return open_tunnel(stream, self._egress, self._tls, (host, port))

    def _connect(
        self,
        host: str,
        port: int,
        deadline: Deadline,
        options: tuple[str | None, Iterable[SocketOption]],
    ) -> httpcore.NetworkStream:
        """Connect to the first address that accepts; each gets its share of the remaining time."""
        addresses = _addresses(host, port, deadline, self._resolver)
        failure: Exception = httpcore.ConnectError("no address")
        for index, address in enumerate(addresses):
            share = deadline.connect_left() / (len(addresses) - index)
            if share <= 0:
                raise httpcore.ConnectTimeout("deadline")
            try:
                return DeadlineStream(self._inner.connect_tcp(address, port, share, *options))
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as exc:
                failure = exc
        raise failure


class DeadlineStream(httpcore.NetworkStream):
    """A network stream under the active deadline.

    The library's own timeouts (`timeout`) follow from the same deadline, and are not needed.
    """

    def __init__(self, inner: httpcore.NetworkStream) -> None:
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002
        """Read once. Raises ReadTimeout when the time is up."""
        left = _active.get().left()
        if left <= 0:
            raise httpcore.ReadTimeout("deadline")
        return self._inner.read(max_bytes, left)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        """Write the whole buffer.

        Raises WriteTimeout when the time is up. The call is marked as sent before its first byte.
        """
        deadline = _active.get()
        for start in range(0, len(buffer), WRITE_STEP):
            left = deadline.left()
            if left <= 0:
                raise httpcore.WriteTimeout("deadline")
            deadline.wrote = True
            self._inner.write(buffer[start : start + WRITE_STEP], left)

    def close(self) -> None:
        """Close the socket."""
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002
    ) -> httpcore.NetworkStream:
        """Make the TLS handshake within the time for connecting.

        Python applies this limit to the handshake as a whole.
        """
        left = _active.get().connect_left()
        if left <= 0:
            self._inner.close()
            raise httpcore.ConnectTimeout("deadline")
        return DeadlineStream(self._inner.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> Any:
        """The information of the inner stream."""
        return self._inner.get_extra_info(info)


def _addresses(host: str, port: int, deadline: Deadline, resolver: Resolver) -> list[str]:
    """The addresses of a host. A resolver can't be interrupted, so it works in a thread of its own.

    That thread may outlive the call.
    """
    try:
        return [str(ipaddress.ip_address(host))]
    except ValueError:
        pass
    found: SimpleQueue[list[str] | None] = SimpleQueue()
    threading.Thread(
        target=lambda: found.put(resolver(host, port)), daemon=True, name="name-lookup"
    ).start()
    try:
        addresses = found.get(timeout=max(0.001, deadline.connect_left()))
    except Empty:
        raise httpcore.ConnectTimeout("name lookup") from None
    if not addresses:
        raise httpcore.ConnectError("name lookup")
    return addresses


def resolve(host: str, port: int) -> list[str] | None:
    """The addresses from the machine's resolver, in its order; None when it knows none."""
    try:
        answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return None
    return list(dict.fromkeys(str(answer[4][0]) for answer in answers))
