"""The sent journal keeps what was sent for forty days, whatever happens to process and disk."""

import os
import shutil
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ridedash.rides.journals.answer_journal import AnswerJournal
from ridedash.rides.journals.append_file import BLOCK, RESERVE
from ridedash.rides.journals.sent_journal import (
    EVEN_S,
    KEPT,
    STEP_S,
    EvenClock,
    Last,
    Mark,
    SentEntry,
    SentJournal,
    _facts_of,
    _line,
)
from ridedash.rides.state.outcome import Outcome
from ridedash.store.models.orders import OrderState

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
BOOKED = Outcome(OrderState.BOOKED, booking_id="C1", evidence="words of the service", message="Hi")


def entry(reference: str, attempt: int = 1, at: datetime = NOON) -> SentEntry:
    return SentEntry(reference, attempt, at, "a database", 1, 2, "mini")


def references(folder: Path) -> set[str]:
    return set(SentJournal(folder).attempts())


def test_what_was_sent_is_known_after_a_restart_with_its_outcome(tmp_path: Path) -> None:
    journal = SentJournal(tmp_path, 0)
    journal.sent(entry("RD-1"))
    journal.answered("RD-1", 1, BOOKED)
    journal.sent(entry("RD-2"))
    assert (journal.knows("RD-1", 1), journal.knows("RD-1", 2)) == (True, False)
    journal.close()
    journal = SentJournal(tmp_path, 0)
    assert (journal.knows("RD-1", 1), journal.knows("RD-3", 1)) == (True, False)
    first, second = journal.entries({"RD-1", "RD-2"})
    assert (first.outcome, second.outcome) == ({"state": "BOOKED", "booking_id": "C1"}, None)
    assert (first.at, first.property_id, first.account_id, first.category) == (NOON, 1, 2, "mini")
    journal.close()


def test_the_outcome_of_an_earlier_attempt_is_not_that_of_the_last_one(tmp_path: Path) -> None:
    journal = SentJournal(tmp_path, 0)
    journal.sent(entry("RD-1"))
    journal.answered("RD-1", 1, Outcome(OrderState.NOT_SENT, code="RECONNECT"))
    journal.sent(entry("RD-1", attempt=2))
    assert [(each.attempt, each.outcome) for each in journal.entries({"RD-1"})] == [(2, None)]
    journal.close()


def test_a_line_is_synced_before_sent_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal, seen = SentJournal(tmp_path, 0), list[bytes]()
    path = next(tmp_path.glob("sent-*.log"))
    monkeypatch.setattr(os, "fdatasync", lambda _fd: seen.append(path.read_bytes().strip(b"\0")))
    journal.sent(entry("RD-1"))
    assert b"RD-1" in seen[-1]
    journal.close()


