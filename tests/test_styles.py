"""A linter of style sheets: declarations that no browser knows, and names that nothing uses."""

import re
from collections import Counter
from pathlib import Path

import pytest
from playwright.sync_api import Browser

ROOT = Path(__file__).parents[1]
SHEETS = sorted((ROOT / "static/css").rglob("*.css"))
USERS = [
    path
    for folder, kind in (
        ("templates", "html"),
        ("static", "js"),
        ("static", "svg"),
        ("ridedash", "py"),
    )
    for path in sorted((ROOT / folder).rglob(f"*.{kind}"))
]
OTHER_BROWSERS = [["text-align", "match-parent"]]  # Firefox and Safari know it
# properties that a rule may set twice: not every browser knows the second value
TWO_VALUES = {"content", "text-align", "grid-template-columns"}
STRANGERS = ("leaflet-", "folium-map")  # classes that Leaflet and folium set


def rules(sheet: Path) -> list[tuple[str, str]]:
    """Selectors and declarations of all rules, also of those inside @media and the like."""
    text = re.sub(r"/\*.*?\*/", "", sheet.read_text(), flags=re.DOTALL)
    return re.findall(r"([^{};]+)\{([^{}]*)\}", text)


def declarations(body: str) -> list[tuple[str, str]]:
    pairs = (each.split(":", 1) for each in body.split(";") if ":" in each)
    return [
        (name.strip(), " ".join(value.removesuffix(" !important").split())) for name, value in pairs
    ]


def test_every_custom_property_is_defined_and_used() -> None:
    found = [pair for sheet in SHEETS for _, body in rules(sheet) for pair in declarations(body)]
    defined = {name for name, _ in found if name.startswith("--")}
    used = {name for _, value in found for name in re.findall(r"var\((--[\w-]+)", value)}
    elsewhere = "\n".join(path.read_text() for path in USERS)
    assert used - defined == set()
    assert [name for name in sorted(defined - used) if name.lstrip("-") not in elsewhere] == []


def test_every_class_of_a_style_sheet_is_set_somewhere() -> None:
    elsewhere = "\n".join(path.read_text() for path in USERS)
    words = set(re.findall(r"[a-zA-Z][\w-]*", elsewhere))
    # beginnings of computed classes, as in tone-{{ … }} and found-${…}
    beginnings = set(re.findall(r"([a-zA-Z][\w-]*-)(?:\{\{|\$\{)", elsewhere))
    classes = {
        (name, sheet.name)
        for sheet in SHEETS
        for selector, _ in rules(sheet)
        for name in re.findall(r"\.([a-zA-Z][\w-]*)", selector)
    }
    assert [
        f"{sheet}: .{name}"
        for name, sheet in sorted(classes)
        if name not in words
        and not name.startswith(STRANGERS)
        and not any(name.startswith(beginning) for beginning in beginnings)
    ] == []


def test_no_rule_declares_a_property_twice() -> None:
    twice = [
        f"{sheet.name}: {selector.strip()} {name}"
        for sheet in SHEETS
        for selector, body in rules(sheet)
        for name, count in Counter(name for name, _ in declarations(body)).items()
        if count > 1 and name not in TWO_VALUES
    ]
    assert twice == []


@pytest.mark.browser
def test_the_browser_knows_every_declaration(browser: Browser) -> None:
    found = sorted(
        {pair for sheet in SHEETS for _, body in rules(sheet) for pair in declarations(body)}
    )
    with browser.new_page() as page:
        unknown = page.evaluate(
            "pairs => pairs.filter(([name, value]) => !CSS.supports(name, value))", found
        )
    assert [pair for pair in unknown if pair not in OTHER_BROWSERS] == []


def test_pages_bring_no_fonts() -> None:
    """This holds for every language: devices have their own faces (docs/languages.md 7)."""
    kinds = {".woff", ".woff2", ".ttf", ".otf", ".eot"}
    assert [path.name for path in (ROOT / "static").rglob("*") if path.suffix in kinds] == []
    assert [path.name for path in [*SHEETS, *USERS] if "@font-face" in path.read_text()] == []
