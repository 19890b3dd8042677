"""A slow start says again and again what it does, a quick one nothing."""

import threading
import time

import pytest

from ridedash.cli import telling
from ridedash.cli.telling import Telling


def test_it_says_what_is_being_done_until_the_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(telling, "EVERY_S", 0.01)
    with Telling("loading") as told:
        assert _until("  … loading\n  … loading\n", capsys)
        told.what = "packing"
        assert _until("  … packing\n", capsys)
        told.end()
        _wait_for_the_end()
        capsys.readouterr()
    assert capsys.readouterr().out == ""


def test_an_error_ends_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telling, "EVERY_S", 0.01)
    with pytest.raises(ValueError), Telling("loading"):
        raise ValueError
    _wait_for_the_end()


def test_a_quick_start_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with Telling("loading"):
        pass
    _wait_for_the_end()
    assert capsys.readouterr().out == ""


def _until(said: str, capsys: pytest.CaptureFixture[str]) -> bool:
    """Whether it says this within a minute."""
    end, text = time.monotonic() + 60, ""
    while said not in text and time.monotonic() < end:
        text += capsys.readouterr().out
    return said in text


def _wait_for_the_end() -> None:
    for thread in threading.enumerate():
        if thread.name == "telling":
            thread.join(60)
            assert not thread.is_alive()