def test_sends_at_the_same_time_share_a_sync_and_none_returns_before_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While one sync lasts, seven more lines are appended; the next sync is for all of them."""
    journal, syncs = SentJournal(tmp_path, 0), list[bytes]()
    path, first, go_on = next(tmp_path.glob("sent-*.log")), threading.Event(), threading.Event()

    def slow_sync(_fd: int) -> None:
        syncs.append(path.read_bytes())
        if len(syncs) == 1:
            first.set()
            assert go_on.wait(60)

    monkeypatch.setattr(os, "fdatasync", slow_sync)
    threads = [threading.Thread(target=journal.sent, args=(entry(f"RD-{n}"),)) for n in range(8)]
    threads[0].start()
    assert first.wait(60)
    for thread in threads[1:]:
        thread.start()
    while path.read_bytes().count(b"\n") < 8:
        assert all(thread.is_alive() for thread in threads)
    go_on.set()
    for thread in threads:
        thread.join(60)
    assert 2 <= len(syncs) < 8, "one whose line was synced by another may sync once more"
    assert syncs[1].count(b"\n") == 8
    journal.close()


def test_a_file_that_was_cut_anywhere_keeps_every_whole_line_and_takes_more(
    tmp_path: Path,
) -> None:
    """A process may die, and a disk may stop, after any byte."""
    (tmp_path / "whole").mkdir()
    journal = SentJournal(tmp_path / "whole", 0)
    for number in range(3):
        journal.sent(entry(f"RD-{number}"))
    journal.close()
    whole = next((tmp_path / "whole").glob("sent-*.log")).read_bytes()
    for size in range(0, len(whole) + 1, 7):
        folder = tmp_path / f"cut-{size}"
        folder.mkdir()
        (folder / "sent-0-000001.log").write_bytes(whole[:size].ljust(len(whole) + 99, b"\0"))
        journal = SentJournal(folder, 0)
        journal.sent(entry("RD-next"))
        journal.close()
        # a line that lost its line end alone is whole
        whole_lines = {f"RD-{number}" for number in range(whole[: size + 1].count(b"\n"))}
        assert references(folder) == {*whole_lines, "RD-next"}


def test_a_damaged_line_costs_no_other(tmp_path: Path) -> None:
    journal = SentJournal(tmp_path, 0)
    for number in range(3):
        journal.sent(entry(f"RD-{number}"))
    journal.close()
    path = next(tmp_path.glob("sent-*.log"))
    path.write_bytes(path.read_bytes().replace(b"RD-1", b"RD-7"))
    assert references(tmp_path) == {"RD-0", "RD-2"}


def test_a_worker_knows_what_the_others_of_its_machine_sent_since(tmp_path: Path) -> None:
    one, other = SentJournal(tmp_path, 0), SentJournal(tmp_path, 1)
    other.sent(entry("RD-1"))
    assert not one.knows("RD-1", 1)
    one.refresh()
    assert one.knows("RD-1", 1)
    other.sent(entry("RD-1", attempt=2))
    one.refresh()
    assert one.knows("RD-1", 2)
    one.close()
    other.close()


class Hours:
    """A monotonic clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_lines_are_stored_for_forty_days_and_then_deleted_with_their_file(tmp_path: Path) -> None:
    monotonic = Hours()
    journal = AnswerJournal(tmp_path, slots=2, monotonic=monotonic)
    for day in range(60):
        now = NOON + timedelta(days=day)
        monotonic.now = day * 86400.0
        journal.drop_old(now)
        journal.sent.sent(entry(f"RD-{day}", at=now))
        young = {f"RD-{each}" for each in range(day + 1) if timedelta(days=day - each) <= KEPT}
        assert young <= references(tmp_path)
    assert references(tmp_path) == {f"RD-{day}" for day in range(18, 60)}
    assert len(list(tmp_path.glob("sent-*.log"))) == 7
    young_enough = {f"RD-{day}" for day in range(19, 60)}
    assert set(journal.sent.attempts()) == young_enough, "what is older is not remembered either"
    journal.close()


def test_a_clock_that_is_set_forty_days_ahead_deletes_nothing_until_it_goes_evenly(
    tmp_path: Path,
) -> None:
    """A machine may start before it has set its clock from the network."""
    monotonic, journal = Hours(), SentJournal(tmp_path, 0)
    journal.sent(entry("RD-1"))
    journal.drop_old(NOON + timedelta(days=6))  # begins another file
    journal.close()
    journal = SentJournal(tmp_path, 0, monotonic)
    wrong = NOON + KEPT + timedelta(days=20)
    journal.drop_old(wrong)
    monotonic.now += 3600
    journal.drop_old(NOON + timedelta(hours=1))  # the clock was corrected
    assert references(tmp_path) == {"RD-1"}
    monotonic.now += EVEN_S / 2
    journal.drop_old(wrong)
    assert references(tmp_path) == {"RD-1"}
    monotonic.now += EVEN_S
    journal.drop_old(wrong + timedelta(seconds=EVEN_S))
    assert references(tmp_path) == set()
    journal.close()


