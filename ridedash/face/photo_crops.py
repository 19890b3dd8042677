"""Crops a photograph for kiosks, and darkens it until white text can be read on every pixel.

It is darkened as an evening darkens what is seen: hues stay, and so do the steps of lightness (L*
of CIE 1976) between its parts, all by one factor; lights above them are pressed together. A
photograph that is dark already is hardly changed. What counts is what a browser will see: the JPEG
is decoded and measured, and dimmed further while any pixel of it is too bright.
"""

import io
import math
from typing import Final

from PIL import Image, ImageChops, ImageFilter

from ridedash.face import BadPicture, Unusable
from ridedash.face.colour import WEIGHTS, linear
from ridedash.face.pictures import bare

SHAPES: Final = {"wide": (1920, 1200), "tall": (1200, 1920)}  # the largest size of each crop
CROP_BYTES: Final = 160_000  # size of a stored crop
QUALITIES: Final = (80, 72, 64, 56)  # of a JPEG; then the crop is made smaller
SMALLER: Final = 0.85  # the next width and height, at most, as a part of the last ones
# Relative luminance (WCAG 2.2) of the brightest pixel of a stored crop. White on it has 7.2 to 1;
# at 7.0 it is 0.1, and the rest is for decoders that round otherwise than the one here.
BRIGHTEST: Final = 0.095
LIGHTEST: Final = 34.0  # L* of the brightest part before it is encoded: a luminance of 0.08
STEPS: Final = 25  # of each colour in the table by which pixels are darkened
ROUNDNESS: Final = 4  # of the curve where it leaves its straight part; a higher one bends later
DIMMER: Final = 0.98  # of a crop that is too bright: the next one's values, at most
SHARE: Final = 0.98  # of the pixels that are no lights
SAMPLE: Final = (160, 160)  # pixels by which a photograph is judged
BLACK: Final = 24  # the value, of 255, above which a photograph has something to see
FLAT: Final = 12  # steps of value, of 255, between the darkest and the brightest parts of one
# What three bytes add up to the luminance of a pixel times this, rounded up, 255 being 0.15 or more
SCALE: Final = 1700


def crops(picture: Image.Image, focus: str) -> dict[str, bytes]:
    """A JPEG for each shape. Raises BadPicture if there is nothing to see in the picture."""
    picture = _flat(picture)
    sample = picture.resize(SAMPLE, Image.Resampling.BOX)
    _check(sample)
    evening = _evening(sample)
    return {
        shape: _readable(_cropped(picture, size, focus).filter(evening))
        for shape, size in SHAPES.items()
    }


def _flat(picture: Image.Image) -> Image.Image:
    """The picture without transparency: black is behind it, on which white can be read."""
    if picture.mode != "RGBA":
        return picture
    flat = Image.new("RGB", picture.size)
    flat.paste(picture, mask=picture.getchannel("A"))
    return flat


def _check(sample: Image.Image) -> None:
    """Refuse a picture that is nearly black, or of one colour, all over. Raises BadPicture."""
    channels = [channel.histogram() for channel in sample.split()]
    if max(_value_at(channel, SHARE) for channel in channels) < BLACK:
        raise BadPicture(Unusable.TOO_DARK)
    if all(_value_at(each, SHARE) - _value_at(each, 1 - SHARE) < FLAT for each in channels):
        raise BadPicture(Unusable.ONE_COLOUR)


def _value_at(histogram: list[int], share: float) -> int:
    """The value that this share of the pixels does not exceed."""
    left = share * sum(histogram)
    for value, count in enumerate(histogram):
        left -= count
        if left <= 0:
            return value
    return len(histogram) - 1


