"""The changes: one expression or statement of a module in CORE each, and the draw among them."""

import ast
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
KNOWN: Final = Path(__file__).with_name("equivalent.txt")
CORE: Final = (
    "ridedash/rides/**/*.py",
    "ridedash/service/*.py",
    "ridedash/service/throttle/*.py",
    "ridedash/service/transport/*.py",
    "ridedash/service/parsing/*.py",
    "ridedash/service/types/bookings.py",
    "ridedash/service/types/estimates.py",
    "ridedash/service/types/tracking.py",
    "ridedash/store/*.py",
    "ridedash/sandbox/bookings/*.py",
    "ridedash/sandbox/pricing/*.py",
    "ridedash/views/guest/*.py",
    "ridedash/views/poll_cache/*.py",
    "ridedash/views/rides/handouts.py",
    "ridedash/views/web/current_user.py",
    "ridedash/views/web/permissions.py",
)
OTHER: Final[dict[type[ast.AST], type[ast.AST]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
}
LOGS: Final = {"log", "logger"}  # names of loggers: only log lines depend on their calls
# (function, argument), see _idle_arguments
IDLE: Final = {("zip", "strict"), ("lru_cache", "maxsize")}
REMEMBERED: Final = {"cache", "lru_cache"}  # decorators after which a test may see an older result
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Mutant:
    """One change: the file, the line (from 1), the text there, and the text that replaces it.

    `scope` is the dotted name of the function or class around it; beside those, the name that the
    statement sets, so that an excuse for one constant is none for another. `function` is the first
    line of the function (of its decorators, where it has some); None where the changed code runs on
    import, or where a cached result may hide the change.
    """

    path: str
    line: int
    start: int  # offsets in the file's bytes
    end: int
    before: str
    after: str
    scope: str = ""
    function: int | None = None
    nth: int = 1  # its number among the changes of the same scope and text

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {_short(self.before)} -> {_short(self.after)}"

    @property
    def name(self) -> str:
        """The name of the change in lists: without the line, which may move."""
        again = f" ({self.nth})" * (self.nth > 1)
        return f"{self.path}: {self.scope}: {_short(self.before)} -> {_short(self.after)}{again}"

    def applied(self, text: bytes) -> bytes:
        """The file with the change."""
        return text[: self.start] + self.after.encode() + text[self.end :]


@dataclass(frozen=True)
class _Place:
    """A node, and what is around it: see Mutant."""

    node: ast.expr | ast.stmt
    scope: str
    function: int | None


def equivalents() -> dict[str, str]:
    """Why a change makes no difference, by its name. Raises ValueError for one without a reason."""
    lines = [line for line in KNOWN.read_text().splitlines() if line and line[0] != "#"]
    pairs = [line.rpartition(" # ") for line in lines]
    for name, _, why in pairs:
        if not name or not why.strip():
            raise ValueError(
                f"{KNOWN.name}: a change, ' # ', and why it makes no difference: {why}"
            )
    return {name: why for name, _, why in pairs}


def modules(only: str = "", root: Path = ROOT) -> list[Path]:
    """The modules in CORE whose path contains a word of `only`; all if `only` is empty."""
    found = {path for glob in CORE for path in root.glob(glob) if path.name != "__init__.py"}
    words = only.split()
    return sorted(
        path for path in found if not words or any(word in path.as_posix() for word in words)
    )


def draw(seed: int, count: int, only: str = "", root: Path = ROOT) -> list[Mutant]:
    """A sample of all changes, drawn from each module in turn: short modules count like long ones.

    The same seed draws the same sample as long as the code stays the same.
    """
    dice = random.Random(seed)
    pools = [pool for path in modules(only, root) if (pool := list(mutants(path, root)))]
    for pool in pools:
        dice.shuffle(pool)
    dice.shuffle(pools)
    drawn: list[Mutant] = []
    while len(drawn) < count and any(pools):
        drawn += [pool.pop() for pool in pools if pool]
    return drawn[:count]


def mutants(path: Path, root: Path = ROOT) -> Iterator[Mutant]:
    """Every change of a module that this program knows how to make."""
    text = path.read_bytes()
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    where, seen = path.relative_to(root).as_posix(), Counter[str]()
    for place in _places(ast.parse(text)):
        node = place.node
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0)
        before = text[start:end].decode()
        for bare in dict.fromkeys(_changes(node)):
            # in brackets, because an operator beside this text may bind more strongly
            wrapped = isinstance(node, ast.BoolOp | ast.BinOp | ast.Compare | ast.UnaryOp)
            after = f"({bare})" if wrapped else bare
            seen[key := f"{place.scope} {before} {after}"] += 1
            around = place.scope, place.function, seen[key]
            yield Mutant(where, node.lineno, start, end, before, after, *around)


def _places(node: ast.AST, scope: str = "", function: int | None = None) -> Iterator[_Place]:
    """The expressions and statements of a tree that can make a difference when it runs."""
    if isinstance(node, ast.expr | ast.stmt):
        yield _Place(node, scope, function)
    for child in _parts(node):
        if not _is_idle(child):
            yield from _places(child, *_around(node, child, scope, function))