def test_lines_behind_a_gap_of_zeros_are_read(tmp_path: Path) -> None:
    """Lost blocks are read as zeros, and such a gap may extend beyond one read of BLOCK bytes."""
    journal = SentJournal(tmp_path, 0)
    for number in range(1500):
        journal._append(
            _line({"sent": f"RD-{number}", **_facts_of(entry("")), "more": "x" * 99}), sync=False
        )
    journal.close()
    path = next(tmp_path.glob("sent-*.log"))
    whole = path.read_bytes()
    assert len(whole) > 4 * BLOCK
    before = references(tmp_path)
    for begin, end in ((BLOCK - 900, BLOCK + 900), (BLOCK - 900, 3 * BLOCK), (10, BLOCK)):
        path.write_bytes(whole[:begin] + bytes(end - begin) + whole[end:])
        lost = whole[:end].count(b"\n") - whole[:begin].count(b"\n") + 1
        assert len(before - references(tmp_path)) == lost


def test_the_files_of_workers_that_are_gone_go_too_and_those_of_living_ones_stay(
    tmp_path: Path,
) -> None:
    monotonic = Hours()
    ours, gone, idle = (AnswerJournal(tmp_path, slots=2, monotonic=monotonic) for _ in range(3))
    ours.drop_old(NOON + KEPT - timedelta(hours=1))
    monotonic.now = 3600.0
    gone.sent.sent(entry("RD-gone"))
    idle.sent.sent(entry("RD-idle"))
    gone.close()
    ours.drop_old(NOON + KEPT)
    assert references(tmp_path) == {"RD-gone", "RD-idle"}
    ours.drop_old(NOON + KEPT + timedelta(seconds=1))
    assert references(tmp_path) == {"RD-idle"}
    ours.close()
    idle.close()


def test_a_thread_that_appends_while_another_file_begins_loses_nothing(tmp_path: Path) -> None:
    journal = SentJournal(tmp_path, 0)
    journal.sent(entry("RD-1"))
    file = journal._file
    journal.drop_old(NOON + timedelta(days=6))
    assert file is not None
    assert file is not journal._file
    journal.answered("RD-1", 1, BOOKED)
    file.append(b"a line of a thread that was late\n", sync=True)
    assert [each.outcome for each in journal.entries({"RD-1"})] != [None]
    journal.close()


def test_a_journal_that_could_not_be_written_is_not_ready_until_a_write_succeeds(
    tmp_path: Path,
) -> None:
    journal = AnswerJournal(tmp_path, slots=2)
    file = journal.sent._file
    assert file is not None
    sound, unwritable = file._fd, os.open(file.path, os.O_RDONLY)
    file._fd = unwritable
    with pytest.raises(OSError):
        journal.sent.sent(entry("RD-1"))
    assert not journal.ready()
    file._fd = sound
    assert journal.ready()
    journal.sent.sent(entry("RD-2"))
    assert references(tmp_path) == {"RD-2"}
    os.close(unwritable)
    journal.close()
    assert not journal.ready()


@pytest.mark.parametrize("left_out", [1, 9, 60])
def test_what_the_disk_took_a_part_of_is_no_line_whatever_comes_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left_out: int
) -> None:
    """A line without its end is void, because its writer got an error: it was not journalled."""
    journal, other = SentJournal(tmp_path, 0), SentJournal(tmp_path, 1)
    whole_write, done = os.pwrite, []

    def part(fd: int, data: bytes, at: int) -> int:
        taken = data if done else data[:-left_out]
        done.append(at)
        return whole_write(fd, taken, at)

    monkeypatch.setattr(os, "pwrite", part)
    with pytest.raises(OSError, match="part of the line"):
        journal.sent(entry("RD-torn-and-longer-than-the-next-one"))
    assert journal.ready()
    journal.sent(entry("RD-2"))
    other.refresh()
    assert [other.knows(name, 1) for name in ("RD-torn-and-longer-than-the-next-one", "RD-2")] == [
        False,
        True,
    ]
    os.close(journal._file._fd if journal._file else -1)  # the process is killed
    again = SentJournal(tmp_path, 0)
    again.sent(entry("RD-3"))
    assert references(tmp_path) == {"RD-2", "RD-3"}
    again.close()
    other.close()


