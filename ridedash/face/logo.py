"""Turns a file that a manager chose into a logo that is safe to show.

The kind of a file follows from its first bytes, never from its name or the browser's content type.
A PNG, JPEG or WebP is read into pixels and drawn anew as a PNG (pictures.py), an SVG is parsed and
written again from an allow-list (svg_reading.py, svg_cleaning.py); the file itself is never served.
"""

import gzip
import hashlib
import re
from typing import Final

from ridedash.face import MOST_BYTES, SHOWN_BYTES, BadPicture, Logo, Unusable
from ridedash.face.svg_cleaning import clean_svg
from ridedash.face.svg_reading import read_svg

KINDS: Final = {"png": "image/png", "svg": "image/svg+xml", "jpg": "image/jpeg"}
PICTURE: Final = re.compile(rb"\x89PNG\r\n\x1a\n|\xff\xd8\xff|RIFF.{4}WEBP", re.DOTALL)
# maybe a byte order mark and white space, then "<": otherwise the file is no SVG
BEGINNING: Final = re.compile(rb"(\xef\xbb\xbf|\xff\xfe|\xfe\xff)?[\s\0]*<")


def make_logo(data: bytes) -> Logo:
    """The logo of a file. Raises BadPicture."""
    if not data:
        raise BadPicture(Unusable.EMPTY)
    if len(data) > MOST_BYTES:
        raise BadPicture(Unusable.TOO_LARGE)
    if PICTURE.match(data):
        return _drawn(data)
    if BEGINNING.match(data):
        return _written(data)
    raise BadPicture(Unusable.OTHER_KIND)


def _drawn(data: bytes) -> Logo:
    """The logo of a picture: its pixels, drawn no larger than a page needs. Raises BadPicture."""
    # imported here: no web process needs Pillow until a manager chooses a picture
    from ridedash.face.pictures import read_picture, shown_png

    content, width, height = shown_png(read_picture(data))
    return Logo(hashed_name(content, "png"), content, width, height)


def _written(data: bytes) -> Logo:
    """The logo of an SVG, with only the allowed elements. Raises BadPicture."""
    clean = clean_svg(read_svg(data))
    content = clean.text.encode()
    # the level at which it is sent; a higher one takes half a second for some crafted files
    if len(gzip.compress(content, compresslevel=6)) > SHOWN_BYTES:
        raise BadPicture(Unusable.TOO_DETAILED)
    return Logo(hashed_name(content, "svg"), content, clean.width, clean.height, clean.left_out)


def hashed_name(content: bytes, kind: str) -> str:
    """The name of a file: the SHA-256 of its bytes, and its kind."""
    return f"{hashlib.sha256(content).hexdigest()}.{kind}"
