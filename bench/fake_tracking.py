"""A fake track_ride server in a process of its own that does little work per call."""

import asyncio
import json
import multiprocessing
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

MARK: Final = 0.123456789  # placeholder for the latitude in a body
KINDS: Final = ("point_to_point", "share", "auto")

CAB: Final[dict[str, Any]] = {
    "driver_name": "Driver Cedar",
    "driver_number": "+10000000001",
    "driver_rating": 4.7,
    "driver_image_url": "https://pictures.service.example/drivers/0123456789abcdef0123456789abcdef.jpg",
    "driver_lat": MARK,
    "driver_lng": -128.0123456,
    "bearing": 117.5,
    "speed": 31.2,
    "cab_type": "mini",
    "cab_details": {
        "cab_type": "mini",
        "cab_number": "PM 01 AB 1234",
        "car_color": "White",
        "car_model": "Compact",
    },
    "vehicle_type": "mini",
    "vehicle_number": "PM 01 AB 1234",
    "vehicle_color": "White",
    "car_model": "Compact hatchback",
}


def snapshot(kind: str, booking_id: str) -> dict[str, Any]:
    """A snapshot of a ride with a driver on the way; about 2 kB as JSON."""
    stop = {"name": "Guest Heron", "lat": -38.5012345, "lng": -128.0012345}
    route = (
        [stop | {"state": state} for state in ("pickup", "pickup", "drop", "drop")]
        if kind == "share"
        else []
    )
    body = {
        "status": "SUCCESS",
        "request_type": "TRACK_RIDE",
        "booking_status": "IN_PROGRESS" if kind == "auto" else "CALL_DRIVER",
        "booking_id": booking_id,
        "pickup_location": {"lat": -38.5001234, "lng": -128.0001234},
        "drop_location": {"lat": -38.5201234, "lng": -128.0301234},
        "duration": {"value": 7, "unit": "MINUTE"},
        "distance": {"value": 2140, "unit": "METER"},
        "price_details": {
            "fare": 190.5,
            "service_tax": 9.53,
            "toll_charges": 0,
            "discount_value": 10.0,
        },
        "share_ride_url": "https://follow.service.example/r/0123456789abcdef0123456789abcdef",
        "passengers": [{"name": "Guest Heron"}, {"name": "Guest Wren"}] if kind == "share" else [],
        "route": route,
        "promotional_message": "",
        **CAB,
    }
    body["promotional_message"] = "Mind the step. " * ((2048 - len(json.dumps(body))) // 15)
    return body


def templates() -> dict[str, tuple[bytes, bytes, bytes]]:
    """For each kind, by its first letter, the parts of its body.

    They are the bytes before the id, between id and latitude, and after the latitude. A booking id
    begins with the first letter of its kind.
    """
    made = {}
    for kind in KINDS:
        first, rest = json.dumps(snapshot(kind, "@@")).encode().split(b"@@")
        made[kind[0]] = (first, *rest.split(str(MARK).encode()))
    return made


class Serving(asyncio.Protocol):
    """One connection.

    The latitude changes with each answer. Its width is constant, so the length of the body is too.
    """

    def __init__(self, bodies: dict[str, tuple[bytes, bytes, bytes]]) -> None:
        self.bodies, self.count, self.rest = bodies, 0, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer each complete request; requests have no bodies."""
        *requests, self.rest = (self.rest + data).split(b"\r\n\r\n")
        for request in requests:
            booking_id = request.split(b"booking_id=", 1)[1].split(b" ", 1)[0].split(b"&", 1)[0]
            first, middle, last = self.bodies[chr(booking_id[0])]
            self.count += 1
            lat = b"-38.%07d" % (self.count % 9_000_000)
            body = first + booking_id + middle + lat + last
            head = (
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                % len(body)
            )
            self.transport.write(head + body)


def _serve(listener: socket.socket) -> None:
    async def forever() -> None:
        bodies = templates()
        server = await asyncio.get_running_loop().create_server(
            lambda: Serving(bodies), sock=listener
        )
        await server.serve_forever()

    asyncio.run(forever())


@contextmanager
def fake_tracking() -> Iterator[str]:
    """Start the fake service, yield its address, and end its process at the end."""
    context = multiprocessing.get_context("fork")
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listener:
        process = context.Process(target=_serve, args=(listener,), daemon=True)
        process.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            process.terminate()
            process.join(5)
