"""One outgoing HTTP call with a total deadline, a size limit, no redirects and no cookies.

The only module that imports httpx. Transports are called directly rather than through httpx.Client,
which would follow the environment's proxies, keep cookies from one account to the next and log
addresses.
"""

import json as jsonlib
import re
import ssl
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple, Self
from urllib.parse import urlsplit

import httpcore
import httpx

from ridedash.observability import redaction
from ridedash.service.errors import NoAnswer, ServiceError, Unreadable
from ridedash.service.transport import strict_json
from ridedash.service.transport.connection import (
    IDLE_S,
    Connection,
    Deadline,
    active,
    is_simple,
    simple_get,
)
from ridedash.service.transport.egress import DIRECT, Egress
from ridedash.text import one_line

CAP_BYTES: Final = 1 << 20  # many times the longest answer; more would be an attack on memory
CONNECT_S: Final = 2.0  # name resolution, connection and TLS handshake together
IDLE_CONNECTIONS: Final = 50  # about as many as calls may start in a second

CAUSE_CHARS: Final = 300  # one line in a log
_CONNECTING: Final = (httpcore.ConnectError, httpcore.ConnectTimeout, httpcore.ProxyError)
# parts of an error message that add nothing to its words: [Errno 111], [SSL: …], (_ssl.c:1006)
_CODES: Final = re.compile(r"\[(?:Errno|SSL)[^]]*\] ?| ?\(_ssl\.c:\d+\)")

LibraryRequest = httpx.Request | httpcore.Request

# If a transport that was passed to Http raises one of these, nothing was sent.
_BEFORE_SENDING: Final = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.UnsupportedProtocol,
    httpx.LocalProtocolError,
)


class Marks:
    """When the steps of one call happened, by time.perf_counter, and why it failed."""

    __slots__ = ("answered", "evidence", "failure", "permitted")

    def __init__(self) -> None:
        self.permitted: float | None = None  # None: the call got no permit
        self.answered: float | None = None  # when the head of the answer had arrived
        self.failure = self.evidence = ""

    def failed(self, error: ServiceError) -> None:
        """Note the words of an error, not the error itself, whose frames may hold tokens."""
        self.failure = str(error) or type(error).__name__
        if isinstance(error, Unreadable):
            self.evidence = error.evidence


@dataclass(frozen=True, slots=True)
class Request:
    """One outgoing call: what is sent, and its limits.

    `fresh` uses a connection of its own and closes it. `secrets` are removed from the body of the
    answer, should it echo one. `attempt` is 2 for the repetition of a call. `marks` collect the
    times of the call for a recorder; None: calls are not recorded.
    """

    method: str
    url: str
    total_s: float  # for headers and body, connecting included
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    params: Mapping[str, str] | None = field(default=None, repr=False)
    json: Any = field(default=None, repr=False)
    form: Mapping[str, str] | None = field(default=None, repr=False)
    connect_s: float = CONNECT_S
    cap_bytes: int = CAP_BYTES
    fresh: bool = False
    secrets: tuple[str, ...] = field(default=(), repr=False)
    attempt: int = 1
    marks: Marks | None = None

    def sent_headers(self) -> dict[str, str]:
        """The headers to send, except those of the body and those that HTTP itself adds.

        Names from `headers` keep their case; those of our defaults are in lower case. The headers
        contain secrets and must not be stored.
        """
        ours = {"accept": "application/json", "accept-encoding": "identity"}
        ours["user-agent"] = "ridedash"
        if self.fresh:
            ours["connection"] = "close"
        return ours | dict(self.headers)


