"""Reads a PNG file into pixels, within bounds; nothing else of the file is used.

The size of the picture is checked first, and the inflated data may only be as long as that size
requires, so that a small file can't fill the memory. Every colour type and depth of the PNG
specification is read, interlaced or not. Of an animation the first picture is read.
"""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ridedash.face import SIGNATURE, BadLogo, Unusable, check_shape

Pixels = npt.NDArray[np.uint8]
MOST_PIXELS: Final = 4_000_000
LONGEST, SHORTEST = 4000, 16  # pixels of the longest and the shortest allowed side
CHANNELS: Final = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # channels by colour type
DEPTHS: Final = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
GREY, PALETTE, GREY_ALPHA = 0, 3, 4
ONE_PASS: Final = ((0, 0, 1, 1),)
ADAM7: Final = (  # first column, first row, and the steps of both, for each pass
    (0, 0, 8, 8),
    (4, 0, 8, 8),
    (0, 4, 4, 8),
    (2, 0, 4, 4),
    (0, 2, 2, 4),
    (1, 0, 2, 2),
    (0, 1, 1, 2),
)


@dataclass(frozen=True)
class Header:
    """The facts of a picture's IHDR chunk."""

    width: int
    height: int
    depth: int
    colour: int
    interlaced: bool

    @property
    def bits(self) -> int:
        """Bits of a pixel."""
        return self.depth * CHANNELS[self.colour]


