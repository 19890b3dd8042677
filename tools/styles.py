"""A linter of style sheets: `python -m tools.styles`, part of `make check`.

It finds custom properties that are not defined or not used, classes that nothing sets, properties
that a rule declares twice, and sizes, spaces, weights, radii and colours that are not on the scale.
tests/test_styles.py asks a browser for declarations that the browser does not know.

The scale is in static/css/shared/base.css. A surface, such as a kiosk or a printed card, gives its
names other values and has colours of its own; everything else refers to the names.
"""

import re
import sys
from collections import Counter
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
SHEETS: Final = sorted((ROOT / "static/css").rglob("*.css"))
USERS: Final = [  # files that may set a class or use a custom property
    path
    for folder, kind in (("templates", "html"), ("static", "js"), ("static", "svg"))
    for path in sorted((ROOT / folder).rglob(f"*.{kind}"))
]
# properties that a rule may set twice: not every browser knows the second value
TWO_VALUES: Final = {"content", "text-align", "grid-template-columns"}
FOREIGN: Final = ("leaflet-", "folium-map")  # classes that Leaflet and folium set

# the most names of each part of the scale, by the pattern of a name
SCALE: Final = {
    r"--t-\w+": ("sizes of type", 8),
    r"--w-\w+": ("weights", 3),
    r"--s(?:\d|-\w+)": ("steps of spacing", 12),
    r"--r(?:\d|-\w+)": ("radii", 4),
}
# what gives names of the scale other values and has colours of its own
SURFACES: Final = (
    *(":root", ".kiosk", ".ride-map", ".stage-page", ".to-guest", ".guest-ride", ".beside"),
    *(".paper", ".sheet", ".dense", ".face-try", ".face-try-dark"),
    *(".door-row", ".door-in", ".is-stacked .door-in", ".is-grand .door-in", ".door-colour"),
)
STATE: Final = re.compile(r"(?:[.:\[][^ >+~]*)?")  # such as .is-large or [data-look="dark"]
# lengths that spaces may refer to: bars, controls, and the room that a control needs in a field
MEASURES: Final = re.compile(
    r"--(?:tap|tap-small|[\w-]+-height|[\w-]+-room|reach-(?:top|low)|head)"
)
# the values that a property may have beside names of the scale
SIZES: Final = re.compile(r"inherit|0|[\d.]+%|var\(--t-\w+\)")
WEIGHTS: Final = re.compile(r"inherit|var\(--w-\w+\)")
FONTS: Final = re.compile(
    r"inherit|(?:var\(--w-\w+\) )?var\(--t-\w+\) ?(?:/ ?[\d.]+)? var\(--(?:sans|mono)\)"
)
RADII: Final = re.compile(r"inherit|(?:(?:0|var\(--r(?:\d|-\w+)\)) ?)+")
SPACING: Final = re.compile(r"(?:margin|padding)(?:-[\w-]+)?|(?:row-|column-)?gap")
RADIUS: Final = re.compile(r"border(?:-[\w-]+)?-radius")
LENGTH: Final = re.compile(r"(?<![\w.-])[\d.]+(?!\d)(?!\.)[a-z]+\b")
COLOUR: Final = re.compile(
    r"#[\da-f]{3,8}\b|\b(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch)\("
    r"|(?<![\w-])(?:white|black|red|green|blue|yellow|orange|purple|silver|gr[ae]y)(?![\w-])",
    re.IGNORECASE,
)
HIDDEN: Final = "inset(50%)"  # what only screen readers get

