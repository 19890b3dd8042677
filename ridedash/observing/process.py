"""What a process does first: its logs, and the folder in which it counts beside the others of this machine."""

import contextlib
import ctypes
import os

from ridedash.config import Settings
from ridedash.observing import logs

FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # prometheus_client reads it when it is imported
M_ARENA_MAX = -8  # of glibc's mallopt


def prepare(settings: Settings, process: str, *, counts: bool = True) -> None:
    """Set up this process, once its settings are known and before anything that counts is imported.

    `process` is what its log lines call it: web, worker, sandbox, up.
    """
    one_arena()
    logs.set_up(settings.log_format, settings.log_level, process, settings.secrets)
    if counts:
        _share(settings)


def one_arena() -> None:
    """Threads share one heap: each with its own would keep what it once needed. They hold the GIL anyhow."""
    with contextlib.suppress(OSError, AttributeError):  # another C library than glibc
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1)


def _share(settings: Settings) -> None:
    """A folder that can't be had costs the figures of the other processes, nothing else."""
    with contextlib.suppress(OSError):
        settings.instance.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder = os.environ.get(FOLDER) or str(settings.instance / "metrics")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        os.environ[FOLDER] = folder
