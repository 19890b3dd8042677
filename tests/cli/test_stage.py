"""`ridedash up --demo-stage`: where it opens a browser, and where it refuses."""

from pathlib import Path

import pytest

from ridedash.cli import stage
from ridedash.cli.errors import CommandError
from ridedash.config import load
from tests.running import running
from tests.test_config import LIVE


def test_the_stage_is_opened_where_the_session_has_a_screen(tmp_path: Path) -> None:
    settings = load({"RIDEDASH_INSTANCE": str(tmp_path)})
    opened: list[str] = []

    def open_(address: str) -> bool:
        opened.append(address)
        return True

    thread = stage.show(settings, {"DISPLAY": ":0"}, open_)
    assert thread is not None
    thread.join(30)
    assert opened == ["http://127.0.0.1:8000/demo/stage"]


def test_without_a_screen_no_browser_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage, "WITH_SCREEN", ())
    settings = load({"RIDEDASH_INSTANCE": str(tmp_path)})
    assert stage.show(settings, {}, lambda _address: pytest.fail("a browser")) is None


def test_live_mode_has_no_stage(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="--demo-stage"):
        stage.require(load(LIVE | {"RIDEDASH_INSTANCE": str(tmp_path)}))


def test_a_demo_on_another_service_has_no_stage(tmp_path: Path) -> None:
    """The pages of the stage answer 404 there, because rides may be real."""
    other = {"RIDEDASH_SERVICE_URL": "http://127.0.0.1:9", "RIDEDASH_INSTANCE": str(tmp_path)}
    with pytest.raises(CommandError, match="RIDEDASH_SERVICE_URL"):
        stage.require(load(other))
    stage.require(load({"RIDEDASH_INSTANCE": str(tmp_path)}))


def test_one_command_leads_to_a_page_on_which_one_press_signs_in(tmp_path: Path) -> None:
    with running(tmp_path / "instance", options=("--demo-stage",)) as demo:
        status, page = demo.get("/demo/stage")
        assert status == 200
        assert f'value="{demo.password}"' in page
        assert f'value="{demo.password}"' not in demo.get("/sign-in?next=/history")[1]
