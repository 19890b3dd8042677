"""The commands after a restore, and doctor's line about it."""

import argparse
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from ridedash.cli.errors import CommandError
from ridedash.cli.restores import accept_restore, finding, restored_at
from ridedash.config import load
from ridedash.rides.journals.answer_journal import AnswerJournal
from ridedash.rides.worker import Worker
from ridedash.services import Services, build_services
from ridedash.store import restores
from ridedash.store.models.orders import Heartbeat
from tests.cli.in_process import run
from tests.databases import migrated_instance
from tests.rides.desk_world import World
from tests.rides.dumps import dump, restore
from tests.rides.orders.test_due import items, planned

MINUTE = timedelta(minutes=1)
NO_OPTIONS = argparse.Namespace(anyway=False)


class Installation:
    """A world with a worker; its journals are in the instance folder that the commands read."""

    def __init__(self, folder: Path, database: str) -> None:
        self.world = World(folder / "world", database)
        self.instance = folder / "instance"
        settings = {
            "RIDEDASH_INSTANCE": str(self.instance),
            "RIDEDASH_DATABASE_URL": database,
        }
        self.services: Services = build_services(load(settings), self.world.clock)

    def step(self, count: int = 1) -> None:
        """Start a worker, run that many rounds, and end it."""
        with closing(AnswerJournal(self.instance / "blackbox", slots=4)) as journal:
            worker = Worker(replace(self.world.runtime), journal)
            for _ in range(count):
                worker.step()
                self.world.clock.go(5)


@pytest.fixture
def here(tmp_path: Path, database: str) -> Iterator[Installation]:
    made = Installation(tmp_path, database)
    yield made
    made.services.db.close()
    made.world.close()


def restored(here: Installation) -> tuple[int, int]:
    """Restore a backup without the last order. The id of a planned ride; how many are booked."""
    order_id = planned(here.world)
    here.step()
    backup = dump(here.world.db)
    here.world.place()
    here.step(2)
    restore(here.world.db, backup)
    return order_id, len(here.world.service.bookings)


def test_doctor_says_that_the_database_knows_every_order(here: Installation) -> None:
    assert finding(here.services).ok
    here.world.place()
    here.step(2)
    found = finding(here.services)
    assert (found.ok, found.text) == (
        True,
        "the database knows what was sent from here (1 orders)",
    )


