"""Style sheets: what their linter finds, declarations that no browser knows, and no fonts."""

import subprocess
import sys

import pytest
from playwright.sync_api import Browser

from tools.styles import ROOT, SHEETS, USERS, declarations, faults, rules

# words that pages say, and the beginning of an id: none of them sets a class
WORDS_IN_PROSE = "".join(
    f"a.css: nothing sets the class {name}" for name in ("cart-foot", "tab-one", "wide")
)
OTHER_BROWSERS = [["text-align", "match-parent"]]  # Firefox and Safari know it


def test_the_linter_passes_the_style_sheets_of_the_project() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tools.styles"], cwd=ROOT, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("sheet", "fault"),
    [
        (".card { color: var(--ink); }", "--ink is used, but not defined"),
        (".card { --paint: red; }", "--paint is defined, but not used"),
        (".card { --ink: red; color: var(--ink); }", ""),
        (".tone-late, .leaflet-zoom { color: red; }", ""),
        ("@media print { .cart { color: red; } }", "a.css: nothing sets the class cart"),
        ("/* .cart { } */ .card { color: red; color: blue; }", "a.css: .card declares color twice"),
        (".card { content: none; content: none; }", ""),
        (".lamp-on, .is-lit, .glow { color: red; }", ""),
        (".wide, .cart-foot, .tab-one { color: red; }", WORDS_IN_PROSE),
    ],
)
def test_the_linter_finds_what_nothing_sets_uses_or_defines(sheet: str, fault: str) -> None:
    users = {
        "page.html": '<p class="card tone-{{ tone }} {{ "is-lit" if late }}" id="tab-{{ n }}">'
        "a wide cart-foot, paint",
        "page.js": 'node.className = "lamp-on"; // cart-foot\n'
        "spot.classList.add(`glow ${tone}`, find(`#tab-${id}`));",
    }
    assert "".join(faults({"a.css": sheet}, users)) == fault


@pytest.mark.browser
def test_the_browser_knows_every_declaration(browser: Browser) -> None:
    texts = (sheet.read_text() for sheet in SHEETS)
    found = sorted(
        {pair for text in texts for _, body in rules(text) for pair in declarations(body)}
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
