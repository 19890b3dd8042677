"""Runs of the tests for a change, each in a process of its own, forked from a warm one.

The warm process has imported libraries, never a module of the project: what is changed, and what
imports it, is imported in the fork. Forks that run at once have a copy of the project each.
"""

import contextlib
import multiprocessing
import os
import pickle
import resource
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Final, TypeVar

import pytest

from tools.mutants.changes import Mutant
from tools.mutants.near import ELSEWHERE, KINDS, QUICK
from tools.mutants.plugins import Chosen, First, Reach, Recorder, hurried, is_library

OPTIONS: Final = [
    *("-q", "-x", "--tb=no", "-p", "no:cacheprovider", "-p", "no:randomly"),
    *("-p", "no:faulthandler", "-W", "ignore::pytest.PytestAssertRewriteWarning"),
]
# By kind of run: the marks of its tests, and their database.
MARKS: Final = {
    "sqlite": "not browser",
    "postgresql": "database and not browser",
    QUICK: "quick",
    ELSEWHERE: "quick",
}
DATABASES: Final = {QUICK: "sqlite", ELSEWHERE: "sqlite"}
SPARE_S: Final = 20.0  # what a run may need beside its tests: imports, a server
Limits = tuple[float, float]  # seconds of CPU, and of waiting for anything else
# The limits of one file of tests: several times what the slowest takes.
FILE_LIMITS_S: Final[Limits] = (90.0, 300.0)
Task = TypeVar("Task")
Found = TypeVar("Found")
_FORKING: Final = multiprocessing.get_context("fork")


@dataclass(frozen=True)
class Ended:
    """How a run ended: which test failed first ("" for none), or why that is not known."""

    failed: str = ""
    why: str = ""

    @property
    def by(self) -> str:
        """The test that failed, or else the reason; "" when the run ended well."""
        return self.failed or self.why


def in_turns(
    what: Callable[[Task, Path], Found], tasks: Iterable[Task], copies: Sequence[Path]
) -> Iterator[tuple[Task, Found]]:
    """The results of `what` for each task, in the order in which the tasks end.

    Each call gets a copy that no other process uses; there are as many processes as copies.
    """
    waiting, busy = iter(list(tasks)), dict[Connection, Task]()

    def worker(line: Connection, copy: Path) -> None:
        with contextlib.suppress(KeyboardInterrupt):
            while True:
                line.send(what(line.recv(), copy))

    def give(line: Connection) -> None:
        for task in waiting:
            busy[line] = task
            line.send(task)
            return

    lines = [_FORKING.Pipe() for _ in copies]
    workers = [  # not daemons: those may not start processes, as some tests do
        _FORKING.Process(target=worker, args=(theirs, copy))
        for (_, theirs), copy in zip(lines, copies, strict=True)
    ]
    try:
        for each in workers:
            each.start()
        for ours, theirs in lines:
            theirs.close()
            give(ours)
        while busy:
            for line in wait([*busy]):
                assert isinstance(line, Connection)
                task = busy.pop(line)
                found = line.recv()  # EOFError: its process has died
                give(line)
                yield task, found
    finally:
        for each in workers:
            if each.pid is not None:
                each.terminate()
                each.join()


def libraries_of(files: Sequence[str], copy: Path) -> list[str]:
    """The libraries that these files of tests import, in the order of their import."""

    def run() -> list[str]:
        pytest.main([*OPTIONS, "--collect-only", *files])
        return [name for name in sys.modules if is_library(name)]

    return _answer_of(run, KINDS[0], copy, (1800, 3600))[0] or []


def reach_of(where: str, kind: str, copy: Path) -> Reach:
    """Run the tests directly in a folder, or those of a file, without a change.

    Raises RuntimeError when there is no result.
    """

    def run() -> Reach:
        recorder = Recorder(copy)
        recorder.start()
        place = copy / where
        files = sorted(map(str, place.glob("test_*.py"))) if place.is_dir() else [str(place)]
        options = [each for each in OPTIONS if each != "-x"]
        pytest.main([*options, "-m", MARKS[kind], *files], plugins=[recorder])
        return recorder.reach

    found, why = _answer_of(run, kind, copy, (1800, 3600))
    if found is None:
        raise RuntimeError(f"{where} can't be run unchanged: {why or (copy / '.log')}")
    return found


def failure_in(file: str, kind: str, without: Collection[str], copy: Path) -> Ended:
    """Run a file of tests, except those in `without`, until one fails."""
    return _ended(First(without), [*OPTIONS, "-m", MARKS[kind], file], copy, FILE_LIMITS_S, kind)