def _cropped(picture: Image.Image, largest: tuple[int, int], focus: str) -> Image.Image:
    """The largest part of the picture of this shape that keeps `focus`; never enlarged."""
    width, height = picture.size
    across = min(width, height * largest[0] / largest[1])
    down = min(height, width * largest[1] / largest[0])
    left = {"left": 0.0, "right": 1.0}.get(focus, 0.5) * (width - across)
    top = {"top": 0.0, "bottom": 1.0}.get(focus, 0.5) * (height - down)
    size = min(largest[0], int(across)), min(largest[1], int(down))
    box = left, top, left + across, top + down
    return bare(picture.resize(size, Image.Resampling.LANCZOS, box=box, reducing_gap=3.0))


def _evening(sample: Image.Image) -> ImageFilter.Color3DLUT:
    """The table that darkens the picture of this sample: new red, green and blue by the old ones.

    White, the lightest that a picture could have, becomes LIGHTEST.
    """
    white = _lightness(linear(_value_at(sample.convert("L").histogram(), SHARE) / 255))
    white = max(white, LIGHTEST)  # never brighter than it is
    full = _bent(100 / white)

    def darkened(red: float, green: float, blue: float) -> tuple[float, float, float]:
        light = linear(red), linear(green), linear(blue)
        old = sum(part * value for part, value in zip(WEIGHTS, light, strict=True))
        if old == 0:
            return 0, 0, 0
        lightness = _lightness(old)
        new = _luminance(min(lightness, LIGHTEST * _bent(lightness / white) / full))
        return tuple(_encoded(value * new / old) for value in light)  # type: ignore[return-value]

    return ImageFilter.Color3DLUT.generate(STEPS, darkened)


def _bent(value: float) -> float:
    """A curve that begins as `value` itself and never reaches 1."""
    return float(value / (1 + value**ROUNDNESS) ** (1 / ROUNDNESS))


def _readable(crop: Image.Image) -> bytes:
    """A JPEG of a darkened crop of which no pixel is brighter than BRIGHTEST."""
    while True:
        content, crop = _fitting(crop)
        with Image.open(io.BytesIO(content)) as seen:
            found = brightest(seen)
        if found <= BRIGHTEST:
            return content
        factor = min(DIMMER, math.sqrt(BRIGHTEST / found))
        crop = crop.point([round(value * factor) for value in range(256)] * 3)


def _fitting(crop: Image.Image) -> tuple[bytes, Image.Image]:
    """A JPEG of at most CROP_BYTES, and what it shows: of a lower quality, then smaller."""
    while True:
        for quality in QUALITIES:
            file = io.BytesIO()
            crop.save(file, "JPEG", quality=quality, optimize=True, progressive=True)
            if file.tell() <= CROP_BYTES:
                return file.getvalue(), crop
        width, height = crop.size
        scale = min(SMALLER, math.sqrt(CROP_BYTES / file.tell()))
        size = round(width * scale), round(height * scale)
        crop = crop.resize(size, Image.Resampling.BOX)


def brightest(picture: Image.Image) -> float:
    """The relative luminance of the brightest pixel of an RGB picture, rounded up, 0.15 at most."""
    parts = [
        channel.point([_added(value, part) for value in range(256)])
        for channel, part in zip(picture.split(), WEIGHTS, strict=True)
    ]
    whole = ImageChops.add(ImageChops.add(parts[0], parts[1]), parts[2])
    return float(whole.getextrema()[1]) / SCALE  # type: ignore[arg-type]


def _added(value: int, part: float) -> int:
    return min(255, math.ceil(linear(value / 255) * part * SCALE))


def _encoded(light: float) -> float:
    """The sRGB value of a share of light; both from 0 to 1."""
    if light <= 0.0031308:
        return light * 12.92
    return float(1.055 * light ** (1 / 2.4) - 0.055)


def _lightness(luminance: float) -> float:
    """L* of a relative luminance: from 0 to 100, in steps that look alike."""
    if luminance <= 216 / 24389:
        return luminance * 24389 / 27
    return float(116 * luminance ** (1 / 3) - 16)


def _luminance(lightness: float) -> float:
    """The relative luminance of an L*."""
    if lightness <= 8:
        return lightness * 27 / 24389
    return float(((lightness + 16) / 116) ** 3)
