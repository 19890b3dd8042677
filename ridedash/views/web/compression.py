"""Pages travel compressed to a browser that no other site has sent here.

The length of a compressed page tells whether words in it repeat. Who listens on the line, and has a
signed-in browser open a page again and again with words of their own in its address, could so guess
what else stands on it (BREACH). docs/security.md ASVS 3.5 says why these answers give nothing away.
"""

import gzip
import secrets
from io import BytesIO
from typing import Final

from flask import Flask, Response, request

# no page caused the request, or one of ours did. A browser that doesn't know the header, and any
# other program, gets the page as it is
OURS: Final = frozenset({"same-origin", "none"})
LEVEL: Final = 6
PADDING: Final = 100  # bytes: a length says less when so many of it are chance


def init_app(app: Flask) -> None:
    """Compress the pages of the app. JSON stays as it is: polls are short, and answered before."""
    app.after_request(_compress)


def _compress(answer: Response) -> Response:
    if answer.mimetype != "text/html" or answer.content_encoding:
        return answer
    answer.vary.update(("Accept-Encoding", "Sec-Fetch-Site"))
    ours = request.headers.get("Sec-Fetch-Site") in OURS
    if ours and request.method == "GET" and request.accept_encodings["gzip"] > 0:
        answer.data = padded_gzip(answer.get_data())
        answer.content_encoding = "gzip"
    return answer


def compressed(answer: Response) -> Response:
    """The answer, gzipped for a client that reads that.

    Only for a body without a secret beside words that somebody else can choose by an address: by
    the lengths of many such bodies the secret could be guessed (docs/operating.md, Behind a proxy).
    """
    answer.vary.add("Accept-Encoding")
    if request.accept_encodings["gzip"] > 0:
        answer.data = gzip.compress(answer.data, compresslevel=LEVEL, mtime=0)
        answer.content_encoding = "gzip"
    return answer


def padded_gzip(data: bytes) -> bytes:
    """A body gzipped, with a file name of a random length in its head, which nobody reads."""
    made = BytesIO()
    name = "-" * secrets.randbelow(PADDING)
    with gzip.GzipFile(name, "wb", LEVEL, made, mtime=0) as packed:
        packed.write(data)
    return made.getvalue()
