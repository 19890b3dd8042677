"""How calls leave this machine: which certificates are trusted, and the proxy for https.

A proxy is asked for a tunnel (CONNECT) with TLS to the service inside, so the proxy sees the name
of the service but no call. The environment's own proxy variables are ignored.
"""

import base64
import ssl
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final
from urllib.parse import SplitResult, unquote, urlsplit

import httpcore

PORTS: Final = {"http": 80, "https": 443}
LOCAL_NAMES: Final = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Egress:
    """How calls leave this machine: by default directly, with the usual certificates.

    `ca_file` holds further certificates in PEM, trusted beside the usual ones. `proxy` is the URL
    of a proxy for https, with name and password if it requires them. `direct` lists the hosts that
    are called without the proxy: a name also stands for its subdomains. This machine is always
    called directly.
    """

    ca_file: str = ""
    proxy: str = field(default="", repr=False)
    direct: tuple[str, ...] = ()

    def goes_through_proxy(self, host: str) -> bool:
        """Whether a call to this host goes through the proxy."""
        name = host.lower().rstrip(".")
        if not self.proxy or name in LOCAL_NAMES or name.startswith("127."):
            return False
        return not any(name == own or name.endswith(f".{own}") for own in self.direct)

    @cached_property
    def proxy_url(self) -> SplitResult:
        """The parts of the proxy's URL."""
        return urlsplit(self.proxy)

    @property
    def proxy_address(self) -> tuple[str, int]:
        """Host and port of the proxy."""
        parts = self.proxy_url
        return parts.hostname or "", parts.port or PORTS[parts.scheme]

    @property
    def proxy_headers(self) -> list[tuple[bytes, bytes]]:
        """The header with the proxy's name and password; empty without them."""
        parts = self.proxy_url
        if not parts.username:
            return []
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
        return [(b"Proxy-Authorization", b"Basic " + base64.b64encode(pair))]


DIRECT: Final = Egress()


def open_tunnel(
    stream: httpcore.NetworkStream, egress: Egress, tls: ssl.SSLContext, target: tuple[str, int]
) -> httpcore.NetworkStream:
    """A stream to `target` through the proxy at the end of `stream`, which is closed if that fails.

    `target` is a host and a port; `tls` is used if the proxy itself is reached by https. Raises
    httpcore.ProxyError when the proxy refuses, with its status, or hangs up; ConnectTimeout when it
    is too slow.
    """
    host, port = target
    try:
        if egress.proxy_url.scheme == "https":
            stream = stream.start_tls(tls, egress.proxy_address[0])
        answer = _connect(stream, egress, f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
    except httpcore.ReadTimeout:
        stream.close()
        raise httpcore.ConnectTimeout("the proxy does not answer") from None
    except (httpcore.ReadError, httpcore.WriteError, httpcore.RemoteProtocolError) as error:
        stream.close()
        raise httpcore.ProxyError(f"the proxy gives no tunnel: {error}") from None
    except BaseException:
        stream.close()
        raise
    if 200 <= answer.status < 300:
        tunnel: httpcore.NetworkStream = answer.extensions["network_stream"]
        return tunnel
    stream.close()
    raise httpcore.ProxyError(f"the proxy answers HTTP {answer.status}")


def _connect(stream: httpcore.NetworkStream, egress: Egress, target: str) -> httpcore.Response:
    """The proxy's answer to CONNECT. `target` is "host:port"."""
    scheme = egress.proxy_url.scheme.encode()
    name, port = egress.proxy_address
    origin: dict[str, Any] = {"scheme": scheme, "host": name.encode(), "port": port}
    headers = [(b"Host", target.encode()), *egress.proxy_headers]
    url = httpcore.URL(**origin, target=target.encode())
    connection = httpcore.HTTP11Connection(httpcore.Origin(scheme, name.encode(), port), stream)
    return connection.handle_request(httpcore.Request(b"CONNECT", url, headers=headers))
