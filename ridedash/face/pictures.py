"""Reads a PNG, JPEG or WebP within bounds, and draws a logo anew as a small PNG.

A photograph is read here, too; photo_crops.py makes its crops. Pillow decodes and encodes; this
module decides what may reach its decoders. Size and animation are known from the header, before a
pixel is decoded. Only pixels go out: no byte of the file, none of its text, profiles or metadata.
Of a JPEG's metadata one number is used, which way up it is.
"""

import io
import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from PIL import ExifTags, Image, ImageFile, JpegImagePlugin, PngImagePlugin

from ridedash.face import SHOWN_BYTES, BadPicture, Unusable, check_shape

FORMATS: Final = ("PNG", "JPEG", "WEBP")
# Formats that may hold an animation. A JPEG may hold several pictures, as cameras write them; its
# first one is shown.
ANIMATING: Final = ("PNG", "WEBP")
# A JPEG whose colours or details come in several scans, such as a progressive one: libjpeg holds
# the coefficients of the whole picture, up to eight bytes a pixel, beside the pixels.
SCANS: Final = "scans"
MOST_PIXELS: Final = 4_000_000  # of a logo as PNG or JPEG: 57 MB while it is decoded
MOST_OF_WEBP: Final = 3_000_000  # pixels; Pillow holds four copies of a WebP while it decodes one
LONGEST: Final = 4000  # pixels of the longest allowed side of a logo
SHORTEST: Final = 16  # pixels of the shortest allowed side of a logo
MOST_PHOTO_PIXELS: Final = 25_000_000  # of a JPEG in one scan, the kind that cameras write
MOST_PHOTO_SCANS: Final = 9_000_000  # pixels of a JPEG in several scans: 108 MB
MOST_PHOTO_PNG: Final = 9_000_000  # pixels; a 4K screen has 8.3 million
MOST_PHOTO_WEBP: Final = 6_000_000  # pixels
# pixels that are decoded of a JPEG at most: libjpeg makes a half of a larger one as it decodes it
MOST_DECODED: Final = 12_600_000
LONGEST_PHOTO: Final = 12_000  # pixels of the longest allowed side of a photograph
PHOTO_LONG: Final = 960  # pixels of the shortest allowed longer side of a photograph
PHOTO_SHORT: Final = 600  # pixels of the shortest allowed shorter side
# Each scan of a progressive JPEG passes over the whole picture again, and costs a dozen bytes of
# the file. Encoders write three to twelve.
MOST_SCANS: Final = 30
START_OF_SCAN: Final = b"\xff\xda"
SEQUENTIAL: Final = (b"\xff\xc0", b"\xff\xc1")  # beginnings of a frame whose details come at once
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
Image.MAX_IMAGE_PIXELS = MOST_PHOTO_PIXELS
PngImagePlugin.MAX_TEXT_CHUNK = LONGEST_TEXT
PngImagePlugin.MAX_TEXT_MEMORY = MOST_TEXT
warnings.filterwarnings("ignore", module=r"PIL\.")  # it warns of odd metadata, which is not used
warnings.simplefilter("error", Image.DecompressionBombWarning)


@dataclass(frozen=True)
class PictureBounds:
    """How large a picture may be. `check` gets width and height of the upright one."""

    longest: int  # pixels of a side
    most: Mapping[str, int]  # pixels in all, by kind: the formats, and SCANS
    check: Callable[[int, int], None]  # raises BadPicture


def check_logo(width: int, height: int) -> None:
    """Refuse a picture that is too small or too long to be a logo. Raises BadPicture."""
    if min(width, height) < SHORTEST:
        raise BadPicture(Unusable.TOO_FEW_PIXELS)
    check_shape(width, height)


def check_photo(width: int, height: int) -> None:
    """Refuse a photograph that would be a blur on a kiosk. Raises BadPicture."""
    if max(width, height) < PHOTO_LONG or min(width, height) < PHOTO_SHORT:
        raise BadPicture(Unusable.TOO_FEW_PIXELS)