@dataclass(frozen=True)
class Answer:
    """A complete HTTP answer of any status, not yet judged.

    `unread` says why its body can't be read: it is too long (then `body` is its beginning), or it
    is compressed (then `body` is empty). Status and headers are valid all the same.
    """

    status: int
    headers: Mapping[str, str] = field(repr=False)  # names in lower case
    body: bytes = field(repr=False)
    unread: str = ""

    @property
    def evidence(self) -> str:
        """The first 2 kB of the body without secrets."""
        return redaction.evidence(self.body)

    def json(self) -> Any:
        """The body as strict JSON, floats as Decimal. Raises errors.Unreadable."""
        why = self.unread
        if not why:
            try:
                return strict_json.loads(self.body)
            except strict_json.NotJsonError as exc:
                why = str(exc)
        raise Unreadable(self.status, why, self.evidence)


def safe_address(url: str) -> str:
    """Return the URL if it is safe to send tokens to.

    Raises ValueError unless it is https, or http to this machine, and has neither credentials nor
    a fragment.
    """
    parts = urlsplit(url)
    local = parts.hostname in {"localhost", "127.0.0.1", "::1"}
    if not parts.hostname or not (parts.scheme == "https" or (parts.scheme == "http" and local)):
        raise ValueError("a service's address must be https, or http to this machine")
    if "@" in parts.netloc or parts.fragment:
        raise ValueError("a service's address must carry neither credentials nor a fragment")
    return url


class Http:
    """Makes calls; safe to share between threads.

    `egress` says how calls leave this machine. Pass a transport to call an app or a fake instead.
    """

    def __init__(
        self, transport: httpx.BaseTransport | None = None, egress: Egress = DIRECT
    ) -> None:
        self._transport = transport
        self._egress = egress
        self._idle: deque[tuple[float, Connection]] = deque()

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        # Shared by all connections: loading the certificates takes longer than a local call.
        context = httpx.create_ssl_context(trust_env=False)
        if self._egress.ca_file:
            context.load_verify_locations(cafile=self._egress.ca_file)
        return context

    def call(self, request: Request) -> Answer:
        """The answer to one request, within its time limits.

        Raises errors.NoAnswer.
        """
        deadline = Deadline(request.connect_s, request.total_s)
        prepared = self._prepared(request, deadline)
        # the error is raised outside the except block: a chain of causes would keep the request,
        # and with it the tokens
        try:
            with active(deadline):
                return self._exchange(request, prepared, deadline)
        except Exception as exc:
            # whatever the error is, the outcome is unknown once a byte has left
            sent = deadline.wrote
            if self._transport is not None:
                sent = not isinstance(exc, _BEFORE_SENDING)
            failure = NoAnswer(type(exc).__name__, sent=sent, cause=_cause(exc))
        raise failure

    def _prepared(self, request: Request, deadline: Deadline) -> LibraryRequest:
        """The request as the library takes it.

        Raises NoAnswer (nothing sent) when it can't be built, for example if a header has a line
        feed.
        """
        bodyless = request.method == "GET" and request.json is None and request.form is None
        try:
            if bodyless and self._transport is None and is_simple(request.url):
                headers = request.sent_headers()
                timeouts = _timeouts(deadline)
                return simple_get(request.url, headers, request.params, timeouts)
            return _full_request(request, deadline)
        except Exception as exc:  # any failure here is ours and comes before the first byte
            failure = NoAnswer(type(exc).__name__, sent=False)
        raise failure

    def _exchange(self, request: Request, prepared: LibraryRequest, deadline: Deadline) -> Answer:
        if self._transport is not None:
            assert isinstance(prepared, httpx.Request)
            return _read(_of_httpx(self._transport.handle_request(prepared)), request, deadline)
        connection = self._connection() if request.fresh else self._idle_connection()
        try:
            raw = _raw(prepared) if isinstance(prepared, httpx.Request) else prepared
            return _read(_of_httpcore(connection.send(raw)), request, deadline)
        finally:
            if request.fresh or len(self._idle) >= IDLE_CONNECTIONS:
                connection.close()
            else:
                self._idle.append((time.monotonic(), connection))

    def _idle_connection(self) -> Connection:
        """The connection used last, or a new one; closes connections that were idle too long."""
        with suppress(IndexError):  # another thread may empty the deque meanwhile
            while self._idle[0][0] < time.monotonic() - IDLE_S:
                self._idle.popleft()[1].close()
            return self._idle.pop()[1]
        return self._connection()

    def _connection(self) -> Connection:
        return Connection(self._tls, self._egress)

    def close(self) -> None:
        """Close idle connections."""
        if self._transport is not None:
            self._transport.close()
        with suppress(IndexError):
            while True:
                self._idle.pop()[1].close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _cause(exc: Exception) -> str:
    """Why a connection did not open, in the words of the system, TLS or the proxy; else "".

    The messages of other errors are left out: they may quote the request, and with it a token.
    """
    if not isinstance(exc, _CONNECTING):
        return ""
    return one_line(_CODES.sub("", str(exc)), CAUSE_CHARS)


