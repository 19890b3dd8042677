"""PNG logos: every kind of PNG is read and drawn anew; damaged or dangerous files are refused."""

import struct
import zlib

import numpy as np
import pytest

from ridedash.face import SHOWN_BYTES, SIGNATURE, BadLogo, Unusable
from ridedash.face.logo import make_logo
from ridedash.face.png_reading import MOST_PIXELS, read_png
from ridedash.face.png_writing import HIGH, WIDE, shown_png, write_png
from tests.face.pictures import CHANNELS, chunk, disc, header, png

SIZE = (23, 17)
KINDS = [
    (depth, colour)
    for colour, depths in {0: (1, 2, 4, 8, 16), 2: (8, 16), 4: (8, 16), 6: (8, 16)}.items()
    for depth in depths
]


def why(data: bytes) -> Unusable:
    with pytest.raises(BadLogo) as refused:
        make_logo(data)
    return refused.value.why


@pytest.mark.parametrize("interlaced", [False, True], ids=["plain", "interlaced"])
@pytest.mark.parametrize(("depth", "colour"), KINDS)
def test_every_kind_of_png_is_read_with_every_filter(
    depth: int, colour: int, interlaced: bool
) -> None:
    top = 2**depth - 1

    def sample(x: int, y: int, channel: int) -> int:
        return (x * 7 + y * 13 + channel * 31 + x * y) % (top + 1)

    data = png(SIZE, sample, kind=(depth, colour), filters=(4, 3, 2, 1, 0), interlaced=interlaced)
    found = read_png(data)
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
    assert read_png(data)[0, :3].tolist() == [[255, 0, 0, 0], [0, 255, 0, 128], [0, 0, 255, 255]]


def test_a_clear_colour_is_read() -> None:
    data = png(SIZE, lambda x, y, c: x, kind=(8, 2), extra=chunk(b"tRNS", b"\0\x05\0\x05\0\x05"))
    assert read_png(data)[3, 4:7, 3].tolist() == [255, 0, 255]


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
    assert (read_png(logo.content) == read_png(marked)).all()


def test_a_large_logo_is_drawn_smaller_and_keeps_its_shape_and_colour() -> None:
    y, x = np.mgrid[0:900, 0:1800]
    inside = ((x - 900) / 880) ** 2 + ((y - 450) / 430) ** 2 < 1
    pixels = np.zeros((900, 1800, 4), np.uint8)
    pixels[inside] = (122, 31, 61, 255)
    content, width, height = shown_png(pixels)
    assert (width, height) == (480, 240)
    assert len(content) <= SHOWN_BYTES
    small = read_png(content)
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
    drawn = read_png(shown_png(pixels)[0])
    assert drawn[: drawn.shape[0] // 4].any()
    assert not drawn[-drawn.shape[0] // 2 :].any()


def test_a_small_logo_is_not_enlarged_and_noise_still_fits() -> None:
    assert shown_png(read_png(disc(40, 30)))[1:] == (40, 30)
    noise = np.random.default_rng(5).integers(0, 256, (500, 1000, 4), dtype=np.uint8)
    content, width, height = shown_png(noise)
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
        ((0, 0), Unusable.TOO_FEW_PIXELS),
    ],
)
def test_a_size_that_is_no_logos_is_refused_before_a_pixel_is_read(
    size: tuple[int, int], reason: Unusable
) -> None:
    assert why(SIGNATURE + header(*size) + chunk(b"IDAT", b"x") + chunk(b"IEND", b"")) is reason


def test_a_bomb_is_refused_before_it_is_inflated() -> None:
    packed = zlib.compress(bytes(60_000_000), 9)
    assert len(packed) < 100_000
    bomb = SIGNATURE + header(100, 100) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")
    assert why(bomb) is Unusable.DAMAGED
    assert MOST_PIXELS * 8 <= 32_000_000  # the most that is ever inflated, in bytes


def test_a_damaged_file_is_refused() -> None:
    whole = disc(40, 30)
    raw = bytes(31 * (40 * 4 + 1))
    parts = {
        "nothing but the signature": SIGNATURE,
        "cut": whole[:-20],
        "a wrong checksum": whole[:-13] + bytes([whole[-13] ^ 1]) + whole[-12:],  # of the IDAT
        "too many lines": packed_as(raw),
        "too few": packed_as(raw[:100]),
        "no deflated data": SIGNATURE
        + header(40, 30)
        + chunk(b"IDAT", b"no")
        + chunk(b"IEND", b""),
        "an unknown filter": packed_as(b"\x05" * (30 * 161)),
        "no pixels": SIGNATURE + header(40, 30) + chunk(b"IEND", b""),
        "no palette": packed_as(bytes(30 * 41), 8, 3),
        "an unknown critical chunk": png((40, 30), lambda x, y, c: 0, extra=chunk(b"EVIL", b"")),
        "an odd depth": packed_as(bytes(30 * 16), 3, 0),
        "a length beyond the file": SIGNATURE + struct.pack(">I", 2**31) + b"IHDR" + b"x" * 20,
        "a number beyond the palette": png(
            (40, 30), lambda x, y, c: 3, kind=(2, 3), extra=chunk(b"PLTE", b"abc")
        ),
    }
    assert {name: why(data) for name, data in parts.items()} == dict.fromkeys(
        parts, Unusable.DAMAGED
    )


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
    assert (read_png(write_png(pixels)) == pixels).all()
    pixels[..., 3] = 255
    assert (read_png(write_png(pixels)) == pixels).all()