def first_failure(tests: Sequence[str], kind: str, copy: Path, cpu_s: float) -> Ended:
    """Run the tests in this order until one fails. `cpu_s`: what they take unchanged."""
    files = dict.fromkeys(test.partition("::")[0] for test in tests)
    limits = SPARE_S + 3 * cpu_s, 6 * (SPARE_S + cpu_s)
    return _ended(Chosen(tests), [*OPTIONS, *files], copy, limits, kind)


def _ended(
    first: First,
    arguments: list[str],
    copy: Path,
    limits: Limits,
    kind: str,
) -> Ended:
    def run() -> str:
        hurried()
        code = pytest.main(arguments, plugins=[first])
        return first.failed or f"pytest: {code!s}" * (code not in (0, 5))

    failed, why = _answer_of(run, kind, copy, limits)
    return Ended(failed or "", why)


def _answer_of(
    run: Callable[[], Found], kind: str, copy: Path, limits: Limits
) -> tuple[Found | None, str]:
    """The result of `run` in a fork, or None; and why the fork did not end well (see _forked)."""
    answer = copy / ".answer"
    answer.unlink(missing_ok=True)
    why = _forked(lambda: answer.write_bytes(pickle.dumps(run())), kind, copy, limits)
    found: Found | None = pickle.loads(answer.read_bytes()) if answer.exists() else None
    return found, why


def _forked(run: Callable[[], object], kind: str, copy: Path, limits: Limits) -> str:
    """Call `run` in a fork with the copy as its project. Returns why it did not end well, or "".

    `limits`: seconds of CPU, and of waiting for anything else.
    """
    child = os.fork()
    if not child:
        code = 1
        try:
            _enter(copy, kind, limits[0])
            run()
            code = 0
        except BaseException as error:
            print(repr(error), file=sys.stderr)
        finally:
            os._exit(code)
    watched = os.pidfd_open(child)
    ended, begun = [], time.monotonic()
    try:
        while not ended and time.monotonic() - begun - _kept_waiting_s(child) < limits[1]:
            ended, _, _ = select.select([watched], [], [], 5.0)
    finally:
        os.close(watched)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # with the processes that its tests started
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    if not ended:
        return "waits for ever"
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return "CPU time" if number == signal.SIGXCPU else f"ended by signal {number}"
    return ""


def _kept_waiting_s(process: int) -> float:
    """Seconds for which a process was ready to run but had no CPU: it does not hang then."""
    times = Path(f"/proc/{process}/schedstat").read_text().split()
    return float(times[1]) / 1e9


def _enter(copy: Path, kind: str, cpu_s: float) -> None:
    """Give a fork its own session, folder, output, path of imports and limit."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with (copy / ".log").open("wb") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
    os.chdir(copy)
    sys.path.insert(0, str(copy))
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(used.ru_utime + used.ru_stime + cpu_s) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    temporary = copy / ".tmp"
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    os.environ.update(
        PYTHONPATH=str(copy),
        TMPDIR=str(temporary),
        RIDEDASH_TEST_DATABASE=DATABASES.get(kind, kind),
        RIDEDASH_TEST_TEMPLATES=str(copy / ".templates"),
        RIDEDASH_TEST_MIGRATED=str(copy / ".migrated"),
    )
    tempdir: Any = sys.modules.get("tempfile")
    if tempdir is not None:
        tempdir.tempdir = None  # the module remembers the parent's folder


def stopped_by_signals() -> None:
    """Let SIGINT and SIGTERM raise KeyboardInterrupt here and in workers that are forked later.

    So they end the processes that they have started, and restore changed files.
    """

    def stop(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)  # also in the background, where a shell has SIGINT ignored


@contextlib.contextmanager
def changed(file: Path, mutant: Mutant) -> Iterator[None]:
    """A context in which a file has the change.

    Each text gets its own modification time, because Python reuses compiled code if time and length
    are the same.
    """
    before, at = file.read_bytes(), int(file.stat().st_mtime)
    file.write_bytes(mutant.applied(before))
    os.utime(file, (at + 1, at + 1))
    try:
        yield
    finally:
        file.write_bytes(before)
        os.utime(file, (at + 2, at + 2))


def copied(root: Path, to: Path) -> Path:
    """Copy the files of the work tree that git does not ignore. Returns the copy."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (root / name).exists():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, to / name)
    for folder in (".tmp", ".templates", ".migrated"):
        (to / folder).mkdir()
    return to