@pytest.mark.parametrize("how", ["deleted", "moved", "replaced"])
def test_a_journal_that_is_gone_from_its_folder_is_not_ready(tmp_path: Path, how: str) -> None:
    folder = tmp_path / "blackbox"
    journal = AnswerJournal(folder, slots=2)
    assert journal.ready()
    if how == "moved":
        folder.rename(tmp_path / "elsewhere")
    else:
        shutil.rmtree(folder)
    if how == "replaced":
        AnswerJournal(folder, slots=2).close()
    assert not journal.ready()
    with pytest.raises(OSError, match="gone"):
        journal.sent.sent(entry("RD-1"))
    journal.close()


@pytest.mark.parametrize("part", ["answers-0.box", "sent-0-000001.log"])
def test_each_file_that_is_gone_is_noticed(tmp_path: Path, part: str) -> None:
    journal = AnswerJournal(tmp_path, slots=2)
    (tmp_path / part).unlink()
    assert not journal.ready()
    journal.close()


def test_lines_need_no_free_space_for_long(tmp_path: Path) -> None:
    journal = SentJournal(tmp_path, 0)
    path = next(tmp_path.glob("sent-*.log"))
    before = path.stat()
    for number in range(100):
        journal.sent(entry(f"RD-{number}"))
        assert journal.ready()
    after = path.stat()
    assert (before.st_size, before.st_blocks) == (after.st_size, after.st_blocks)
    assert before.st_size >= RESERVE
    journal.close()


def test_the_furthest_watermark_of_a_database_counts_and_a_torn_one_does_not(
    tmp_path: Path,
) -> None:
    one, other = SentJournal(tmp_path, 0), SentJournal(tmp_path, 1)
    for heartbeats in range(1, 5):
        one.write_mark(Mark(0, heartbeats, NOON, "ours"))
    other.write_mark(Mark(1, 2, NOON, "ours"))
    other.write_mark(Mark(7, 9, NOON, "another"))
    assert one.mark("ours") == Mark(1, 2, NOON, "ours")
    assert one.mark("a new one") is None
    data = (tmp_path / "mark-1").read_bytes()
    (tmp_path / "mark-1").write_bytes(data.replace(b'"epoch":1', b'"epoch":8'))
    assert one.mark("ours") == Mark(0, 4, NOON, "ours")
    one.close()
    other.close()


@pytest.mark.parametrize(
    ("code", "stored"),
    [
        ("NO_CABS_AVAILABLE", "NO_CABS_AVAILABLE"),
        ("Mr Heron, 98333 is blocked", None),
        ("x" * 99, None),
    ],
)
def test_a_code_is_stored_and_a_sentence_in_its_place_is_not(
    tmp_path: Path, code: str, stored: str | None
) -> None:
    journal = SentJournal(tmp_path, 0)
    journal.sent(entry("RD-1"))
    outcome = Outcome(OrderState.REJECTED, code=code, next_retry="after Mr Heron has paid")
    journal.answered("RD-1", 1, outcome)
    [found] = journal.entries({"RD-1"})
    assert found.outcome == {"state": "REJECTED"} | ({"code": stored} if stored else {})
    journal.close()


def test_the_last_attempt_is_known_with_its_time_and_the_state_of_its_outcome(
    tmp_path: Path,
) -> None:
    """The answer may be in the file of another worker, which is read first."""
    other, ours = SentJournal(tmp_path, 0), SentJournal(tmp_path, 1)
    ours.sent(entry("RD-1"))
    other.answered("RD-1", 1, BOOKED)
    later = NOON + timedelta(hours=1)
    ours.sent(entry("RD-2", at=later))
    assert SentJournal(tmp_path).attempts() == {
        "RD-1": Last(1, NOON, "BOOKED"),
        "RD-2": Last(1, later),
    }
    assert set(ours.attempts(since=later)) == {"RD-2"}
    ours.sent(entry("RD-1", attempt=2, at=later))
    assert other.attempts()["RD-1"] == Last(2, later)
    ours.close()
    other.close()


