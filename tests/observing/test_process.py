"""What a process does before anything else, and what it goes on doing beside its work."""

import threading

import pytest

from ridedash.observing import process


def test_the_c_library_is_asked_again_and_again_to_hand_back_what_nobody_uses(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, stop = [], threading.Event()

    def trim(pad: int) -> int:
        asked.append(pad)
        if len(asked) == 3:
            stop.set()
        return 1

    monkeypatch.setattr(process, "TRIM_S", 0.001)
    process._trim(trim, stop)
    assert asked == [0, 0, 0]


def test_it_is_asked_beside_the_work_by_a_thread_that_keeps_no_process_alive() -> None:
    before = set(threading.enumerate())
    process.give_back()
    (thread,) = set(threading.enumerate()) - before
    assert (thread.name, thread.daemon) == ("trim", True)
