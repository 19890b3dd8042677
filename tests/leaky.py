"""A proxy between the dashboard and the sandbox that leaks secrets, for the canary test."""

import contextlib
import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CODE = "CANARY-83610927"  # a start code that equals no other text
PHONE = "+91 90909 11727"  # the phone of a driver


class Leaky(ThreadingHTTPServer):
    """Forwards requests to the sandbox. `faults` maps the end of a path to its next faults."""

    daemon_threads = True

    def __init__(self, sandbox: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.sandbox = sandbox
        self.faults: dict[str, list[str]] = {}
        self.spoken: list[str] = []  # the faults that happened

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Leaky

    def do_GET(self) -> None:
        self._answer(None)

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def log_message(self, *_args: Any) -> None:
        """Log nothing: the console belongs to the test."""

    def _answer(self, body: bytes | None) -> None:
        path = self.path.partition("?")[0]
        for end, faults in self.server.faults.items():
            if path.endswith(end) and faults:
                fault = faults.pop(0)
                self.server.spoken.append(f"{end} {fault}")
                self._send(*self._leak(fault, body))
                return
        status, text = self._hand_on(body)
        self._send(status, _with_code(text), "application/json")

    def _leak(self, fault: str, body: bytes | None) -> tuple[int, bytes, str]:
        """Headers and body of the request, in one of the shapes that a careless service uses."""
        received = (
            f"{self.path} {dict(self.headers)} {(body or b'').decode()} call {PHONE} otp: {CODE}"
        )
        leaked = {
            "message": received,
            "status": "FAILURE",
            "otp": CODE,
            "debug": {"headers": dict(self.headers)},
        }
        if fault == "page":
            return 502, f"<h1>Bad gateway</h1><pre>{received}</pre>".encode(), "text/html"
        if fault == "refusal":
            return (
                200,
                json.dumps(
                    leaked | {"code": "NO_SUCH_LUCK", "text": received, "header": received}
                ).encode(),
                "application/json",
            )
        return 500, json.dumps(leaked).encode(), "application/json"

    def _hand_on(self, body: bytes | None) -> tuple[int, bytes]:
        names = ("authorization", "x-app-token", "content-type", "accept")
        headers = {name: value for name, value in self.headers.items() if name.lower() in names}
        request = urllib.request.Request(
            self.server.sandbox + self.path, body, headers, method=self.command
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read()

    def _send(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        for name, value in (
            ("Content-Type", kind),
            ("Content-Length", str(len(body))),
            ("Set-Cookie", f"sid={CODE}"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def _with_code(text: bytes) -> bytes:
    """The sandbox's answer with our start code in place of its own."""
    try:
        body = json.loads(text)
        body["otp"]["start_trip"]["value"] = CODE
    except (ValueError, LookupError, TypeError):
        return text
    return json.dumps(body).encode()


@contextlib.contextmanager
def leaky(sandbox: str) -> Iterator[Leaky]:
    """The proxy, served by a thread."""
    with Leaky(sandbox) as server:
        thread = threading.Thread(target=server.serve_forever, name="leaky")
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
