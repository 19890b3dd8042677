"""The folder of metrics that the processes of a machine share: who empties it, and when.

Also the memory of a process: what the C library holds without use is given back to the system.
"""

import platform
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ridedash.observability import process

ROOT = Path(__file__).parents[2]
PROCESS = """
import os, sys
from ridedash.config import load
from ridedash.observability.process import prepare
prepare(load({"RIDEDASH_INSTANCE": sys.argv[1]}), "web")
from ridedash.observability.metrics import Metrics
metrics = Metrics()
for line in sys.stdin:
    if line == "show\\n":
        print(metrics.text().decode().replace("\\n", "|"), flush=True)
    else:
        metrics.order("BOOKED")
        metrics.call("/v1/products", "2xx", 0.03)
        metrics.breaker("read", line.strip())
        print(os.getpid(), flush=True)
"""


class Counting:
    """A process that counts in the folder of an instance, controlled by lines on its stdin."""

    def __init__(self, instance: Path) -> None:
        command = [sys.executable, "-c", PROCESS, str(instance)]
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={"PATH": ""},
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def send(self, line: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def answer(self) -> str:
        assert self._process.stdout
        return self._process.stdout.readline()

    def count(self, breaker: str = "closed") -> None:
        self.send(breaker)
        assert int(self.answer()) == self._process.pid

    def shown(self) -> list[str]:
        self.send("show")
        return self.answer().split("|")

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture
def instance(tmp_path: Path) -> Path:
    return tmp_path / "instance"


@pytest.fixture
def start(instance: Path) -> Iterator[type[Counting]]:
    started: list[Counting] = []

    class Started(Counting):
        def __init__(self) -> None:
            super().__init__(instance)
            started.append(self)

    yield Started  # type: ignore[misc]
    for each in started:
        each.kill()


def orders(shown: list[str]) -> float:
    (line,) = [each for each in shown if each.startswith("ridedash_orders_total{")] or ["none 0"]
    return float(re.split(r"\s", line)[-1])


def test_the_first_process_to_start_wipes_the_counts_of_earlier_ones(start: type[Counting]) -> None:
    for _ in range(2):
        first = start()
        first.count()
        assert orders(first.shown()) == 1
        first.kill()


def test_a_process_that_starts_beside_others_keeps_their_counts(start: type[Counting]) -> None:
    first = start()
    first.count()
    second = start()
    second.count()
    assert orders(first.shown()) == orders(second.shown()) == 2
    assert 'ridedash_service_call_seconds_count{operation="/v1/products"} 2.0' in first.shown()


def test_sums_never_fall_and_the_breaker_of_an_ended_process_is_not_shown(
    start: type[Counting],
) -> None:
    first = start()
    first.count()
    for number in range(3):
        other = start()
        other.count(breaker="open")
        assert 'ridedash_breaker{calls="read"} 1.0' in first.shown()
        other.kill()
        assert orders(first.shown()) == number + 2
        assert 'ridedash_breaker{calls="read"} 0.0' in first.shown()
    first.kill()
    assert orders(start().shown()) == 0


def test_processes_that_start_at_the_same_time_keep_the_counts_of_each_other(
    start: type[Counting], instance: Path
) -> None:
    for _ in range(2):
        together = [start() for _ in range(5)]
        for each in together:
            each.send("closed")
        for each in together:
            each.answer()
        assert [orders(each.shown()) for each in together] == [5] * 5
        for each in together:
            each.kill()


def test_a_process_that_fails_repeatedly_does_not_fill_the_folder(
    start: type[Counting], instance: Path
) -> None:
    living = start()
    living.count()
    failed = start()
    failed.count()
    failed.kill()
    (ended,) = (
        path
        for path in (instance / "metrics").glob("counter_*.db")
        if str(failed._process.pid) in path.name
    )
    # above the highest number that a process can have
    content, absent = ended.read_bytes(), 4_000_000
    for number in range(absent, absent + 400):
        ended.with_name(f"counter_{number}.db").write_bytes(content)
    newest = start()
    newest.count()
    assert len([*(instance / "metrics").glob("counter_*.db")]) <= 302
    assert orders(living.shown()) >= 300


def test_a_folder_that_the_environment_names_is_not_wiped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "counter_4000000.db").write_bytes(b"")
    monkeypatch.setenv(process.FOLDER, str(theirs))
    process._share_metrics(tmp_path / "ours")
    assert (theirs / "counter_4000000.db").exists()
    assert not (tmp_path / "ours").exists()


def test_what_lives_as_long_as_the_process_is_not_looked_through_for_garbage() -> None:
    """This needs a process of its own: in the process of the tests, garbage must be collected."""
    words = "import gc; from ridedash.observability.process import started"
    counted = f"{words}; started(); print(gc.get_freeze_count(), gc.get_count()[2])"
    answer = subprocess.run([sys.executable, "-c", counted], capture_output=True, check=True)
    frozen, collected = map(int, answer.stdout.split())
    assert frozen > 1_000
    assert collected == 0


HOLES = """
import threading
from pathlib import Path
from ridedash.observability.process import give_back

def held():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4 // 1024

class Twice(threading.Event):
    waited = []
    def wait(self, timeout=None):
        self.waited.append(timeout)
        return len(self.waited) > 1

import ctypes
pieces = [bytes(3000) for _ in range(20_000)]
pieces = pieces[::50] + pieces[-1:]  # small ones stay between what went
before = held()
give_back(ctypes.CDLL(None).malloc_trim, Twice())
print(before - held(), Twice.waited)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_holes_between_what_is_in_use_are_handed_back_each_minute() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HOLES],
        cwd=ROOT,
        env={"PATH": "", "MALLOC_ARENA_MAX": "1"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    megabytes, _, waited = done.stdout.strip().partition(" ")
    assert int(megabytes) > 20, done.stdout
    assert waited == "[60.0, 60.0]"


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_a_process_has_a_thread_for_that(start: type[Counting]) -> None:
    first = start()
    first.count()
    assert len(list(Path(f"/proc/{first._process.pid}/task").iterdir())) == 2


def test_the_disk_has_every_block_of_a_metrics_file(start: type[Counting], instance: Path) -> None:
    counting = start()
    counting.count()
    counting.shown()
    made = {path.name: path.stat() for path in (instance / "metrics").glob("*.db")}
    number = counting._process.pid
    assert made.keys() == {f"{kind}_{number}.db" for kind in process.RESERVED}
    for kind, size in process.RESERVED.items():
        found = made[f"{kind}_{number}.db"]
        assert found.st_size == size
        assert found.st_blocks * 512 >= size


def test_a_process_for_whose_metrics_the_disk_is_too_full_counts_alone(instance: Path) -> None:
    limited = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (99_999, 99_999))\n"
    done = subprocess.run(
        [sys.executable, "-c", limited + PROCESS, str(instance)],
        cwd=ROOT,
        env={"PATH": ""},
        input="closed\nshow\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert 'ridedash_orders_total{state="BOOKED"} 1.0' in done.stdout
    assert "this process counts for itself alone" in done.stderr
    assert [*(instance / "metrics").glob("histogram_*")] == []
