"""One kept connection under the deadline of the current call, and the plain question that most calls are.

A pool looks at each of its connections at each call, and reads an answer through several layers: a connection that
belongs to nobody else needs neither. What a poll costs is made of little else.
"""

import ssl
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

import httpcore

from ridedash.service.deadline import DeadlineBackend

IDLE_S: Final = 5.0  # shorter than any server's idle limit, so that a kept connection is rarely a dead one
_PORTS: Final = {"http": 80, "https": 443}


class Line:
    """One connection, opened anew when it can't be used again. Never retries; for one call at a time."""

    def __init__(self, tls: ssl.SSLContext) -> None:
        self._tls, self._network = tls, DeadlineBackend()
        self._connection: httpcore.HTTPConnection | None = None

    def send(self, request: httpcore.Request) -> httpcore.Response:
        """Send one request; its answer's body is to be read, and it is to be closed. Errors are httpcore's."""
        return self._ready(request.url.origin).handle_request(request)

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()

    def _ready(self, origin: httpcore.Origin) -> httpcore.HTTPConnection:
        kept = self._connection
        if kept is not None and kept.is_available() and kept.can_handle_request(origin) and not kept.has_expired():
            return kept
        self.close()
        self._connection = httpcore.HTTPConnection(
            origin, ssl_context=self._tls, keepalive_expiry=IDLE_S, retries=0, network_backend=self._network
        )
        return self._connection


def question(
    url: str, headers: Mapping[str, str], params: Mapping[str, str] | None, extensions: dict[str, Any]
) -> httpcore.Request:
    """A GET without a body. Raises ValueError for what can't be said in a header."""
    scheme, host, port, path, named = _address(url)
    said = [(b"Host", named)]
    said += [(name.encode("ascii"), value.encode("ascii")) for name, value in headers.items()]
    target = path if params is None else path + b"?" + urlencode(params).encode("ascii")
    address = httpcore.URL(scheme=scheme, host=host, port=port, target=target)
    return httpcore.Request("GET", address, headers=said, content=(), extensions=extensions)


def is_plain(url: str) -> bool:
    """Whether an address is one that `question` can read: of our own settings and paths, nearly all are."""
    return url.isascii() and url.isprintable() and not any(char in url for char in ' "<>\\^`{|}?#@')


@lru_cache(maxsize=64)
def _address(url: str) -> tuple[bytes, bytes, int | None, bytes, bytes]:
    """Scheme, host, port, path, and the host as its header says it. Reading one costs a sixth of a poll."""
    parts = urlsplit(url)
    host = (parts.hostname or "").encode("ascii")
    named = b"[%s]" % host if b":" in host else host
    port = None if parts.port in (None, _PORTS.get(parts.scheme)) else parts.port
    if port is not None:
        named += b":%d" % port
    return parts.scheme.encode("ascii"), host, port, (parts.path or "/").encode("ascii"), named
