"""Compression of pages, for requests that no other site has caused.

The length of a compressed page shows whether words in it repeat. Somebody who can see the network
traffic, and can make a signed-in browser open a page repeatedly with chosen words in its address,
could guess other words of the page (BREACH). docs/security.md ASVS 3.5 says which words could still
be guessed from the pages that are compressed, and what limits the guessing.
"""

import gzip
import secrets
from io import BytesIO
from typing import Final

from flask import Flask, Response, request

# Values of Sec-Fetch-Site for a request that our own page, or no page, has caused. Without the
# header the page is not compressed.
SURELY_OURS: Final = frozenset({"same-origin", "none"})
LEVEL: Final = 6  # gzip's compression level
PADDING: Final = 100  # bytes of random padding at most, which hide the exact length


def init_app(app: Flask) -> None:
    """Compress pages. JSON stays as it is: polls are short, and most are answered before Flask."""
    app.after_request(_compress)


def _compress(answer: Response) -> Response:
    if answer.mimetype != "text/html" or answer.content_encoding:
        return answer
    answer.vary.update(("Accept-Encoding", "Sec-Fetch-Site"))
    ours = request.headers.get("Sec-Fetch-Site") in SURELY_OURS
    if ours and request.method == "GET" and request.accept_encodings["gzip"] > 0:
        answer.data = padded_gzip(answer.get_data())
        answer.content_encoding = "gzip"
    return answer


def compressed(answer: Response) -> Response:
    """The answer, compressed if the client accepts gzip.

    Not to be used for a body that holds both a secret and words from its address, which someone
    else may have chosen: the lengths of many such bodies would reveal the secret
    (docs/operating.md, Behind a proxy).
    """
    answer.vary.add("Accept-Encoding")
    if request.accept_encodings["gzip"] > 0:
        answer.data = gzip.compress(answer.data, compresslevel=LEVEL, mtime=0)
        answer.content_encoding = "gzip"
    return answer


def padded_gzip(data: bytes) -> bytes:
    """A body as gzip; a file name of random length in its header is the padding."""
    packed = BytesIO()
    name = "-" * secrets.randbelow(PADDING)
    with gzip.GzipFile(name, "wb", LEVEL, packed, mtime=0) as file:
        file.write(data)
    return packed.getvalue()
