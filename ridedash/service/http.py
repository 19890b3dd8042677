"""One bounded call: deadline, cap, no redirects, no cookies; the only module that imports httpx.

Transports are called directly rather than through httpx.Client, which would follow the environment's proxies,
keep cookies from one account to the next and log addresses.
"""

import json as jsonlib
import ssl
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Final, Self
from urllib.parse import urlencode, urlsplit

import httpcore
import httpx

from ridedash.service import scrub, strictjson
from ridedash.service.deadline import Call, DeadlineBackend, running
from ridedash.service.errors import NoAnswer, Unreadable

CAP_BYTES: Final = 1 << 20
CONNECT_S: Final = 2.0  # for any operation of the service: name lookup, connection and TLS handshake together
IDLE_CONNECTIONS: Final = 50
IDLE_S: Final = 5.0  # shorter than any server's idle limit, so that a kept connection is rarely a dead one

# Raised by a transport that was handed in, these prove that nothing was sent.
_BEFORE_SENDING: Final = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.UnsupportedProtocol,
    httpx.LocalProtocolError,
)


@dataclass(frozen=True)
class Answer:
    """A complete HTTP answer, not judged: any status may be in it."""

    status: int
    headers: Mapping[str, str] = field(repr=False)  # names in lower case
    body: bytes = field(repr=False)
    elapsed_s: float = 0.0

    @property
    def evidence(self) -> str:
        """The first 2 kB of the body, scrubbed of secrets."""
        return scrub.evidence(self.body)

    def json(self) -> Any:
        """The body as strict JSON, floats as Decimal. Raises errors.Unreadable."""
        try:
            return strictjson.loads(self.body)
        except strictjson.NotJsonError as exc:
            why = str(exc)
        raise Unreadable(self.status, why, self.evidence)


