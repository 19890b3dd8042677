"""The black box keeps what it was given, whatever happens around it."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridedash.rides.orders.answer_journal import SLOT, BlackBox, BoxFile, BoxFullError, _packed


def test_a_record_is_there_after_a_restart_until_it_is_cleared(tmp_path: Path) -> None:
    box = BlackBox(tmp_path, slots=4)
    slot = box.file.append({"mtx": "RD-1", "evidence": "ünïcode"})
    box.close()
    box = BlackBox(tmp_path, slots=4)
    assert list(box.file.pending()) == [(slot, {"mtx": "RD-1", "evidence": "ünïcode"})]
    box.file.clear(slot)
    assert list(box.file.pending()) == []
    box.close()


def test_the_file_never_grows_so_a_full_disk_does_not_matter(tmp_path: Path) -> None:
    box = BlackBox(tmp_path, slots=4)
    before = box.path.stat()
    for _ in range(4):
        box.file.append({"mtx": "RD-1", "evidence": "x" * 2048})
    after = box.path.stat()
    assert (
        (before.st_size, before.st_blocks)
        == (after.st_size, after.st_blocks)
        == (4 * SLOT, after.st_blocks)
    )
    assert after.st_blocks * 512 >= 4 * SLOT
    box.close()


def test_a_full_box_says_so_and_is_ready_again_when_a_slot_is_cleared(tmp_path: Path) -> None:
    box = BlackBox(tmp_path, slots=2)
    slots = [box.file.append({"mtx": "RD-1"}) for _ in range(2)]
    assert not box.ready()
    with pytest.raises(BoxFullError):
        box.file.append({"mtx": "RD-2"})
    box.file.clear(slots[0])
    assert box.ready()
    box.close()
    assert not box.ready()


def test_a_box_that_could_not_be_written_is_not_ready_until_a_write_succeeds(
    tmp_path: Path,
) -> None:
    box = BlackBox(tmp_path, slots=2)
    sound, unwritable = box.file._fd, os.open(box.path, os.O_RDONLY)
    box.file._fd = unwritable
    with pytest.raises(OSError):
        box.file.append({"mtx": "RD-1"})
    assert not box.ready()
    box.file._fd = sound
    assert box.ready()
    os.close(unwritable)
    assert [box.file.append({"mtx": name}) for name in ("RD-1", "RD-2")], "no slot was lost"
    box.close()


def test_a_torn_record_is_left_out(tmp_path: Path) -> None:
    box = BlackBox(tmp_path, slots=2)
    slot = box.file.append({"mtx": "RD-1", "evidence": "y" * 100})
    box.close()
    with open(box.path, "r+b") as file:
        file.seek(slot * SLOT + 40)
        file.write(b"\0\0\0")
    box = BlackBox(tmp_path, slots=2)
    assert list(box.file.pending()) == []
    box.close()


def test_two_workers_hold_two_files_and_one_reads_what_the_other_left_behind(
    tmp_path: Path,
) -> None:
    first, second = BlackBox(tmp_path, slots=2), BlackBox(tmp_path, slots=2)
    assert first.path != second.path
    second.file.append({"mtx": "RD-2"})
    assert list(first.left_behind()) == [], "a living worker's file is its own"
    second.close()
    found = [record for file in first.left_behind() for _, record in file.pending()]
    assert found == [{"mtx": "RD-2", "evidence": ""}]
    first.close()


def test_a_file_that_can_not_be_held_leaves_nothing_open(tmp_path: Path) -> None:
    held = BoxFile(tmp_path / "a.box", 1)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(BlockingIOError):
        BoxFile(tmp_path / "a.box", 1)
    assert len(os.listdir("/proc/self/fd")) == before
    held.close()


@given(st.text(max_size=2048))
def test_every_evidence_fits_into_a_slot(evidence: str) -> None:
    assert len(_packed({"mtx": "RD-1", "message": evidence[:300], "evidence": evidence})) <= SLOT
