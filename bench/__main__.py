"""`python -m bench`: measure the lines of the table (bench/README.md), each in its own process."""

import argparse
import contextlib
import dataclasses
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from bench.frame import LINES, Absent, Ratio, Result, Run, TableLine, measured
from bench.table import HEAD, commit, report, shown

MODULES: Final = (
    "answers",
    "board",
    "browser",
    "growth",
    "history",
    "insights",
    "kiosk",
    "lens_cost",
    "languages",
    "leaps",
    "lists_speed",
    "memory",
    "names_speed",
    "pages_speed",
    "poll_news",
    "poll_route",
    "poor_line",
    "products_speed",
    "sandbox_speed",
    "sends",
    "tiles_speed",
    "worker_speed",
)
ROOT: Final = Path(__file__).parent.parent
WRITTEN: Final = 3000  # characters of a command's output that are printed


def main() -> int:
    """Run the selected lines.

    Returns 1 if one missed its aim or was not measured, 2 if no line is selected.
    """
    for module in MODULES:
        importlib.import_module(f"bench.{module}")
    options = _arguments()
    end_on_sigterm()
    run = Run(options.repeats or (2 if options.short else 5), options.short, options.seed)
    if options.child:
        Path(options.child[1]).write_text(
            json.dumps([_packed(each) for each in measured(LINES[options.child[0]], run)])
        )
        return 0
    chosen = {
        name: line
        for name, line in LINES.items()
        if not options.only or any(o in name for o in options.only)
    }
    if not chosen:
        print(
            f"no line's name contains {' or '.join(options.only)}; --list shows them",
            file=sys.stderr,
        )
        return 2
    if options.list:
        print(
            "\n".join(
                f"{each.name:22} {each.what}; aim {each.aim}\n    {each.protects}"
                for each in chosen.values()
            )
        )
        return 0
    return _measure(chosen, run, options.json)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m bench", description=__doc__)
    parser.add_argument(
        "--only", nargs="+", metavar="NAME", help="lines whose name contains one of these"
    )
    parser.add_argument(
        "--short", action="store_true", help="a quick look: small loads, two repeats"
    )
    parser.add_argument("--repeats", type=int, help="how often each pair is measured (5; short: 2)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="keep the run in this file")
    parser.add_argument("--list", action="store_true", help="the lines and what each protects")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    return parser.parse_args()


def _measure(chosen: dict[str, TableLine], run: Run, file: Path | None) -> int:
    results: dict[str, list[Result]] = {}
    print(HEAD)
    for name, each in chosen.items():
        results[name] = _in_child(each, run)
        print(shown(each, results[name]), flush=True)
        if file:  # after every line, so that a stopped run keeps its results
            file.write_text(
                json.dumps(report(run, results, LINES, commit()), indent=1, ensure_ascii=False)
                + "\n"
            )
    missed = sum(not (isinstance(r, Ratio) and r.ok) for found in results.values() for r in found)
    print(f"{sum(map(len, results.values())) - missed} reached, {missed} missed or absent")
    if missed:
        print(
            "So the exit code is 1. A line that missed by little on a busy machine: measure it "
            "again with --only."
        )
    return 1 if missed else 0


def end_on_sigterm() -> None:
    """Let SIGTERM end a run as Ctrl+C does, so that no process that the run started is left."""
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(128 + signal.SIGTERM))


def _in_child(each: TableLine, run: Run) -> list[Result]:
    """Measure a line in a process of its own, so that lines don't share memory or caches."""
    with tempfile.TemporaryDirectory(prefix="ridedash-bench-") as folder:
        answer = Path(folder) / "results.json"
        command = [sys.executable, "-m", "bench", "--child", each.name, str(answer)]
        command += [
            "--repeats",
            str(run.repeats),
            "--seed",
            str(run.seed),
            *(["--short"] if run.short else []),
        ]
        failed = finish(command, each.minutes * 60)
        return (
            [Absent(failed)]
            if failed
            else [_unpacked(found) for found in json.loads(answer.read_text())]
        )


def finish(command: list[str], within_s: float) -> str:
    """Run a command, and end all that it started. Returns why it failed, or "".

    What it wrote is printed if it failed, and if it has a traceback: a thread or a server that
    broke need not end the command.
    """
    failed = ""
    with (
        tempfile.TemporaryFile("w+", errors="replace") as log,
        subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=log, start_new_session=True
        ) as child,
    ):
        try:
            if code := child.wait(within_s):
                failed = f"failed with code {code}; what it wrote stands above"
        except subprocess.TimeoutExpired:
            failed = f"took more than {within_s / 60:g} minutes; what it wrote stands above"
        finally:
            # ends servers that the line started and didn't stop
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
        log.seek(0)
        written = log.read()
    traceback = written.find("Traceback")
    if failed:
        print(written[-WRITTEN:], file=sys.stderr)
    elif traceback >= 0:
        print(written[traceback:][:WRITTEN], file=sys.stderr)
    return failed


def _packed(result: Result) -> dict[str, Any]:
    return dataclasses.asdict(result)


def _unpacked(found: dict[str, Any]) -> Result:
    if "why" in found:
        return Absent(**found)
    return Ratio(**{**found, "spread": tuple(found["spread"])})


if __name__ == "__main__":
    sys.exit(main())
