"""One bounded call: deadline, cap, no redirects, no cookies; the only module that imports httpx.

Transports are called directly rather than through httpx.Client, which would follow the
environment's proxies, keep cookies from one account to the next and log addresses.
"""

import json as jsonlib
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
from ridedash.service.errors import NoAnswer, Unreadable
from ridedash.service.transport import strict_json
from ridedash.service.transport.connection import IDLE_S, Call, Line, is_plain, question, running

CAP_BYTES: Final = 1 << 20
# for any operation of the service: name lookup, connection and TLS handshake together
CONNECT_S: Final = 2.0
IDLE_CONNECTIONS: Final = 50
Request = httpx.Request | httpcore.Request
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

    @property
    def evidence(self) -> str:
        """The first 2 kB of the body, scrubbed of secrets."""
        return redaction.evidence(self.body)

    def json(self) -> Any:
        """The body as strict JSON, floats as Decimal. Raises errors.Unreadable."""
        try:
            return strict_json.loads(self.body)
        except strict_json.NotJsonError as exc:
            why = str(exc)
        raise Unreadable(self.status, why, self.evidence)


def safe_address(url: str) -> str:
    """The address itself. Raises ValueError unless it is https, or http to this machine, without
    credentials.
    """
    parts = urlsplit(url)
    local = parts.hostname in {"localhost", "127.0.0.1", "::1"}
    if not parts.hostname or not (parts.scheme == "https" or (parts.scheme == "http" and local)):
        raise ValueError("a service's address must be https, or http to this machine")
    if "@" in parts.netloc or parts.fragment:
        raise ValueError("a service's address must carry neither credentials nor a fragment")
    return url


class Http:
    """Makes calls; safe to share between threads. Hand in a transport to call an app or a fake
    instead.
    """

    def __init__(self, transport: httpx.BaseTransport | None = None) -> None:
        self._given = transport
        self._idle: deque[tuple[float, Line]] = deque()

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        # Shared by all connections: loading the certificates takes longer than a call on this
        # machine.
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

        `fresh` uses a connection of its own and closes it. `secrets` are taken out of the answer,
        should it
        echo one. Raises errors.NoAnswer, and errors.Unreadable for a body above the cap or in an
        encoding.
        """
        call = Call(connect_s, total_s)
        said = _headers(headers, fresh)
        plain = (
            method == "GET"
            and json is None
            and form is None
            and self._given is None
            and is_plain(url)
        )
        if plain:
            request: Request = _built(lambda more: question(url, said, params, more), call)
        else:
            request = _built(
                lambda more: _request(method, url, said, params, json, form, more), call
            )
        return self._send(request, call, cap_bytes, fresh, secrets)

    def _send(
        self, request: Request, call: Call, cap_bytes: int, fresh: bool, secrets: tuple[str, ...]
    ) -> Answer:
        # Raised outside the except block: a chain of causes would hold the request, and with it the
        # tokens.
        try:
            with running(call):
                return self._exchange(request, call, cap_bytes, fresh, secrets)
        except Unreadable:
            raise
        except Exception as exc:  # whatever it is, the outcome is open once a byte has left
            sent = call.wrote if self._given is None else not isinstance(exc, _BEFORE_SENDING)
            failure = NoAnswer(type(exc).__name__, sent=sent)
        raise failure

    def _exchange(
        self, request: Request, call: Call, cap_bytes: int, fresh: bool, secrets: tuple[str, ...]
    ) -> Answer:
        if self._given is not None:
            assert isinstance(request, httpx.Request)
            return _read(_handed_in(self._given.handle_request(request)), call, cap_bytes, secrets)
        line = Line(self._tls) if fresh else self._idle_line() or Line(self._tls)
        try:
            raw = _raw(request) if isinstance(request, httpx.Request) else request
            return _read(_opened(line.send(raw)), call, cap_bytes, secrets)
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


def _built(build: Callable[[dict[str, Any]], Request], call: Call) -> Request:
    """The request; NoAnswer with nothing sent when it can't be built (a token that is no header,
    for one).
    """
    connect, left = call.connect_left(), call.left()
    try:
        return build(
            {"timeout": {"connect": connect, "pool": connect, "read": left, "write": left}}
        )
    except Exception as exc:  # any failure here is ours and comes before the first byte
        failure = NoAnswer(type(exc).__name__, sent=False)
    raise failure


def _request(
    method: str,
    url: str,
    headers: dict[str, str],
    params: Mapping[str, str] | None,
    json: Any,
    form: Mapping[str, str] | None,
    more: dict[str, Any],
) -> httpx.Request:
    content = None
    if json is not None:
        headers = {"content-type": "application/json", **headers}
        content = jsonlib.dumps(json, allow_nan=False, separators=(",", ":")).encode()
    data = None if form is None else dict(form)
    return httpx.Request(
        method, url, headers=headers, params=params, content=content, data=data, extensions=more
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


class _Opened(NamedTuple):
    """An answer whose body is still to be read."""

    status: int
    headers: dict[str, str]
    chunks: Iterable[bytes]
    close: Callable[[], None]


def _opened(answer: httpcore.Response) -> _Opened:
    headers: dict[str, str] = {}
    for raw, value in answer.headers:
        name, said = raw.decode("latin-1").lower(), value.decode("latin-1")
        headers[name] = f"{headers[name]}, {said}" if name in headers else said
    return _Opened(answer.status, headers, answer.iter_stream(), answer.close)


def _handed_in(answer: httpx.Response) -> _Opened:
    """Of a transport of somebody's; a fake's body may already be there."""
    chunks = [answer.content] if answer.is_stream_consumed else answer.iter_raw()
    return _Opened(answer.status_code, dict(answer.headers.items()), chunks, answer.close)


def _read(answer: _Opened, call: Call, cap_bytes: int, secrets: tuple[str, ...]) -> Answer:
    try:
        if answer.headers.get("content-encoding", "identity").strip().lower() not in {
            "",
            "identity",
        }:
            raise Unreadable(answer.status, "in a content encoding")
        body = redaction.without(_body(answer, call, cap_bytes, secrets), secrets)
    finally:
        answer.close()
    return Answer(answer.status, answer.headers, body)


def _body(answer: _Opened, call: Call, cap_bytes: int, secrets: tuple[str, ...]) -> bytes:
    """The raw body, up to the cap."""
    body = bytearray()
    for chunk in answer.chunks:
        body += chunk
        if len(body) > cap_bytes:
            beginning = redaction.without(bytes(body[:8192]), secrets)
            raise Unreadable(answer.status, "too long", redaction.evidence(beginning))
        if call.left() <= 0:
            raise httpx.ReadTimeout("deadline")
    return bytes(body)
