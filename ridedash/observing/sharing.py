"""Figures of several processes on one machine, through files in one folder; those of ended processes are folded."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from prometheus_client.mmap_dict import MmapedDict

ENDED: Final = "ended"  # stands where a process number stands in the names of the others' files


@contextlib.contextmanager
def tidy(folder: Path) -> Iterator[None]:
    """Hold the folder while it is read, with the files of ended processes folded into one of each kind.

    Counters go on from where an ended process left them; its gauges are gone with it.
    """
    with (folder / ".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for path in sorted(folder.glob("*_*.db")):
            kind, _, process = path.stem.rpartition("_")
            if process.isdigit() and not _lives(int(process)):
                _fold(path, kind)
        yield


def _fold(path: Path, kind: str) -> None:
    if not kind.startswith("gauge"):
        kept = MmapedDict(str(path.with_name(f"{kind}_{ENDED}.db")))
        try:
            for key, value, timestamp, _ in MmapedDict.read_all_values_from_file(str(path)):
                kept.write_value(key, kept.read_value(key)[0] + value, timestamp)
        finally:
            kept.close()
    path.unlink()


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # somebody else's, but it lives
    return True
