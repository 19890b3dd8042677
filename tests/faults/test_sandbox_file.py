"""A file that isn't the sandbox's database stops the start with a sentence, and is not changed."""

import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from ridedash.cli.sandbox_process import alone
from ridedash.sandbox.store import Store, StoreUnusable
from tests.running import clean_environment


def no_database(path: Path) -> None:
    path.write_text("a shopping list\n" * 200)


def of_another_program(path: Path) -> None:
    with closing(sqlite3.connect(path)) as line:
        line.executescript("CREATE TABLE songs (title TEXT)")


def of_an_older_sandbox(path: Path) -> None:
    with closing(sqlite3.connect(path)) as line:
        line.executescript("CREATE TABLE clock (one INTEGER, wall REAL)")


def damaged(path: Path) -> None:
    Store(path).close()
    with closing(sqlite3.connect(path)) as line:
        line.execute("PRAGMA journal_mode = DELETE")
        for number in range(500):
            line.execute("INSERT INTO scenarios (scenario) VALUES (?)", (f"{number}" * 50,))
        line.commit()
    data = bytearray(path.read_bytes())
    data[-8192:-4096] = b"\xff" * 4096
    path.write_bytes(data)


@pytest.mark.parametrize("spoil", [no_database, of_another_program, of_an_older_sandbox, damaged])
def test_a_file_of_another_program_is_refused_by_name_and_not_changed(
    tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    path = tmp_path / "sandbox.db"
    spoil(path)
    before = path.read_bytes()
    with pytest.raises(
        StoreUnusable,
        match=r"sandbox\.db can't be used as the sandbox's database \(.+\): move it away",
    ):
        Store(path)
    assert path.read_bytes() == before


def test_a_valid_file_can_be_opened_repeatedly(tmp_path: Path) -> None:
    for _ in range(3):
        store = Store(tmp_path / "sandbox.db")
        store.close()


def test_up_prints_one_sentence_when_the_sandboxs_file_is_damaged(tmp_path: Path) -> None:
    no_database(tmp_path / "sandbox.db")
    message = refusal(tmp_path, "up")
    assert message.startswith(
        f"ridedash: {tmp_path}/sandbox.db can't be used as the sandbox's database"
    )


@pytest.mark.parametrize("command", ["up", "sandbox"])
def test_a_second_sandbox_in_one_folder_is_refused_in_one_sentence(
    tmp_path: Path, command: str
) -> None:
    with alone(tmp_path):
        message = refusal(tmp_path, command)
    assert message.startswith(f"ridedash: another ridedash runs a sandbox in {tmp_path}.")
    with alone(tmp_path):  # possible again, since the first one has ended
        pass


def test_a_demo_that_is_started_twice_is_refused_without_the_advice_to_take_another_port(
    tmp_path: Path,
) -> None:
    """The first demo holds the ports too, so the advice to take another port would not help."""
    with alone(tmp_path), socket.create_server(("127.0.0.1", 0)) as taken:
        message = refusal(tmp_path, "up", port=taken.getsockname()[1])
    assert message.startswith(f"ridedash: another ridedash runs a sandbox in {tmp_path}.")


def refusal(instance: Path, command: str, port: int = 0) -> str:
    """What a command prints when it refuses to start."""
    settings = {"INSTANCE": str(instance), "PORT": str(port), "SANDBOX_PORT": "0"}
    environ = clean_environment(**{f"RIDEDASH_{name}": value for name, value in settings.items()})
    ended = subprocess.run(
        [sys.executable, "-m", "ridedash.cli", command],
        env=environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    return ended.stderr
