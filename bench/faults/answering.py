"""A process that answers track_ride, and can be killed and restarted at the same address."""

import asyncio
import json
import multiprocessing
import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

UP_WITHIN_S: Final = 20.0
BOOKED: Final = {
    "status": "SUCCESS",
    "request_type": "TRACK_RIDE",
    "booking_status": "CALL_DRIVER",
    "driver_lat": -38.5,
}


class Answering(asyncio.Protocol):
    """One connection, which is kept open."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport."""
        assert isinstance(transport, asyncio.Transport)
        self.transport, self.rest = transport, b""

    def data_received(self, data: bytes) -> None:
        """Answer each complete request; requests have no bodies."""
        *requests, self.rest = (self.rest + data).split(b"\r\n\r\n")
        for request in requests:
            booking_id = request.split(b"booking_id=", 1)[1].split(b" ", 1)[0].decode()
            body = json.dumps(BOOKED | {"booking_id": booking_id}).encode()
            head = (
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
                f"{len(body)}\r\n\r\n"
            )
            self.transport.write(head.encode() + body)


def serve(port: int) -> None:
    """Answer requests for ever."""

    async def forever() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(
            Answering, "127.0.0.1", port, reuse_port=True, backlog=256
        )
        await server.serve_forever()

    asyncio.run(forever())


@contextmanager
def free_port() -> Iterator[int]:
    """A port without a listener, reserved for the service between its restarts."""
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        holder.bind(("127.0.0.1", 0))
        yield holder.getsockname()[1]


@contextmanager
def answering(port: int) -> Iterator[int]:
    """Start the service, yield its process id when it listens, and kill it at the end."""
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(port,), daemon=True)
    process.start()
    try:
        _wait_for(port)
        assert process.pid is not None
        yield process.pid
    finally:
        process.kill()
        process.join(5)


@contextmanager
def stopped(pid: int) -> Iterator[None]:
    """Suspend the service: connections to it are still opened, but not answered."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def _wait_for(port: int) -> None:
    end = time.monotonic() + UP_WITHIN_S
    while time.monotonic() < end:
        with socket.socket() as line:
            if line.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise RuntimeError("the answering process does not listen")
