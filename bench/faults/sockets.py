"""Local sockets that fail: refused, silent, without a handshake, cut off after the booking."""

import contextlib
import datetime
import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.service.servers import answer

LONG_LABEL: Final = "x" * 64  # fails without a resolver: labels have at most 63 characters
AnswerSender = Callable[[socket.socket, threading.Event, dict[str, Any]], None]


@contextlib.contextmanager
def refusing() -> Iterator[str]:
    """An address without a listener; its port stays reserved."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


@contextlib.contextmanager
def deaf() -> Iterator[str]:
    """An address whose backlog is full: connections are never established."""
    with contextlib.ExitStack() as stack:
        listening = stack.enter_context(socket.socket())
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        for _ in range(4):
            filler = stack.enter_context(socket.socket())
            filler.setblocking(False)
            filler.connect_ex(listening.getsockname())
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


@contextlib.contextmanager
def behind_tls(folder: Path, received: list[bytes]) -> Iterator[str]:
    """A server with an untrusted certificate; `received` gets what it reads inside of TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(_own_certificate(folder))
    listening = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=_shake_hands, args=(listening, context, received))
    thread.start()
    try:
        yield f"https://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        with contextlib.suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join(10)


def _shake_hands(listening: socket.socket, context: ssl.SSLContext, received: list[bytes]) -> None:
    with contextlib.suppress(OSError):
        while True:
            line, _ = listening.accept()
            line.settimeout(5)
            with (
                contextlib.suppress(OSError),
                line,
                context.wrap_socket(line, server_side=True) as safe,
            ):
                received.append(safe.recv(65536))


def _own_certificate(folder: Path) -> Path:
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.datetime.now(datetime.UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    )
    made = (
        made.serial_number(1)
        .not_valid_before(now)
        .not_valid_after(now + datetime.timedelta(days=1))
    )
    unencrypted = serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    path = folder / "own.pem"
    path.write_bytes(
        made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(serialization.Encoding.PEM, *unencrypted)
    )
    return path


def reset(line: socket.socket) -> None:
    """End a connection by RST."""
    line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    line.close()


def booked(body: dict[str, Any]) -> bytes:
    """The body that the service would have answered."""
    return json.dumps(
        {"status": "SUCCESS", "booking_id": "C1", "merchant_txn_id": body["merchant_txn_id"]}
    ).encode()


def _silent(_line: socket.socket, stop: threading.Event, _body: dict[str, Any]) -> None:
    stop.wait(5)


def _sends(
    make: Callable[[bytes], bytes], ends: Callable[[socket.socket], None] = socket.socket.close
) -> AnswerSender:
    def send(line: socket.socket, _stop: threading.Event, body: dict[str, Any]) -> None:
        line.sendall(make(booked(body)))
        ends(line)

    return send


def _stalls(make: Callable[[bytes], bytes]) -> AnswerSender:
    def send(line: socket.socket, stop: threading.Event, body: dict[str, Any]) -> None:
        line.sendall(make(booked(body)))
        stop.wait(5)

    return send


def _page(status: str) -> Callable[[bytes], bytes]:
    return lambda _body: answer(b"<h1>Bad gateway</h1>", "Content-Type: text/html", status=status)


# Failures of an answer after the service has booked; each leaves the outcome unknown.
AFTER_THE_BOOKING: Final[dict[str, AnswerSender]] = {
    "closed": _sends(lambda _body: b""),
    "reset": _sends(lambda _body: b"", reset),
    "silent": _silent,
    "status line, closed": _sends(lambda _body: b"HTTP/1.1 200 OK\r\n"),
    "headers, closed": _sends(lambda body: answer(body)[: -len(body)]),
    "headers, reset": _sends(lambda body: answer(body)[: -len(body)], reset),
    "headers, silent": _stalls(lambda body: answer(body)[: -len(body)]),
    "half a body, closed": _sends(lambda body: answer(body)[: -len(body) // 2]),
    "half a body, reset": _sends(lambda body: answer(body)[: -len(body) // 2], reset),
    "half a body, silent": _stalls(lambda body: answer(body)[: -len(body) // 2]),
    "length too long": _sends(lambda body: answer(body + b" " * 99)[:-99]),
    "length cuts": _sends(lambda body: _cut(body)),
    "bad chunk": _sends(lambda body: _chunked(b"zz\r\n" + body)),
    "chunk cut off": _sends(lambda body: _chunked(b"%x\r\n" % len(body) + body[:9])),
    "no last chunk": _sends(lambda body: _chunked(b"%x\r\n" % len(body) + body + b"\r\n")),
    "no HTTP": _sends(lambda _body: b"\x00\x01\x02 nothing that a browser knows\r\n\r\n"),
    "100 only": _sends(lambda _body: b"HTTP/1.1 100 Continue\r\n\r\n"),
    "two lengths": _sends(lambda body: answer(body, "Content-Length: 3")),
    "500": _sends(_page("500 Internal Server Error")),
    "502": _sends(_page("502 Bad Gateway")),
    "503": _sends(_page("503 Service Unavailable")),
    "504": _sends(_page("504 Gateway Timeout")),
    "408": _sends(_page("408 Request Timeout")),
    "409": _sends(_page("409 Conflict")),
    "200 with HTML": _sends(_page("200 OK")),
    "200, empty": _sends(lambda _body: answer(b"")),
    "204": _sends(lambda _body: b"HTTP/1.1 204 No Content\r\n\r\n"),
    "compressed": _sends(lambda body: answer(body, "Content-Encoding: gzip")),
    "redirect": _sends(
        lambda body: answer(body, "Location: /elsewhere", status="307 Temporary Redirect")
    ),
}


def _cut(body: bytes) -> bytes:
    """A whole body whose Content-Length ends in its middle."""
    return answer(body[: len(body) // 2]) + body[len(body) // 2 :]


def _chunked(rest: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + rest
