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
        (".card { --paint: 1; }", "--paint is defined, but not used"),
        (".card { --ink: 1; color: var(--ink); }", ""),
        (".tone-late, .leaflet-zoom { color: inherit; }", ""),
        ("@media print { .cart { color: inherit; } }", "a.css: nothing sets the class cart"),
        (
            "/* .cart { } */ .card { color: inherit; color: unset; }",
            "a.css: .card declares color twice",
        ),
        (".card { content: none; content: none; }", ""),
        (".lamp-on, .is-lit, .glow { color: inherit; }", ""),
        (".wide, .cart-foot, .tab-one { color: inherit; }", WORDS_IN_PROSE),
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


SURFACE = ":root { --t-label: 13px; --w-strong: 600; --s1: 4px; --r1: 6px; --ink: #123; }"
USED = (
    ".card { font: var(--w-strong) var(--t-label)/1.2 var(--sans); padding: var(--s1); "
    "border-radius: var(--r1); color: var(--ink); }"
)


@pytest.mark.parametrize(
    "declared",
    [
        "font-size: 13px",
        "font-size: calc(var(--t-label) * 2)",
        "font: 600 1rem/1.5 var(--sans)",
        "font-weight: 650",
        "font-weight: bold",
        "padding: 0.3rem var(--s1)",
        "margin-block-end: calc(var(--s1) + 1px)",
        "gap: 2mm",
        "row-gap: 0.5em",
        "border-radius: 50%",
        "border-end-end-radius: 6px",
        "color: #123",
        "background: rgb(0 0 0 / 0.5)",
        "border: 1px solid white",
        "--own: #123",
        "--t-label: 12px",
        "--s1: 3px",
    ],
)
def test_the_linter_refuses_what_is_not_on_the_scale(declared: str) -> None:
    users = {"page.html": '<p class="card" style="--own --sans">'}
    scale = f"{SURFACE} :root {{ --sans: serif; }} {USED}"
    assert faults({"a.css": scale}, users) == []
    found = faults({"a.css": f"{scale} .card {{ {declared}; }}"}, users)
    assert found == [f"a.css: .card has {declared}"]


@pytest.mark.parametrize(
    "declared",
    [
        "font-size: inherit",
        "font-size: 105%",
        "margin: 0 auto",
        "margin: calc(-1 * var(--s1)) 0",
        "padding: max(var(--s1), var(--tap))",
        "gap: var(--gap)",
        "border-radius: 0 var(--r1) var(--r1) 0",
        "border: 1px solid currentColor",
        "color: CanvasText",
        "inline-size: 3rem",
        "line-height: 1.3",
    ],
)
def test_the_linter_passes_what_refers_to_the_scale(declared: str) -> None:
    named = ":root { --sans: serif; --tap: 44px; --gap: var(--s1); }"
    users = {"page.html": '<p class="card" style="--gap --tap">'}
    assert faults({"a.css": f"{SURFACE} {named} {USED} .card {{ {declared}; }}"}, users) == []


def test_the_linter_follows_a_space_to_its_length() -> None:
    users = {"page.html": '<p class="card">'}
    sheet = f"{SURFACE} :root {{ --sans: serif; }} {USED} .card {{ --gap: 3px; gap: var(--gap); }}"
    assert faults({"a.css": sheet}, users) == ["a.css: .card has gap: var(--gap)"]


def test_the_linter_counts_the_names_of_the_scale() -> None:
    names = "".join(f"--t-{n}: {n}px; --r{n}: {n}px; " for n in range(9))
    found = faults({"a.css": f":root {{ {names} }}"}, {"page.js": names})
    assert found == ["9 sizes of type, more than 8", "9 radii, more than 4"]


def test_the_linter_finds_a_second_visually_hidden() -> None:
    users = {"page.html": '<p class="card visually-hidden">'}
    rule = "{ clip-path: inset(50%); }"
    sheet = f".visually-hidden {rule} @media (width > 9rem) {{ .card {rule} }}"
    assert faults({"a.css": sheet}, users) == [
        "a.css: .card is visually hidden by a rule of its own"
    ]


@pytest.mark.browser
def test_the_browser_knows_every_declaration(browser: Browser) -> None:
    texts = (sheet.read_text() for sheet in SHEETS)
    found = sorted(
        {pair for text in texts for _, body in rules(text) for pair in declarations(body)}
    )
    # an empty value, which a custom property may have, is asked for as a space
    with browser.new_page() as page:
        unknown = page.evaluate(
            "pairs => pairs.filter(([name, value]) => !CSS.supports(name, value || ' '))", found
        )
    assert [pair for pair in unknown if pair not in OTHER_BROWSERS] == []


def test_pages_bring_no_fonts() -> None:
    """This holds for every language: devices have their own faces (docs/languages.md 7)."""
    kinds = {".woff", ".woff2", ".ttf", ".otf", ".eot"}
    assert [path.name for path in (ROOT / "static").rglob("*") if path.suffix in kinds] == []
    assert [path.name for path in [*SHEETS, *USERS] if "@font-face" in path.read_text()] == []
