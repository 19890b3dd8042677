"""Small socket servers on a free port that answer badly on purpose."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

Behaviour = Callable[[socket.socket, threading.Event], None]


@dataclass
class Server:
    """The address of a server, and the requests and connections that it has received."""

    url: str
    port: int
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0


def answer(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """A whole HTTP answer."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def drip(line: socket.socket, stop: threading.Event, data: bytes, pause: float = 0.02) -> None:
    """Send byte by byte until done, stopped or cut off."""
    with suppress(OSError):
        for byte in data:
            line.sendall(bytes([byte]))
            if stop.wait(pause):
                return


def read_request(line: socket.socket) -> bytes:
    """One request, its body included; empty when the peer hung up."""
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = line.recv(65536)
        if not chunk:
            return data
        data += chunk
    head, _, body = data.partition(b"\r\n\r\n")
    sizes = [
        int(row.split(b":")[1])
        for row in head.split(b"\r\n")
        if row.lower().startswith(b"content-length:")
    ]
    while len(body) < (sizes[0] if sizes else 0):
        body += line.recv(65536)
    return head + b"\r\n\r\n" + body


@contextmanager
def serving(behave: Behaviour, *, keep: bool = False, read_first: bool = True) -> Iterator[Server]:
    """Serve each connection with `behave`, after a request is read if `read_first`.

    `keep`: go on with further requests on the same connection.
    """
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    server, stop = Server(f"http://127.0.0.1:{port}", port), threading.Event()
    threads: list[threading.Thread] = []
    lines: list[socket.socket] = []

    def handle(line: socket.socket) -> None:
        with line, suppress(OSError):
            while not stop.is_set():
                if read_first:
                    request = read_request(line)
                    if not request:
                        return
                    server.requests.append(request)
                behave(line, stop)
                if not keep:
                    return

    def accept() -> None:
        with suppress(OSError):
            while True:
                line, _ = listener.accept()
                server.connections += 1
                lines.append(line)
                thread = threading.Thread(target=handle, args=(line,))
                threads.append(thread)
                thread.start()

    accepting = threading.Thread(target=accept)
    accepting.start()
    try:
        yield server
    finally:
        stop.set()
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for line in lines:
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)
        accepting.join(60)
        for thread in threads:
            thread.join(60)
        assert not any(thread.is_alive() for thread in threads)