def read_png(data: bytes) -> Pixels:
    """The pixels of a PNG: height × width × 4, red, green, blue and alpha. Raises BadLogo."""
    header, chunks = _chunks(data)
    raw = _inflated(chunks[b"IDAT"], _raw_length(header))
    samples = np.zeros((header.height, header.width, CHANNELS[header.colour]), np.uint16)
    at = 0
    for column, row, right, down in _passes(header):
        width = -(-(header.width - column) // right)
        height = -(-(header.height - row) // down)
        line = -(-width * header.bits // 8)
        part = np.frombuffer(raw, np.uint8, height * (line + 1), at).reshape(height, line + 1)
        at += part.size
        lines = _unfiltered(part, max(1, header.bits // 8))
        samples[row::down, column::right] = _samples(lines, width, header)
    return _coloured(samples, header, chunks)


def _chunks(data: bytes) -> tuple[Header, dict[bytes, bytes]]:
    """The header, and the chunks IDAT, PLTE and tRNS by name. Raises BadLogo.

    Other chunks are skipped, unless their name says that a picture can't be read without them.
    """
    found: dict[bytes, bytes] = {}
    header: Header | None = None
    for name, body in _read_chunks(data):
        if name == b"IHDR" and header is None:
            header = _header(body)
        elif header is None:
            break
        elif name == b"IEND":
            if b"IDAT" not in found or (header.colour == PALETTE and b"PLTE" not in found):
                break
            return header, found
        elif name == b"IDAT":
            found[name] = found.get(name, b"") + body
        elif name in (b"PLTE", b"tRNS"):
            found[name] = body
        elif name[:1].isupper():  # a critical chunk that this reader does not know
            break
    raise BadLogo(Unusable.DAMAGED)


def _read_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(SIGNATURE)
    while at + 12 <= len(data):
        length, name = struct.unpack_from(">I4s", data, at)
        body = data[at + 8 : at + 8 + length]
        checksum = data[at + 8 + length : at + 12 + length]
        if checksum != struct.pack(">I", zlib.crc32(name + body)):
            return
        yield name, body
        at += 12 + length


def _header(body: bytes) -> Header:
    if len(body) != 13:
        raise BadLogo(Unusable.DAMAGED)
    width, height, depth, colour, packing, filtering, interlaced = struct.unpack(">IIBBBBB", body)
    if depth not in DEPTHS.get(colour, ()) or packing or filtering or interlaced > 1:
        raise BadLogo(Unusable.DAMAGED)
    if max(width, height) > LONGEST or width * height > MOST_PIXELS:
        raise BadLogo(Unusable.TOO_MANY_PIXELS)
    if min(width, height) < SHORTEST:
        raise BadLogo(Unusable.TOO_FEW_PIXELS)
    check_shape(width, height)
    return Header(width, height, depth, colour, bool(interlaced))


def _passes(header: Header) -> Iterator[tuple[int, int, int, int]]:
    for each in ADAM7 if header.interlaced else ONE_PASS:
        if each[0] < header.width and each[1] < header.height:
            yield each


def _raw_length(header: Header) -> int:
    """The length of all lines with their filter bytes; inflated data must have that length."""
    total = 0
    for column, row, right, down in _passes(header):
        width = -(-(header.width - column) // right)
        height = -(-(header.height - row) // down)
        total += height * (-(-width * header.bits // 8) + 1)
    return total


def _inflated(packed: bytes, length: int) -> bytes:
    """The inflated lines. A stream of any other length than `length` bytes is refused."""
    stream = zlib.decompressobj()
    try:
        raw = stream.decompress(packed, length + 1)
    except zlib.error:
        raise BadLogo(Unusable.DAMAGED) from None
    if len(raw) != length:
        raise BadLogo(Unusable.DAMAGED)
    return raw


def _unfiltered(part: Pixels, step: int) -> Pixels:
    """The bytes of lines whose first byte is their filter (PNG specification, chapter 9).

    A byte needs its left, upper and upper left neighbours, so all bytes of one diagonal are made at
    once: in column `d - row` of each row.
    """
    kinds, coded = part[:, 0], part[:, 1:]
    if kinds.max(initial=0) > 4:
        raise BadLogo(Unusable.DAMAGED)
    height, length = coded.shape
    width = length // step
    rows = np.arange(height)
    # a row and a pixel of zeros precede the first ones
    made = np.zeros((height + 1, width + 1, step), np.int16)
    wanted = coded.reshape(height, width, step).astype(np.int16)
    for diagonal in range(height + width - 1):
        at = rows[max(0, diagonal - width + 1) : diagonal + 1]
        columns = diagonal - at
        left, up = made[at + 1, columns], made[at, columns + 1]
        guess = _guess(kinds[at][:, None], left, up, made[at, columns])
        made[at + 1, columns + 1] = (wanted[at, columns] + guess) & 255
    return made[1:, 1:].reshape(height, length).astype(np.uint8)


def _guess(kind: Pixels, left: Any, up: Any, corner: Any) -> Any:
    """The value that a filter adds to a byte."""
    whole = left + up - corner
    a, b, c = abs(whole - left), abs(whole - up), abs(whole - corner)
    paeth = np.where((a <= b) & (a <= c), left, np.where(b <= c, up, corner))
    return np.select(
        [kind == 1, kind == 2, kind == 3, kind == 4], [left, up, (left + up) // 2, paeth]
    )


def _samples(lines: Pixels, width: int, header: Header) -> npt.NDArray[np.uint16]:
    """The numbers of each pixel as the file has them, 1 to 16 bits."""
    height, channels = len(lines), CHANNELS[header.colour]
    if header.depth == 16:
        wide = lines.reshape(height, width, channels, 2).astype(np.uint16)
        return np.asarray(wide[..., 0] * 256 + wide[..., 1], np.uint16)
    if header.depth == 8:
        return lines.reshape(height, width, channels).astype(np.uint16)
    bits = np.unpackbits(lines, axis=1)[:, : width * header.depth]
    grouped = bits.reshape(height, width, header.depth).astype(np.uint16)
    values = grouped @ (1 << np.arange(header.depth - 1, -1, -1, dtype=np.uint16))
    return np.asarray(values[..., None], np.uint16)


def _coloured(samples: Any, header: Header, chunks: dict[bytes, bytes]) -> Pixels:
    """Red, green, blue and alpha of 8 bits."""
    alpha = np.full(samples.shape[:2], 255, np.uint8)
    hidden = chunks.get(b"tRNS", b"")
    if header.colour == PALETTE:
        return _of_palette(samples[..., 0], chunks[b"PLTE"], hidden)
    top = 2**header.depth - 1
    scaled = (samples.astype(np.uint32) * 255 // top).astype(np.uint8)
    if header.colour in (GREY_ALPHA, 6):
        alpha = scaled[..., -1]
        scaled = scaled[..., :-1]
    elif len(hidden) == 2 * samples.shape[2]:
        clear = np.frombuffer(hidden, ">u2") & top
        alpha = np.where((samples == clear).all(axis=2), 0, 255).astype(np.uint8)
    colours = scaled if scaled.shape[2] == 3 else np.repeat(scaled, 3, axis=2)
    return np.dstack([colours, alpha])


def _of_palette(numbers: Any, colours: bytes, hidden: bytes) -> Pixels:
    if not colours or len(colours) % 3 or len(colours) > 768 or len(hidden) > len(colours) // 3:
        raise BadLogo(Unusable.DAMAGED)
    table = np.full((len(colours) // 3, 4), 255, np.uint8)
    table[:, :3] = np.frombuffer(colours, np.uint8).reshape(-1, 3)
    table[: len(hidden), 3] = np.frombuffer(hidden, np.uint8)
    if int(numbers.max()) >= len(table):
        raise BadLogo(Unusable.DAMAGED)
    return np.asarray(table[numbers], np.uint8)
