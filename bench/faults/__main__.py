"""`python -m bench.faults`: run the fault matrix. The exit code is 1 if a row fails."""

import argparse
import json
import logging
import random
import shlex
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.faults import scoreboard
from bench.faults.scoreboard import Row, RowResult
from bench.table import commit


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the selected rows. Returns 1 if one fails or all are skipped, 2 for an unknown number."""
    logging.getLogger().addHandler(logging.NullHandler())  # logs nothing to standard error
    given = sys.argv[1:] if arguments is None else list(arguments)
    options = _options(given)
    base = random.SystemRandom().getrandbits(24) if options.seed is None else options.seed
    rows = scoreboard.rows(options.rows, only_short=options.short and not options.rows)
    if not rows or set(options.rows) - {row.number for row in rows}:
        print("no such row; docs/reliability.md says what each is", file=sys.stderr)
        return 2
    print(f"seed {base} (run again with --seed {base})\n{scoreboard.HEAD}", flush=True)
    facts = {
        "command": shlex.join(["python", "-m", "bench.faults", *given]),
        "seed": base,
        "short": options.short,
    }
    lines = print_and_store(_run(rows, base, options), facts | {"asked": len(rows)}, options.json)
    failed = [line for line in lines if line.word == "FAILS"]
    print(
        f"{len(lines)} rows, {len(failed)} failed, {sum(line.skipped for line in lines)} skipped; "
        f"seed {base}"
    )
    return 1 if failed or all(line.skipped for line in lines) else 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.faults", description=__doc__)
    parser.add_argument("--short", action="store_true", help="the short form that CI runs")
    parser.add_argument("--rows", type=_numbers, default=(), help="only these, such as 1,2,19")
    parser.add_argument("--seed", type=int, help="the seed that an earlier run printed")
    parser.add_argument("--minutes", type=float, help="how long row 36 soaks; 60 is its proof")
    parser.add_argument(
        "--json", type=Path, help="keep the scoreboard in this file, after each row"
    )
    return parser.parse_args(arguments)


def _numbers(words: str) -> tuple[int, ...]:
    return tuple(int(word) for word in words.split(","))


def _run(rows: Sequence[Row], base: int, options: argparse.Namespace) -> Iterator[RowResult]:
    for row in rows:
        with tempfile.TemporaryDirectory(prefix="ridedash-faults-") as folder:
            seed = scoreboard.seed_of(row, base)
            yield scoreboard.run_row(row, seed, Path(folder), options.short, options.minutes)


def print_and_store(
    lines: Iterable[RowResult], facts: Mapping[str, Any], file: Path | None
) -> list[RowResult]:
    """Print each line when it is ready, and write all lines so far to the file.

    So a run that is stopped keeps its results.
    """
    head = {"at": datetime.now(UTC).isoformat(timespec="seconds"), "commit": commit(), **facts}
    seen = []
    for line in lines:
        print(scoreboard.shown(line), flush=True)
        seen.append(line)
        if file is not None:
            file.write_text(
                json.dumps({**head, "rows": [each.facts() for each in seen]}, indent=1) + "\n"
            )
    return seen


if __name__ == "__main__":
    sys.exit(main())