class Line(httpx.BaseTransport):
    """One connection under the deadline of the current call, opened anew when it can't be used again. Never retries."""

    def __init__(self, tls: ssl.SSLContext, *, keep: bool = True) -> None:
        self._pool = httpcore.ConnectionPool(
            ssl_context=tls,
            max_connections=1,
            max_keepalive_connections=int(keep),
            keepalive_expiry=IDLE_S,
            retries=0,
            network_backend=DeadlineBackend(),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request; errors are httpcore's, for Http to translate."""
        url = request.url
        raw = httpcore.Request(
            method=request.method,
            url=httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=request.headers.raw,
            content=request.read(),
            extensions=request.extensions,
        )
        answer = self._pool.handle_request(raw)
        return httpx.Response(answer.status, headers=answer.headers, stream=_Stream(answer))

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()


class _Stream(httpx.SyncByteStream):
    def __init__(self, answer: httpcore.Response) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        return self._answer.iter_stream()

    def close(self) -> None:
        self._answer.close()


def safe_address(url: str) -> str:
    """The address itself. Raises ValueError unless it is https, or http to this machine, without credentials."""
    parts = urlsplit(url)
    local = parts.hostname in {"localhost", "127.0.0.1", "::1"}
    if not parts.hostname or not (parts.scheme == "https" or (parts.scheme == "http" and local)):
        raise ValueError("a service's address must be https, or http to this machine")
    if "@" in parts.netloc or parts.fragment:
        raise ValueError("a service's address must carry neither credentials nor a fragment")
    return url


class Http:
    """Makes calls; safe to share between threads. Hand in a transport to call an app or a fake instead."""

    def __init__(self, transport: httpx.BaseTransport | None = None) -> None:
        self._given = transport
        # A pool looks at each of its connections at each call: a stack of pools of one costs a fifth less.
        self._idle: deque[tuple[float, Line]] = deque()

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        # Shared by all connections: loading the certificates takes longer than a call on this machine.
        return httpx.create_ssl_context(trust_env=False)

    def call(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        params: Mapping[str, str] | None = None,
        json: Any = None,
        form: Mapping[str, str] | None = None,
        connect_s: float,
        total_s: float,
        cap_bytes: int = CAP_BYTES,
        fresh: bool = False,
        secrets: tuple[str, ...] = (),
    ) -> Answer:
        """One request, one answer, within `total_s` seconds, headers and body included.

        `fresh` uses a connection of its own and closes it. `secrets` are taken out of the answer, should it
        echo one. Raises errors.NoAnswer, and errors.Unreadable for a body above the cap or in an encoding.
        """
        call = Call(connect_s, total_s)
        said = _headers(headers, fresh)
        ready = self._given is None  # one that was handed in looks for the query in the address
        request = _build(method, url, call, headers=said, params=params, json=json, form=form, ready=ready)
        return self._send(request, call, cap_bytes, fresh, secrets)

    def _send(
        self, request: httpx.Request, call: Call, cap_bytes: int, fresh: bool, secrets: tuple[str, ...]
    ) -> Answer:
        # Raised outside the except block: a chain of causes would hold the request, and with it the tokens.
        try:
            with running(call), self._line(fresh) as transport:
                return _exchange(transport, request, call, cap_bytes, secrets)
        except Unreadable:
            raise
        except Exception as exc:  # whatever it is, the outcome is open once a byte has left
            sent = call.wrote if self._given is None else not isinstance(exc, _BEFORE_SENDING)
            failure = NoAnswer(type(exc).__name__, sent=sent)
        raise failure

    @contextmanager
    def _line(self, fresh: bool) -> Iterator[httpx.BaseTransport]:
        if self._given is not None:
            yield self._given
            return
        line = Line(self._tls, keep=False) if fresh else self._idle_line() or Line(self._tls)
        try:
            yield line
        finally:
            if fresh or len(self._idle) >= IDLE_CONNECTIONS:
                line.close()
            else:
                self._idle.append((time.monotonic(), line))

    def _idle_line(self) -> Line | None:
        """The line that was used last; those that nobody needed for a while are closed."""
        with suppress(IndexError):  # another thread may empty the stack meanwhile
            while self._idle[0][0] < time.monotonic() - IDLE_S:
                self._idle.popleft()[1].close()
            return self._idle.pop()[1]
        return None

    def close(self) -> None:
        """Close idle connections."""
        if self._given is not None:
            self._given.close()
        with suppress(IndexError):
            while True:
                self._idle.pop()[1].close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _headers(asked: Mapping[str, str] | None, fresh: bool) -> dict[str, str]:
    ours = {"accept": "application/json", "accept-encoding": "identity", "user-agent": "ridedash"}
    return ours | ({"connection": "close"} if fresh else {}) | dict(asked or {})


def _build(
    method: str,
    url: str,
    call: Call,
    *,
    headers: dict[str, str],
    params: Mapping[str, str] | None,
    json: Any,
    form: Mapping[str, str] | None,
    ready: bool,
) -> httpx.Request:
    """The request; NoAnswer with nothing sent when it can't be built (a token that is no header, for one).

    `ready` puts the query beside the address, which is read once and kept: reading one costs a sixth of a poll.
    """
    content, connect = None, call.connect_left()
    more: dict[str, Any] = {"timeout": {"connect": connect, "pool": connect, "read": call.left(), "write": call.left()}}
    try:
        if json is not None:
            headers = {"content-type": "application/json", **headers}
            content = jsonlib.dumps(json, allow_nan=False, separators=(",", ":")).encode()
        address = _address(url)
        if ready and params is not None:
            more["target"], params = address.raw_path + b"?" + urlencode(params).encode("ascii"), None
        data = None if form is None else dict(form)
        return httpx.Request(
            method, address, headers=headers, params=params, content=content, data=data, extensions=more
        )
    except Exception as exc:  # any failure here is ours and comes before the first byte
        failure = NoAnswer(type(exc).__name__, sent=False)
    raise failure


@lru_cache(maxsize=64)
def _address(url: str) -> httpx.URL:
    """Our own settings and paths: few, and none with a secret."""
    return httpx.URL(url)


def _exchange(
    transport: httpx.BaseTransport, request: httpx.Request, call: Call, cap_bytes: int, secrets: tuple[str, ...]
) -> Answer:
    response = transport.handle_request(request)
    try:
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        if encoding not in {"", "identity"}:
            raise Unreadable(response.status_code, "in a content encoding")
        body = scrub.without(_read(response, call, cap_bytes, secrets), secrets)
    finally:
        response.close()
    return Answer(response.status_code, dict(response.headers.items()), body, time.monotonic() - call.started)


def _read(response: httpx.Response, call: Call, cap_bytes: int, secrets: tuple[str, ...]) -> bytes:
    """The raw body, up to the cap; a fake's body may already be there."""
    chunks = [response.content] if response.is_stream_consumed else response.iter_raw()
    body = bytearray()
    for chunk in chunks:
        body += chunk
        if len(body) > cap_bytes:
            beginning = scrub.without(bytes(body[:8192]), secrets)
            raise Unreadable(response.status_code, "too long", scrub.evidence(beginning))
        if call.left() <= 0:
            raise httpx.ReadTimeout("deadline")
    return bytes(body)
