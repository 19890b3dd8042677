"""A server with a certificate of a private CA, and a proxy that gives tunnels to it."""

import contextlib
import datetime
import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.service.servers import answer, read_request, serving

NAME = "rides.example"  # resolved by our proxy alone


def private_certificate(folder: Path) -> Path:
    """A certificate that signs itself, with its key, for NAME and 127.0.0.1."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.datetime.now(datetime.UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "A CA of our own")])
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(7)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME), address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / "private-ca.pem"
    path.write_bytes(
        made.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return path


@dataclass
class TlsServer:
    """The port of a TLS server, and the requests that it has received."""

    port: int
    requests: list[bytes] = field(default_factory=list)


@contextlib.contextmanager
def tls_server(
    certificate: Path, body: bytes = b"{}", *, keep: bool = False, hang_up: bool = False
) -> Iterator[TlsServer]:
    """An https server that answers each request with the same body.

    `keep` keeps a connection for further requests; `hang_up` closes it instead of answering.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    made = TlsServer(0)

    def behave(line: socket.socket, stop: threading.Event) -> None:
        with context.wrap_socket(line, server_side=True) as safe:
            while not stop.is_set():
                request = read_request(safe)
                if not request:
                    return
                made.requests.append(request)
                if hang_up:
                    return
                safe.sendall(answer(body, *([] if keep else ["Connection: close"])))

    with serving(behave, read_first=False) as server:
        made.port = server.port
        yield made


@contextlib.contextmanager
def tunnels_to(port: int) -> Iterator[tuple[str, list[bytes]]]:
    """Run a proxy whose tunnels all lead to `port` here. Yields its URL, and the requests to it."""

    def behave(line: socket.socket, stop: threading.Event) -> None:
        with socket.create_connection(("127.0.0.1", port)) as far:
            line.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            back = threading.Thread(target=_pump, args=(far, line))
            back.start()
            _pump(line, far)
            back.join()

    with serving(behave) as server:
        yield server.url, server.requests


def _pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)
