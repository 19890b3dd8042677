"""How the code reads: how often a line has two ends, or two assignments."""

import ast
import functools
import textwrap
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(__file__).parent.parent / "ridedash"


class Reading(NamedTuple):
    """What a module has, or several: lines of code, and what makes one of them hard to read."""

    lines: int = 0  # without blank ones, comments and docstrings
    conditionals: int = 0
    packings: int = 0

    def together(self, other: "Reading") -> "Reading":
        return Reading(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))

    def in_thousand(self, count: int) -> float:
        return 1000 * count / self.lines


def reading(source: str) -> Reading:
    nodes = list(ast.walk(ast.parse(source)))
    lines = {
        number
        for number, line in enumerate(source.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    }
    lines -= {number for node in nodes for number in docstring_lines(node)}
    conditionals = sum(isinstance(node, ast.IfExp) for node in nodes)
    return Reading(len(lines), conditionals, sum(map(packs, nodes)))


def docstring_lines(node: ast.AST) -> range:
    if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return range(0)
    match node.body:
        case [ast.Expr(ast.Constant(str())) as docstring, *_rest]:
            return range(docstring.lineno, (docstring.end_lineno or docstring.lineno) + 1)
    return range(0)


def packs(node: ast.AST) -> bool:
    """Whether it is an assignment such as `a, b = 1, 2`. Unpacking is none, and neither a swap."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Tuple):
        return False
    values = {ast.unparse(value) for value in node.value.elts}
    return any(
        isinstance(target, ast.Tuple) and {ast.unparse(each) for each in target.elts} != values
        for target in node.targets
    )


@functools.cache
def reading_of(folder: Path) -> Reading:
    found = Reading()
    for path in folder.iterdir():
        if path.is_dir():
            found = found.together(reading_of(path))
        elif path.suffix == ".py":
            found = found.together(reading(path.read_text()))
    return found


def test_lines_conditional_expressions_and_packing_are_counted() -> None:
    source = '''
        """A module.

        Its docstring ends here."""

        # a comment
        NAME = "x" if __debug__ else "y"  # one conditional
        TEXT = """a text

        of two lines"""


        class Pair:
            """A docstring."""

            def swap(self) -> int:
                """One, and its end."""
                one, other = 1, 2  # packing
                one, other = other, one
                self.one, self.other = (one, other)  # packing
                first, second = divmod(7, 2)
                if one:  # a statement
                    return first
                return [n if n else -n for n in (other, second) if n][0]
    '''
    assert reading(textwrap.dedent(source)) == Reading(lines=12, conditionals=2, packings=2)


@pytest.mark.parametrize(("folder", "most"), [(PACKAGE, 20), (PACKAGE / "views", 22)])
def test_a_case_has_a_name_a_table_or_an_early_return(folder: Path, most: int) -> None:
    """A conditional expression where both ends are short reads well; a page of them does not."""
    found = reading_of(folder)
    assert found.in_thousand(found.conditionals) <= most, found


def test_a_line_has_one_assignment() -> None:
    found = reading_of(PACKAGE)
    assert found.in_thousand(found.packings) <= 6, found
