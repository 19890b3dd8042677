"""The first steps of a process: the mode of new files, logs, the shared folder of metrics files."""

import contextlib
import ctypes
import fcntl
import gc
import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, Final

from ridedash.config import Settings
from ridedash.observability import logs

FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"  # prometheus_client reads it when it is imported
ENDED_FILES: Final = 300  # metrics files of ended processes to keep; each process has three
# The metrics files of a process, and how many bytes of each are reserved on disk at the start. They
# are memory-mapped: if the disk has no room for a page, the system kills the process.
RESERVED: Final = {"counter": 64 * 1024, "gauge_livemax": 64 * 1024, "histogram": 512 * 1024}

OWN_FILES: Final = 0o077  # the umask: no permission for any other user
TRIM_S: Final = 60.0

log = logging.getLogger(__name__)
_locks: list[IO[str]] = []  # open, and therefore locked, until the process ends


def prepare(settings: Settings, process: str, *, counts: bool = True) -> None:
    """Set up logs and metrics of this process, before observability.metrics is imported.

    Files that the process makes from now on are readable by its user alone, in any folder:
    databases with names and phone numbers, answer journals, metrics.

    `process`: its name in log lines (web, or the command). `counts`: whether it has metrics.
    """
    os.umask(OWN_FILES)
    logs.set_up(settings.log_format, settings.log_level, process, settings.secrets)
    if counts:
        try:
            _share_metrics(settings.instance / "metrics")
        except OSError as error:
            os.environ.pop(FOLDER, None)
            log.warning("this process counts for itself alone: no file for metrics: %s", error)
        _give_back()


def _give_back() -> None:
    """Let the C library return free memory to the system once a minute.

    Freed large blocks lie between small ones in use. Without this a worker's memory grows with each
    minute, although it uses no more (docs/performance.md).
    """
    with contextlib.suppress(OSError, AttributeError):  # another C library than glibc
        trim = ctypes.CDLL(None).malloc_trim
        every_minute = threading.Thread(
            target=give_back, args=(trim, threading.Event()), name="trim", daemon=True
        )
        every_minute.start()


def give_back(trim: Callable[[int], object], stop: threading.Event) -> None:
    """Call `trim` each minute until `stop` is set. A call takes less than a millisecond."""
    while not stop.wait(TRIM_S):
        trim(0)


def started() -> None:
    """Declare that all objects that live as long as the process have been made.

    The garbage collector then skips these objects: looking through them took a tenth of a second,
    in the middle of some request.
    """
    gc.collect()
    gc.freeze()


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
        pass  # it is running and belongs to another user
    return False


def _share_metrics(folder: Path) -> None:
    """Write metrics to this folder, or to another one that the environment names.

    Only this folder is emptied of the files of ended processes.
    """
    chosen = Path(os.environ.get(FOLDER) or folder)
    chosen.mkdir(parents=True, exist_ok=True, mode=0o700)
    if chosen == folder:
        _wipe(folder)
    for kind, size in RESERVED.items():
        _reserve(chosen / f"{kind}_{os.getpid()}.db", size)
    os.environ[FOLDER] = str(chosen)


def _reserve(path: Path, size: int) -> None:
    """Make or extend a file so that its first `size` bytes have disk blocks.

    Raises OSError.
    """
    # other processes read files whose names end with .db
    new = path if path.exists() else path.with_suffix(".new")
    handle = os.open(new, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.posix_fallocate(handle, 0, size)
        new.rename(path)
    except BaseException:
        new.unlink()
        raise
    finally:
        os.close(handle)


def _wipe(folder: Path) -> None:
    """Remove files of ended processes: all when no other process runs, else the oldest ones.

    Prometheus reads a sum that falls as a counter reset. So the files of ended processes stay, and
    are removed together when no other process uses the folder. Each process holds a shared lock
    until it ends; a process that gets the exclusive lock is the only one. A process that is
    restarted again and again leaves new files each time: beyond ENDED_FILES the oldest are removed.
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
    fcntl.flock(lock, fcntl.LOCK_SH)  # waits while another process removes files


def _changed_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:  # another process that starts has just removed it
        return 0.0
