"""Pictures for tests, made without the code under test.

PNG files of every colour type, depth and filter are put together here; other files by Pillow.
"""

import io
import struct
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2)]
ADAM7.append((0, 1, 1, 2))
Sample = Callable[[int, int, int], int]  # column, row, channel


def chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def header(width: int, height: int, depth: int = 8, colour: int = 6, interlaced: int = 0) -> bytes:
    return chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlaced))


def png(
    size: tuple[int, int],
    sample: Sample,
    *,
    kind: tuple[int, int] = (8, 6),
    filters: tuple[int, ...] = (0,),
    interlaced: bool = False,
    extra: bytes = b"",
) -> bytes:
    """A PNG; `kind` is depth and colour type, and row n has the filter n of `filters`, in turn."""
    depth, colour = kind
    passes = ADAM7 if interlaced else [(0, 0, 1, 1)]
    raw = b""
    for left, top, right, down in passes:
        columns, rows = range(left, size[0], right), range(top, size[1], down)
        if not columns:
            continue
        lines = [
            packed([sample(x, y, c) for x in columns for c in range(CHANNELS[colour])], depth)
            for y in rows
        ]
        raw += filtered(lines, max(1, depth * CHANNELS[colour] // 8), filters)
    body = header(*size, depth, colour, int(interlaced)) + extra
    return SIGNATURE + body + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")


def packed(samples: list[int], depth: int) -> bytes:
    bits = "".join(f"{each:0{depth}b}" for each in samples)
    bits += "0" * (-len(bits) % 8)
    return int(bits, 2).to_bytes(len(bits) // 8, "big")


def filtered(lines: list[bytes], step: int, filters: tuple[int, ...]) -> bytes:
    made, before = b"", bytes(len(lines[0])) if lines else b""
    for number, line in enumerate(lines):
        kind = filters[number % len(filters)]
        made += bytes([kind])
        for at, byte in enumerate(line):
            left = line[at - step] if at >= step else 0
            corner = before[at - step] if at >= step else 0
            made += bytes([(byte - guess(kind, left, before[at], corner)) % 256])
        before = line
    return made


def guess(kind: int, left: int, up: int, corner: int) -> int:
    whole = left + up - corner
    nearest = min((left, up, corner), key=lambda each: abs(whole - each))
    return (0, left, up, (left + up) // 2, nearest)[kind]


def disc(width: int, height: int, colour: tuple[int, int, int] = (122, 31, 61)) -> bytes:
    """A logo: an ellipse of one colour, transparent around it."""

    def sample(x: int, y: int, channel: int) -> int:
        inside = ((x + 0.5) / width - 0.5) ** 2 + ((y + 0.5) / height - 0.5) ** 2 < 0.24
        return (*colour, 255)[channel] if inside else 0

    return png((width, height), sample)


def encoded(picture: Image.Image | npt.NDArray[np.uint8], kind: str = "PNG", **how: Any) -> bytes:
    """A picture, or its pixels, as a file."""
    file = io.BytesIO()
    made = picture if isinstance(picture, Image.Image) else Image.fromarray(picture)
    made.save(file, kind, **how)
    return file.getvalue()