LOGO: Final = PictureBounds(
    longest=LONGEST,
    most={"PNG": MOST_PIXELS, "JPEG": MOST_PIXELS, SCANS: MOST_PIXELS, "WEBP": MOST_OF_WEBP},
    check=check_logo,
)
PHOTO: Final = PictureBounds(
    longest=LONGEST_PHOTO,
    most={
        "PNG": MOST_PHOTO_PNG,
        "JPEG": MOST_PHOTO_PIXELS,
        SCANS: MOST_PHOTO_SCANS,
        "WEBP": MOST_PHOTO_WEBP,
    },
    check=check_photo,
)


def read_picture(data: bytes, bounds: PictureBounds = LOGO) -> Image.Image:
    """The picture in a file: upright, of mode RGB or RGBA. Raises BadPicture.

    A JPEG of more than MOST_DECODED pixels is made smaller by a power of two.
    """
    try:
        _check(data, bounds)
        picture, turn = _decoded(data)
    except BadPicture:
        raise
    except (Image.DecompressionBombWarning, Image.DecompressionBombError):
        raise BadPicture(Unusable.TOO_MANY_PIXELS) from None
    except Exception:  # a crafted file may meet an error of any kind in a decoder
        raise BadPicture(Unusable.DAMAGED) from None
    if picture.mode == "RGBA" and picture.getchannel("A").getextrema() == (0, 0):
        raise BadPicture(Unusable.ALL_CLEAR)
    if turn is None:
        return picture
    return picture.transpose(turn)


def _check(data: bytes, bounds: PictureBounds) -> None:
    """Refuse a file by its header, and a PNG with a wrong checksum. Decodes no pixel."""
    with Image.open(io.BytesIO(data), formats=FORMATS) as picture:
        width, height = picture.size
        if max(width, height) > bounds.longest or width * height > max(bounds.most.values()):
            raise BadPicture(Unusable.TOO_MANY_PIXELS)
        if width * height > bounds.most[_kind(picture, data)]:
            raise BadPicture(Unusable.TOO_MANY_OF_KIND)
        if _orientation(picture) in SIDEWAYS:
            width, height = height, width
        bounds.check(width, height)
        if picture.format in ANIMATING:
            if getattr(picture, "is_animated", False):
                raise BadPicture(Unusable.ANIMATED)
        elif data.count(START_OF_SCAN) > MOST_SCANS:
            raise BadPicture(Unusable.DAMAGED)
        picture.verify()


def _kind(picture: Image.Image, data: bytes) -> str:
    """The kind of a file, by which PictureBounds.most counts its pixels."""
    if picture.format in ANIMATING:
        return str(picture.format)
    if _in_one_scan(data):
        return "JPEG"
    return SCANS


def _in_one_scan(data: bytes) -> bool:
    """Whether a JPEG says plainly that its first scan has all of its only frame's colours."""
    at = 2
    components = b""
    while data[at : at + 1] == b"\xff":
        marker = data[at : at + 2]
        if marker == START_OF_SCAN:
            return data[at + 4 : at + 5] == components
        if marker in SEQUENTIAL:
            components = data[at + 9 : at + 10]
        at += 2 + int.from_bytes(data[at + 2 : at + 4])
    return False


def _decoded(data: bytes) -> tuple[Image.Image, Image.Transpose | None]:
    """The pixels of a file that _check let pass, and what puts them upright."""
    with Image.open(io.BytesIO(data), formats=FORMATS) as picture:
        if isinstance(picture, JpegImagePlugin.JpegImageFile):
            width, height = picture.size
            scale = 1
            while width * height > MOST_DECODED * scale**2:
                scale *= 2
            picture.draft(None, (width // scale, height // scale))
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
    if picture.mode == mode:  # a copy of a photograph has 50 MB
        picture.load()
        return picture
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
        for made in _drawings(bare(small)):
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


def bare(picture: Image.Image) -> Image.Image:
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
