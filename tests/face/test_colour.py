"""Shades of a property's colour: readable for every hue, in both schemes, and near the colour."""

import colorsys
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridedash.face.colour import (
    DARK,
    ENHANCED,
    KIOSK_DARK,
    LEAST,
    LIGHT,
    contrast,
    kiosk_shades,
    mixed,
    palette,
    read_colour,
    style_sheet,
)

BASE = (Path(__file__).parents[2] / "static" / "css" / "shared" / "base.css").read_text()
TEXT = {"light": "#14181f", "dark": "#f2f4f8"}  # --ink


def weak(colour: str) -> list[tuple[str, str, str]]:
    """The pairs of a palette with too little contrast."""
    found = palette(colour)
    pairs = [("ink", found.ink, colour)]
    for scheme, shades, surfaces in (("light", found.light, LIGHT), ("dark", found.dark, DARK)):
        grounds = [*surfaces.values(), shades.soft]
        pairs += [(scheme, shades.accent, ground) for ground in grounds]
        pairs += [(scheme, shades.ink, shades.accent), (scheme, shades.ink, shades.press)]
        pairs.append((scheme, TEXT[scheme], shades.soft))
    return [pair for pair in pairs if contrast(pair[1], pair[2]) < LEAST]


def of_hue(hue: int, lightness: float, saturation: float) -> str:
    parts = colorsys.hls_to_rgb(hue / 360, lightness, saturation)
    return "#" + "".join(f"{round(part * 255):02x}" for part in parts)


def test_every_hue_can_be_read_at_every_lightness() -> None:
    colours = {
        of_hue(hue, lightness / 20, saturation)
        for hue in range(0, 360, 5)
        for lightness in range(21)
        for saturation in (0.15, 0.6, 1.0)
    }
    assert len(colours) > 2000
    assert {colour: weak(colour) for colour in colours if weak(colour)} == {}


@given(st.integers(0, 0xFFFFFF))
def test_any_colour_can_be_read(number: int) -> None:
    assert weak(f"#{number:06x}") == []


def test_a_colour_that_can_be_read_stays_as_it_is() -> None:
    assert palette("#1d4ed8").light.accent == "#1d4ed8"
    assert palette("#8ab4ff").dark.accent == "#8ab4ff"
    assert palette("#ffd60a").light.accent != "#ffd60a"  # yellow on white


@pytest.mark.parametrize(
    "text", ["", "red", "#fff", "#12345g", "#1d4ed8;}", "#1d4ed8\n}", "url(#a)", "#" + "1" * 99]
)
def test_what_is_no_colour_is_none(text: str) -> None:
    assert read_colour(text) is None


def test_the_surfaces_are_those_of_the_base_style_sheet() -> None:
    light, rest = BASE.split("@media (prefers-color-scheme: dark)", 1)
    dark = rest.split("/* ---- page ---- */", 1)[0]
    for text, surfaces, ink in ((light, LIGHT, TEXT["light"]), (dark, DARK, TEXT["dark"])):
        found = dict(re.findall(r"--([\w-]+):\s*(#[0-9a-fA-F]{6})", text))
        assert {name: found[name] for name in surfaces} == surfaces
        assert found["ink"] == ink


def test_the_style_sheet_has_each_colour_and_nothing_from_outside() -> None:
    sheet = style_sheet(palette("#7a1f3d"))
    assert "--house: #7a1f3d;" in sheet
    assert sheet.count("--accent:") == 3
    assert re.fullmatch(r"[-\w\s:;,{}().#@]+", sheet)
    assert mixed("#000000", "#ffffff", 0.5) == "#808080"


@given(st.integers(0, 0xFFFFFF))
def test_any_colour_can_be_read_across_a_lobby(number: int) -> None:
    found = kiosk_shades(f"#{number:06x}")
    pairs = [(found.ink, found.band)]
    pairs += [(found.light, ground) for ground in LIGHT.values()]
    pairs += [(found.dark, ground) for ground in (*DARK.values(), KIOSK_DARK)]
    # a pattern shades the band towards this, which only adds to the contrast of its words
    pairs += [(found.ink, mixed(found.band, found.deep, part / 4)) for part in range(5)]
    assert [pair for pair in pairs if contrast(*pair) < ENHANCED] == []


def test_a_kiosks_lightest_dark_surface_is_that_of_the_base_style_sheet() -> None:
    dark = BASE.split("@media (prefers-color-scheme: dark)", 1)[1]
    assert f"--quiet-bg: {KIOSK_DARK};" in dark


def test_a_colour_that_can_be_read_across_a_lobby_stays_as_it_is() -> None:
    blue, yellow = kiosk_shades("#14325a"), kiosk_shades("#ffd60a")
    assert (blue.light, blue.band, blue.ink) == ("#14325a", "#14325a", "#ffffff")
    assert (yellow.band, yellow.ink) == ("#ffd60a", "#000000")
