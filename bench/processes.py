"""CPU, memory, descriptors and threads of processes and their children (Linux)."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

TICKS: Final = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Use:
    """The current use of a process and its children."""

    cpu_s: float
    rss_mb: float
    descriptors: int
    threads: int


def use(pid: int) -> Use:
    """CPU seconds so far, resident megabytes, open descriptors and threads, with all children."""
    every = family(pid)
    status = [_status(each) for each in every]
    return Use(
        cpu_s=sum(map(_cpu_s, every)),
        rss_mb=sum(map(rss_mb, every)),
        descriptors=sum(map(_descriptors, every)),
        threads=sum(int(each.get("Threads", "0")) for each in status),
    )


def cpu_s(pid: int) -> float:
    """CPU seconds that a process and its children have used."""
    return sum(map(_cpu_s, family(pid)))


def family(pid: int) -> list[int]:
    """The ids of a process and all its children."""
    return [pid, *_below(pid)]


def rss_mb(pid: int) -> float:
    """Resident megabytes of one process."""
    return int(_status(pid).get("VmRSS", "0 kB").split()[0]) / 1024


def _below(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in _read(task).split():
            found += [int(child), *_below(int(child))]
    return found


def _cpu_s(pid: int) -> float:
    after_name = _read(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()
    return (int(after_name[11]) + int(after_name[12])) / TICKS if after_name else 0.0


def _status(pid: int) -> dict[str, str]:
    lines = _read(Path(f"/proc/{pid}/status")).splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _descriptors(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return 0


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # the process has ended
        return ""
