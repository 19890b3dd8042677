"""`ridedash erase` and `ridedash keys rotate` on the command line."""

from pathlib import Path

import pytest

from ridedash.config import load
from ridedash.secrets_file import demo_secrets
from ridedash.store import properties
from ridedash.store.database.database import Database
from ridedash.store.encryption import new_key
from ridedash.store.models.people import Guest
from tests.cli.in_process import run
from tests.databases import migrated_instance, settings_for

pytestmark = pytest.mark.database


@pytest.fixture
def instance(tmp_path: Path) -> Path:
    folder = tmp_path / "instance"
    migrated_instance(folder)
    words = ("staff", "add", "--new-property", "--property", "Hotel A", "--name", "otter")
    words += ("--country", "IN")
    assert run(folder, *words, given="seven herons over the lagoon\n").returncode == 0
    return folder


def database(instance: Path) -> Database:
    return Database(
        load({"RIDEDASH_INSTANCE": str(instance)} | settings_for(instance)).database_url
    )


def test_a_guest_is_erased_by_a_phone_in_any_notation(instance: Path) -> None:
    db = database(instance)
    with db.write() as s:
        prop = properties.properties(s)[0]
        s.add(
            Guest(
                property_id=prop.id,
                name="Guest Quill",
                phone="+912227783300",
                created_at=prop.created_at,
            )
        )
    done = run(instance, "erase", "--property", "Hotel A", "--guest", "022 2778 3300")
    assert (done.returncode, done.stdout) == (
        0,
        "Erased: 1 guest records; 0 rides keep their figures.\n",
    )
    with db.read() as s:
        guest = s.query(Guest).one()
    assert guest.phone is None
    assert guest.name != "Guest Quill"
    again = run(instance, "erase", "--property", "Hotel A", "--guest", "022 2778 3300")
    assert again.returncode == 2
    assert "Nothing was erased" in again.stderr
    unclear = run(instance, "erase", "--property", "Hotel A", "--guest", "Guest Quill")
    assert "--room" in unclear.stderr
    db.close()


def test_keys_are_rotated_and_the_rest_is_reported(instance: Path) -> None:
    link = ("account", "link", "--property", "Hotel A", "--label", "House", "--access-token-stdin")
    assert run(instance, *link, given="token\n").returncode == 0
    old, fresh = demo_secrets(instance)["token_keys"], "k9:" + new_key()
    done = run(instance, "keys", "rotate", RIDEDASH_TOKEN_KEYS=f"{fresh},{old}")
    assert done.stdout.startswith(
        "1 secrets were encrypted anew with the key 'k9'.\nNone still uses an older key.\n"
    )
    lost = run(instance, "keys", "rotate", RIDEDASH_TOKEN_KEYS=old)
    assert lost.returncode == 2
    assert "1 still use an older key." in lost.stdout


def test_an_easily_guessed_password_is_refused(instance: Path) -> None:
    words = ("staff", "add", "--property", "Hotel A", "--name", "wren")
    done = run(instance, *words, given="Password1234\n")
    assert done.returncode == 2
    assert "a guessing program finds that password quickly" in done.stderr
