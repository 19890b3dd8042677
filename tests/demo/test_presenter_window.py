"""The presenter's window: its presses reach the stage, and both know of each other."""

from datetime import timedelta

import pytest

from ridedash.demo.presenter_pages import HERE_FOR
from tests.demo.stages import Stage

pytestmark = pytest.mark.database

NEWEST = "/demo/stage/newest.json"
STATE = "/demo/presenter/state.json"


def pressed(stage: Stage, wish: str) -> int:
    sent = {"csrf_token": stage.csrf, "do": wish}
    return stage.web.post("/demo/presenter/press", data=sent).status_code


def test_a_press_reaches_the_stage_with_a_number_of_its_own(stage: Stage) -> None:
    before = stage.web.get(NEWEST).json["wish"]
    assert pressed(stage, "play") == 200
    after = stage.web.get(NEWEST).json["wish"]
    assert after == {"number": before["number"] + 1, "do": "play"}
    assert pressed(stage, "play") == 200  # the same again is another wish
    assert stage.web.get(NEWEST).json["wish"]["number"] == after["number"] + 1


def test_what_no_stage_can_do_is_refused(stage: Stage) -> None:
    assert pressed(stage, "reset") == 400
    assert stage.web.get(NEWEST).json["wish"]["do"] == ""


def test_the_stage_shows_screens_alone_while_a_presenters_window_is_open(stage: Stage) -> None:
    assert stage.web.get(NEWEST).json["presented"] is False
    stage.web.get(STATE)
    assert stage.web.get(NEWEST).json["presented"] is True
    stage.desk.now += HERE_FOR + timedelta(seconds=1)
    assert stage.web.get(NEWEST).json["presented"] is False


def test_the_window_knows_whether_a_stage_is_open_and_plays(stage: Stage) -> None:
    assert "No stage is open" in stage.web.get("/demo/presenter").text
    assert stage.web.get(STATE).json["staged"] is False
    stage.web.get(NEWEST, query_string={"plays": "1"})
    found = stage.web.get(STATE).json
    assert (found["staged"], found["plays"]) == (True, True)
    stage.web.get(NEWEST, query_string={"plays": "0"})
    assert stage.web.get(STATE).json["plays"] is False


def test_the_window_has_the_sentence_and_the_next_one(stage: Stage) -> None:
    stage.press("stories/receipt/start", seed="1")
    found = stage.web.get(STATE).json
    assert found["clock"]["at"]
    assert found["run"]["state"] == "todo"
    assert found["run"]["next"].startswith("A guest at the desk needs a car")