def test_the_journal_names_no_words_of_the_service_and_no_evidence(tmp_path: Path) -> None:
    journal = SentJournal(tmp_path, 0)
    journal.sent(entry("RD-1"))
    journal.answered("RD-1", 1, BOOKED)
    journal.close()
    text = next(tmp_path.glob("sent-*.log")).read_bytes()
    assert b"words of the service" not in text
    assert b"Hi" not in text


def test_an_answer_waits_for_no_disk_and_is_known_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal, synced = SentJournal(tmp_path, 0), list[int]()
    journal.sent(entry("RD-1"))
    file = journal._file
    assert file is not None
    monkeypatch.setattr(os, "fdatasync", synced.append)
    journal.answered("RD-1", 1, BOOKED)
    assert synced == []
    assert journal.attempts() == {"RD-1": Last(1, NOON, "BOOKED")}
    journal.drop_old(NOON + timedelta(days=5))
    assert journal._file is file, "it lasts five days"
    journal.drop_old(NOON + timedelta(days=5, seconds=1))
    assert file._fd in synced, "the old file is on disk before another one takes over"
    assert journal._file.path.name == "sent-0-000002.log"
    journal.sent(entry("RD-2"))
    assert set(journal.attempts()) == {"RD-1", "RD-2"}
    journal.close()


def test_an_attempt_that_was_journalled_twice_was_sent_at_the_first_time(tmp_path: Path) -> None:
    journal = SentJournal(tmp_path, 0)
    for seconds in (0, 5):
        journal.sent(entry("RD-1", at=NOON + timedelta(seconds=seconds)))
    assert journal.attempts() == {"RD-1": Last(1, NOON)}
    assert [each.at for each in journal.entries({"RD-1"})] == [NOON]
    journal.close()


def test_a_line_of_an_earlier_release_tells_of_no_restore(tmp_path: Path) -> None:
    journal = SentJournal(tmp_path, 0)
    facts = _facts_of(replace(entry("RD-1"), epoch=4))
    assert facts.pop("epoch") == 4
    journal._append(_line({"sent": "RD-1", **facts}), sync=True)
    assert [each.epoch for each in journal.entries({"RD-1"})] == [0]
    journal.close()


def test_a_journal_that_is_only_read_writes_nothing(tmp_path: Path) -> None:
    journal = SentJournal(tmp_path)
    assert not journal.ready()
    with pytest.raises(OSError, match="only read"):
        journal.sent(entry("RD-1"))
    journal.write_mark(Mark(0, 1, NOON, "ours"))
    journal.flush()
    journal.drop_old(NOON)
    journal.close()
    assert list(tmp_path.iterdir()) == []


def test_a_torn_watermark_leaves_the_one_before_it(tmp_path: Path) -> None:
    journal, path = SentJournal(tmp_path, 0), tmp_path / "mark-0"
    for heartbeats in (6, 7, 8):
        journal.write_mark(Mark(0, heartbeats, NOON, "ours"))
    path.write_bytes(path.read_bytes().replace(b'"beats":8', b'"beats":9'))
    assert journal.mark("ours") == Mark(0, 7, NOON, "ours")
    assert path.stat().st_mode & 0o777 == 0o600
    journal.close()


def test_a_clock_goes_evenly_if_it_differs_by_a_minute_at_most_for_fifty_minutes() -> None:
    monotonic = Hours()
    is_even = EvenClock(monotonic)

    def at(seconds: float, ahead: float = 0.0) -> bool:
        monotonic.now = 100.0 + seconds
        return is_even(NOON + timedelta(seconds=seconds + ahead))

    assert not at(0)
    assert not at(EVEN_S - 1)
    assert at(EVEN_S)
    assert at(EVEN_S + 1, STEP_S)
    assert at(EVEN_S + 1, -STEP_S)
    assert not at(EVEN_S + 2, STEP_S + 1), "it has stepped"
    assert not at(2 * EVEN_S + 1, STEP_S + 1)
    assert at(2 * EVEN_S + 2, STEP_S + 1)
