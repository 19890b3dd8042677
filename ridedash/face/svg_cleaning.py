"""An SVG written anew from an allow-list: shapes, gradients, clips and words; nothing that runs.

What is not on the list (scripts, handlers, styles, pictures, foreign markup, animation, links,
filters) is not copied. Styles, which drawing programs write in classes, become attributes, so that
the result needs no style sheet and no policy that allows one.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from math import isfinite
from operator import itemgetter
from typing import Final

from ridedash.face import BadPicture, Unusable, check_shape
from ridedash.face.svg_reading import SVG, SvgNode


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SHAPES: Final = frozenset({"path", "rect", "circle", "ellipse", "line", "polyline", "polygon"})
DRAWN: Final = SHAPES | {"text", "use"}
HOLDERS: Final = frozenset({"svg", "g", "defs", "symbol", "text", "tspan", "clipPath", "mask"})
PAINTS: Final = frozenset({"linearGradient", "radialGradient", "stop"})
ALLOWED: Final = DRAWN | HOLDERS | PAINTS
OPENED: Final = frozenset({"a", "switch"})  # left out, but their children stay in their place
LOOKS: Final = _words(
    """fill fill-opacity fill-rule stroke stroke-width stroke-opacity stroke-linecap
    stroke-linejoin stroke-miterlimit stroke-dasharray stroke-dashoffset opacity color clip-path
    clip-rule mask stop-color stop-opacity display visibility font-family font-size font-weight
    font-style letter-spacing text-anchor dominant-baseline paint-order vector-effect"""
)
PLACES: Final = _words(
    """id d x y x1 y1 x2 y2 cx cy r rx ry fx fy width height points transform viewBox dx dy
    preserveAspectRatio gradientUnits gradientTransform spreadMethod offset clipPathUnits maskUnits
    maskContentUnits textLength lengthAdjust href"""
)
# Kinds of elements that are named to the manager when they are left out; any other is OTHER.
NAMED: Final = _words("script image foreignObject filter pattern marker animate set textPath")
OTHER: Final = "other"
MOST_DRAWN: Final = 20_000  # elements, counted again each time that another element uses them
MOST_RULES: Final = 500  # selectors of style sheets
MOST_APPLIED: Final = 100_000  # values that rules declare, counted for each element that gets them
MOST_WRITTEN: Final = 200_000  # characters: one rule may be copied to each element
LONGEST_LENGTH: Final = 40  # characters of a width or height
FUNCTIONS: Final = _words("rgb rgba hsl hsla matrix translate scale rotate skewX skewY")
NO_NAME: Final = re.compile(r"[^\w-]")
VALUE: Final = re.compile(r"[\w\s#.,%()+\-'\"]*")
NAME: Final = re.compile(r"[A-Za-z_][\w.-]{0,199}")
REFERENCE: Final = re.compile(r"url\(\s*['\"]?#([A-Za-z_][\w.-]*)['\"]?\s*\)", re.ASCII)
# RULE is tried only where a rule begins, and COMMENT takes an open comment to its end: otherwise a
# long text without rules, or with open comments, would take quadratic time.
RULE: Final = re.compile(r"(?<![^{}])([^{}]+)\{([^{}]*)\}")
COMMENT: Final = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
SELECTOR: Final = re.compile(r"([.#]?)([A-Za-z_][\w-]*)", re.ASCII)
NUMBER: Final = re.compile(r"\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s*(px|pt|pc|mm|cm|in|em|ex)?\s*")
HIGH: Final = 100.0  # height of the written root; only width / height matters


@dataclass(frozen=True)
class CleanSvg:
    """The text of a cleaned file, its proportions, and the kinds of elements that were left out."""

    text: str
    width: int
    height: int
    left_out: tuple[str, ...]


class _Styles:
    """Style declarations by class, id and element, in the order of the file."""

    def __init__(self, rules: Iterable[tuple[str, str, dict[str, str]]]) -> None:
        """Raises BadPicture for more than MOST_RULES rules."""
        self._rules: dict[tuple[str, str], list[tuple[int, dict[str, str]]]] = {}
        self._applied = 0
        for number, (kind, name, declared) in enumerate(rules):
            if number == MOST_RULES:
                raise BadPicture(Unusable.TOO_DETAILED)
            self._rules.setdefault((kind, name), []).append((number, declared))

    def of(self, node: SvgNode) -> dict[str, str]:
        """An element's presentation attributes: its own, those of rules, those in its `style`.

        Raises BadPicture when rules would declare more than MOST_APPLIED values, of all elements.
        """
        found = _harmless_looks(node.attributes.items())
        classes = set(node.attributes.get("class", "").split())
        names = {"": {node.name}, ".": classes, "#": {node.attributes.get("id", "")}}
        for kind in ("", ".", "#"):
            rules = [rule for name in names[kind] for rule in self._rules.get((kind, name), ())]
            self._applied += sum(1 + len(declared) for _, declared in rules)
            if self._applied > MOST_APPLIED:
                raise BadPicture(Unusable.TOO_DETAILED)
            for _, declared in sorted(rules, key=itemgetter(0)):
                found |= declared
        return found | _declared(node.attributes.get("style", ""))


def clean_svg(root: SvgNode) -> CleanSvg:
    """The cleaned file of this tree. Raises BadPicture."""
    box = _box(root)
    check_shape(box[2], box[3])
    styles = _Styles(rule for text in _style_texts(root) for rule in _rules(text))
    left_out: set[str] = set()
    children = [each for child in root.children for each in _cleaned(child, styles, left_out)]
    whole = SvgNode("svg", styles.of(root), children=children)
    if _letters(whole) > MOST_WRITTEN or _weight(whole) > MOST_DRAWN:
        raise BadPicture(Unusable.TOO_DETAILED)
    if not _draws(whole):
        raise BadPicture(Unusable.NOTHING_LEFT)
    width = max(1, round(HIGH * box[2] / box[3]))
    height = round(HIGH)
    whole.attributes |= {
        "xmlns": SVG,
        "viewBox": " ".join(f"{number:g}" for number in box),
        "width": str(width),
        "height": str(height),
    }
    return CleanSvg(_written(whole), width, height, tuple(sorted(left_out)))


def _cleaned(node: SvgNode, styles: _Styles, left_out: set[str]) -> Iterator[SvgNode]:
    """The element with its allowed parts; for any other element nothing, or only its children."""
    if node.name == "#text":
        yield node
    elif node.name in ALLOWED:
        attributes = styles.of(node)
        for name in PLACES & node.attributes.keys():
            value = _place(name, node.attributes[name])
            if value is not None:
                attributes[name] = value
        inside = [each for child in node.children for each in _cleaned(child, styles, left_out)]
        if node.name not in ("text", "tspan"):
            inside = [each for each in inside if each.name != "#text"]
        yield SvgNode(node.name, attributes, children=inside)
    elif node.name in OPENED:
        for child in node.children:
            yield from _cleaned(child, styles, left_out)
    elif node.name not in ("", "style", "title", "desc", "metadata"):
        left_out.add(node.name if node.name in NAMED else OTHER)


def _harmless_looks(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {name: value for name, value in pairs if name in LOOKS and _harmless(value)}


def _place(name: str, value: str) -> str | None:
    """The value of an attribute of PLACES; None if the attribute is left out."""
    if name == "href":
        is_allowed = value[:1] == "#" and NAME.fullmatch(value[1:]) is not None
    elif name == "id":
        is_allowed = NAME.fullmatch(value) is not None
    else:
        is_allowed = _harmless(value) and not REFERENCE.search(value)
    return value if is_allowed else None


def _harmless(value: str) -> bool:
    """Whether a value refers to nothing outside the file and holds only expected characters."""
    rest = REFERENCE.sub("", value)
    called = (NO_NAME.split(before.rstrip())[-1] for before in rest.split("(")[:-1])
    return bool(VALUE.fullmatch(rest)) and FUNCTIONS.issuperset(called)


def _style_texts(node: SvgNode) -> Iterator[str]:
    if node.name == "style":
        yield node.text
    for child in node.children:
        yield from _style_texts(child)


def _rules(text: str) -> Iterator[tuple[str, str, dict[str, str]]]:
    """The rules of a style sheet whose selector is one class, id or element; others are ignored."""
    for before, body in RULE.findall(COMMENT.sub("", text)):
        declared = _declared(body)
        selectors = before.rpartition(";")[2]  # without an @import or @charset in front of it
        for selector in selectors.split(","):
            match = SELECTOR.fullmatch(selector.strip())
            if match:
                yield match[1], match[2], declared


def _declared(body: str) -> dict[str, str]:
    pairs = (each.partition(":") for each in body.split(";"))
    found = ((name.strip().lower(), value.strip()) for name, _, value in pairs)
    return _harmless_looks((name, value) for name, value in found if value)


def _box(root: SvgNode) -> tuple[float, float, float, float]:
    """The view box: the file's own, or one made of its width and height."""
    numbers = re.split(r"[\s,]+", root.attributes.get("viewBox", "").strip())
    try:
        x, y, width, height = (float(each) for each in numbers)
    except ValueError:
        x = y = 0.0
        width, height = (_length(root.attributes.get(name, "")) for name in ("width", "height"))
    box = (x, y, width, height)
    if not all(isfinite(each) and abs(each) < 1e6 for each in box) or min(width, height) < 1e-3:
        raise BadPicture(Unusable.DAMAGED)
    return box


