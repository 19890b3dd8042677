"""Whether tests notice a wrong line: change one expression at a time, and run the nearest tests.

    python tools/mutants.py --seed 7 --count 150

Draws single changes of the modules where a wrong line costs money, truth or security (CORE). For
each, the tests of the module's folder run without a browser in a copy of the project: first on
SQLite, and where those pass, on PostgreSQL. A change that is known to make no difference is listed
in `mutants_equivalent.txt`, with the reason, and not counted. The exit code is 1 when fewer than
nine in ten are noticed.
"""

import argparse
import ast
import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
KNOWN: Final = Path(__file__).with_name("mutants_equivalent.txt")
ENOUGH: Final = 0.9
TEST_S: Final = 300  # a change that makes the tests run for longer counts as noticed
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
Place = ast.expr | ast.stmt
# The database, and the marks of the tests that run on it.
RUNS: Final = (("", "not browser"), ("postgresql", "database and not browser"))


@dataclass(frozen=True)
class Mutant:
    """One change: the file, the line (from 1), what stands there, and what replaces it."""

    path: str
    line: int
    start: int  # offsets in the file's bytes
    end: int
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {_short(self.before)} -> {_short(self.after)}"

    @property
    def name(self) -> str:
        """What it is known by in the list: without the line, which moves."""
        return f"{self.path}: {_short(self.before)} -> {_short(self.after)}"


def main() -> int:
    """Draw, run and report. Returns 1 when too few are noticed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--minutes", type=float, default=90, help="begin none after these")
    parser.add_argument("--jobs", type=int, default=2, help="how many run at once")
    parser.add_argument("--only", default="", help="modules whose path contains this")
    parser.add_argument("--list", action="store_true", help="show what is drawn, run nothing")
    asked = parser.parse_args()
    known = equivalents()
    drawn = [m for m in draw(asked.seed, asked.count, asked.only) if m.name not in known]
    if asked.list:
        print("\n".join(map(str, drawn)))
        return 0
    end = time.monotonic() + asked.minutes * 60
    noticed, unnoticed = 0, list[Mutant]()
    for mutant, by in run_all(drawn, asked.jobs, end):
        noticed += by != ""
        unnoticed += [] if by else [mutant]
        print(f"{f'noticed by {by}' if by else 'UNNOTICED'}: {mutant}", flush=True)
    total = noticed + len(unnoticed)
    if not total:
        print("nothing was drawn that is not known to make no difference", file=sys.stderr)
        return 2
    left = f"; {len(drawn) - total} not begun in {asked.minutes:g} minutes" * (total < len(drawn))
    print(f"{noticed} of {total} noticed, {noticed / total:.0%}; seed {asked.seed}{left}")
    return int(noticed < ENOUGH * total)


def equivalents() -> set[str]:
    """The names of changes that make no difference. Raises ValueError for one without a reason."""
    lines = [line for line in KNOWN.read_text().splitlines() if line and line[0] != "#"]
    pairs = [line.rpartition(" # ") for line in lines]
    for name, _, why in pairs:
        if not name or not why.strip():
            raise ValueError(
                f"{KNOWN.name}: a change, ' # ', and why it makes no difference: {why}"
            )
    return {name for name, _, _ in pairs}


def draw(seed: int, count: int, only: str = "") -> list[Mutant]:
    """A sample of all changes: of each module in turn, so that long modules don't hide short."""
    dice = random.Random(seed)
    paths = sorted({p for glob in CORE for p in ROOT.glob(glob) if only in str(p)})
    pools = [list(mutants(path)) for path in paths if path.name != "__init__.py"]
    pools = [pool for pool in pools if pool]
    for pool in pools:
        dice.shuffle(pool)
    dice.shuffle(pools)
    drawn: list[Mutant] = []
    while len(drawn) < count and any(pools):
        drawn += [pool.pop() for pool in pools if pool]
    return drawn[:count]


