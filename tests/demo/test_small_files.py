"""Small files of a demo: a broken or old one is made anew, one out of reach is an error."""

import sqlite3
from pathlib import Path

import pytest

from ridedash.demo.small_files import SmallFile

TABLES = "CREATE TABLE kept (word TEXT NOT NULL); INSERT INTO kept VALUES ('first')"


def made(folder: Path, version: int = 1) -> SmallFile:
    return SmallFile(folder / "small.db", version, TABLES)


def keep(file: SmallFile, word: str) -> None:
    with file.writing() as db, db:
        db.execute("INSERT INTO kept VALUES (?)", (word,))


def words(file: SmallFile) -> list[str]:
    with file.reading() as db:
        return [] if db is None else [word for (word,) in db.execute("SELECT word FROM kept")]


def test_it_is_made_when_it_is_written_and_read_by_its_owner_alone(tmp_path: Path) -> None:
    file = made(tmp_path)
    assert words(file) == []
    assert not file.path.exists()
    keep(file, "second")
    assert words(file) == ["first", "second"]
    assert file.path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("version", [0, 7])
def test_one_of_another_release_is_made_anew(tmp_path: Path, version: int) -> None:
    file = made(tmp_path)
    with sqlite3.connect(file.path) as db:
        db.execute("CREATE TABLE kept (other INTEGER)")
        db.execute(f"PRAGMA user_version = {version}")
    db.close()
    assert words(file) == []
    keep(file, "second")
    assert words(file) == ["first", "second"]


def test_one_that_is_no_database_is_made_anew(tmp_path: Path) -> None:
    file = made(tmp_path)
    file.path.write_bytes(b"no database at all" * 1000)
    assert words(file) == []
    keep(file, "second")
    assert words(file) == ["first", "second"]


def test_one_that_is_broken_further_inside_is_made_anew_by_the_next(tmp_path: Path) -> None:
    file = made(tmp_path)
    keep(file, "x" * 40_000)
    data = bytearray(file.path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)  # the first page, with the version, stays whole
    file.path.write_bytes(data)
    with pytest.raises(sqlite3.DatabaseError, match="malformed"):
        keep(file, "second")
    keep(file, "second")
    assert words(file) == ["first", "second"]


def test_one_that_is_out_of_reach_is_an_error_and_stays_as_it_is(tmp_path: Path) -> None:
    file = made(tmp_path)
    file.path.mkdir()
    assert words(file) == []
    with pytest.raises(sqlite3.OperationalError):
        keep(file, "second")
    assert file.path.is_dir()
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(sqlite3.OperationalError):
        keep(made(tmp_path / "file"), "second")
