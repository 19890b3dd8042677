"""The contrast of each pair of text and background in base.css, light and dark."""

import re
from pathlib import Path

import pytest

CSS = (Path(__file__).parents[3] / "static" / "css" / "shared" / "base.css").read_text()
TEXT = [
    ("ink", "paper"),
    ("ink", "card"),
    ("ink", "sunk"),
    ("ink-2", "paper"),
    ("ink-2", "card"),
    ("ink-2", "sunk"),
    ("hint", "paper"),
    ("hint", "card"),
    ("hint", "sunk"),
    ("accent", "paper"),
    ("accent", "card"),
    ("accent", "accent-soft"),
    ("accent-ink", "accent"),
    ("accent-ink", "accent-press"),
    ("ok", "ok-bg"),
    ("info", "info-bg"),
    ("warn", "warn-bg"),
    ("bad", "bad-bg"),
    ("unknown", "unknown-bg"),
    ("quiet", "quiet-bg"),
    ("ok", "card"),
    ("info", "card"),
    ("warn", "card"),
    ("bad", "card"),
    ("bad", "paper"),
    ("warn", "paper"),
    ("unknown", "paper"),
    ("unknown", "card"),
    ("quiet", "card"),
    ("bad-press", "bad-bg"),
    ("on-solid", "bad"),
    ("on-solid", "bad-press"),
    ("on-solid", "ok"),
    ("bar-ink", "bar"),
    ("bar-2", "bar"),
    ("ink", "accent-soft"),
]
PARTS = [
    ("edge", "card"),
    ("edge", "paper"),
    ("focus", "paper"),
    ("focus", "card"),
    ("bar-focus", "bar"),
    ("ok", "card"),
]
LARGE = [("plate-ink", "plate")]


def tokens(dark: bool) -> dict[str, str]:
    light, rest = CSS.split("@media (prefers-color-scheme: dark)", 1)
    night, _rules = rest.split("/* ---- page ---- */", 1)
    found = dict(re.findall(r"--([\w-]+):\s*(#[0-9A-Fa-f]{6})", light))
    if dark:
        found |= dict(re.findall(r"--([\w-]+):\s*(#[0-9A-Fa-f]{6})", night))
    return found


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(a: str, b: str) -> float:
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_the_contrast_formula_agrees_with_known_pairs() -> None:
    assert round(contrast("#14181F", "#FFFFFF"), 1) == 17.8
    assert round(contrast("#6B21A8", "#F3E8FF"), 1) == 7.4


@pytest.mark.parametrize("dark", [False, True], ids=["day", "night"])
@pytest.mark.parametrize(
    ("pairs", "least"), [(TEXT, 4.5), (PARTS, 3.0), (LARGE, 7.0)], ids=["text", "parts", "plate"]
)
def test_every_pair_has_enough_contrast(
    pairs: list[tuple[str, str]], least: float, dark: bool
) -> None:
    found = tokens(dark)
    weak = {
        (a, b): round(contrast(found[a], found[b]), 2)
        for a, b in pairs
        if contrast(found[a], found[b]) < least
    }
    assert weak == {}


def test_unknown_has_a_colour_of_its_own() -> None:
    for dark in (False, True):
        found = tokens(dark)
        assert len({found[name] for name in ("ok", "info", "warn", "bad", "unknown", "quiet")}) == 6
