"""The answer journal keeps its records, whatever happens to the process or the disk."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridedash.rides.journals.answer_journal import (
    SLOT,
    AnswerJournal,
    JournalFile,
    JournalFull,
    _packed,
)


def test_a_record_is_there_after_a_restart_until_it_is_cleared(tmp_path: Path) -> None:
    journal = AnswerJournal(tmp_path, slots=4)
    slot = journal.file.append({"mtx": "RD-1", "evidence": "ünïcode"})
    journal.close()
    journal = AnswerJournal(tmp_path, slots=4)
    assert list(journal.file.pending()) == [(slot, {"mtx": "RD-1", "evidence": "ünïcode"})]
    journal.file.clear(slot)
    assert list(journal.file.pending()) == []
    journal.close()


def test_the_file_never_grows_so_a_full_disk_does_not_matter(tmp_path: Path) -> None:
    journal = AnswerJournal(tmp_path, slots=4)
    before = journal.path.stat()
    for _ in range(4):
        journal.file.append({"mtx": "RD-1", "evidence": "x" * 2048})
    after = journal.path.stat()
    assert (
        (before.st_size, before.st_blocks)
        == (after.st_size, after.st_blocks)
        == (4 * SLOT, after.st_blocks)
    )
    assert after.st_blocks * 512 >= 4 * SLOT
    journal.close()


def test_a_full_journal_is_not_ready_until_a_slot_is_cleared(tmp_path: Path) -> None:
    journal = AnswerJournal(tmp_path, slots=2)
    slots = [journal.file.append({"mtx": "RD-1"}) for _ in range(2)]
    assert not journal.ready()
    with pytest.raises(JournalFull):
        journal.file.append({"mtx": "RD-2"})
    journal.file.clear(slots[0])
    assert journal.ready()
    journal.close()
    assert not journal.ready()


def test_a_journal_that_could_not_be_written_is_not_ready_until_a_write_succeeds(
    tmp_path: Path,
) -> None:
    journal = AnswerJournal(tmp_path, slots=2)
    sound, unwritable = journal.file._fd, os.open(journal.path, os.O_RDONLY)
    journal.file._fd = unwritable
    with pytest.raises(OSError):
        journal.file.append({"mtx": "RD-1"})
    assert not journal.ready()
    journal.file._fd = sound
    assert journal.ready()
    os.close(unwritable)
    assert [journal.file.append({"mtx": name}) for name in ("RD-1", "RD-2")], "no slot was lost"
    journal.close()


def test_a_torn_record_is_left_out(tmp_path: Path) -> None:
    journal = AnswerJournal(tmp_path, slots=2)
    slot = journal.file.append({"mtx": "RD-1", "evidence": "y" * 100})
    journal.close()
    with open(journal.path, "r+b") as file:
        file.seek(slot * SLOT + 40)
        file.write(b"\0\0\0")
    journal = AnswerJournal(tmp_path, slots=2)
    assert list(journal.file.pending()) == []
    journal.close()


def test_two_workers_lock_two_files_and_one_reads_what_the_other_left_behind(
    tmp_path: Path,
) -> None:
    first, second = AnswerJournal(tmp_path, slots=2), AnswerJournal(tmp_path, slots=2)
    assert [each.path.name for each in (first, second)] == ["answers-0.box", "answers-1.box"]
    second.file.append({"mtx": "RD-2"})
    assert list(first.left_behind()) == [], "a living worker's file is its own"
    second.close()
    found = [record for file in first.left_behind() for _, record in file.pending()]
    assert found == [{"mtx": "RD-2", "evidence": ""}]
    first.close()


def test_each_file_that_was_left_behind_is_open_until_the_next_one_is_taken(
    tmp_path: Path,
) -> None:
    journals = [AnswerJournal(tmp_path, slots=1) for _ in range(4)]
    for dead in journals[1:3]:
        dead.close()
    taken = [file.path.name for file in journals[0].left_behind()]
    assert taken == ["answers-1.box", "answers-2.box"], "of the dead alone"
    again = [JournalFile(tmp_path / name, 1) for name in taken]  # they are not locked any more
    for file in (*again, journals[0], journals[3]):
        file.close()


def test_what_was_sent_long_ago_is_dropped_of_this_worker_and_of_the_dead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = AnswerJournal(tmp_path, slots=1), AnswerJournal(tmp_path, slots=1)
    second.close()
    dropped: list[tuple[object, ...]] = []
    monkeypatch.setattr(first.sent, "drop_old", lambda *given: dropped.append(given))
    now = datetime(2026, 3, 1, tzinfo=UTC)
    first.drop_old(now)
    assert dropped == [(now,), (now, 1)]
    first.close()


def test_a_slot_that_has_another_record_by_now_is_not_cleared(tmp_path: Path) -> None:
    """After a replay has listed a record, its sender clears it, and another answer is there."""
    journal = AnswerJournal(tmp_path, slots=1)
    slot = journal.file.append({"mtx": "RD-1"})
    ((listed, record),) = journal.file.pending()
    journal.file.clear(slot)
    assert journal.file.append({"mtx": "RD-2"}) == listed
    journal.file.clear(listed, record)
    assert [record["mtx"] for _slot, record in journal.file.pending()] == ["RD-2"]
    assert not journal.ready(), "its slot is not free"
    journal.close()


def test_a_slot_that_is_cleared_twice_is_one_slot(tmp_path: Path) -> None:
    journal = AnswerJournal(tmp_path, slots=2)
    slots = [journal.file.append({"mtx": "RD-1"}) for _ in range(2)]
    for _ in range(2):
        journal.file.clear(slots[0])
    journal.file.append({"mtx": "RD-3"})
    assert not journal.ready()
    assert sorted(record["mtx"] for _, record in journal.file.pending()) == ["RD-1", "RD-3"]
    journal.close()
    journal.close()


def test_a_journal_may_be_made_larger_and_loses_nothing_when_fewer_slots_are_wanted(
    tmp_path: Path,
) -> None:
    path = tmp_path / "answers-0.box"
    for slots, records, size in ((2, 1, 2), (4, 4, 4), (1, 4, 4)):
        file = JournalFile(path, slots)
        while len(list(file.pending())) < records:
            file.append({"mtx": "RD-1"})
        assert path.stat().st_size == size * SLOT
        file.close()
    file = JournalFile(path, 1)
    assert len(list(file.pending())) == 4
    assert not file.ready()
    file.close()


def test_a_journal_that_was_deleted_takes_no_order(tmp_path: Path) -> None:
    journal = AnswerJournal(tmp_path, slots=1)
    assert journal.ready()
    journal.path.unlink()
    assert not journal.ready()
    journal.close()


def test_a_file_that_can_not_be_locked_leaves_nothing_open(tmp_path: Path) -> None:
    locked = JournalFile(tmp_path / "a.box", 1)
    with pytest.raises(BlockingIOError):
        JournalFile(tmp_path / "a.box", 1)
    opened = [os.path.realpath(each.path) for each in os.scandir("/proc/self/fd")]
    assert opened.count(os.path.realpath(tmp_path / "a.box")) == 1
    locked.close()


def test_an_answer_that_fits_is_stored_whole_in_any_script(tmp_path: Path) -> None:
    journal, evidence = AnswerJournal(tmp_path, slots=2), "गाड़ी " * 220
    assert len(evidence.encode()) < SLOT - 500 < SLOT < len(json.dumps(evidence))
    slot = journal.file.append({"mtx": "RD-1", "evidence": evidence})
    assert list(journal.file.pending()) == [(slot, {"mtx": "RD-1", "evidence": evidence})]
    journal.close()


def test_of_an_answer_that_is_too_long_the_beginning_is_stored(tmp_path: Path) -> None:
    journal = AnswerJournal(tmp_path, slots=2)
    journal.file.append({"mtx": "RD-1", "evidence": "ab" * SLOT})
    [(_, record)] = journal.file.pending()
    assert record == {"mtx": "RD-1", "evidence": "ab" * (SLOT // 4)}
    journal.close()


@given(st.text(max_size=2048))
def test_every_evidence_fits_into_a_slot(evidence: str) -> None:
    assert len(_packed({"mtx": "RD-1", "message": evidence[:300], "evidence": evidence})) <= SLOT


def test_an_answer_is_on_the_disk_before_append_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal, synced = AnswerJournal(tmp_path, slots=2), list[bytes]()
    monkeypatch.setattr(os, "fdatasync", lambda _fd: synced.append(journal.path.read_bytes()))
    journal.file.append({"mtx": "RD-7"})
    assert b"RD-7" in synced[-1]
    journal.close()
