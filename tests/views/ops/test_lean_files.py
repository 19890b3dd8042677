"""Files are sent without comments: nothing else is left out, and lines keep their numbers."""

import re
from pathlib import Path

import pytest

from ridedash.views.ops.lean_files import lean
from ridedash.views.ops.static_files import read

FILES = read(Path(__file__).parents[3] / "static").paths

SCRIPT = """/** What it does. */
import { a } from "./a.js"; // for the map

  // a line of its own
const url = "http://www.w3.org/2000/svg"; // its words say "svg"
/* one */ const one = 1; /* two */
/*
 * three
 */
const words = "; // no comment";
"""
LEAN = """
import { a } from "./a.js";


const url = "http://www.w3.org/2000/svg"; // its words say "svg"
/* one */ const one = 1; /* two */



const words = "; // no comment";
"""


def test_comments_go_and_code_and_texts_stay() -> None:
    assert lean("js/a.js", SCRIPT.encode()).decode() == LEAN
    style = (
        b"/* all */\np { color: red; /* not green */\n} /* end */\np::after { content: '/* */' }"
    )
    assert lean("css/a.css", style) == b"\np { color: red;\n}\np::after { content: '/* */' }"


@pytest.mark.parametrize("name", ["img/mark.svg", "vendor/leaflet/leaflet.js", "a.txt"])
def test_other_files_are_as_they_are(name: str) -> None:
    assert lean(name, SCRIPT.encode()) == SCRIPT.encode()


def test_of_our_files_nothing_but_comments_is_left_out_and_each_line_is_where_it_was() -> None:
    for name, path in FILES.items():
        text = path.read_bytes()
        short = lean(name, text)
        if short == text:
            continue
        inside = False
        for line, rest in zip(text.split(b"\n"), short.split(b"\n"), strict=True):
            cut = line.removeprefix(rest).strip()
            assert line.startswith(rest), name
            if cut:
                assert inside or re.match(rb"//|/\*", cut), (name, line)
            inside = (inside or cut.startswith(b"/*")) and not cut.endswith(b"*/")
