"""Reads an SVG file as a tree, within bounds; refuses a document type that has declarations.

The parser is Python's own expat. A declaration of an entity ends the reading before anything is
expanded, nothing outside the file is ever opened, and processing instructions and comments are left
behind. Namespaces are looked up here: expat would write a long one before each name that has its
prefix, and 200 kB would become gigabytes.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final
from xml.parsers import expat

from ridedash.face import BadPicture, Unusable

SVG: Final = "http://www.w3.org/2000/svg"
XLINK: Final = "http://www.w3.org/1999/xlink"
MOST_ELEMENTS: Final = 5_000  # of a file; drawing programs write some dozens for a logo
DEEPEST: Final = 40  # elements inside one another
XMLNS: Final = re.compile(r"xmlns(?:$|:)")


@dataclass
class SvgNode:
    """An element, or a piece of text with the name "#text".

    The name of an element outside the SVG namespace is "". Only pieces of text and elements named
    "style" have a `text`.
    """

    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    text: str = ""
    children: list["SvgNode"] = field(default_factory=list)


def read_svg(data: bytes) -> SvgNode:
    """The tree of an SVG file. Raises BadPicture."""
    reader = _Reader()
    try:
        reader.parser.Parse(data, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        if isinstance(error, BadPicture):
            raise
        raise BadPicture(Unusable.DAMAGED) from None
    if reader.root is None or reader.root.name != "svg":
        raise BadPicture(Unusable.OTHER_KIND)
    return reader.root


class _Reader:
    def __init__(self) -> None:
        self.root: SvgNode | None = None
        self._open: list[SvgNode] = []
        # namespaces by the attribute that declares them, the innermost last; and for each open
        # element the attributes that end with it
        self._spaces: dict[str, list[str]] = {}
        self._declared: list[Iterable[str]] = []
        self._count = 0
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = self._doctype
        for handler in (
            "EntityDeclHandler",
            "UnparsedEntityDeclHandler",
            "ExternalEntityRefHandler",
            "SkippedEntityHandler",
        ):
            setattr(self.parser, handler, self._unsafe)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > MOST_ELEMENTS or len(self._open) >= DEEPEST:
            raise BadPicture(Unusable.TOO_DETAILED)
        declared = {key: value for key, value in attributes.items() if XMLNS.match(key)}
        self._declared.append(declared)
        for key, space in declared.items():
            self._spaces.setdefault(key, []).append(space)
        prefix, _, own = name.rpartition(":")
        node = SvgNode(own if self._space(prefix) == SVG else "")
        for key, value in attributes.items():
            prefix, _, own = key.rpartition(":")
            if key not in declared and (not prefix or self._space(prefix) == XLINK):
                node.attributes[own] = value  # xlink:href becomes href
        if self._open:
            self._open[-1].children.append(node)
        else:
            self.root = node
        self._open.append(node)

    def _end(self, _name: str) -> None:
        self._open.pop()
        for key in self._declared.pop():
            self._spaces[key].pop()

    def _space(self, prefix: str) -> str:
        """The namespace of a prefix here; for "", the namespace of names without a prefix."""
        key = f"xmlns:{prefix}" if prefix else "xmlns"
        return next(reversed(self._spaces.get(key, ())), "")

    def _text(self, text: str) -> None:
        """Add text to the children, so that its place is known; text of a style to its element."""
        if self._open[-1].name == "style":
            self._open[-1].text += text
        else:
            self._open[-1].children.append(SvgNode("#text", text=text))

    def _doctype(self, _name: str, _system: str | None, _public: str | None, own: bool) -> None:
        """Accept a bare document type, which older programs write; refuse one with declarations."""
        if own:
            raise BadPicture(Unusable.UNSAFE)

    def _unsafe(self, *_about: object) -> int:
        raise BadPicture(Unusable.UNSAFE)