def _length(text: str) -> float:
    if len(text) >= LONGEST_LENGTH:
        return 0.0
    match = NUMBER.fullmatch(text)
    return float(match[1]) if match else 0.0


def _draws(node: SvgNode) -> bool:
    """Whether anything is drawn outside of definitions."""
    if node.name in DRAWN:
        return True
    return node.name in ("svg", "g") and any(_draws(child) for child in node.children)


def _weight(root: SvgNode) -> int:
    """How many elements a browser draws, where one element may use another many times.

    Raises BadPicture for an element that uses itself.
    """
    by_id: dict[str, SvgNode] = {}
    _collect(root, by_id)
    known: dict[int, int] = {}
    under_way: set[int] = set()

    def count(node: SvgNode) -> int:
        if id(node) in known:
            return known[id(node)]
        if id(node) in under_way:
            raise BadPicture(Unusable.UNSAFE)
        under_way.add(id(node))
        used = (by_id[name] for name in _references(node) if name in by_id)
        total = 1 + sum(count(each) for each in (*node.children, *used))
        under_way.remove(id(node))
        known[id(node)] = min(total, MOST_DRAWN + 1)
        return known[id(node)]

    try:
        return count(root)
    except RecursionError:
        raise BadPicture(Unusable.TOO_DETAILED) from None


def _collect(node: SvgNode, by_id: dict[str, SvgNode]) -> None:
    by_id.setdefault(node.attributes.get("id", ""), node)
    for child in node.children:
        _collect(child, by_id)


def _references(node: SvgNode) -> Iterator[str]:
    for name, value in node.attributes.items():
        if name == "href":
            yield value[1:]
        else:
            yield from REFERENCE.findall(value)


def _letters(node: SvgNode) -> int:
    """The characters of names, values and texts."""
    own = len(node.name) + len(node.text)
    own += sum(len(name) + len(value) for name, value in node.attributes.items())
    return own + sum(map(_letters, node.children))


def _written(node: SvgNode) -> str:
    if node.name == "#text":
        return escape(node.text)
    pairs = "".join(
        f' {name}="{escape(node.attributes[name])}"' for name in sorted(node.attributes)
    )
    inside = "".join(_written(child) for child in node.children)
    if not inside:
        return f"<{node.name}{pairs}/>"
    return f"<{node.name}{pairs}>{inside}</{node.name}>"
