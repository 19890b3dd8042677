"""A linter of style sheets: `python -m tools.styles`, part of `make check`.

It finds custom properties that are not defined or not used, classes that nothing sets, and
properties that a rule declares twice. tests/test_styles.py asks a browser for declarations that the
browser does not know.
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