def mutants(path: Path) -> Iterator[Mutant]:
    """Every change of a module that this program knows how to make."""
    text = path.read_bytes()
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in ast.walk(_without_types(ast.parse(text))):
        if not isinstance(node, ast.expr | ast.stmt) or not hasattr(node, "lineno"):
            continue
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0)
        before = text[start:end].decode()
        for after in dict.fromkeys(_changes(node)):
            where = path.relative_to(ROOT).as_posix()
            yield Mutant(where, node.lineno, start, end, before, f"({after})" * _is(node) or after)


def _is(node: Place) -> bool:
    """Whether the change needs brackets, so that its neighbours don't take a part of it."""
    return isinstance(node, ast.BoolOp | ast.BinOp | ast.Compare | ast.UnaryOp)


def _without_types(tree: ast.Module) -> ast.Module:
    """The tree without annotations, docstrings and what is only named: they change nothing.

    Nor do decorators of classes: whether a value is frozen is the type checker's to notice.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            node.decorator_list = []
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
            for each in ast.walk(node.args):
                if isinstance(each, ast.arg):
                    each.annotation = None
        elif isinstance(node, ast.AnnAssign):
            node.annotation = ast.Name("object")
    return tree


def _changes(node: Place) -> Iterator[str]:
    """The other texts of a node."""
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
    """A call of `where`, `filter`, `and_`, `or_` or `values` with one argument less."""
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


def run_all(drawn: Sequence[Mutant], jobs: int, end: float) -> Iterator[tuple[Mutant, str]]:
    """Each change with what noticed it ("" for nothing); none is begun after `end`."""
    copies: SimpleQueue[Path] = SimpleQueue()
    with tempfile.TemporaryDirectory(prefix="ridedash-mutants-") as folder:
        for n in range(jobs):
            copies.put(_copied(Path(folder) / str(n)))
        _check_unchanged({nearest(m.path)[-1] for m in drawn}, Path(folder) / "0")

        def tried(mutant: Mutant) -> tuple[Mutant, str] | None:
            if time.monotonic() > end:
                return None
            copy = copies.get()
            try:
                return mutant, noticed_by(mutant, copy)
            finally:
                copies.put(copy)

        with ThreadPoolExecutor(jobs) as pool:
            yield from filter(None, pool.map(tried, drawn))


def _check_unchanged(folders: set[str], copy: Path) -> None:
    """Tests that fail without a change would notice everything. Raises RuntimeError for them."""
    for folder in sorted(folders):
        for database, marks in RUNS:
            if _outcome(copy, folder, database, marks):
                raise RuntimeError(f"{folder} fails unchanged, {database or 'sqlite'}")


def noticed_by(mutant: Mutant, copy: Path) -> str:
    """The first run of tests that fails with the change: its description, or ""."""
    file = copy / mutant.path
    original = file.read_bytes()
    text = original[: mutant.start] + mutant.after.encode() + original[mutant.end :]
    file.write_bytes(text)
    try:
        for database, marks in RUNS:
            for tests in nearest(mutant.path):
                if outcome := _outcome(copy, tests, database, marks):
                    return f"{tests} {database}".strip() + f" ({outcome})"
        return ""
    finally:
        file.write_bytes(original)


def nearest(path: str) -> list[str]:
    """The test file of a module, if it has one, then the folder of its tests."""
    module = Path(path).relative_to("ridedash")
    folder, name = Path("tests") / module.parent, f"test_{module.name}"
    return [str(folder / name)] * (ROOT / folder / name).exists() + [str(folder)]


def _outcome(copy: Path, tests: str, database: str, marks: str) -> str:
    """ "failed", "timeout", or "" when all passed."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    command += ["-m", marks, tests]
    environ = os.environ | {"RIDEDASH_TEST_DATABASE": database, "TMPDIR": str(copy / ".tmp")}
    with subprocess.Popen(
        command,
        cwd=copy,
        env=environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as child:
        try:
            code = child.wait(TEST_S)
            return "" if code in (0, 5) else "failed"  # 5: none of the tests was chosen
        except subprocess.TimeoutExpired:
            return "timeout"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)


def _copied(to: Path) -> Path:
    """A copy of what git knows, as it stands in the work tree."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).exists():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)
    (to / ".tmp").mkdir()
    return to


def _short(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    sys.exit(main())
