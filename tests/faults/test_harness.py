"""Fault rows: limits are as in the matrix, verdicts can fail, a stopped run keeps its rows."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from bench.faults import crashing, life, rows_busy_year, scoreboard
from bench.faults.__main__ import main, print_and_store
from bench.faults.checking import check
from bench.faults.crashing import LOCKED, POINTS, READY, CrashRun, Tally, crash_run
from bench.faults.desk import as_json, database
from bench.faults.double import LedgerFile
from bench.faults.life import LEDGER
from bench.faults.rows_busy_year import judged, soaked
from bench.faults.rows_crashes import met, needed, verdict
from bench.faults.rows_restore import restored_sqlite
from bench.faults.scoreboard import Case, Missing, Row, RowResult, Verdict, row
from ridedash.rides.journals import restore
from ridedash.rides.journals.sent_journal import SentJournal
from ridedash.rides.orders.place import OfferStale
from ridedash.store.database.database import CommitUnknown, Database, DatabaseBusy
from ridedash.store.orders import Offer, Order, OrderState
from tests.databases import SQLITE, new_database

MATRIX_S = 5.0  # row 23: a request waits no longer than this for another writer


@pytest.mark.database
def test_a_writer_waits_no_longer_for_another_than_the_matrix_allows(tmp_path: Path) -> None:
    db = Database(new_database(tmp_path, SQLITE))
    with db.engine.connect() as line:
        assert line.exec_driver_sql("PRAGMA busy_timeout").scalar_one() <= MATRIX_S * 1000
    db.close()


def test_a_stopped_run_keeps_its_finished_rows(tmp_path: Path) -> None:
    def stopped() -> Iterator[RowResult]:
        yield RowResult(
            Row(1, "first", run=lambda _case: Verdict(3)), seed=7, seconds=1.0, verdict=Verdict(3)
        )
        raise KeyboardInterrupt

    file = tmp_path / "faults.json"
    with pytest.raises(KeyboardInterrupt):
        print_and_store(stopped(), {"command": "python -m bench.faults", "asked": 2}, file)
    stored = json.loads(file.read_text())
    assert [(row["fault"], row["tried"], row["verdict"]) for row in stored["rows"]] == [
        ("first", 3, "holds")
    ]
    assert stored["at"]
    assert stored["commit"]
    assert (stored["command"], stored["asked"]) == ("python -m bench.faults", 2)


def test_a_row_that_tried_nothing_fails() -> None:
    assert not Verdict(0).holds
    assert Verdict(1).holds


def test_rows_that_are_unknown_or_all_skipped_are_no_success(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(_case: Case) -> Verdict:
        raise Missing("no server on this machine")

    known = [Row(1, "skipped", run=missing), Row(2, "runs", run=lambda _case: Verdict(3))]
    monkeypatch.setattr(
        scoreboard, "rows", lambda numbers, **_: [each for each in known if each.number in numbers]
    )
    results = {rows: main(["--rows", rows]) for rows in ("1", "2", "1,2", "2,4711")}
    assert results == {"1": 1, "2": 0, "1,2": 0, "2,4711": 2}


def test_a_second_row_of_the_same_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoreboard, "_rows", {})
    row(1, "first")(lambda _case: Verdict(1))
    with pytest.raises(ValueError, match="two rows are called '01 first'"):
        row(1, "first")(lambda _case: Verdict(2))


@pytest.fixture
def run(tmp_path: Path) -> Iterator[CrashRun]:
    case = Case(7, random.Random(7), tmp_path, short=True)
    with database(case) as url, crash_run(case, url, "run", CrashRun) as made:
        yield made


@pytest.mark.database
def test_a_press_in_another_process_dies_at_its_fail_point_and_the_form_finds_its_order(
    run: CrashRun,
) -> None:
    request = run.desk.request("booked")
    pid = run.nursery.spawn(run.desk.life(request=as_json(request), point=READY))
    assert run.nursery.wait(pid, 10.0) == -9
    (order,) = run.desk.orders()
    assert run.desk.send("booked", request).order_id == order.id
    assert len(run.desk.orders()) == 1


class Least(random.Random):
    """Each chance comes true: `random()` is always 0."""

    def random(self) -> float:
        return 0.0


@pytest.mark.database
def test_a_press_in_another_process_that_ends_with_an_error_is_noticed(
    run: CrashRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crashing, "as_json", lambda request: {**as_json(request), "offer_id": 99})
    run.people_do(Least())
    assert run.tally.exits
    assert "ended with" in verdict(run.tally).note
    assert verdict(run.tally).ok is False


@pytest.mark.database
@pytest.mark.parametrize("error", [DatabaseBusy(), CommitUnknown(), OfferStale(Offer(id=1))])
def test_a_press_in_another_process_may_find_the_database_gone_or_come_too_late(
    error: Exception, run: CrashRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process ends without an error, and the form is sent again."""

    def gone(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(life, "place", gone)
    run.desk.life(request=as_json(run.desk.request("booked"))).run()


@pytest.mark.database
def test_an_answer_decides_how_its_order_ends_once_a_worker_has_journalled_it(
    run: CrashRun,
) -> None:
    desk, ledger = run.desk, LedgerFile(run.desk.folder / LEDGER)
    assert desk.press("refused")
    (mtx,) = [order.mtx for order in desk.orders()]
    in_doubt = update(Order).values(state=OrderState.UNKNOWN, attempt=1)
    with desk.db.write() as s:
        s.execute(in_doubt)
    ledger.note("call", mtx=mtx, means="REJECTED")
    ledger.note("read", mtx=mtx)
    assert not check(desk, quiet=True)  # the worker was killed before it wrote the answer
    ledger.note("journalled", mtx=mtx, attempt=1)
    assert check(desk, quiet=True).forgotten == 1
    with desk.db.write() as s:
        s.execute(in_doubt.values(attempt=2))  # sent again, and this time without an answer
    assert not check(desk, quiet=True)


def test_kills_that_reached_no_fail_point_prove_nothing(tmp_path: Path) -> None:
    tally, short = Tally(), needed(Case(7, random.Random(7), tmp_path, short=True))
    long = needed(Case(7, random.Random(7), tmp_path, short=False))
    tally.kills["random"], tally.found.states["BOOKED"] = 5, 1
    assert not met(tally, short).ok
    tally.kills["order.sent"] += 1
    assert met(tally, short).ok
    assert "never met order.claimed, " in met(tally, long).note
    tally.kills.update(POINTS)
    tally.kills[LOCKED], tally.presses[READY] = 1, 1
    assert met(tally, long).ok
    del tally.found.states["BOOKED"]
    assert not met(tally, short).ok


def soak(mb: float, descriptors: float, *, worked: bool = True) -> dict[str, Any]:
    each = {"mb_an_hour": mb, "descriptors_an_hour": descriptors}
    return {
        "flat": mb < 1 and descriptors < 1,
        "worked": worked,
        "web": each,
        "worker": {"mb_an_hour": 0.0, "descriptors_an_hour": 0.0},
    }


@pytest.mark.parametrize(
    ("mb", "descriptors", "minutes", "flat"),
    [
        (0.5, 0.0, 60, True),
        (2.0, 0.0, 60, False),
        (0.5, 3.0, 60, False),
        (40.0, 4.0, 6, True),  # still warming up
        (400.0, 0.0, 6, False),
        (0.5, 600.0, 6, False),
    ],
)
def test_a_soak_is_judged_strictly_after_an_hour_and_for_large_leaks_sooner(
    mb: float, descriptors: float, minutes: float, flat: bool
) -> None:
    ok, summary = judged(soak(mb, descriptors), minutes)
    assert ok is flat
    assert summary.startswith(f"{minutes:g} minutes")


def test_a_soak_of_a_program_that_did_nothing_is_not_flat() -> None:
    ok, summary = judged(soak(0.0, 0.0, worked=False), 60)
    assert not ok
    assert "did not work" in summary


@pytest.mark.parametrize(("last", "holds"), [(3.5, True), (2.5, False)])
def test_a_soak_that_ended_early_fails(
    last: float, holds: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = [{"minute": last, "pages": 300}]
    report = {"samples": samples, "wrong": {}, "verdict": soak(0.5, 0.0)}
    monkeypatch.setattr(rows_busy_year, "_reported", lambda *_: report)
    assert soaked(Case(7, random.Random(7), tmp_path, short=True)).holds is holds


def test_a_soak_that_was_too_short_has_no_verdict() -> None:
    assert judged({"flat": None, "why": "too short to tell"}, 1) == (
        False,
        "1 minutes: too short to tell",
    )


@pytest.mark.parametrize("broken", ["the claim asks no journal", "no comparison"])
def test_a_restore_without_the_journal_is_noticed_by_its_row(
    broken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row 37 counts a booking that is made twice, and one that no order has."""
    if broken == "the claim asks no journal":
        monkeypatch.setattr(SentJournal, "knows", lambda *_: False)
        monkeypatch.setattr(restore.RestoreWatch, "_last_state", lambda _: None)
    monkeypatch.setattr(restore, "catch_up", lambda *_: (0, None))
    case = Case(3, random.Random(3), tmp_path, short=True)
    found = restored_sqlite(case)
    assert not found.holds
    assert found.lost
    assert bool(found.doubled) == (broken == "the claim asks no journal")
