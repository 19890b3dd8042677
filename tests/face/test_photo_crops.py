"""Photographs for kiosks: two crops on which white text can be read, whatever the file."""

import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from ridedash.face import MOST_PHOTO_BYTES, BadPicture, Unusable
from ridedash.face.kiosk_look import make_photo
from ridedash.face.photo_crops import CROP_BYTES, brightest
from ridedash.face.pictures import MOST_DECODED, MOST_PHOTO_SCANS, PHOTO, read_picture
from tests.face.pictures import SIGNATURE, chunk, encoded, header
from tests.face.test_pictures import MEASURE, frames, jpeg_header, oriented

Pixels = npt.NDArray[np.uint8]
WIDTH, HEIGHT = 1200, 800


def scene(width: int = WIDTH, height: int = HEIGHT, seed: int = 1) -> Image.Image:
    """Soft shapes of all colours, such as a photograph has."""
    dice = np.random.default_rng(seed)
    small = dice.integers(0, 256, (height // 50, width // 50, 3), dtype=np.uint8)
    return Image.fromarray(small).resize((width, height), Image.Resampling.BICUBIC)


def crops(data: bytes, focus: str = "centre") -> dict[str, Pixels]:
    """The pixels of both crops, as a browser decodes them."""
    made = make_photo(data, focus)
    assert {each.content[:3] for each in made.values()} == {b"\xff\xd8\xff"}
    assert max(len(each.content) for each in made.values()) <= CROP_BYTES
    return {shape: np.asarray(Image.open(io.BytesIO(each.content))) for shape, each in made.items()}


def luminance(pixels: Pixels) -> npt.NDArray[np.float64]:
    """Relative luminance as WCAG 2.2 defines it, computed without the code under test."""
    part = pixels / 255
    light = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    found: npt.NDArray[np.float64] = light @ np.array([0.2126, 0.7152, 0.0722])
    return found


def why(data: bytes) -> Unusable:
    with pytest.raises(BadPicture) as refused:
        make_photo(data, "centre")
    return refused.value.why


def noise(width: int, height: int, values: int = 256, seed: int = 3) -> Pixels:
    dice = np.random.default_rng(seed)
    return (dice.integers(0, values, (height, width, 3)) * 255 // (values - 1)).astype(np.uint8)


def half_white() -> Pixels:
    pixels = np.asarray(scene()).copy()
    pixels[:, : WIDTH // 2] = 255
    return pixels


def stripes() -> Pixels:
    """Red beside blue and black beside white: JPEG is least exact there."""
    pixels = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    pixels[:, ::8, :] = 255
    pixels[:300, :, 0] = 255
    pixels[300:600, 4::8, 2] = 255
    return pixels


PICTURES: dict[str, Callable[[], bytes]] = {
    **{f"scene {n}": (lambda n=n: encoded(scene(seed=n), "JPEG", quality=92)) for n in range(2)},
    "high key": lambda: encoded(np.asarray(scene()) // 8 + 224, "JPEG"),
    "low key": lambda: encoded(np.asarray(scene()) // 4, "JPEG"),
    "night with lamps": lambda: encoded(
        np.where(noise(WIDTH, HEIGHT) > 253, 255, np.asarray(scene()) // 8).astype(np.uint8)
    ),
    "half white": lambda: encoded(half_white(), "WEBP"),
    "grey": lambda: encoded(scene().convert("L"), "JPEG"),
    "cmyk": lambda: encoded(scene().convert("CMYK"), "JPEG"),
    "progressive": lambda: encoded(scene(), "JPEG", progressive=True),
    "sixteen bits": lambda: encoded(np.asarray(scene().convert("L")).astype(np.uint16) * 257),
    "palette": lambda: encoded(scene().quantize(32)),
    "stripes": lambda: encoded(stripes()),
    "noise": lambda: encoded(noise(1900, 1200), "JPEG", quality=70),
    "black and white noise": lambda: encoded(noise(1500, 1000, values=2)),
}


@pytest.mark.parametrize("name", PICTURES)
def test_white_text_can_be_read_on_every_pixel_of_every_picture(name: str) -> None:
    for shape, pixels in crops(PICTURES[name]()).items():
        assert luminance(pixels).max() <= 0.097, shape
        assert 1.05 / (luminance(pixels).max() + 0.05) >= 7.1, shape
        assert luminance(pixels).max() >= 0.01, "and something can be seen"


@pytest.mark.parametrize("seed", range(6))
def test_the_measured_luminance_is_never_below_the_true_one(seed: int) -> None:
    pixels = noise(40, 40, seed=seed) // (2 + seed)
    true = min(0.15, float(luminance(pixels).max()))
    assert true <= brightest(Image.fromarray(pixels)) <= true + 0.002


def test_light_and_dark_parts_keep_their_order_and_hues_stay() -> None:
    """Bands of five colours, each in four lightnesses: rows grow brighter downwards."""
    colours = np.array([(9, 4, 2), (2, 9, 4), (3, 5, 9), (8, 8, 2), (7, 7, 7)])
    bands = np.array([[colour * light for colour in colours] for light in (6, 12, 18, 27)])
    pixels = bands.astype(np.uint8).repeat(200, 0).repeat(240, 1)
    wide = crops(encoded(pixels), "centre")["wide"]
    found = wide[75::150, 96::192].astype(float)[[0, 1, 3, 4]][:, [0, 1, 3, 4]]
    bright = luminance(wide)[75::150, 96::192]
    assert (np.diff(bright, axis=0) >= -0.002).all()
    assert found.max() > 40
    reds = wide[-60, 60].astype(float)
    assert reds.argmax() == 0
    assert reds[0] > 1.5 * reds[1] > 1.5 * reds[2] > 0


def test_a_picture_that_is_dark_already_is_hardly_changed() -> None:
    dark = Image.fromarray(np.asarray(scene()) // 5)
    off = crops(encoded(dark))["wide"].astype(int) - np.asarray(dark).astype(int)[25:775]
    assert np.abs(off).mean() < 3


@pytest.mark.parametrize(
    ("focus", "wide", "tall"),
    [
        ("centre", (0.5, 0.5), (0.5, 0.5)),
        ("left", (0.5, 0.5), (0.16, 0.5)),
        ("right", (0.5, 0.5), (0.84, 0.5)),
        ("top", (0.5, 0.42), (0.5, 0.5)),
        ("bottom", (0.5, 0.58), (0.5, 0.5)),
    ],
)
def test_the_chosen_part_stays_in_view(
    focus: str, wide: tuple[float, float], tall: tuple[float, float]
) -> None:
    """Red grows to the right and green downwards, so the middle of a crop says where it was."""
    pixels = np.zeros((1000, 1350, 3), np.uint8)
    pixels[..., 0] = np.linspace(0, 60, 1350)[None, :]
    pixels[..., 1] = np.linspace(0, 40, 1000)[:, None]
    whole = make_photo(encoded(pixels), focus)
    for shape, (across, down) in (("wide", wide), ("tall", tall)):
        shown = np.asarray(Image.open(io.BytesIO(whole[shape].content))).astype(float)
        red, green, _blue = shown[shown.shape[0] // 2, shown.shape[1] // 2]
        where = pixels[round(down * 999), round(across * 1349)]
        assert (red, green) == pytest.approx((where[0], where[1]), abs=8), shape


@pytest.mark.parametrize(
    ("size", "wide", "tall"),
    [
        ((4032, 3024), (1920, 1200), (1200, 1920)),
        ((1200, 800), (1200, 750), (500, 800)),
        ((800, 1200), (800, 500), (750, 1200)),
        ((960, 600), (960, 600), (375, 600)),
    ],
)
def test_crops_have_their_shapes_and_are_never_enlarged(
    size: tuple[int, int], wide: tuple[int, int], tall: tuple[int, int]
) -> None:
    found = crops(encoded(scene(*size), "JPEG"))
    assert {shape: (each.shape[1], each.shape[0]) for shape, each in found.items()} == {
        "wide": wide,
        "tall": tall,
    }


def test_a_picture_with_too_many_details_becomes_smaller_and_keeps_its_shape() -> None:
    wide = crops(encoded(noise(1920, 1200), "JPEG", quality=80))["wide"]
    assert wide.shape[1] < 1500
    assert wide.shape[1] / wide.shape[0] == pytest.approx(1.6, abs=0.01)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_a_picture_is_put_upright(kind: str) -> None:
    """A telephone held upright stores its picture on its side."""
    upright = np.zeros((1200, 800, 3), np.uint8)
    upright[:600] = (90, 20, 20)
    upright[600:] = (20, 20, 90)
    lying = Image.fromarray(upright).transpose(Image.Transpose.ROTATE_90)
    tall = crops(encoded(lying, kind, exif=oriented(6)))["tall"]
    assert tall.shape[:2] == (1200, 750)
    assert tall[100, 375].argmax() == 0
    assert tall[-100, 375].argmax() == 2


def test_what_is_transparent_becomes_black() -> None:
    picture = scene().convert("RGBA")
    picture.putalpha(
        Image.linear_gradient("L").resize((WIDTH, HEIGHT)).point(lambda a: a // 200 * 255)
    )
    wide = crops(encoded(picture))["wide"]
    assert wide[:300].max() <= 4
    assert wide[-100:].max() > 40


def test_no_metadata_goes_out() -> None:
    hidden = b"<script>alert(1)</script>" * 9
    exif = Image.Exif()
    exif[0x010E] = hidden.decode()
    data = encoded(scene(), "JPEG", exif=exif, icc_profile=hidden, xmp=hidden, comment=hidden)
    for crop in make_photo(data + hidden, "centre").values():
        assert b"script" not in crop.content
        assert not any(name in crop.content for name in (b"Exif", b"ICC_PROFILE", b"http:"))


def test_of_a_jpeg_of_several_pictures_the_first_is_shown() -> None:
    several = [scene(), scene(seed=2)]
    data = encoded(several[0], "MPO", save_all=True, append_images=several[1:])
    alone = crops(encoded(several[0], "JPEG"))["wide"].astype(int)
    assert np.abs(crops(data)["wide"].astype(int) - alone).mean() < 2


def test_a_jpeg_of_25_million_pixels_is_taken_and_decoded_in_part() -> None:
    data = encoded(scene(5800, 4300), "JPEG")
    assert read_picture(data, PHOTO).size == (2900, 2150)
    assert MOST_DECODED > 2900 * 2150
    assert crops(data)["tall"].shape[:2] == (1920, 1200)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (lambda: b"", Unusable.EMPTY),
        (lambda: b"\xff\xd8\xff" + bytes(MOST_PHOTO_BYTES), Unusable.TOO_LARGE),
        (lambda: b"<svg/>", Unusable.OTHER_KIND),
        (lambda: b"GIF89a" + bytes(99), Unusable.OTHER_KIND),
        (lambda: b"\0\0\0\x18ftypheic" + bytes(99), Unusable.OTHER_KIND),
        (lambda: jpeg_header(5001, 5000), Unusable.TOO_MANY_PIXELS),
        (lambda: jpeg_header(12_001, 1000), Unusable.TOO_MANY_PIXELS),
        (lambda: jpeg_header(65_500, 65_500), Unusable.TOO_MANY_PIXELS),
        (
            lambda: SIGNATURE + header(3001, 3000) + chunk(b"IDAT", b"x") + chunk(b"IEND", b""),
            Unusable.TOO_MANY_OF_KIND,
        ),
        (
            lambda: encoded(Image.new("L", (3001, 3000)), "JPEG", progressive=True),
            Unusable.TOO_MANY_OF_KIND,
        ),
        (lambda: encoded(Image.new("RGB", (3001, 2000)), "WEBP"), Unusable.TOO_MANY_OF_KIND),
        (lambda: encoded(scene(959, 900), "JPEG"), Unusable.TOO_FEW_PIXELS),
        (lambda: encoded(scene(2000, 599), "JPEG"), Unusable.TOO_FEW_PIXELS),
        (lambda: encoded(Image.new("RGB", (WIDTH, HEIGHT), "teal")), Unusable.ONE_COLOUR),
        (lambda: encoded(Image.new("RGB", (WIDTH, HEIGHT), "white")), Unusable.ONE_COLOUR),
        (lambda: encoded(np.asarray(scene()) // 12, "JPEG"), Unusable.TOO_DARK),
        (lambda: encoded(Image.new("RGBA", (WIDTH, HEIGHT))), Unusable.ALL_CLEAR),
    ],
)
def test_a_file_that_is_no_photograph_is_refused(
    data: Callable[[], bytes], reason: Unusable
) -> None:
    assert why(data()) is reason


@pytest.mark.parametrize("kind", ["PNG", "WEBP"])
def test_an_animation_is_refused(kind: str) -> None:
    second = [scene(seed=2)]
    moving = encoded(scene(), kind, save_all=True, append_images=second, duration=40)
    assert why(moving) is Unusable.ANIMATED
    assert why(frames(kind, 3)) is Unusable.TOO_FEW_PIXELS


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_a_file_that_is_cut_is_refused(kind: str) -> None:
    whole = encoded(scene(), kind)
    for cut in (13, 200, len(whole) // 2, len(whole) - 20):
        assert why(whole[:cut]) is Unusable.DAMAGED


def test_colours_in_scans_of_their_own_are_counted_as_the_memory_they_take() -> None:
    """A file may claim to be no progressive one, and have libjpeg hold all of it."""
    whole = bytearray(encoded(Image.new("RGB", (3001, 3000)), "JPEG"))
    at = whole.index(b"\xff\xda") + 4
    whole[at] = 1
    assert MOST_PHOTO_SCANS < 3001 * 3000
    assert why(bytes(whole)) is Unusable.TOO_MANY_OF_KIND


COSTLY: dict[str, Callable[[], bytes]] = {
    "a telephone's": lambda: encoded(scene(4032, 3024), "JPEG", quality=92, exif=oriented(6)),
    "25 million pixels": lambda: encoded(scene(5800, 4300), "JPEG", exif=oriented(6)),
    "progressive cmyk": lambda: encoded(
        scene(3464, 2598).convert("CMYK"), "JPEG", progressive=True
    ),
    "webp": lambda: encoded(scene(3000, 2000).convert("RGBA"), "WEBP", exif=oriented(6)),
    "noise": lambda: encoded(noise(3000, 2000), "JPEG", quality=90),
}


@pytest.mark.parametrize("case", COSTLY)
def test_no_photograph_costs_more_than_120_megabytes_and_three_seconds(
    case: str, tmp_path: Path
) -> None:
    small, large = tmp_path / "small", tmp_path / "large"
    small.write_bytes(encoded(scene(), "WEBP"))
    large.write_bytes(COSTLY[case]())
    code = MEASURE.replace("logo import make_logo", "kiosk_look import make_photo")
    code = code.replace("make_logo(small)", "make_photo(small, 'centre')")
    code = code.replace("make_logo(data)", "make_photo(data, 'left')")
    run = [sys.executable, "-c", code, str(small), str(large)]
    grown, seconds = subprocess.run(run, check=True, capture_output=True, text=True).stdout.split()
    assert int(grown) <= 120_000_000
    assert float(seconds) <= 3
