"""What a process sets up first: its logs, and the folder of metrics that processes share."""

import contextlib
import fcntl
import os
from pathlib import Path
from typing import IO, Final

from ridedash.config import Settings
from ridedash.observability import logs

FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"  # prometheus_client reads it when it is imported
ENDED_FILES: Final = 300  # metrics files of ended processes that are kept, three for each process

_locks: list[IO[str]] = []  # kept open, and with them locked, until the process ends


def prepare(settings: Settings, process: str, *, counts: bool = True) -> None:
    """Set up this process, once its settings are known and before anything that counts is imported.

    `process` is what its log lines call it: web, worker, sandbox, up.
    """
    logs.set_up(settings.log_format, settings.log_level, process, settings.secrets)
    if counts:
        # without the folder each process counts for itself
        with contextlib.suppress(OSError):
            _share_metrics(settings.instance / "metrics")


def ended(path: Path) -> bool:
    """Whether the process that wrote this metrics file, <kind>_<pid>.db, has ended."""
    number = path.stem.rpartition("_")[2]
    if not number.isdigit():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass  # it lives and belongs to another user
    return False


def _share_metrics(folder: Path) -> None:
    """Count in this folder, unless the environment names one, whose owner empties it."""
    chosen = Path(os.environ.get(FOLDER) or folder)
    chosen.mkdir(parents=True, exist_ok=True, mode=0o700)
    if chosen == folder:
        _wipe(folder)
    os.environ[FOLDER] = str(chosen)


def _wipe(folder: Path) -> None:
    """Remove the metrics of earlier processes; the first process to start does it.

    Prometheus takes a sum that falls for a counter that was reset. So all files are removed
    together, when no other process counts; until then the files of ended processes stay, and sums
    never fall. Every process holds a shared lock while it lives, by which a starting process knows
    whether it is the first. A process that fails and is restarted again and again leaves files each
    time: beyond ENDED_FILES the oldest are removed.
    """
    lock = (folder / ".lock").open("a")
    _locks.append(lock)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        surplus = sorted(filter(ended, folder.glob("*.db")), key=_changed_at)[:-ENDED_FILES]
    else:
        surplus = [*folder.glob("*.db")]
    for path in surplus:
        path.unlink(missing_ok=True)
    fcntl.flock(lock, fcntl.LOCK_SH)  # waits while another process wipes


def _changed_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:  # another process that starts has just removed it
        return 0.0
