"""Which requests the HTTP servers of http_server.py accept: only those that have one meaning.

A proxy and a server that disagree about where a request ends make one person's bytes the beginning
of another person's request. Waitress reads some requests differently from other servers: they are
refused here, which ends the connection. It also needs seconds to read headers with many blanks,
while no one else is served: the blanks are removed before (docs/security.md 2, ASVS 4.2).
"""

import re
import time
from typing import Any, Final

from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.task import ErrorTask
from waitress.utilities import BadRequest, RequestEntityTooLarge

IDLE_S: Final = 20  # after this time a connection without a request is closed
REQUEST_S: Final = 60  # after this time an incomplete request is given up
# Waitress stores a body before the application, which refuses more than 256 kB, sees it.
BODY_BYTES: Final = 1024 * 1024
# a path on this server, or a whole URL as clients of a proxy send it
START: Final = re.compile(rb"[A-Z]{1,20} (?:/|https?://)[!-~]* HTTP/1\.[01]")
# The name of a header and the blanks before its value: waitress needs quadratic time for them.
PADDED: Final = re.compile(rb"(\r\n[^:\r\n]+:)[ \t]+")
CODED: Final = re.compile(rb"\r\ntransfer-encoding[ \t]*:", re.IGNORECASE)
FOLDED: Final = re.compile(rb"\r\n[ \t]")
# what is parsed in place of a request that is refused; waitress itself uses the same placeholder
REFUSED: Final = b"GET / HTTP/1.0\r\n"
# headers of an answer that waitress makes itself, without the application
HEADERS: Final = (
    ("Cache-Control", "no-store"),
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Content-Type-Options", "nosniff"),
)


class LengthRequired(BadRequest):  # type: ignore[misc] # waitress ships no types
    """Refuses a request with Transfer-Encoding: no form of ours and no browser sends one."""

    code = 411
    reason = "Length Required"


class StrictParser(HTTPRequestParser):  # type: ignore[misc] # waitress ships no types
    """Waitress's parser, limited to requests that have one meaning."""

    def __init__(self, adj: Any) -> None:
        super().__init__(adj)
        self.began = time.time()

    def received(self, data: bytes) -> int:
        """Parse these bytes. Returns how many of them belong to this request."""
        consumed: int = super().received(data)
        if self.error is not None or self.body_rcv is None:
            # No body will be read, so "100 Continue" must not ask for one: it would be read as the
            # next request.
            self.expect_continue = False
        return consumed

    def parse_header(self, header_plus: bytes) -> None:
        """Read the first line and the headers. Raises ParsingError."""
        if CODED.search(header_plus):
            self.error = LengthRequired("a body needs a Content-Length")
            header_plus = REFUSED
        if not START.fullmatch(header_plus.partition(b"\r\n")[0]):
            raise ParsingError("the first line can't be read")
        if FOLDED.search(header_plus):
            raise ParsingError("a header goes on in a second line")
        try:
            super().parse_header(PADDED.sub(rb"\1", header_plus))
        except ValueError:  # an address such as http://[ or a content length of thousands of digits
            raise ParsingError("an address or a length can't be read") from None
        if self.proxy_netloc and self.proxy_netloc.lower() != self.headers.get("HOST", "").lower():
            raise ParsingError("the address and Host name two hosts")
        if self.content_length >= self.adj.uploads.get(self.path, BODY_BYTES):
            self.error = RequestEntityTooLarge("the body is too long for this address")
            self.completed = True


class SafeRefusal(ErrorTask):  # type: ignore[misc] # waitress ships no types
    """A refusal with the headers that every answer has."""

    def execute(self) -> None:
        """Write the answer."""
        self.response_headers.extend(HEADERS)
        super().execute()


class Channel(HTTPChannel):  # type: ignore[misc] # waitress ships no types
    """A connection that a client can't keep open by sending a request very slowly."""

    parser_class = StrictParser
    error_task_class = SafeRefusal
    last_activity: float

    def received(self, data: bytes) -> bool:
        """Process received bytes. Waitress closes a connection IDLE_S after `last_activity`."""
        took: bool = super().received(data)
        unfinished = self.request
        if unfinished is not None:
            given_up = unfinished.began + REQUEST_S - IDLE_S
            self.last_activity = min(self.last_activity, given_up)
        return took