def test_doctor_says_so_when_the_database_is_lost_during_the_check(
    here: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(*_values: object) -> None:
        raise OperationalError("SELECT", {}, Exception("the server closed the connection"))

    monkeypatch.setattr(restores, "waiting", lost)
    found = finding(here.services)
    assert (found.ok, found.text) == (
        False,
        "the database gave no answer (OperationalError): run it again",
    )


def test_doctor_notices_a_restored_database_and_changes_nothing(here: Installation) -> None:
    order_id, _ = restored(here)
    found = finding(here.services)
    assert not found.ok
    assert "the database is older than the journals; sent orders that it lacks: 1" in found.text
    assert items(here.world, order_id) == {}


def test_doctor_notices_that_the_journals_are_lost(here: Installation) -> None:
    here.world.place()
    here.step(2)
    order_id = planned(here.world)
    shutil.rmtree(here.instance / "blackbox")
    here.world.clock.go(60)
    found = finding(here.services)
    assert not found.ok
    assert "names none of them" in found.text
    here.step()
    assert items(here.world, order_id) == {"held": None}
    held = finding(here.services)
    assert not held.ok
    assert held.text.startswith("the journals of what was sent are lost")
    assert "Planned rides that are held: 1" in held.text


def test_doctor_on_a_machine_without_worker_asks_no_journal_while_another_works(
    here: Installation,
) -> None:
    here.world.place()
    here.step(3)
    shutil.rmtree(here.instance / "blackbox")
    assert finding(here.services).ok


def test_doctor_says_what_waits_after_a_worker_has_noticed(here: Installation) -> None:
    restored(here)
    here.step()
    found = finding(here.services)
    assert not found.ok
    assert "Planned rides that are held: 1; sent orders that it lacks: 1" in found.text
    assert "accept-restore" in found.text


def test_accepting_compares_with_the_journals_first_so_a_worker_holds_nothing_again(
    here: Installation, capsys: pytest.CaptureFixture[str]
) -> None:
    order_id, booked = restored(here)
    accept_restore(here.services, NO_OPTIONS)
    printed = capsys.readouterr().out
    assert "Planned rides that are ordered when they are due: 1" in printed
    assert "Sent orders that it lacks: 1" in printed
    assert f"this machine: 1 orders in {here.instance / 'blackbox'}" in printed
    here.step(2)
    assert items(here.world, order_id) == {}
    assert len(here.world.service.bookings) == booked
    accept_restore(here.services, NO_OPTIONS)
    assert "No restore waits" in capsys.readouterr().out


def test_a_restore_is_not_accepted_before_the_other_machines_have_compared(
    here: Installation, capsys: pytest.CaptureFixture[str]
) -> None:
    """The journals of another machine are on its own disk."""
    world = here.world
    with world.db.write() as s:
        s.add(Heartbeat(worker="desk-2:77:ab12cd", beat_at=world.clock()))
    order_id, _ = restored(here)
    here.step()
    world.clock.go(31)
    with pytest.raises(CommandError, match=r"desk-2 .* start a worker there first"):
        accept_restore(here.services, NO_OPTIONS)
    assert items(world, order_id) == {"held": None}
    with world.db.write() as s:
        s.add(Heartbeat(worker="desk-2:78:ef34ab", beat_at=world.clock()))
    accept_restore(here.services, NO_OPTIONS)
    assert items(world, order_id) == {}
    assert "Accepted" in capsys.readouterr().out


def test_a_restore_is_accepted_without_a_machine_that_is_lost(here: Installation) -> None:
    with here.world.db.write() as s:
        s.add(Heartbeat(worker="desk-2:77:ab12cd", beat_at=here.world.clock()))
    order_id, _ = restored(here)
    here.step()
    here.world.clock.go(31)
    accept_restore(here.services, argparse.Namespace(anyway=True))
    assert items(here.world, order_id) == {}


def test_a_restore_is_not_accepted_by_a_machine_whose_journals_are_lost(
    here: Installation,
) -> None:
    here.world.place()
    here.step(2)
    order_id = planned(here.world)
    restored_at(here.services, argparse.Namespace(moment=(here.world.clock() - MINUTE).isoformat()))
    shutil.rmtree(here.instance / "blackbox")
    with pytest.raises(CommandError, match="nothing was compared"):
        accept_restore(here.services, NO_OPTIONS)
    assert items(here.world, order_id) == {"held": None}
    accept_restore(here.services, argparse.Namespace(anyway=True))
    assert items(here.world, order_id) == {}


def test_a_declared_restore_holds_what_is_planned(
    here: Installation, capsys: pytest.CaptureFixture[str]
) -> None:
    order_id = planned(here.world)
    here.step()
    restored_at_text = (here.world.clock() - timedelta(minutes=2)).isoformat()
    restored_at(here.services, argparse.Namespace(moment=restored_at_text))
    assert "are held: 1," in capsys.readouterr().out
    assert items(here.world, order_id) == {"held": None}
    here.step()
    assert items(here.world, order_id) == {"held": None}


@pytest.mark.parametrize("text", ["yesterday", "", "0001-01-01T00:00", "9999-12-31T23:59", "15:28"])
def test_an_impossible_time_is_refused_and_nothing_is_held(here: Installation, text: str) -> None:
    order_id = planned(here.world)
    with pytest.raises(CommandError):
        restored_at(here.services, argparse.Namespace(moment=text))
    assert items(here.world, order_id) == {}


@pytest.mark.database
def test_the_commands_are_on_the_command_line(tmp_path: Path) -> None:
    migrated_instance(tmp_path)
    done = run(tmp_path, "db", "accept-restore")
    assert (done.returncode, done.stderr) == (0, "")
    assert "No restore waits" in done.stdout
    done = run(tmp_path, "db", "restored-at", "2026-13-01")
    assert (done.returncode, done.stdout) == (2, "")
    assert "is no moment" in done.stderr
    assert "are held: 0," in run(tmp_path, "db", "restored-at", "2026-01-01T10:00").stdout
