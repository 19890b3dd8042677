"""A double of the service in a process of its own, with a ledger on disk of all it really did."""

import json
import os
import socket
import socketserver
import struct
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from bench.faults.answers import ANSWERS, AnswerKind, body_of

SLOW_S: Final = 0.5
DRIP_S: Final = 0.02
SILENT_S: Final = 8.0  # longer than any deadline of a run
PRICED: Final = {  # the answer to a request for prices
    "categories": [{"id": "mini", "display_name": "Mini", "currency": "INR", "eta": 3}],
    "ride_estimate": [
        {
            "category": "mini",
            "upfront": {"fare": 240, "fare_id": "F1", "is_upfront_applicable": True},
        }
    ],
}
NO_LINGER: Final = struct.pack("ii", 1, 0)


@dataclass
class Booking:
    """A booking that the service made."""

    mtx: str
    answer_kind: str
    booking_id: str | None
    txn_id: str | None
    number: int
    polls: int = 0
    cancelled: bool = False


class LedgerFile:
    """The ledger, to which the double and the workers append lines."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def note(self, what: str, **facts: Any) -> None:
        """Write one line, in one piece."""
        line = json.dumps({"what": what, "at": time.monotonic(), **facts}) + "\n"
        os.write(self._file, line.encode())


class Double:
    """The double. Each action is written to the ledger before any byte of its answer is sent."""

    def __init__(self, ledger: Path, hold_s: float) -> None:
        self.note = LedgerFile(ledger).note
        self._lock = threading.Lock()
        self._tries: dict[str, int] = {}
        self._bookings: dict[str, Booking] = {}
        self._numbers = 100_000
        self._hold_s = hold_s

    def answer(self, connection: socket.socket, target: str, content: bytes) -> bool:
        """Answer one request. Returns whether the connection stays open."""
        path, query = urlsplit(target).path, parse_qs(urlsplit(target).query)
        name = path.rsplit("/", 1)[-1]
        if name == "track_ride":
            key = (query.get("booking_id") or query.get("txn_id") or [""])[0]
            return self._send_json(connection, self._track(key))
        if name == "token":
            fresh = {
                "access_token": f"fresh-{time.monotonic_ns()}",
                "refresh_token": "again",
                "expires_in": 86400,
            }
            return self._send_json(connection, {**fresh, "token_type": "Bearer"})
        if name == "products":
            return self._send_json(connection, PRICED)
        body = json.loads(content)
        if name == "create":
            return self._create(connection, body)
        return self._send_json(connection, self._stop(name, body))

    def _create(self, connection: socket.socket, body: dict[str, Any]) -> bool:
        mtx, name = body["merchant_txn_id"], body.get("coupon_code") or "booked"
        with self._lock:
            self._tries[mtx] = self._tries.get(mtx, 0) + 1
            first = ANSWERS[name].first if self._tries[mtx] == 1 else ""
            kind = ANSWERS[first or name]
            self.note("call", mtx=mtx, answer_kind=name, means=kind.means)
            booking = self._make(mtx, name, kind)
        answered = body_of(
            kind.body, mtx, booking.booking_id or f"C{booking.number}", f"T{booking.number}"
        )
        self._send(connection, kind, answered)
        return False

    def _make(self, mtx: str, name: str, kind: AnswerKind) -> Booking:
        self._numbers += 1
        number, matching = self._numbers, kind.body == "matching"
        booking = Booking(
            mtx,
            name,
            None if matching else f"C{number}",
            f"T{number}" if matching else None,
            number,
        )
        if kind.body == "number":
            booking.booking_id = str(number)
        if kind.made:
            self._bookings[booking.txn_id or booking.booking_id or ""] = booking
            self.note("made", mtx=mtx, booking_id=booking.booking_id, txn_id=booking.txn_id)
        return booking

    def _send(
        self, connection: socket.socket, kind: AnswerKind, body: dict[str, Any] | str
    ) -> None:
        text = body if isinstance(body, str) else json.dumps(body)
        data = http(kind.status, text, kind.headers, more=40 if kind.manner == "truncated" else 0)
        if kind.manner == "silent":
            time.sleep(SILENT_S)
        elif kind.manner == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
        elif kind.manner == "slow":
            time.sleep(SLOW_S)
            connection.sendall(data)
        elif kind.manner == "drip":
            for start in range(0, len(data), 40):
                connection.sendall(data[start : start + 40])
                time.sleep(DRIP_S)
        elif kind.manner != "close":
            connection.sendall(data)

    def _track(self, key: str) -> dict[str, Any]:
        self.note("track", key=key)
        if self._hold_s:
            time.sleep(self._hold_s)
        with self._lock:
            booking = self._bookings.get(key)
            if booking is None:
                return {"status": "FAILURE", "code": "NO_BOOKING", "message": "no such booking"}
            booking.polls += 1
            facts = self._status(booking)
        self.note("tracked", key=key)
        return {"status": "SUCCESS", "request_type": "TRACK_RIDE", **facts}

    def _status(self, booking: Booking) -> dict[str, Any]:
        if booking.txn_id and booking.booking_id is None:
            if booking.polls < 3:
                return {"booking_status": "ALLOTMENT_PENDING"}
            if booking.answer_kind == "match_fails":
                return {"booking_status": "ALLOTMENT_FAILED"}
            booking.booking_id = f"C{booking.number}"
            self._bookings[booking.booking_id] = booking
            self.note("handed", mtx=booking.mtx, booking_id=booking.booking_id)
            return {"booking_id": booking.booking_id, "booking_status": "CALL_DRIVER"}
        status = "IN_PROGRESS" if booking.answer_kind == "forever" else "COMPLETED"
        if booking.answer_kind == "match_cancel":
            status = "BOOKING_CANCELLED" if booking.cancelled else "CALL_DRIVER"
        return {"booking_id": booking.booking_id, "booking_status": status}

    def _stop(self, name: str, body: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            booking = self._bookings.get(body.get("booking_id", ""))
            if booking is not None:
                booking.cancelled = True
        self.note(name, booking_id=body.get("booking_id"))
        return {"status": "SUCCESS", "request_type": name.upper()}

    def _send_json(self, connection: socket.socket, body: dict[str, Any]) -> bool:
        connection.sendall(http(200, json.dumps(body), ()))
        return True


def http(status: int, text: str, headers: tuple[str, ...], more: int = 0) -> bytes:
    """An answer as bytes; `more` is added to Content-Length, so that the body ends too early."""
    body = text.encode()
    kind = "application/json" if text.startswith("{") else "text/html"
    head = [
        f"HTTP/1.1 {status} x",
        f"Content-Type: {kind}",
        f"Content-Length: {len(body) + more}",
        *headers,
    ]
    return "\r\n".join([*head, "", ""]).encode() + body


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128
    double: Double

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore errors of connections: a worker that was killed closes them."""


class _Handler(socketserver.StreamRequestHandler):
    server: _Server

    def handle(self) -> None:
        """Handle the requests of one connection."""
        while True:
            words = self.rfile.readline().split()
            if len(words) < 2:
                return
            length, last = 0, False
            while (header := self.rfile.readline().strip().lower()) != b"":
                name, _, value = header.partition(b":")
                length = int(value) if name == b"content-length" else length
                last |= name == b"connection" and b"close" in value
            content = self.rfile.read(length)
            if not self.server.double.answer(self.connection, words[1].decode(), content) or last:
                return


def main() -> None:
    """`python -m bench.faults.double LEDGER HOLD_S`: print the port, serve until stdin ends."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.double = Double(Path(sys.argv[1]), float(sys.argv[2]))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
