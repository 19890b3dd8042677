"""`ridedash staff`: the way back into a house where nobody can sign in any more."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from ridedash.config import load
from ridedash.store import passwords, properties, sign_in_tries, sign_ins
from ridedash.store.audit import AuditRow
from ridedash.store.database.database import Database
from ridedash.store.invitations import invite_to_new_password, open_invitation
from ridedash.store.models.people import SignIn, Staff
from tests.cli.in_process import Done, run
from tests.databases import migrated_instance, settings_for

pytestmark = pytest.mark.database

PHRASE: Final = "seven herons over the lagoon"
OTHER: Final = "eleven otters beneath the pier"
NOW: Final = datetime.now(UTC)


class House:
    """An installation with a hotel of a manager and a concierge, and another house."""

    def __init__(self, folder: Path) -> None:
        migrated_instance(folder)
        self.folder = folder
        self.db = Database(
            load({"RIDEDASH_INSTANCE": str(folder)} | settings_for(folder)).database_url
        )
        with self.db.write() as s:
            hotel = properties.add_property(s, "Grand Hotel", "UTC", NOW)
            other = properties.add_property(s, "Other House", "UTC", NOW)
            for home, name, role in (
                (hotel, "Duty manager", "manager"),
                (hotel, "Desk Otter", "concierge"),
                (other, "Desk Heron", "concierge"),
            ):
                properties.add_staff(s, home.id, name, passwords.hashed(PHRASE), role, NOW)

    def run(self, *words: str, given: str = "", **settings: str) -> Done:
        return run(self.folder, "staff", *words, given=given, **settings)

    def add(self, name: str, role: str = "concierge", home: str = "Grand Hotel") -> Done:
        words = ("add", "--property", home, "--name", name, "--role", role)
        return self.run(*words, given=PHRASE + "\n")

    def of(self, name: str = "Duty manager") -> Staff:
        with self.db.read() as s:
            found = properties.anybody(s, name)
            assert found is not None
            return found

    def signed_in(self, name: str = "Duty manager") -> None:
        with self.db.write() as s:
            sign_ins.open_sign_in(s, self.of(name).id, NOW)

    def count(self, table: Any) -> int:
        with self.db.read() as s:
            return int(s.query(table).count())

    def audited(self) -> list[tuple[str, str, str, Any]]:
        with self.db.read() as s:
            rows = s.query(AuditRow).order_by(AuditRow.id)
            return [(row.who, row.what, row.subject, row.property_id) for row in rows]


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    with closing(made.db):
        yield made


def test_the_list_has_everybody_with_role_property_and_state(house: House) -> None:
    house.signed_in()
    assert house.run("disable", "--name", "desk heron").returncode == 0
    lines = house.run("list").stdout.splitlines()
    assert [" ".join(line.split()) for line in lines] == [
        "Desk Otter concierge Grand Hotel can sign in",
        "Duty manager manager Grand Hotel signed in: 1",
        f"Desk Heron concierge Other House disabled since {datetime.now(UTC):%Y-%m-%d}",
    ]
    assert "Heron" not in house.run("list", "--property", "Grand Hotel").stdout
    wrong = house.run("list", "--property", "Grand Hotle")
    assert (wrong.returncode, "Did you mean 'Grand Hotel'?" in wrong.stderr) == (2, True)


def test_a_house_whose_only_manager_lost_the_password_gets_in_again(house: House) -> None:
    house.signed_in()
    with house.db.write() as s:
        _row, secret = invite_to_new_password(s, s.get_one(Staff, house.of().id), None, NOW)
        for _ in range(9):
            sign_in_tries.sign_in_allowed(s, "Duty manager", "198.51.100.1", NOW)
    browsers = house.of().browsers
    weak = house.run("password", "--name", "duty MANAGER", given="password1234\n")
    assert (weak.returncode, "guessing program" in weak.stderr) == (2, True)
    done = house.run("password", "--name", "duty MANAGER", given=OTHER + "\n")
    assert done.returncode == 0, done.stderr
    assert "Duty manager has a new password, and is signed out everywhere." in done.stdout
    row = house.of()
    assert passwords.matches(row.password_hash, OTHER)
    assert house.count(SignIn) == 0
    assert row.browsers != browsers, "no browser is known any more"
    with house.db.write() as s:
        now = datetime.now(UTC)
        assert open_invitation(s, secret, now) is None
        assert sign_in_tries.sign_in_allowed(s, "Duty manager", "198.51.100.2", now) == 0.0
    assert house.audited() == [("cli", "password.set", f"staff:{row.id}", row.property_id)]
    assert OTHER not in done.stdout + done.stderr


def test_a_link_lets_a_person_set_their_own_password(house: House) -> None:
    done = house.run("password", "--name", "Duty manager", "--link", PUBLIC_URL="https://desk.test")
    assert done.returncode == 0, done.stderr
    link = done.stdout.split()[0]
    with house.db.read() as s:
        row = open_invitation(s, link.rsplit("/", 1)[1], datetime.now(UTC))
        assert row is not None
        assert row.staff_id == house.of().id
    assert passwords.matches(house.of().password_hash, PHRASE), "until the link is used"
    house.run("disable", "--name", "Duty manager")
    assert house.run("password", "--name", "Duty manager", "--link").returncode == 2


def test_disabling_ends_the_sign_ins_and_enabling_lets_in_again(house: House) -> None:
    house.signed_in("Desk Otter")
    assert house.run("disable", "--name", "Desk Otter").returncode == 0
    assert house.count(SignIn) == 0
    again = house.run("disable", "--name", "Desk Otter")
    assert (again.returncode, "is disabled already" in again.stderr) == (2, True)
    set_anew = house.run("password", "--name", "Desk Otter", given=OTHER + "\n")
    assert "`ridedash staff enable` lets them sign in again" in set_anew.stdout
    assert house.run("enable", "--name", "Desk Otter").returncode == 0
    assert house.run("enable", "--name", "Desk Otter").returncode == 2
    assert house.of("Desk Otter").disabled_at is None
    assert [what for _who, what, _subject, _home in house.audited()] == [
        "staff.disabled",
        "password.set",
        "staff.enabled",
    ]


def test_roles_go_up_and_down_step_by_step_or_to_the_one_that_is_named(house: House) -> None:
    house.signed_in("Desk Otter")
    roles = []
    for words in (("promote",), ("promote",), ("demote",), ("promote",), ("demote", "--to")):
        to = ("concierge",) if "--to" in words else ()
        assert house.run(*words, *to, "--name", "Desk Otter").returncode == 0
        roles.append(house.of("Desk Otter").role)
    assert roles == ["manager", "admin", "manager", "admin", "concierge"]
    assert house.count(SignIn) == 0
    for words, why in (
        (("demote",), "is a concierge already"),
        (("demote", "--to", "manager"), "is a concierge already"),
        (("promote", "--to", "concierge"), "makes them a manager or an admin"),
    ):
        refused = house.run(*words, "--name", "Desk Otter")
        assert (refused.returncode, why in refused.stderr) == (2, True), refused.stderr
    assert {what for _who, what, _subject, _home in house.audited()} == {"staff.role"}


@pytest.mark.parametrize("action", ["disable", "demote"])
def test_who_takes_the_last_manager_from_a_house_is_warned(house: House, action: str) -> None:
    done = house.run(action, "--name", "Duty manager")
    assert done.returncode == 0
    assert "warning: nobody manages Grand Hotel any more" in done.stderr
    assert "staff promote" in done.stderr
    assert house.run("promote", "--name", "Desk Otter").stderr == ""
    assert house.add("Night manager", "manager").returncode == 0
    assert house.run(action, "--name", "Desk Otter").stderr == "", "the night manager is left"
    assert house.add("Head office", "admin", "Other House").returncode == 0
    assert house.run(action, "--name", "Night manager").stderr == "", "an admin is left"


def test_a_person_that_is_not_there_is_named_with_the_closest(house: House) -> None:
    for action in ("password", "disable", "enable", "promote", "demote"):
        done = house.run(action, "--name", "Desk Oter", given=OTHER + "\n")
        assert done.returncode == 2
        assert "nobody signs in as 'Desk Oter'. Did you mean 'Desk Otter'?" in done.stderr
    assert house.audited() == []


@pytest.mark.parametrize(
    ("name", "why"),
    [
        *((name, "--name is empty") for name in ("", " ", "\u200d", "\u034f", "\ufeff", "\u3164")),
        *((name, "--name is empty") for name in ("\u200d\u034f\ufeff", "\u2800", "\ufe0f", "…")),
        ("Desk \u041etter", "letters of several alphabets"),
        ("D\u0435sk Otter", "letters of several alphabets"),
        ("Desk Hеrоn", "letters of several alphabets"),
        ("desk otter", "already signs in"),
        ("Desk\u200d Otter", "already signs in"),
        ("De\u034fsk Otter", "already signs in"),
        ("Ｄｅｓｋ　Ｏｔｔｅｒ", "already signs in"),
        ("Desk 0tter", "looks like 'Desk Otter'"),
        ("x" * 61, "at most 60 characters"),
    ],
)
def test_a_name_that_is_empty_or_looks_like_a_colleagues_is_refused(
    house: House, name: str, why: str
) -> None:
    people = house.count(Staff)
    done = house.add(name)
    assert done.returncode == 2
    assert why in done.stderr, done.stderr
    assert house.count(Staff) == people


@pytest.mark.parametrize(
    ("name", "stored"),
    [
        ("Jose\u0301 Garci\u0301a", "Jos\u00e9 Garc\u00eda"),
        ("  Zoë   Müller ", "Zoë Müller"),
        ("Анна Иванова", "Анна Иванова"),
        ("Anna Иванова", "Anna Иванова"),
        ("山田サブロー", "山田サブロー"),
        ("김철수", "김철수"),
        ("陳小明 David", "陳小明 David"),
        ("علی\u200cرضا", "علی\u200cرضا"),
        ("क्\u200dष अर्जुन", "क्\u200dष अर्जुन"),
        ("Nguyễn Thị Ánh", "Nguyễn Thị Ánh"),
        ("O'Connor-Śmith 2", "O'Connor-Śmith 2"),
        ("Ann\u200da\ufeff", "Anna"),
    ],
)
def test_names_of_all_scripts_are_taken_composed_and_sign_in_as_they_are_typed(
    house: House, name: str, stored: str
) -> None:
    assert house.add(name).returncode == 0
    assert house.of(stored).name == stored
    assert house.of(name).name == stored, "in the form in which it was typed, too"


def test_a_property_without_a_name_is_not_made(house: House) -> None:
    for name in ("", " \u200d", "\ufeff"):
        words = ("add", "--new-property", "--property", name, "--name", "otter")
        done = house.run(*words, given=PHRASE + "\n")
        assert (done.returncode, "--property is empty" in done.stderr) == (2, True)


def test_a_person_of_an_earlier_release_still_signs_in_with_their_name(house: House) -> None:
    """Names were stored as they were typed: decomposed ones too."""
    with house.db.write() as s:
        home = s.query(Staff).first()
        assert home is not None
        old = properties.add_staff(s, home.property_id, "Jose\u0301", "hash", "concierge", NOW)
        old.sign_in_name = "jose\u0301"
    with house.db.read() as s:
        for typed in ("Jose\u0301", "JOS\u00c9", "jos\u00e9"):
            found = properties.find_staff(s, typed)
            assert found is not None, typed
            assert found.id == old.id
