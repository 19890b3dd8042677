"""Scripts and style sheets use only what the oldest browsers of docs/browsers.md section 1 know."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted((ROOT / "static/js").rglob("*.js"))
SHEETS = sorted((ROOT / "static/css").rglob("*.css"))
PAGES = sorted((ROOT / "templates").rglob("*.html"))
NEVER = (9999, 9999, 9999)


class Young(NamedTuple):
    """A feature that a pattern finds, and the first Chrome, Firefox and Safari that know it."""

    name: str
    pattern: str
    since: tuple[float, float, float]


# The first versions of Chrome, Firefox and Safari, entered by hand as far as they are known.
OF_SCRIPTS = [
    Young(":has() in a selector", r":has\(", (105, 121, 15.4)),
    Young("Element.checkVisibility", r"\.checkVisibility\(", (105, 106, 17.4)),
    Young("Element.moveBefore", r"\.moveBefore\(", (133, 144, 9999)),
    Young("Element.setHTMLUnsafe", r"\.setHTMLUnsafe\(|\.getHTML\(", (125, 128, 18)),
    Young("popover", r"\.(show|hide|toggle)Popover\(", (114, 125, 17)),
    Young("dialog.requestClose", r"\.requestClose\(", (134, 139, 18.4)),
    Young("form.requestSubmit", r"\.requestSubmit\(", (76, 75, 16)),
    Young("event.submitter", r"\bsubmitter\b", (81, 75, 15.4)),
    Young("FormData with a submitter", r"new FormData\([^)]*,", (112, 111, 16.4)),
    Young("an element's aria property", r"\.aria[A-Z]\w* *=[^=]", (41, 119, 12.1)),
    Young("AbortSignal.timeout", r"AbortSignal\.timeout\b", (103, 100, 16)),
    Young("AbortSignal.any", r"AbortSignal\.any\b", (116, 124, 17.4)),
    Young("Array.at", r"\.at\(-", (92, 90, 15.4)),
    Young("Array.findLast", r"\.findLast(Index)?\(", (97, 104, 15.4)),
    Young("sorted copies of arrays", r"\.to(Sorted|Reversed|Spliced)\(", (110, 115, 16)),
    Young("Array.fromAsync", r"Array\.fromAsync\b", (121, 115, 16.4)),
    Young("groupBy", r"\b(Object|Map)\.groupBy\b", (117, 119, 17.4)),
    Young("Object.hasOwn", r"Object\.hasOwn\b", (93, 92, 15.4)),
    Young(
        "operations of sets", r"\.(union|intersection|isSubsetOf|isDisjointFrom)\(", (122, 127, 17)
    ),
    Young(
        "helpers of iterators", r"Iterator\.from\b|\.values\(\)\.(map|filter)\(", (122, 131, 18.4)
    ),
    Young("Promise.withResolvers", r"Promise\.withResolvers\b", (119, 121, 17.4)),
    Young("Promise.try", r"Promise\.try\b", (128, 134, 18.2)),
    Young("URL.canParse", r"URL\.(canParse|parse)\b", (120, 115, 17)),
    Young("String.isWellFormed", r"\.(is|to)WellFormed\(", (111, 119, 16.4)),
    Young("lookbehind", r"\(\?<[=!]", (62, 78, 16.4)),
    Young("flag v", r"/[a-z]*v[a-z]*[,;.)]\s", (112, 116, 17)),
    Young("static blocks", r"\bstatic \{", (94, 93, 16.4)),
    Young("structuredClone", r"\bstructuredClone\(", (98, 94, 15.4)),
    Young("requestIdleCallback", r"\brequestIdleCallback\(", (47, 55, 9999)),
    Young("view transitions", r"\.startViewTransition\(", (111, 144, 18)),
    Young("navigation API", r"(?<![.\w])navigation\.", (102, 147, 26.2)),
    Young("scheduler", r"\bscheduler\.", (94, 142, 9999)),
    Young("userActivation", r"\.userActivation\b", (72, 120, 16.4)),
    Young("ClipboardItem", r"\bClipboardItem\b", (98, 127, 13.1)),
    Young("canvas roundRect", r"\.roundRect\(", (99, 112, 16)),
    Young("scrollend", r"[\"']scrollend[\"']", (114, 109, 26.2)),
    Young("Intl.DurationFormat", r"DurationFormat\b", (129, 136, 16.4)),
    Young("Temporal", r"\bTemporal\.", NEVER),
]
OF_SHEETS = [
    Young(":has()", r":has\(", (105, 121, 15.4)),
    Young("nesting", r"\{[^{}]*&|\{[^{}]*;\s*[.#:&>~+][^{};]*\{", (120, 117, 17.2)),
    Young("@scope", r"@scope\b", (118, 146, 17.4)),
    Young("@starting-style", r"@starting-style\b", (117, 129, 17.5)),
    Young("@property", r"@property\b", (85, 128, 16.4)),
    Young("@container", r"@container\b", (105, 110, 16)),
    Young("style queries", r"@container[^{]*style\(", (111, 9999, 18)),
    Young("ranges in @media", r"@media[^{]*\([^)]*[<>]", (104, 63, 16.4)),
    Young("dvh, svh, lvh", r"\d(d|s|l)v[hwib]\b", (108, 101, 15.4)),
    Young("lh", r"\dr?lh\b", (111, 120, 16.4)),
    Young("light-dark()", r"\blight-dark\(", (123, 120, 17.5)),
    Young("color-mix()", r"\bcolor-mix\(", (111, 113, 16.2)),
    Young("relative colours", r"\(from ", (119, 128, 16.4)),
    Young("subgrid", r"\bsubgrid\b", (117, 71, 16)),
    Young("anchors", r"\banchor\(|position-anchor", (125, 147, 26)),
    Young("field-sizing", r"\bfield-sizing\b", (123, 152, 26.2)),
    Young("text-wrap", r"\btext-wrap\b", (114, 121, 17.5)),
    Young("text-box", r"\btext-box\b", (133, 9999, 18.2)),
    Young("interpolate-size", r"\binterpolate-size\b", (129, 9999, 9999)),
    Young("::details-content", r"::details-content", (131, 143, 18.4)),
    Young(":user-invalid", r":user-(in)?valid", (119, 88, 16.5)),
    Young(":popover-open", r":popover-open", (114, 125, 17)),
    Young(":open", r":open\b", (133, 136, 26.5)),
    Young("content-visibility", r"\bcontent-visibility\b", (85, 125, 18)),
    Young("contain-intrinsic-size", r"\bcontain-intrinsic-size\b", (83, 107, 17)),
    Young("scrollbar-gutter", r"\bscrollbar-gutter\b", (94, 97, 18.2)),
    Young("scrollbar-width", r"\bscrollbar-width\b", (121, 64, 18.2)),
    Young("mask", r"(?<![-\w])mask(-image)? *:", (120, 53, 15.4)),
    Young("backdrop-filter", r"(?<!-webkit-)backdrop-filter", (76, 103, 18)),
    Young("animation-timeline", r"\banimation-timeline\b", (115, 9999, 26)),
    Young("margin-trim", r"\bmargin-trim\b", (9999, 9999, 16.4)),
]
OF_PAGES = [
    Young("popover", r"\spopover(target)?[\s=>]", (114, 125, 17)),
    Young("invoker commands", r"\scommandfor=", (135, 144, 26.2)),
    Young("exclusive details", r"<details[^>]*\sname=", (120, 130, 17.2)),
    Young("inert", r"\sinert[\s=>]", (102, 112, 15.5)),
    Young("import maps", r"type=\"importmap\"", (89, 108, 16.4)),
]
NOTHING_IS_LOST = {
    ":has()": "frames and distances; what it hides or marks is shown without it, see base.css",
    "color-mix()": "a pulse, and a tint inside of a frame that is there without it",
    "exclusive details": "opening one closes the others: without it they stay open",
    "subgrid": "labels of a kiosk's facts of one width; without it each has its own, see kiosk.css",
    "lh": "whole lines of a long car on a card; without it the car takes the room that it needs",
    "text-wrap": "where a line breaks",
    "content-visibility": "speed",
    "contain-intrinsic-size": "speed",
    "scrollbar-gutter": "room for a scroll bar",
    "scrollbar-width": "the width of a scroll bar",
}


def oldest() -> tuple[float, float, float]:
    """The first supported versions of Chrome, Firefox and Safari."""
    text = (ROOT / "docs/browsers.md").read_text()

    def of(name: str) -> float:
        found = re.search(rf"^\| {name}[^|]*\| ([\d.]+) \|", text, re.MULTILINE)
        assert found, name
        return float(found[1])

    return of("Chrome"), of("Firefox"), of("Safari")


def without_comments(text: str) -> str:
    return re.sub(r"/\*.*?\*/|(?<!:)//[^\n]*|\{#.*?#\}", "", text, flags=re.DOTALL)


def too_young(text: str, features: list[Young]) -> list[str]:
    """The names of features that the text uses, and that a supported browser does not know."""
    supported = oldest()
    return [
        each.name
        for each in features
        if any(first > ours for first, ours in zip(each.since, supported, strict=True))
        and re.search(each.pattern, without_comments(text))
    ]


def found(paths: list[Path], features: list[Young]) -> list[tuple[str, str]]:
    return [
        (name, str(path.relative_to(ROOT)))
        for path in paths
        for name in too_young(path.read_text(), features)
    ]


@pytest.mark.parametrize(
    ("paths", "features"),
    [(SCRIPTS, OF_SCRIPTS), (SHEETS, OF_SHEETS), (PAGES, OF_PAGES)],
    ids=["scripts", "styles", "pages"],
)
def test_nothing_is_younger_than_the_oldest_supported_browsers(
    paths: list[Path], features: list[Young]
) -> None:
    assert [use for use in found(paths, features) if use[0] not in NOTHING_IS_LOST] == []


def test_each_exception_is_used_somewhere() -> None:
    all_uses = found(SCRIPTS, OF_SCRIPTS) + found(SHEETS, OF_SHEETS) + found(PAGES, OF_PAGES)
    used = {name for name, _ in all_uses}
    assert set(NOTHING_IS_LOST) == used


def test_a_script_selects_nothing_by_has() -> None:
    """`:has()` is an exception in style sheets only: a script's selector with it may throw."""
    assert found(SCRIPTS, OF_SCRIPTS) == []


