"""Scales pixels down, and writes them as a PNG that contains only known chunks."""

import math
import struct
import zlib
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ridedash.face import SHOWN_BYTES, SIGNATURE
from ridedash.face.png_reading import Pixels

WIDE, HIGH = 640, 240  # pixels; on paper a logo is 60 mm wide at most, on a screen 220 px
SMALLEST: Final = 48  # pixels of the longer side


def shown_png(pixels: Pixels) -> tuple[bytes, int, int]:
    """A PNG of at most SHOWN_BYTES that shows these pixels, and its width and height.

    At WIDE × HIGH nearly every picture fits into SHOWN_BYTES. One of noise is made smaller still,
    until it fits or its longer side is at most SMALLEST.
    """
    height, width = pixels.shape[:2]
    scale = min(1.0, WIDE / width, HIGH / height)
    while True:
        small = _resized(pixels, max(1, round(width * scale)), max(1, round(height * scale)))
        made = write_png(small)
        if len(made) <= SHOWN_BYTES or max(small.shape[:2]) <= SMALLEST:
            return made, small.shape[1], small.shape[0]
        scale *= min(0.9, math.sqrt(SHOWN_BYTES / len(made)))


def write_png(pixels: Pixels) -> bytes:
    """A PNG of three chunks: IHDR, IDAT, IEND.

    It has no alpha channel if all pixels are opaque.
    """
    opaque = bool((pixels[..., 3] == 255).all())
    samples = pixels[..., :3] if opaque else pixels
    height, width, channels = samples.shape
    header = struct.pack(">IIBBBBB", width, height, 8, 2 if opaque else 6, 0, 0, 0)
    body = zlib.compress(_filtered(samples.reshape(height, -1), channels), 9)
    return SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")


def _resized(pixels: Pixels, width: int, height: int) -> Pixels:
    """Each new pixel is the mean of the old pixels in its area, weighted by their alpha."""
    if pixels.shape[:2] == (height, width):
        return np.where(pixels[..., 3:] == 0, np.uint8(0), pixels)
    alpha = _means(pixels[..., 3] / 255.0, width, height)
    made = np.zeros((height, width, 4), np.uint8)
    made[..., 3] = np.rint(alpha * 255)
    seen = made[..., 3] > 0  # elsewhere alpha is 0, or too small to divide by
    for channel in range(3):
        shown = _means(pixels[..., channel] * (pixels[..., 3] / 255.0), width, height)
        made[..., channel] = np.rint(np.divide(shown, alpha, where=seen, out=np.zeros_like(shown)))
    return made


def _means(values: Any, width: int, height: int) -> npt.NDArray[np.float64]:
    return _mean_rows(_mean_rows(values, height).T, width).T


def _mean_rows(values: Any, count: int) -> npt.NDArray[np.float64]:
    """Averages the rows of an array in `count` bands of equal height.

    A row that is in two bands counts in each by its share.
    """
    rows = len(values)
    total = np.zeros((rows + 1, *values.shape[1:]))
    np.cumsum(values, axis=0, out=total[1:])
    at = np.linspace(0, rows, count + 1)
    low = np.minimum(at.astype(int), rows - 1)
    part = (at - low)[:, None]
    sums = total[low] * (1 - part) + total[low + 1] * part
    return np.asarray(np.diff(sums, axis=0) * (count / rows))


def _filtered(lines: Pixels, step: int) -> bytes:
    """Each line with its PNG filter type: None, Sub or Up.

    The chosen filter is the one whose bytes, read as signed numbers, have the smallest sum of
    absolute values.
    """
    left, up = np.zeros_like(lines), np.zeros_like(lines)
    left[:, step:] = lines[:, :-step]
    up[1:] = lines[:-1]
    coded = np.stack([lines, lines - left, lines - up])
    sizes = np.abs(coded.view(np.int8).astype(np.int16)).sum(axis=2)
    best = sizes.argmin(axis=0)
    chosen = coded[best, np.arange(len(lines))]
    return np.hstack([best[:, None].astype(np.uint8), chosen]).tobytes()


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
