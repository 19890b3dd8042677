"""A slow start says again and again what it does, a quick one nothing."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from ridedash import cli
from tests import databases
from tests.running import clean_environment


def test_it_says_what_is_being_done_until_the_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "EVERY_S", 0.01)
    with cli.telling("loading") as tell:
        assert _says("  … loading\n  … loading\n", capsys)
        tell("packing")
        assert _says("  … packing\n", capsys)
        tell("")
        _wait_for_the_end()
        capsys.readouterr()
    assert capsys.readouterr().out == ""


def test_an_error_ends_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "EVERY_S", 0.01)
    with pytest.raises(ValueError), cli.telling("loading"):
        raise ValueError
    _wait_for_the_end()


def test_a_quick_start_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with cli.telling("loading"):
        pass
    _wait_for_the_end()
    assert capsys.readouterr().out == ""


def test_after_the_end_it_says_nothing_more(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "EVERY_S", 0)
    for _ in range(50):
        with cli.telling("loading") as tell:
            assert _says("  … loading\n", capsys)
            tell("")
            capsys.readouterr()
            _wait_for_the_end()
            assert capsys.readouterr().out == ""


@pytest.mark.database
def test_a_first_start_of_a_demo_says_what_takes_long(tmp_path: Path) -> None:
    command = "from ridedash import cli; cli.EVERY_S = 0.02; cli.main(['up'])"
    environ = clean_environment(
        RIDEDASH_INSTANCE=str(tmp_path / "instance"),
        RIDEDASH_PORT="0",
        RIDEDASH_SANDBOX_PORT="0",
        RIDEDASH_DEMO="empty",
        **databases.settings_for(tmp_path),
    )
    run = [sys.executable, "-c", command]
    with subprocess.Popen(run, env=environ, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        said = iter(started.stdout.readline, "  stop with    Ctrl-C\n")
        before = [line for line in said if line.startswith("  … ")]
        started.terminate()
        assert "  … " not in started.stdout.read()
    steps = list(dict.fromkeys(before))
    assert steps[0] == "  … loading the program\n"
    assert "  … packing the files for browsers, once for each version\n" in steps
    assert before.count(steps[0]) > 1


def _says(text: str, capsys: pytest.CaptureFixture[str]) -> bool:
    """Whether it says this within a minute."""
    end, said = time.monotonic() + 60, ""
    while text not in said and time.monotonic() < end:
        said += capsys.readouterr().out
    return text in said


def _wait_for_the_end() -> None:
    for thread in threading.enumerate():
        if thread.name == "telling":
            thread.join(60)
            assert not thread.is_alive()
