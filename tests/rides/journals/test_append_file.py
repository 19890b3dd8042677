"""A file of lines: space is reserved before it is needed, and a torn line damages no other."""

import os
from pathlib import Path

import pytest

from ridedash.rides.journals.append_file import BLOCK, PREPARED, RESERVE, AppendFile, is_in_place


def size(path: Path) -> int:
    return path.stat().st_size


def test_space_is_prepared_ahead_and_given_back_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "sent.log"
    file = AppendFile(path)
    assert size(path) == PREPARED
    file.append(b"one\n", sync=False)
    file.append(b"two\n", sync=True)
    assert path.read_bytes().rstrip(b"\0") == b"one\ntwo\n"
    assert size(path) == PREPARED
    file.close()
    assert path.read_bytes() == b"one\ntwo\n"
    assert path.stat().st_mode & 0o777 == 0o600
    file.close()
    assert not file.ready(), "it is closed"


def test_more_space_is_prepared_when_less_than_the_reserve_is_left(tmp_path: Path) -> None:
    path = tmp_path / "sent.log"
    file = AppendFile(path)
    filled = PREPARED - RESERVE
    file.append(b"x" * (filled - 1) + b"\n", sync=False)
    assert file.ready()
    assert size(path) == PREPARED, "the reserve is left"
    file.append(b"\n", sync=False)
    assert file.ready()
    assert size(path) == filled + 1 + PREPARED
    file.append(b"y" * PREPARED, sync=False)
    assert size(path) == filled + 1 + PREPARED, "it fits"
    file.append(b"z", sync=False)
    assert size(path) == filled + 1 + 2 * PREPARED
    file.close()


@pytest.mark.parametrize("found", [b"", b"one\n", b"x" * BLOCK + b"\n", b"x" * (BLOCK - 1) + b"\n"])
def test_lines_go_on_behind_the_last_one(tmp_path: Path, found: bytes) -> None:
    path = tmp_path / "sent.log"
    path.write_bytes(found + b"\0" * (2 * BLOCK))
    file = AppendFile(path)
    file.append(b"next\n", sync=True)
    file.close()
    assert path.read_bytes() == found + b"next\n"


def test_a_torn_line_is_ended_where_the_machine_stopped(tmp_path: Path) -> None:
    path = tmp_path / "sent.log"
    path.write_bytes(b"one\ntor" + b"\0" * 9)
    file = AppendFile(path)
    file.append(b"next\n", sync=True)
    file.close()
    assert path.read_bytes() == b"one\ntor\nnext\n"


def test_a_line_that_was_not_written_whole_is_ended_before_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, write = tmp_path / "sent.log", os.pwrite
    file = AppendFile(path)
    file.append(b"one\n", sync=True)
    with monkeypatch.context() as broken:
        broken.setattr(os, "pwrite", lambda fd, data, at: write(fd, data[:2], at))
        with pytest.raises(OSError, match="only a part"):
            file.append(b"torn\n", sync=True)
    assert all(file.ready() for _ in range(2)), "it is ended once"
    file.append(b"next\n", sync=True)
    file.close()
    assert path.read_bytes() == b"one\n\nnext\n"


def test_threads_share_a_sync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, synced = AppendFile(tmp_path / "sent.log"), list[int]()
    monkeypatch.setattr(os, "fdatasync", synced.append)
    file.append(b"one\n", sync=False)
    file.append(b"two\n", sync=True)
    file.flush()
    assert len(synced) == 1, "the second sync has nothing left to do"
    file.append(b"three\n", sync=True)
    assert len(synced) == 2
    file.close()


def test_a_sync_that_fails_is_raised_and_tried_again_before_the_file_is_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = AppendFile(tmp_path / "sent.log")

    def fails(_fd: int) -> None:
        raise OSError("the disk is gone")

    with monkeypatch.context() as broken:
        broken.setattr(os, "fdatasync", fails)
        with pytest.raises(OSError, match="gone"):
            file.append(b"one\n", sync=True)
        assert not file.ready()
    assert file.ready()
    file.close()


def test_a_sync_proves_nothing_about_a_line_that_an_earlier_one_failed_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk reports an error once: the next sync succeeds, although lines are lost."""
    path, syncs = tmp_path / "sent.log", list[bytes]()
    file = AppendFile(path)

    def syncs_once_the_error_is_raised(_fd: int) -> None:
        syncs.append(path.read_bytes().rstrip(b"\0"))
        if len(syncs) == 1:
            file.append(b"of another thread\n", sync=False)
            raise OSError("the disk has lost a block")

    with monkeypatch.context() as broken:
        broken.setattr(os, "fdatasync", syncs_once_the_error_is_raised)
        with pytest.raises(OSError, match="lost a block"):
            file.append(b"one\n", sync=True)
        with pytest.raises(OSError, match="may be lost"):
            file.flush()
        with pytest.raises(OSError, match="may be lost"):
            file.append(b"late\n", sync=True)
        assert len(syncs) == 1, "a sync that would prove nothing is not made"
        # the disk has lost all three lines
        with path.open("r+b") as disk:
            disk.write(b"\0" * len(b"one\nof another thread\nlate\n"))
        assert file.ready()
    assert path.read_bytes().rstrip(b"\0") == b"one\nof another thread\nlate\n\n"
    file.append(b"next\n", sync=True)
    file.close()
    assert path.read_bytes() == b"one\nof another thread\nlate\n\nnext\n"


def test_a_sync_proves_nothing_if_the_preparing_of_space_met_the_error_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sync of another thread gets the error that belongs to this thread's lines."""
    path = tmp_path / "sent.log"
    file = AppendFile(path)
    line = b"x" * (PREPARED - RESERVE) + b"\n"  # behind it, more space has to be prepared

    def fails(_fd: int) -> None:
        raise OSError("the disk has lost a block")

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", fails)
        broken.setattr(
            os, "fdatasync", lambda _fd: file.ready()
        )  # it succeeds, the error is raised
        with pytest.raises(OSError, match="may be lost"):
            file.append(line, sync=True)
    with path.open("r+b") as disk:
        disk.write(b"\0" * len(line))
    assert file.ready()
    file.close()
    assert path.read_bytes() == line + b"\n"


def test_a_file_that_was_moved_away_takes_no_line(tmp_path: Path) -> None:
    path = tmp_path / "sent.log"
    file = AppendFile(path)
    path.rename(tmp_path / "moved.log")
    path.touch()
    assert not file.ready()
    with pytest.raises(OSError, match="gone from its folder"):
        file.append(b"one\n", sync=True)
    assert not is_in_place(file._fd, tmp_path / "none.log")
    file.close()


def test_the_prepared_space_and_the_name_in_the_folder_are_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(os.readlink(f"/proc/self/fd/{fd}")))
    AppendFile(tmp_path / "sent.log").close()
    path = str(tmp_path / "sent.log")
    assert synced == [path, str(tmp_path), path], "the last one when its end is cut off"
    opened = [os.path.realpath(each.path) for each in os.scandir("/proc/self/fd")]
    assert not [each for each in opened if each.startswith(str(tmp_path))], "all are closed"
