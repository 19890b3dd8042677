"""Pages lose the indentation of their templates, but no white space that separates words."""

import re
from pathlib import Path

from jinja2 import DictLoader, Environment

from ridedash.views.web.responses import NoIndentation

TEMPLATES = sorted((Path(__file__).parents[3] / "templates").rglob("*.html"))
KEEPS = re.compile(r"<(pre|textarea)\b[^>]*>([^<{]*\n[^<]*|[^<]*\}[^<{]*\n[^<]*)</\1>")


def rendered(template: str, **values: str) -> str:
    made = Environment(
        loader=DictLoader({"page": template}), extensions=[NoIndentation], autoescape=True
    )
    return made.get_template("page").render(**values)


def test_words_that_were_apart_stay_apart_and_lines_begin_at_their_words() -> None:
    page = "<p>\n    one\n\n    <b>two</b>  three {% if yes %}\n      four{% endif %}\n  five\n</p>"
    assert rendered(page, yes="1") == "<p>\none\n<b>two</b>  three \nfour\nfive\n</p>"


def test_what_a_page_fills_in_stays_as_it_is() -> None:
    typed = "  first\n\n    second  \n"
    assert rendered("<i>{{ typed }}</i>", typed=typed) == f"<i>{typed}</i>"


def test_a_no_break_space_stays() -> None:
    assert rendered("a\N{NO-BREAK SPACE}\n  b") == "a\N{NO-BREAK SPACE}\nb"


def test_no_template_writes_lines_into_an_element_that_keeps_them() -> None:
    found = [
        path.name
        for path in TEMPLATES
        for match in KEEPS.finditer(re.sub(r"\{\{.*?\}\}", "", path.read_text(), flags=re.DOTALL))
    ]
    assert KEEPS.search("<pre>\n  one\n</pre>")
    assert found == []