def _timeouts(deadline: Deadline) -> dict[str, Any]:
    """The library's own timeouts, as request extensions."""
    connect = deadline.connect_left()
    left = deadline.left()
    return {"timeout": {"connect": connect, "pool": connect, "read": left, "write": left}}


def _full_request(request: Request, deadline: Deadline) -> httpx.Request:
    headers = request.sent_headers()
    content = None
    if request.json is not None:
        headers = {"content-type": "application/json", **headers}
        content = jsonlib.dumps(request.json, allow_nan=False, separators=(",", ":")).encode()
    return httpx.Request(
        request.method,
        request.url,
        headers=headers,
        params=request.params,
        content=content,
        data=None if request.form is None else dict(request.form),
        extensions=_timeouts(deadline),
    )


def _raw(request: httpx.Request) -> httpcore.Request:
    url = request.url
    return httpcore.Request(
        method=request.method,
        url=httpcore.URL(
            scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
        ),
        headers=request.headers.raw,
        content=request.read(),
        extensions=request.extensions,
    )


class _OpenResponse(NamedTuple):
    """A response whose body is still to be read."""

    status: int
    headers: dict[str, str]
    chunks: Iterable[bytes]
    close: Callable[[], None]


def _of_httpcore(response: httpcore.Response) -> _OpenResponse:
    headers: dict[str, str] = {}
    for raw_name, raw_value in response.headers:
        name = raw_name.decode("latin-1").lower()
        value = raw_value.decode("latin-1")
        if name in headers:
            value = f"{headers[name]}, {value}"
        headers[name] = value
    return _OpenResponse(response.status, headers, response.iter_stream(), response.close)


def _of_httpx(response: httpx.Response) -> _OpenResponse:
    """The response of the caller's transport; a fake's body may already have been read."""
    chunks = [response.content] if response.is_stream_consumed else response.iter_raw()
    return _OpenResponse(
        response.status_code, dict(response.headers.items()), chunks, response.close
    )


def _read(response: _OpenResponse, request: Request, deadline: Deadline) -> Answer:
    if request.marks is not None:
        request.marks.answered = time.perf_counter()  # the head of the answer has arrived
    encoding = response.headers.get("content-encoding", "").strip().lower()
    body = b""
    unread = "in a content encoding"
    try:
        if encoding in {"", "identity"}:
            body, unread = _body(response, request, deadline)
    finally:
        response.close()
    return Answer(
        response.status, response.headers, redaction.without(body, request.secrets), unread
    )


def _body(response: _OpenResponse, request: Request, deadline: Deadline) -> tuple[bytes, str]:
    """The raw body and ""; of a body that is too long, its beginning and the reason."""
    body = bytearray()
    for chunk in response.chunks:
        body += chunk
        if len(body) > request.cap_bytes:
            return bytes(body[: redaction.LONGEST_TEXT]), "too long"
        if deadline.left() <= 0:
            raise httpx.ReadTimeout("deadline")
    return bytes(body), ""
