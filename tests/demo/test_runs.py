"""Runs of stories: how many are stored, which values, and how long a run has waited."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from ridedash.demo.stories import runs as kept_runs
from ridedash.demo.stories.runs import RESUMED, STORED_RUNS, RunPhase, Runs, StoryRun

NOON = datetime(2026, 3, 5, 12, tzinfo=UTC)


def after(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def waiting(runs: Runs) -> StoryRun:
    changed = runs.update(runs.begin("receipt", 1, 1, NOON), RunPhase.WAITING, NOON)
    assert changed is not None
    return changed


def test_the_latest_runs_are_stored_and_no_more(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    begun = [runs.begin("receipt", 1, 1, after(n)) for n in range(STORED_RUNS + 10)]
    assert runs.find(begun[9].id) is None
    found = [runs.find(each.id) for each in begun[10:]]
    assert all(found)
    assert [each.phase for each in found[-2:] if each] == [RunPhase.DROPPED, RunPhase.TODO]


def test_a_story_that_was_not_polled_has_not_waited_longer(tmp_path: Path) -> None:
    """A presenter who pauses for minutes, or shuts the laptop, finds the story as it was."""
    runs = Runs(tmp_path)
    run = waiting(runs)
    for second in (1, 2, 3):
        run = runs.ask(run, after(second))
    assert run.phase_at == NOON
    left = runs.find(run.id)
    assert left is not None
    run = runs.ask(left, after(600))
    runs.ask(left, after(601))  # another window, which read the run before that
    found = runs.find(run.id)
    assert found is not None
    assert found.phase_at == run.phase_at == after(597)
    assert found.values == run.values == {RESUMED: after(600).timestamp()}


def test_an_action_is_remembered_also_when_its_step_was_skipped_meanwhile(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    run = runs.begin("receipt", 1, 1, NOON)
    assert runs.update(run, RunPhase.TODO, NOON, step=1, told="x")
    assert runs.update(run, RunPhase.WAITING, NOON, orders={"ride": 7}) is None
    runs.store_values(run, orders={"ride": 7})
    found = runs.find(run.id)
    assert found is not None
    assert (found.step, found.order("ride"), found.values["told"]) == (1, 7, "x")


def test_a_file_that_can_not_be_used_has_no_story_for_pages(tmp_path: Path) -> None:
    (tmp_path / kept_runs.FILE).mkdir()
    assert Runs(tmp_path).present(1) is None