# where a page writes classes: an attribute, a block that stands in one, and strings of Jinja
ATTRIBUTE: Final = re.compile(r'\bclass="((?:\{\{.*?\}\}|\{%.*?%\}|[^"])*)"', re.DOTALL)
BLOCK: Final = re.compile(r"\{% block \w*class %\}(.*?)\{% endblock %\}", re.DOTALL)
JINJA: Final = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
COMPUTED: Final = re.compile(rf"{JINJA.pattern}|\$\{{[^}}]*\}}", re.DOTALL)
# a script writes them in strings; the groups are empty for a comment
STRING: Final = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`""",
    re.DOTALL,
)
_TOKEN: Final = r"(?:[a-z]|\$\{[^}]*\})(?:[a-z0-9_-]|\$\{[^}]*\})*"
CLASSES: Final = re.compile(rf" *{_TOKEN}(?: +{_TOKEN})* *")


def rules(text: str) -> list[tuple[str, str]]:
    """Selectors and declarations of all rules, also of those inside @media and the like."""
    bare = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return re.findall(r"([^{};]+)\{([^{}]*)\}", bare)


def declarations(body: str) -> list[tuple[str, str]]:
    """Names and values of the declarations of a rule."""
    pairs = (each.split(":", 1) for each in body.split(";") if ":" in each)
    return [
        (name.strip(), " ".join(value.removesuffix(" !important").split())) for name, value in pairs
    ]


def faults(sheets: dict[str, str], users: dict[str, str]) -> list[str]:
    """What is wrong, a line each. Both are texts by the names of their files."""
    return [
        *_custom_properties(sheets, users),
        *_classes(sheets, users),
        *_declared_twice(sheets),
        *_long_scales(sheets),
        *_off_scale(sheets),
        *_hidden_twice(sheets),
    ]


def _custom_properties(sheets: dict[str, str], users: dict[str, str]) -> list[str]:
    found = [
        pair for text in sheets.values() for _, body in rules(text) for pair in declarations(body)
    ]
    defined = {name for name, _ in found if name.startswith("--")}
    used = {name for _, value in found for name in re.findall(r"var\((--[\w-]+)", value)}
    elsewhere = {name for text in users.values() for name in re.findall(r"--\w[\w-]*", text)}
    return [
        *(f"{name} is used, but not defined" for name in sorted(used - defined)),
        *(f"{name} is defined, but not used" for name in sorted(defined - used - elsewhere)),
    ]


def class_lists(name: str, text: str) -> list[str]:
    """What a page or a script may set as classes."""
    if name.endswith(".js"):
        return [each for each in strings(text) if CLASSES.fullmatch(each)]
    in_code = (each for code in JINJA.findall(text) for each in strings(code))
    written = [each[1] for pattern in (ATTRIBUTE, BLOCK) for each in pattern.finditer(text)]
    return [*written, *(each for each in in_code if CLASSES.fullmatch(each))]


def strings(code: str) -> list[str]:
    return ["".join(groups) for groups in STRING.findall(code)]


def _classes(sheets: dict[str, str], users: dict[str, str]) -> list[str]:
    lists = "\n".join(each for user in users.items() for each in class_lists(*user))
    plain = COMPUTED.sub("{", lists)
    words = set(re.findall(r"[a-zA-Z][\w-]*", plain))
    # beginnings of computed classes, as in tone-{{ … }} and found-${…}
    beginnings = tuple(set(re.findall(r"([a-zA-Z][\w-]*-)\{", plain)))
    classes = {
        (sheet, name)
        for sheet, text in sheets.items()
        for selector, _ in rules(text)
        for name in re.findall(r"\.([a-zA-Z][\w-]*)", selector)
    }
    return [
        f"{sheet}: nothing sets the class {name}"
        for sheet, name in sorted(classes)
        if name not in words and not name.startswith((*FOREIGN, *beginnings))
    ]


def _declared_twice(sheets: dict[str, str]) -> list[str]:
    return [
        f"{sheet}: {selector.strip()} declares {name} twice"
        for sheet, text in sheets.items()
        for selector, body in rules(text)
        for name, count in Counter(name for name, _ in declarations(body)).items()
        if count > 1 and name not in TWO_VALUES
    ]


def _long_scales(sheets: dict[str, str]) -> list[str]:
    """Parts of the scale that have too many names."""
    names = {
        name
        for text in sheets.values()
        for _, body in rules(text)
        for name, _ in declarations(body)
    }
    counts = {
        what: (sum(bool(re.fullmatch(pattern, name)) for name in names), most)
        for pattern, (what, most) in SCALE.items()
    }
    return [
        f"{count} {what}, more than {most}"
        for what, (count, most) in counts.items()
        if count > most
    ]


def _off_scale(sheets: dict[str, str]) -> list[str]:
    """Values that are not on the scale, and names of the scale that get a value elsewhere."""
    spaces = _spaces(sheets)
    return [
        f"{sheet}: {' '.join(selector.split())} has {name}: {value}"
        for sheet, text in sheets.items()
        for selector, body in rules(text)
        if not selector.strip().startswith("@")  # margins of paper can't refer to names
        for name, value in declarations(body)
        if not _on_scale(selector, name, value, spaces)
    ]


def _spaces(sheets: dict[str, str]) -> set[str]:
    """The custom properties that a space may refer to: all their values are spaces themselves."""
    found: dict[str, list[str]] = {}
    for text in sheets.values():
        for _, body in rules(text):
            for name, value in declarations(body):
                if name.startswith("--"):
                    found.setdefault(name, []).append(value)
    spaces = {
        name for name in found if re.fullmatch(r"--s(?:\d|-\w+)", name) or MEASURES.fullmatch(name)
    }
    grown = True
    while grown:
        more = {
            name
            for name, values in found.items()
            if all("var(" in each and _is_space(each, spaces) for each in values)
        }
        grown, spaces = not more <= spaces, spaces | more
    return spaces


def _is_space(value: str, spaces: set[str]) -> bool:
    return not LENGTH.search(value) and set(re.findall(r"var\((--[\w-]+)", value)) <= spaces


def _on_scale(selector: str, name: str, value: str, spaces: set[str]) -> bool:
    """Whether a rule may declare this: a name of the scale or a colour only on a surface."""
    if name.startswith("--"):
        raw = COLOUR.search(value) or any(re.fullmatch(each, name) for each in SCALE)
        parts = [" ".join(each.split()) for each in selector.split(",")]
        return not raw or all(map(_is_surface, parts))
    if name == "font-size":
        return bool(SIZES.fullmatch(value))
    if name == "font-weight":
        return bool(WEIGHTS.fullmatch(value))
    if name == "font":
        return bool(FONTS.fullmatch(value))
    if SPACING.fullmatch(name):
        return _is_space(value, spaces)
    if RADIUS.fullmatch(name):
        return bool(RADII.fullmatch(value))
    return not COLOUR.search(value)


def _is_surface(selector: str) -> bool:
    return any(
        selector.startswith(each) and STATE.fullmatch(selector[len(each) :]) for each in SURFACES
    )


def _hidden_twice(sheets: dict[str, str]) -> list[str]:
    """Rules after the first one that hide something from all but screen readers."""
    return [
        f"{sheet}: {' '.join(selector.split())} is visually hidden by a rule of its own"
        for sheet, text in sorted(sheets.items())
        for selector, body in rules(text)
        if HIDDEN in body and ".visually-hidden" not in selector
    ]


def main() -> int:
    """Print the faults of the project's style sheets. Returns 1 if there are any."""
    sheets, users = (
        {str(path.relative_to(ROOT)): path.read_text() for path in paths}
        for paths in (SHEETS, USERS)
    )
    found = faults(sheets, users)
    for each in found:
        print(each, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
