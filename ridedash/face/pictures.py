"""Reads a PNG, JPEG or WebP within bounds, and draws it anew as a small PNG.

Pillow decodes and encodes; this module decides what may reach its decoders. Size and animation are
known from the header, before a pixel is decoded. Only pixels go out: no byte of the file, none of
its text, profiles or metadata. Of a JPEG's metadata one number is used, which way up it is.
"""

import io
import math
import warnings
from collections.abc import Iterator
from typing import Any, Final

from PIL import ExifTags, Image, ImageFile, PngImagePlugin

from ridedash.face import SHOWN_BYTES, BadLogo, Unusable, check_shape

FORMATS: Final = ("PNG", "JPEG", "WEBP")
# Formats that may hold an animation. A JPEG may hold several pictures, as cameras write them; its
# first one is shown.
ANIMATING: Final = ("PNG", "WEBP")
MOST_PIXELS: Final = 4_000_000  # of a PNG or JPEG: 57 MB while it is decoded
MOST_OF_WEBP: Final = 3_000_000  # pixels; Pillow holds four copies of a WebP while it decodes one
LONGEST: Final = 4000  # pixels of the longest allowed side
SHORTEST: Final = 16  # pixels of the shortest allowed side
# Each scan of a progressive JPEG passes over the whole picture again, and costs a dozen bytes of
# the file. Encoders write three to twelve.
MOST_SCANS: Final = 30
START_OF_SCAN: Final = b"\xff\xda"
WIDE: Final = 640  # pixels of a stored logo; on paper it is 60 mm wide at most, on a screen 220 px
HIGH: Final = 240  # pixels of a stored logo
SMALLEST: Final = 48  # pixels of the longer side
COLOURS: Final = (256, 64)  # of a picture that has too many to be sent to a phone
LONGEST_TEXT: Final = 250_000  # letters of a text or profile of a PNG, once it is inflated
MOST_TEXT: Final = 1_000_000  # letters of all texts of a PNG, once they are inflated
SIDEWAYS: Final = {  # what puts a picture upright, by its EXIF orientation; these lie on their side
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
TURNS: Final = SIDEWAYS | {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
}
# What makes eight bits of the values of a PNG. Pillow does so with pixels, but for grey of sixteen
# bits, and forgets the one colour that is clear.
SCALES: Final = {"L;2": 85, "L;4": 17, "I;16B": 1 / 257, "RGB;16B": 1 / 256}

# Pillow's own limits, for this process: nothing else uses Pillow
Image.MAX_IMAGE_PIXELS = MOST_PIXELS
PngImagePlugin.MAX_TEXT_CHUNK = LONGEST_TEXT
PngImagePlugin.MAX_TEXT_MEMORY = MOST_TEXT
warnings.filterwarnings("ignore", module=r"PIL\.")  # it warns of odd metadata, which is not used
warnings.simplefilter("error", Image.DecompressionBombWarning)


def read_picture(data: bytes) -> Image.Image:
    """The picture in a file: upright, of mode RGB or RGBA. Raises BadLogo."""
    try:
        _check(data)
        picture, turn = _decoded(data)
    except BadLogo:
        raise
    except (Image.DecompressionBombWarning, Image.DecompressionBombError):
        raise BadLogo(Unusable.TOO_MANY_PIXELS) from None
    except Exception:  # a crafted file may meet an error of any kind in a decoder
        raise BadLogo(Unusable.DAMAGED) from None
    if picture.mode == "RGBA" and picture.getchannel("A").getextrema() == (0, 0):
        raise BadLogo(Unusable.ALL_CLEAR)
    if turn is None:
        return picture
    return picture.transpose(turn)


def _check(data: bytes) -> None:
    """Refuse a file by its header, and a PNG with a wrong checksum. Decodes no pixel."""
    with Image.open(io.BytesIO(data), formats=FORMATS) as picture:
        width, height = picture.size
        if max(width, height) > LONGEST or width * height > MOST_PIXELS:
            raise BadLogo(Unusable.TOO_MANY_PIXELS)
        if picture.format == "WEBP" and width * height > MOST_OF_WEBP:
            raise BadLogo(Unusable.TOO_LARGE_WEBP)
        if min(width, height) < SHORTEST:
            raise BadLogo(Unusable.TOO_FEW_PIXELS)
        if _orientation(picture) in SIDEWAYS:
            width, height = height, width
        check_shape(width, height)
        if picture.format in ANIMATING:
            if getattr(picture, "is_animated", False):
                raise BadLogo(Unusable.ANIMATED)
        elif data.count(START_OF_SCAN) > MOST_SCANS:
            raise BadLogo(Unusable.DAMAGED)
        picture.verify()


def _decoded(data: bytes) -> tuple[Image.Image, Image.Transpose | None]:
    """The pixels of a file that _check let pass, and what puts them upright."""
    with Image.open(io.BytesIO(data), formats=FORMATS) as picture:
        return _coloured(picture), TURNS.get(_orientation(picture))


def _orientation(picture: Image.Image) -> Any:
    """The EXIF orientation of a picture, 1 to 8; metadata that can't be read says 1."""
    if "exif" not in picture.info:  # Pillow would decode a PNG to look for some after its pixels
        return 1
    try:
        return picture.getexif().get(ExifTags.Base.Orientation, 1)
    except Exception:  # crafted metadata may meet an error of any kind in its reader
        return 1


def _coloured(picture: ImageFile.ImageFile) -> Image.Image:
    """The pixels of a file, decoded: RGB, or RGBA if some may be transparent."""
    mode = "RGBA" if picture.has_transparency_data else "RGB"
    scale = next((SCALES.get(str(tile.args), 1) for tile in picture.tile), 1)
    clear = picture.info.get("transparency")
    if isinstance(clear, int):
        picture.info["transparency"] = int(clear * scale)
    elif isinstance(clear, tuple):
        picture.info["transparency"] = tuple(int(each * scale) for each in clear)
    if picture.mode == "I;16":  # Pillow would make white of all greys above 255
        return picture.point(lambda grey: grey * scale).convert(mode)
    return picture.convert(mode)


def shown_png(picture: Image.Image) -> tuple[bytes, int, int]:
    """A PNG of at most SHOWN_BYTES that shows this picture, and its width and height.

    At WIDE × HIGH most pictures fit into SHOWN_BYTES, some only with fewer colours. One of noise is
    made smaller still, until it fits or its longer side is at most SMALLEST.
    """
    width, height = picture.size
    large = _resized(picture, min(1.0, WIDE / width, HIGH / height))
    scale = 1.0
    while True:
        small = _resized(large, scale)
        for made in _drawings(_bare(small)):
            if len(made) <= SHOWN_BYTES:
                return made, *small.size
        if max(small.size) <= SMALLEST:
            return made, *small.size
        scale *= min(0.9, math.sqrt(SHOWN_BYTES / len(made)))


def _resized(picture: Image.Image, scale: float) -> Image.Image:
    """Each new pixel is the mean of the old pixels in its area, weighted by their alpha."""
    width, height = picture.size
    size = max(1, round(width * scale)), max(1, round(height * scale))
    return picture.resize(size, Image.Resampling.BOX)


def _bare(picture: Image.Image) -> Image.Image:
    """A new picture of the same pixels, without what the old one knows beside them.

    Colours of pixels that are not seen are gone too, and an alpha channel that says nothing.
    """
    if picture.mode == "RGBA":
        alpha = picture.getchannel("A")
        if alpha.getextrema() != (255, 255):
            bare = Image.new("RGBA", picture.size)
            bare.paste(picture, mask=alpha.point([0] + [255] * 255))
            return bare
    bare = Image.new("RGB", picture.size)
    bare.paste(picture)
    return bare


def _drawings(picture: Image.Image) -> Iterator[bytes]:
    """The picture as PNG: in its own colours, then in fewer, which keeps letters sharp."""
    yield _encoded(picture)
    for count in COLOURS:
        yield _encoded(picture.quantize(count, method=Image.Quantize.FASTOCTREE))


def _encoded(picture: Image.Image) -> bytes:
    file = io.BytesIO()
    picture.save(file, "PNG", optimize=True)
    return file.getvalue()
