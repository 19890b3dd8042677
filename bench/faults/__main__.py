"""`python -m bench.faults`: run the fault matrix and print its scoreboard; exit code 1 when a row fails."""

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench.faults import scoreboard
from bench.faults.scoreboard import Line


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the rows that were asked for."""
    options = _options(arguments)
    base = random.SystemRandom().getrandbits(24) if options.seed is None else options.seed
    print(f"seed {base} (run again with --seed {base})\n{scoreboard.HEAD}", flush=True)
    lines = []
    for row in scoreboard.rows(options.rows, only_short=options.short and not options.rows):
        with tempfile.TemporaryDirectory(prefix="ridedash-faults-") as folder:
            line = scoreboard.run_row(row, scoreboard.seed_of(row, base), Path(folder), options.short)
        print(scoreboard.shown(line), flush=True)
        lines.append(line)
    failed = [line for line in lines if line.word == "FAILS"]
    print(f"{len(lines)} rows, {len(failed)} failed, {sum(line.skipped for line in lines)} skipped; seed {base}")
    if options.json is not None:
        _write(options.json, base, options.short, lines)
    return 1 if failed or not lines else 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.faults", description=__doc__)
    parser.add_argument("--short", action="store_true", help="the short form that CI runs")
    parser.add_argument("--rows", type=_numbers, default=(), help="only these, such as 1,2,19")
    parser.add_argument("--seed", type=int, help="the seed that an earlier run printed")
    parser.add_argument("--json", type=Path, help="write the scoreboard to this file")
    return parser.parse_args(arguments)


def _numbers(words: str) -> tuple[int, ...]:
    return tuple(int(word) for word in words.split(","))


def _write(file: Path, base: int, short: bool, lines: Sequence[Line]) -> None:
    facts = {"at": datetime.now(UTC).isoformat(timespec="seconds"), "seed": base, "short": short}
    file.write_text(json.dumps({**facts, "rows": [line.facts() for line in lines]}, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