@pytest.mark.parametrize(
    ("features", "text", "name"),
    [
        (OF_SCRIPTS, 'box.querySelectorAll(".product:has(details[open])")', ":has() in a selector"),
        (OF_SCRIPTS, "links.filter((each) => each.checkVisibility())", "Element.checkVisibility"),
        (OF_SCRIPTS, "new FormData(form, event.submitter)", "FormData with a submitter"),
        (OF_SCRIPTS, 'form.ariaBusy = "true"', "an element's aria property"),
        (OF_SHEETS, ".a { color: red; .b { color: blue } }", "nesting"),
        (OF_SHEETS, "@media (width < 40rem) { .a { top: 0 } }", "ranges in @media"),
        (OF_PAGES, "<div popover>", "popover"),
    ],
)
def test_what_is_too_young_is_found(features: list[Young], text: str, name: str) -> None:
    assert too_young(text, features) == [name]


def test_comments_and_what_is_old_enough_are_not_found() -> None:
    old = "/* each.checkVisibility() */ form.requestSubmit(); // :has(\n a.at(-1);"
    assert too_young(old, OF_SCRIPTS) == []
    assert (
        too_young("@media (min-width: 4rem) { .a { top: 0; } .b { top: 1px; } }", OF_SHEETS) == []
    )


def test_the_versions_of_the_document_are_read() -> None:
    changed: Callable[[float], bool] = lambda version: 90 < version < 200  # noqa: E731
    chrome, firefox, safari = oldest()
    assert changed(chrome)
    assert changed(firefox)
    assert 15 < safari < 40
