"""The one colour of a property, and its shades that are readable in a light and a dark scheme.

A manager chooses any colour. It is used unchanged where nothing has to be read in it (a band, whose
text is black or white); links, buttons and marks use a shade of it, as near as the contrast allows.
"""

import colorsys
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

LEAST: Final = 4.5  # contrast by WCAG 2.2, 1.4.3: text of the usual size
ENHANCED: Final = 7.0  # contrast by WCAG 2.2, 1.4.6: text that is read from across a lobby
BLACK: Final = "#000000"
WHITE: Final = "#ffffff"
# The surfaces that text stands on, as in static/css/shared/base.css; tests compare them.
LIGHT: Final = {"paper": "#f5f6f8", "card": "#ffffff", "sunk": "#eef0f4"}
DARK: Final = {"paper": "#0b0f17", "card": "#141a24", "sunk": "#0f141d"}
KIOSK_DARK: Final = "#1d2430"  # --quiet-bg of a kiosk, its lightest dark surface
# of the light of pure red, green and blue in the relative luminance of WCAG 2.2
WEIGHTS: Final = (0.2126, 0.7152, 0.0722)
_COLOUR: Final = re.compile(r"#[0-9a-f]{6}")
STEPS: Final = 100  # shades that are tried between the colour and black or white


@dataclass(frozen=True)
class Shades:
    """Colours of one scheme: text and buttons, pressed buttons, words on buttons, a soft ground."""

    accent: str
    press: str
    ink: str
    soft: str


@dataclass(frozen=True)
class Palette:
    """A colour as it was chosen, the text on it (black or white), and its shades."""

    colour: str
    ink: str
    light: Shades
    dark: Shades


class KioskShades(NamedTuple):
    """The colours of a kiosk: of text in both schemes, and a band with the words on it.

    `deep` is the end, black or white, towards which a pattern may shade the band: its words are
    the easier to read for it.
    """

    light: str
    dark: str
    band: str
    ink: str
    deep: str


def read_colour(text: str) -> str | None:
    """A colour as `#rrggbb` in small letters; None for anything else.

    >>> read_colour(" #1D4ED8 "), read_colour("red"), read_colour("#1d4ed8;x")
    ('#1d4ed8', None, None)
    """
    typed = text.strip().lower()
    if not _COLOUR.fullmatch(typed):
        return None
    return typed


def palette(colour: str) -> Palette:
    """The shades of a colour. Each has at least the contrast LEAST wherever it is used.

    `colour` is one that `read_colour` gave.
    """
    ink = max((BLACK, WHITE), key=lambda each: contrast(each, colour))
    return Palette(colour, ink, light=_light(colour), dark=_dark(colour))


def kiosk_shades(colour: str) -> KioskShades:
    """The shades of a colour on a kiosk. Each has at least the contrast ENHANCED where it is used.

    `colour` is one that `read_colour` gave.
    """
    ink = palette(colour).ink
    return KioskShades(
        light=_readable(colour, 0.0, LIGHT.values(), ENHANCED),
        dark=_readable(colour, 1.0, [*DARK.values(), KIOSK_DARK], ENHANCED),
        band=_readable(colour, 0.0 if ink == WHITE else 1.0, [ink], ENHANCED),
        ink=ink,
        deep={WHITE: BLACK, BLACK: WHITE}[ink],
    )


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, 1 to 21, as WCAG counts it."""
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def linear(value: float) -> float:
    """The share of light of an sRGB value; both from 0 to 1."""
    if value <= 0.04045:
        return value / 12.92
    return float(((value + 0.055) / 1.055) ** 2.4)


def mixed(colour: str, other: str, part: float) -> str:
    """A colour mixed with a part (0 to 1) of another."""
    pairs = zip(_parts(colour), _parts(other), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in pairs)


def style_sheet(colours: Palette) -> str:
    """The style sheet that gives elements of class `housed` these colours, in the browser's scheme.

    `housed-light` and `housed-dark` always have their own scheme: they are for a preview.
    """
    own = f"--house: {colours.colour}; --house-ink: {colours.ink};"
    light = _rule(colours.light)
    dark = _rule(colours.dark)
    return (
        f":root {{ {own} }}\n"
        f".housed, .housed-light {{ {light} }}\n"
        f".housed-dark {{ {dark} }}\n"
        f"@media (prefers-color-scheme: dark) {{ .housed {{ {dark} }} }}\n"
    )


def _light(colour: str) -> Shades:
    soft = mixed(colour, WHITE, 0.9)
    accent = _readable(colour, 0.0, [*LIGHT.values(), soft])
    return Shades(accent, mixed(accent, BLACK, 0.2), WHITE, soft)


def _dark(colour: str) -> Shades:
    soft = mixed(colour, DARK["card"], 0.86)
    accent = _readable(colour, 1.0, [*DARK.values(), soft])
    return Shades(accent, mixed(accent, WHITE, 0.3), DARK["paper"], soft)


def _readable(colour: str, lightest: float, surfaces: Iterable[str], least: float = LEAST) -> str:
    """The nearest shade, darker or lighter, with a contrast of `least` on every surface.

    Hue and saturation stay; lightness is tried from that of `colour` to `lightest`, 0 or 1.
    """
    grounds = tuple(surfaces)
    hue, lightness, saturation = colorsys.rgb_to_hls(*(part / 255 for part in _parts(colour)))
    for step in range(STEPS + 1):
        nearer = lightness + (lightest - lightness) * step / STEPS
        parts = colorsys.hls_to_rgb(hue, nearer, saturation)
        shade = "#" + "".join(f"{round(part * 255):02x}" for part in parts)
        if all(contrast(shade, each) >= least for each in grounds):
            return shade
    return WHITE if lightest else BLACK


def _rule(shades: Shades) -> str:
    return (
        f"--accent: {shades.accent}; --accent-press: {shades.press}; --accent-ink: {shades.ink}; "
        f"--accent-soft: {shades.soft}; --focus: {shades.accent};"
    )


def _luminance(colour: str) -> float:
    return sum(
        weight * linear(part / 255) for weight, part in zip(WEIGHTS, _parts(colour), strict=True)
    )


def _parts(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
