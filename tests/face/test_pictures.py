"""PNG, JPEG and WebP logos: each kind is read and drawn anew; dangerous files are refused."""

import struct
import subprocess
import sys
import time
import zlib
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from ridedash.face import MOST_BYTES, SHOWN_BYTES, BadPicture, Unusable
from ridedash.face.logo import make_logo
from ridedash.face.pictures import (
    HIGH,
    LONGEST_TEXT,
    MOST_OF_WEBP,
    MOST_SCANS,
    WIDE,
    read_picture,
    shown_png,
)
from tests.face.pictures import CHANNELS, SIGNATURE, chunk, disc, encoded, header, png

SIZE = (23, 17)
KINDS = [
    (depth, colour)
    for colour, depths in {0: (1, 2, 4, 8, 16), 2: (8, 16), 4: (8, 16), 6: (8, 16)}.items()
    for depth in depths
]


def why(data: bytes) -> Unusable:
    with pytest.raises(BadPicture) as refused:
        make_logo(data)
    return refused.value.why


def pixels_of(data: bytes) -> npt.NDArray[np.uint8]:
    """Height × width × 4: red, green, blue and alpha."""
    return np.asarray(read_picture(data).convert("RGBA"))


@pytest.mark.parametrize("interlaced", [False, True], ids=["plain", "interlaced"])
@pytest.mark.parametrize(("depth", "colour"), KINDS)
def test_every_kind_of_png_is_read_with_every_filter(
    depth: int, colour: int, interlaced: bool
) -> None:
    top = 2**depth - 1

    def sample(x: int, y: int, channel: int) -> int:
        return (x * 7 + y * 13 + channel * 31 + x * y) % (top + 1)

    data = png(SIZE, sample, kind=(depth, colour), filters=(4, 3, 2, 1, 0), interlaced=interlaced)
    found = pixels_of(data)
    assert found.shape == (SIZE[1], SIZE[0], 4)
    channels = CHANNELS[colour]
    for x, y in ((0, 0), (22, 16), (11, 5), (1, 8), (22, 0)):
        shown = [sample(x, y, channel) * 255 // top for channel in range(channels)]
        grey = channels < 3
        colours = shown[:1] * 3 if grey else shown[:3]
        alpha = shown[-1] if channels in (2, 4) else 255
        assert found[y, x].tolist() == [*colours, alpha]


def test_a_palette_with_clear_entries_is_read() -> None:
    extra = chunk(b"PLTE", bytes([255, 0, 0, 0, 255, 0, 0, 0, 255])) + chunk(b"tRNS", b"\x00\x80")
    data = png(SIZE, lambda x, y, c: (x + y) % 3, kind=(2, 3), filters=(1, 2), extra=extra)
    assert pixels_of(data)[0, :3].tolist() == [[255, 0, 0, 0], [0, 255, 0, 128], [0, 0, 255, 255]]


def test_a_clear_colour_is_read() -> None:
    data = png(SIZE, lambda x, y, c: x, kind=(8, 2), extra=chunk(b"tRNS", b"\0\x05\0\x05\0\x05"))
    assert pixels_of(data)[3, 4:7, 3].tolist() == [255, 0, 255]


@pytest.mark.parametrize(("depth", "colour"), [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (16, 2)])
def test_a_clear_grey_or_colour_of_any_depth_is_read(depth: int, colour: int) -> None:
    clear = struct.pack(">H", 2**depth - 1) * CHANNELS[colour]
    data = png(
        SIZE,
        lambda x, y, c: 2**depth - 1 if x < 9 else 0,
        kind=(depth, colour),
        extra=chunk(b"tRNS", clear),
    )
    assert pixels_of(data)[5, [8, 9], 3].tolist() == [0, 255]


def test_nothing_of_the_file_but_its_pixels_goes_out() -> None:
    hidden = b"<script>alert(1)</script>"
    marked = png(
        (40, 20),
        lambda x, y, c: (x * 9 + c) % 256,
        extra=chunk(b"tEXt", b"Comment\0" + hidden) + chunk(b"eXIf", hidden),
    )
    polyglot = marked + b"\nGIF89a/*" + hidden + b"PK\x03\x04"
    logo = make_logo(polyglot)
    assert logo.content.startswith(SIGNATURE)
    assert b"script" not in logo.content
    assert [logo.content.count(name) for name in (b"IHDR", b"IDAT", b"IEND", b"tEXt")] == [
        1,
        1,
        1,
        0,
    ]
    assert logo.content.endswith(b"IEND\xaeB`\x82")
    assert (pixels_of(logo.content) == pixels_of(marked)).all()


def test_a_large_logo_is_drawn_smaller_and_keeps_its_shape_and_colour() -> None:
    y, x = np.mgrid[0:900, 0:1800]
    inside = ((x - 900) / 880) ** 2 + ((y - 450) / 430) ** 2 < 1
    pixels = np.zeros((900, 1800, 4), np.uint8)
    pixels[inside] = (122, 31, 61, 255)
    content, width, height = shown_png(Image.fromarray(pixels))
    assert (width, height) == (480, 240)
    assert len(content) <= SHOWN_BYTES
    small = pixels_of(content)
    assert small[120, 240].tolist() == [122, 31, 61, 255]
    assert small[0, 0].tolist() == [0, 0, 0, 0]
    edge = small[(small[..., 3] > 0) & (small[..., 3] < 255)]
    assert len(edge) > 200  # a smooth rim, in the logo's own colour
    assert np.abs(edge[:, :3].astype(int) - (122, 31, 61)).max() <= 8


def test_clear_parts_of_a_large_logo_stay_clear_without_a_warning() -> None:
    """Sums over an area leave a tiny rest of alpha there: colours can't be divided by that."""
    dice = np.random.default_rng(7)
    pixels = np.full((260, 1400, 4), (200, 30, 90, 0), np.uint8)
    pixels[20:60, 30:700] = dice.integers(0, 256, (40, 670, 4))
    drawn = pixels_of(shown_png(Image.fromarray(pixels))[0])
    assert drawn[: drawn.shape[0] // 4].any()
    assert not drawn[-drawn.shape[0] // 2 :].any()


def test_a_small_logo_is_not_enlarged_and_noise_still_fits() -> None:
    assert shown_png(read_picture(disc(40, 30)))[1:] == (40, 30)
    noise = np.random.default_rng(5).integers(0, 256, (500, 1000, 4), dtype=np.uint8)
    content, width, height = shown_png(Image.fromarray(noise))
    assert len(content) <= SHOWN_BYTES
    assert width <= WIDE
    assert height <= HIGH
    assert width == pytest.approx(2 * height, abs=2)


@pytest.mark.parametrize(
    ("size", "reason"),
    [
        ((1, 1), Unusable.TOO_FEW_PIXELS),
        ((400, 15), Unusable.TOO_FEW_PIXELS),
        ((3000, 20), Unusable.SHAPE),
        ((20, 90), Unusable.SHAPE),
        ((4001, 1000), Unusable.TOO_MANY_PIXELS),
        ((2001, 2000), Unusable.TOO_MANY_PIXELS),
        ((2**31 - 1, 2**31 - 1), Unusable.TOO_MANY_PIXELS),
        ((0, 0), Unusable.DAMAGED),
    ],
)
def test_a_size_that_is_no_logos_is_refused_before_a_pixel_is_read(
    size: tuple[int, int], reason: Unusable
) -> None:
    assert why(SIGNATURE + header(*size) + chunk(b"IDAT", b"x") + chunk(b"IEND", b"")) is reason


def test_of_a_bomb_no_more_is_inflated_than_its_pixels_need() -> None:
    packed = zlib.compress(b"\0" + b"\xff" * 400 + bytes(60_000_000), 9)
    assert len(packed) < 100_000
    bomb = SIGNATURE + header(100, 100) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")
    make_logo(bomb)
    began = time.thread_time()
    logo = make_logo(bomb)
    assert time.thread_time() - began < 0.05  # inflating all of it takes a tenth of a second
    assert (logo.width, logo.height) == (100, 100)


def test_a_damaged_file_is_refused() -> None:
    whole = disc(40, 30)
    parts = {
        "nothing but the signature": SIGNATURE,
        "cut": whole[:-20],
        "a wrong checksum": whole[:-13] + bytes([whole[-13] ^ 1]) + whole[-12:],  # of the IDAT
        "too few lines": packed_as(bytes(100)),
        "no deflated data": SIGNATURE
        + header(40, 30)
        + chunk(b"IDAT", b"no")
        + chunk(b"IEND", b""),
        "an unknown filter": packed_as(b"\x05" * (30 * 161)),
        "no pixels": SIGNATURE + header(40, 30) + chunk(b"IEND", b""),
        "no palette": packed_as(bytes(30 * 41), 8, 3),
        "an odd depth": packed_as(bytes(30 * 16), 3, 0),
        "a length beyond the file": SIGNATURE + struct.pack(">I", 2**31) + b"IHDR" + b"x" * 20,
    }
    assert {name: why(data) for name, data in parts.items()} == dict.fromkeys(
        parts, Unusable.DAMAGED
    )


def test_what_a_file_has_beyond_its_pixels_is_left_out() -> None:
    files = {
        "more lines than its header says": packed_as(b"\0\0\0\0\xff" + bytes(31 * (40 * 4 + 1))),
        "an unknown chunk": png(
            (40, 30), lambda x, y, c: 255 * (c == 3), extra=chunk(b"EVIL", b"")
        ),
        "a number beyond the palette": png(
            (40, 30), lambda x, y, c: 3, kind=(2, 3), extra=chunk(b"PLTE", b"abc")
        ),
    }
    found = {name: pixels_of(make_logo(data).content) for name, data in files.items()}
    assert {name: pixels.shape for name, pixels in found.items()} == dict.fromkeys(
        files, (30, 40, 4)
    )
    assert not any(pixels[..., :3].any() for pixels in found.values())  # all black, or clear


def packed_as(raw: bytes, depth: int = 8, colour: int = 6) -> bytes:
    body = chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")
    return SIGNATURE + header(40, 30, depth, colour) + body


@pytest.mark.parametrize(
    "data",
    [
        b"just a text",
        b"\xff\xd8\xff\xe0JFIF",
        b"GIF89a",
        b"RIFF\x00\x00\x00\x00WEBP",
        b"%PDF-1.7",
        b"\x00" * 100,
        b" " * 100 + b"x",
        b"<!doctype html><script>alert(1)</script>",
    ],
)
def test_other_files_are_refused_whatever_they_are_called(data: bytes) -> None:
    assert why(data) in (Unusable.OTHER_KIND, Unusable.DAMAGED)


def test_the_size_of_a_file_is_limited() -> None:
    assert why(b"") is Unusable.EMPTY
    assert why(b"<" * 200_001) is Unusable.TOO_LARGE


def test_what_is_written_can_be_read() -> None:
    pixels = np.random.default_rng(7).integers(0, 256, (31, 19, 4), dtype=np.uint8)
    assert (pixels_of(encoded(pixels)) == pixels).all()
    pixels[..., 3] = 255
    assert (pixels_of(encoded(pixels)) == pixels).all()


def test_a_picture_of_many_colours_keeps_its_size_and_its_letters() -> None:
    """With fewer colours: drawn small enough for all of them, letters would be a blur."""
    noise = np.random.default_rng(3).integers(240, 246, (240, 640, 3))
    noise[100:140, 100:500] = (122, 31, 61)
    content, width, height = shown_png(Image.fromarray(noise.astype(np.uint8)))
    assert (width, height) == (640, 240)
    assert len(content) <= SHOWN_BYTES
    assert np.abs(pixels_of(content)[120, 300, :3].astype(int) - (122, 31, 61)).max() <= 4


# ---- JPEG and WebP ----

SHADES = Image.linear_gradient("L").resize((160, 80))
PICTURE = Image.merge("RGB", (SHADES, SHADES.transpose(Image.Transpose.ROTATE_180), SHADES))
KINDS_OF_PILLOW = ("PNG", "JPEG", "WEBP")
# each corner of the picture in another colour: (row, column) of a pixel in it, and its colour
CORNERS = {(0, 0): (255, 0, 0), (0, -1): (0, 255, 0), (-1, 0): (0, 0, 255), (-1, -1): (0, 0, 0)}
CORNERED = np.full((32, 64, 3), 128, np.uint8)
for _at, _colour in CORNERS.items():
    _rows, _columns = (slice(16) if each == 0 else slice(-16, None) for each in _at)
    CORNERED[_rows, _columns] = _colour


def oriented(number: int) -> Image.Exif:
    """EXIF that says which way up a picture is."""
    exif = Image.Exif()
    exif[0x0112] = number
    return exif


def corners(data: bytes) -> list[str]:
    """The colours of a picture's corners, clockwise: its largest channel, or k for black."""
    found = pixels_of(data)[..., :3].astype(int)
    shown = [found[at] for at in ((2, 2), (2, -3), (-3, -3), (-3, 2))]
    return ["k" if each.max() < 100 else "rgb"[int(each.argmax())] for each in shown]


@pytest.mark.parametrize("kind", KINDS_OF_PILLOW)
def test_each_kind_of_picture_becomes_a_png_of_the_same_look(kind: str) -> None:
    logo = make_logo(encoded(PICTURE, kind, quality=95))
    assert logo.content.startswith(SIGNATURE)
    assert (logo.name[-4:], logo.width, logo.height) == (".png", 160, 80)
    off = pixels_of(logo.content)[..., :3].astype(int) - np.asarray(PICTURE).astype(int)
    assert np.abs(off).mean() < 3


@pytest.mark.parametrize("progressive", [False, True])
@pytest.mark.parametrize("mode", ["L", "CMYK", "YCbCr"])
def test_a_jpeg_of_other_colours_is_read(mode: str, progressive: bool) -> None:
    data = encoded(PICTURE.convert(mode), "JPEG", quality=95, progressive=progressive)
    wanted = np.asarray(PICTURE.convert("L" if mode == "L" else "RGB").convert("RGB")).astype(int)
    assert np.abs(pixels_of(data)[..., :3].astype(int) - wanted).mean() < 6


def test_clear_parts_of_a_webp_stay_clear() -> None:
    pixels = np.zeros((40, 80, 4), np.uint8)
    pixels[10:30, 20:60] = (122, 31, 61, 255)
    pixels[20, 40, 3] = 128
    found = pixels_of(make_logo(encoded(pixels, "WEBP", lossless=True, exact=True)).content)
    assert (found == pixels).all()


@pytest.mark.parametrize("kind", KINDS_OF_PILLOW)
@pytest.mark.parametrize(
    ("orientation", "clockwise"),
    [*enumerate(("rgkb", "grbk", "kbrg", "bkgr", "rbkg", "brgk", "kgrb", "gkbr"), 1)],
)
def test_a_picture_is_put_upright(kind: str, orientation: int, clockwise: str) -> None:
    data = encoded(CORNERED, kind, exif=oriented(orientation), quality=95)
    assert "".join(corners(data)) == clockwise
    logo = make_logo(data)
    assert ((logo.width, logo.height) == (32, 64)) == (orientation > 4)
    assert b"Exif" not in logo.content


@pytest.mark.parametrize("size", [(30, 130), (130, 30)])
def test_the_shape_of_a_logo_is_that_of_the_upright_picture(size: tuple[int, int]) -> None:
    """1:4.3 is too narrow and 4.3:1 is not."""
    lying = encoded(Image.new("RGB", size), "JPEG", exif=oriented(6))
    standing = encoded(Image.new("RGB", size), "JPEG")
    refused, taken = (lying, standing) if size[0] > size[1] else (standing, lying)
    assert why(refused) is Unusable.SHAPE
    assert make_logo(taken).width == 130


@pytest.mark.filterwarnings("ignore::UserWarning")  # so does the program, for Pillow
@pytest.mark.parametrize("kind", KINDS_OF_PILLOW)
@pytest.mark.parametrize(
    "exif", [b"", b"Exif\0\0", b"Exif\0\0no tiff", b"Exif\0\0II*\0\x08\0\0\0" + b"\xff" * 9000]
)
def test_metadata_that_can_not_be_read_is_left_out(kind: str, exif: bytes) -> None:
    assert "".join(corners(encoded(CORNERED, kind, exif=exif, quality=95))) == "rgkb"


@pytest.mark.parametrize("kind", KINDS_OF_PILLOW)
def test_no_metadata_of_a_picture_goes_out(kind: str) -> None:
    hidden = b"<script>alert(1)</script>" * 9
    exif = Image.Exif()
    exif[0x010E] = hidden.decode()
    data = encoded(
        PICTURE, kind, quality=95, exif=exif, icc_profile=hidden, xmp=hidden, comment=hidden
    )
    content = make_logo(data + hidden + b"PK\x03\x04").content
    assert b"script" not in content
    assert b"PK" not in content
    names = {name for name in (b"iCCP", b"eXIf", b"pHYs", b"gAMA", b"iTXt") if name in content}
    assert names == set()
    assert np.abs(pixels_of(content).astype(int) - pixels_of(data).astype(int)).max() == 0


def frames(kind: str, count: int, **how: object) -> bytes:
    pictures = [Image.new("RGB", (60, 30), (each * 80, 0, 0)) for each in range(count)]
    return encoded(pictures[0], kind, save_all=True, append_images=pictures[1:], **how)


@pytest.mark.parametrize("kind", ["PNG", "WEBP"])
def test_an_animation_is_refused_and_a_single_frame_is_not(kind: str) -> None:
    for how in (
        {"duration": 40},
        {"duration": 40, "loop": 0},
        {"duration": 40, "minimize_size": 1},
    ):
        assert why(frames(kind, 3, **how)) is Unusable.ANIMATED
    assert why(frames("PNG", 2, default_image=True)) is Unusable.ANIMATED
    assert make_logo(frames(kind, 1, duration=40)).width == 60


def test_of_a_jpeg_of_several_pictures_the_first_is_read() -> None:
    """Cameras add a preview or a second view to a JPEG (MPO); nothing of it moves."""
    several = frames("MPO", 3)
    assert several.startswith(b"\xff\xd8\xff")
    assert pixels_of(several)[15, 30].tolist() == [0, 0, 0, 255]


# ---- hostile files ----


def jpeg_header(width: int, height: int) -> bytes:
    whole = encoded(PICTURE, "JPEG")
    at = whole.index(b"\xff\xc0") + 5
    return whole[:at] + struct.pack(">HH", height, width) + whole[at + 4 :]


def webp(chunks: bytes) -> bytes:
    return b"RIFF" + struct.pack("<I", len(chunks) + 4) + b"WEBP" + chunks


def webp_header(width: int, height: int) -> bytes:
    """A WebP whose canvas has this size, and its picture another."""
    flat = encoded(PICTURE, "WEBP")[12:]
    sizes = struct.pack("<I", width - 1)[:3] + struct.pack("<I", height - 1)[:3]
    return webp(b"VP8X\x0a\0\0\0\0\0\0\0" + sizes + flat)


HUGE = {
    "jpeg": lambda: jpeg_header(65_500, 65_500),
    "long jpeg": lambda: jpeg_header(4001, 900),
    "webp": lambda: webp_header(2**14, 2**14),
    "a webp of 280 billion pixels": lambda: webp_header(2**24, 2**14),
    "a lossless webp": lambda: encoded(Image.new("RGB", (9999, 500)), "WEBP", lossless=True),
}
TINY = {"jpeg": lambda: jpeg_header(1, 900), "jpeg of no pixels": lambda: jpeg_header(0, 0)}


@pytest.mark.parametrize("case", HUGE)
def test_a_huge_picture_is_refused_by_its_header(case: str) -> None:
    assert why(HUGE[case]()) is Unusable.TOO_MANY_PIXELS


def test_a_webp_may_have_fewer_pixels_than_others() -> None:
    size = 2000, MOST_OF_WEBP // 2000
    assert make_logo(encoded(Image.new("RGB", size), "WEBP")).width == 320
    larger = Image.new("RGB", (size[0], size[1] + 1))
    assert why(encoded(larger, "WEBP")) is Unusable.TOO_MANY_OF_KIND
    assert make_logo(encoded(larger)).width == 320


@pytest.mark.parametrize("case", TINY)
def test_a_picture_of_a_line_or_of_nothing_is_refused(case: str) -> None:
    assert why(TINY[case]()) in (Unusable.TOO_FEW_PIXELS, Unusable.DAMAGED)


@pytest.mark.parametrize("kind", ["PNG", "WEBP"])
def test_a_picture_of_which_nothing_can_be_seen_is_refused(kind: str) -> None:
    clear = Image.new("RGBA", (200, 100), (18, 52, 86, 0))
    assert why(encoded(clear, kind, lossless=True)) is Unusable.ALL_CLEAR
    clear.putpixel((3, 3), (18, 52, 86, 255))
    assert make_logo(encoded(clear, kind, lossless=True)).width == 200


@pytest.mark.parametrize("kind", KINDS_OF_PILLOW)
def test_a_file_that_is_cut_anywhere_is_refused(kind: str) -> None:
    whole = encoded(PICTURE, kind, quality=90)
    cuts = [*range(12, 200), *range(200, len(whole) - 12, 97), len(whole) - 12]
    assert {why(whole[:cut]) for cut in cuts} == {Unusable.DAMAGED}


@pytest.mark.parametrize("kind", KINDS_OF_PILLOW)
def test_a_file_with_the_first_bytes_of_another_kind_is_refused(kind: str) -> None:
    body = encoded(PICTURE, kind)[12:]
    beginnings = (SIGNATURE, b"\xff\xd8\xff\xe0", b"RIFF\0\0\0\0WEBP", b"GIF89a")
    others = [each for each in beginnings if not encoded(PICTURE, kind).startswith(each[:4])]
    assert {why(each + body) for each in others} <= {Unusable.DAMAGED, Unusable.OTHER_KIND}


def with_scans(count: int) -> bytes:
    """A progressive JPEG of 4 million pixels whose last scan comes many times."""
    whole = encoded(Image.new("RGB", (2000, 2000), "teal"), "JPEG", progressive=True)
    last = whole[whole.rindex(b"\xff\xda") : -2]
    return whole[:-2] + last * (count - whole.count(b"\xff\xda")) + whole[-2:]


def test_a_jpeg_that_is_drawn_many_times_over_is_refused() -> None:
    assert make_logo(with_scans(MOST_SCANS)).width == 240
    assert why(with_scans(MOST_SCANS + 1)) is Unusable.DAMAGED


def texts(count: int, size: int, name: bytes = b"zTXt") -> bytes:
    packed = zlib.compress(b"x" * size, 9)
    body = {
        b"zTXt": b"k\0\0" + packed,
        b"iTXt": b"k\0\1\0\0\0" + packed,
        b"iCCP": b"k\0\0" + packed,
    }[name]
    return png((40, 30), lambda x, y, c: 255, extra=chunk(name, body) * count)


@pytest.mark.parametrize("name", [b"zTXt", b"iTXt", b"iCCP"])
def test_a_text_that_explodes_is_refused(name: bytes) -> None:
    assert make_logo(texts(1, LONGEST_TEXT - 1, name)).width == 40
    assert why(texts(1, LONGEST_TEXT + 1, name)) is Unusable.DAMAGED
    if name != b"iCCP":  # a profile replaces the one before it
        assert why(texts(5, LONGEST_TEXT - 1, name)) is Unusable.DAMAGED


def flat(mode: str, height: int = 2000) -> Image.Image:
    return Image.new("RGBA", (2000, height), (9, 90, 30, 200)).convert(mode)


def striped() -> bytes:
    pixels = np.asarray(flat("RGBA")).copy()
    pixels[::7, :, 0] = 77
    pixels[:, ::5, 1] = 12
    return encoded(pixels)


COSTLY = {  # the files that took the most memory or time of their kind, as large as they may be
    "png": striped,
    "palette": lambda: encoded(flat("RGB").quantize(8)),
    "grey of 16 bits": lambda: encoded(np.full((2000, 2000), 40_000, np.uint16)),
    "progressive cmyk": lambda: encoded(flat("CMYK"), "JPEG", progressive=True),
    "many scans": lambda: with_scans(MOST_SCANS),
    "webp": lambda: encoded(flat("RGBA", 1500), "WEBP"),
    "lossless webp": lambda: encoded(flat("RGBA", 1500), "WEBP", lossless=True),
    "webp on its side": lambda: encoded(flat("RGBA", 1500), "WEBP", exif=oriented(6)),
    "png on its side": lambda: encoded(flat("RGBA"), exif=oriented(6)),
    "long texts": lambda: texts(3, LONGEST_TEXT, b"iTXt"),
    "many texts": lambda: texts(180, 900_000),
}


MEASURE = """
import sys, time
from pathlib import Path
from ridedash.face import BadPicture
from ridedash.face.logo import make_logo

def memory(name):
    return int(Path("/proc/self/status").read_text().split(name)[1].split()[0]) * 1024

small, data = (Path(each).read_bytes() for each in sys.argv[1:])
make_logo(small)  # what is loaded once counts for no file
Path("/proc/self/clear_refs").write_text("5")
before, began = memory("VmRSS:"), time.process_time()
try:
    make_logo(data)
except BadPicture:
    pass
print(memory("VmHWM:") - before, time.process_time() - began)
"""


@pytest.mark.parametrize("case", COSTLY)
def test_no_file_costs_more_than_64_megabytes_and_a_second(case: str, tmp_path: Path) -> None:
    small, large = tmp_path / "small", tmp_path / "large"
    small.write_bytes(encoded(PICTURE, "WEBP"))
    data = COSTLY[case]()
    large.write_bytes(data)
    assert len(data) <= MOST_BYTES
    run = [sys.executable, "-c", MEASURE, str(small), str(large)]
    grown, seconds = subprocess.run(run, check=True, capture_output=True, text=True).stdout.split()
    assert int(grown) <= 64_000_000
    assert float(seconds) <= 1
