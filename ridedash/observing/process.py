"""What a process does first: its logs, and the folder in which it counts beside the others of this machine."""

import contextlib
import ctypes
import os
import threading
from collections.abc import Callable
from typing import Final

from ridedash.config import Settings
from ridedash.observing import logs

FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # prometheus_client reads it when it is imported
M_ARENA_MAX = -8  # of glibc's mallopt
TRIM_S: Final = 60.0


def prepare(settings: Settings, process: str, *, counts: bool = True) -> None:
    """Set up this process, once its settings are known and before anything that counts is imported.

    `process` is what its log lines call it: web, worker, sandbox, up.
    """
    one_arena()
    logs.set_up(settings.log_format, settings.log_level, process, settings.secrets)
    if counts:
        _share(settings)
        give_back()


def one_arena() -> None:
    """Threads share one heap: each with its own would keep what it once needed. They hold the GIL anyhow."""
    with contextlib.suppress(OSError, AttributeError):  # another C library than glibc
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1)


def give_back() -> None:
    """Once a minute the C library hands back what it holds and nobody uses.

    Small pieces that stay lie between large ones that went: without this a worker held ten megabytes of holes after
    some minutes, and more with the hours, while what it used stayed the same.
    """
    with contextlib.suppress(OSError, AttributeError):
        trim = ctypes.CDLL(None).malloc_trim
        threading.Thread(target=_trim, args=(trim, threading.Event()), name="trim", daemon=True).start()


def _trim(trim: Callable[[int], int], stop: threading.Event) -> None:
    while not stop.wait(TRIM_S):
        trim(0)


def _share(settings: Settings) -> None:
    """A folder that can't be had costs the figures of the other processes, nothing else."""
    with contextlib.suppress(OSError):
        settings.instance.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder = os.environ.get(FOLDER) or str(settings.instance / "metrics")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        os.environ[FOLDER] = folder