def _around(
    node: ast.AST, child: ast.AST, scope: str, function: int | None
) -> tuple[str, int | None]:
    """The scope and the function that a child of a node is in."""
    if isinstance(node, ast.Assign | ast.AnnAssign) and not scope:
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        return ast.unparse(target), function
    if not isinstance(node, Function | ast.ClassDef):
        return scope, function
    inner = f"{scope}.{node.name}".lstrip(".")
    if isinstance(node, ast.ClassDef) or child not in node.body:
        return inner, function  # defaults and decorators run where the function is defined
    names = {ast.unparse(each).split("(")[0].split(".")[-1] for each in node.decorator_list}
    if names & REMEMBERED:
        return inner, None
    return inner, min([node.lineno, *(each.lineno for each in node.decorator_list)])


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """The children of a node, without those whose change makes no difference.

    These are annotations, arguments without effect, and decorators of a class, which only say
    whether a value is frozen: the type checker notices that.
    """
    left_out: list[ast.AST | None] = []
    match node:
        case ast.ClassDef():
            left_out = [*node.decorator_list]
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            left_out = [node.returns]
        case ast.AnnAssign() | ast.arg():
            left_out = [node.annotation]
        case ast.Call():
            left_out = [*_idle_arguments(node)]
    return (child for child in ast.iter_child_nodes(node) if child not in left_out)


def _idle_arguments(call: ast.Call) -> Iterator[ast.AST]:
    """The arguments of a call on which no result of the call depends.

    `frozen`: the type checker notices it, as in a decorator. `strict` of zip: it only asserts.
    `maxsize` of lru_cache: a result is the same whether it is remembered or computed again.
    `limit(1)`: only the first row is taken from such a statement; more would be read in vain.
    """
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    for keyword in call.keywords:
        if keyword.arg == "frozen" or (name, keyword.arg) in IDLE:
            yield keyword
    if name == "limit" and [ast.dump(each) for each in call.args] == [ast.dump(ast.Constant(1))]:
        yield call.args[0]


def _is_idle(node: ast.AST) -> bool:
    """Whether a node is left out: texts and checks for developers, code for the type checker."""
    match node:
        case ast.Assert() | ast.If(ast.Name("TYPE_CHECKING")):
            return True
        case ast.JoinedStr():  # a text; and Python 3.11 gives wrong positions for its parts
            return True
        case ast.FunctionDef(name="__repr__"):
            return True
        case ast.ClassDef(bases=[ast.Name("Protocol")]):
            return True
        case ast.Expr(ast.Call(ast.Attribute(_, "failpoint") | ast.Name("failpoint"))):
            return True  # a place where tests kill a worker; a failpoint itself does nothing
        case ast.Expr(ast.Call(ast.Attribute(ast.Name(name)))):
            return name in LOGS
    return False


def _changes(node: ast.expr | ast.stmt) -> Iterator[str]:
    """The texts with which a node can be replaced."""
    match node:
        case ast.Compare(left, [op], [right]) if type(op) in OTHER:
            yield ast.unparse(ast.Compare(left, [OTHER[type(op)]()], [right]))  # type: ignore[list-item]
        case ast.BoolOp(op, values):
            yield ast.unparse(ast.BoolOp(OTHER[type(op)](), values))  # type: ignore[arg-type]
        case ast.BinOp(left, op, right) if type(op) in OTHER:
            if not any(
                isinstance(each, ast.Constant | ast.JoinedStr) and not _number(each)
                for each in (left, right)
            ):
                yield ast.unparse(ast.BinOp(left, OTHER[type(op)](), right))  # type: ignore[arg-type]
        case ast.UnaryOp(ast.Not(), operand):
            yield ast.unparse(operand)
        case ast.Constant(bool() as value):
            yield str(not value)
        case ast.Constant(int() | float() as value):
            yield repr(value + 1)
        case ast.Call():
            yield from _fewer(node)
        case ast.Return(value) if value is not None and not isinstance(value, ast.Constant):
            yield "return None"
        case ast.Expr(ast.Call()) | ast.Assign([ast.Attribute()]) | ast.AugAssign():
            yield "pass"


def _number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def _fewer(call: ast.Call) -> Iterator[str]:
    """A call that sets conditions or values in SQLAlchemy, with one argument less."""
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if name in ("where", "filter", "and_", "or_") and not call.keywords:
        for n in range(len(call.args)):
            left = [*call.args[:n], *call.args[n + 1 :]]
            if left or name in ("where", "filter"):
                yield ast.unparse(ast.Call(call.func, left, []))
    if name in ("values", "filter_by") and len(call.keywords) > 1:
        for n in range(len(call.keywords)):
            others = call.keywords[:n] + call.keywords[n + 1 :]
            yield ast.unparse(ast.Call(call.func, call.args, others))


def _short(text: str) -> str:
    return " ".join(text.split())
