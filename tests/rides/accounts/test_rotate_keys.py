"""Rotating keys: every secret is encrypted with the first key, batch by batch, and none is lost."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from ridedash.rides.accounts import rotate_keys
from ridedash.rides.accounts.rotate_keys import Rotated, rotate
from ridedash.store.accounts import add_account
from ridedash.store.audit import AuditRow
from ridedash.store.encryption import TokenVault, new_key
from ridedash.store.models.people import Account, LinkStart
from tests.rides.desk_world import KEYS, World

pytestmark = pytest.mark.database
SECOND = "k2:" + new_key()
BOTH = TokenVault(f"{SECOND},{KEYS}")


@pytest.fixture
def world(tmp_path: Path, database: str) -> Iterator[World]:
    """A desk whose changes need not raise a version: no page shows which key a secret has."""
    made = World(tmp_path, database)
    yield made
    made.close()


def keys(world: World) -> list[str]:
    """The names of the keys of all access tokens, in the order of their accounts."""
    with world.db.read() as s:
        stored = s.scalars(select(Account.access_token_enc).order_by(Account.id))
        return [each.partition(".")[0] for each in stored if each]


def accounts(world: World, count: int) -> None:
    with world.db.write() as s:
        for n in range(count):
            add_account(s, world.vault, world.property_id, f"A{n}", f"token {n}", world.clock())


def entry(world: World) -> tuple[str, dict[str, int]]:
    with world.db.read() as s:
        row = s.scalars(select(AuditRow).order_by(AuditRow.id.desc())).first()
        assert row is not None
        assert (row.who, row.what, row.subject) == ("cli", "keys.rotated", "keys")
        return row.result, row.facts


def test_all_secrets_are_encrypted_anew_in_batches_and_are_read_as_before(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rotate_keys, "BATCH", 2)
    accounts(world, 4)
    with world.db.write() as s:
        facts = {"property_id": world.property_id, "staff_id": world.staff_id}
        until = world.clock() + timedelta(minutes=9)
        row = LinkStart(state_hash="h", sign_in_hash="x", expires_at=until, **facts)
        row.account_id = world.account_id
        row.verifier_enc = world.vault.encrypt("verifier", "link_starts", "h", "verifier")
        s.add(row)
    with world.worker() as worker:
        order_id = world.book(worker)
    ride = world.ride(order_id)
    code = world.vault.encrypt("4821", "rides", ride.id, "otp")
    with world.db.write() as s:
        s.get_one(type(world.page(order_id).order), order_id).version += 1
        s.get_one(type(ride), ride.id).otp_enc = code
    # five access tokens, the refresh token of the first account, a start code, a verifier
    assert rotate(world.db, BOTH, world.clock) == Rotated(done=8, left=0)
    assert entry(world) == ("ok", {"done": 8, "left": 0})
    assert keys(world) == ["k2"] * 5
    assert rotate(world.db, BOTH, world.clock) == Rotated(done=0, left=0)
    new = TokenVault(SECOND)
    with world.db.read() as s:
        rows = s.scalars(select(Account).order_by(Account.id)).all()
        tokens = [
            new.decrypt(r.access_token_enc or "", "accounts", r.id, "access_token") for r in rows
        ]
        assert tokens == ["good", *(f"token {n}" for n in range(4))]
        verifier = s.get_one(LinkStart, "h").verifier_enc
        assert new.decrypt(verifier, "link_starts", "h", "verifier") == "verifier"
    otp = world.ride(order_id).otp_enc
    assert new.decrypt(otp or "", "rides", ride.id, "otp") == "4821"


def test_what_no_key_reads_is_left_and_counted(world: World) -> None:
    accounts(world, 2)
    with world.db.write() as s:
        s.get_one(Account, world.account_id).access_token_enc = "k9.aa.bb"
    assert rotate(world.db, BOTH, world.clock) == Rotated(done=3, left=1)
    assert entry(world) == ("left", {"done": 3, "left": 1})
    assert keys(world) == ["k9", "k2", "k2"]


def test_a_secret_that_was_changed_after_its_batch_was_read_stays_as_it_is(world: World) -> None:
    with world.db.read() as s:
        row = s.get_one(Account, world.account_id)
    secret, read = rotate_keys.SECRETS[0], [(row.id, row.access_token_enc or "")]
    changed = world.vault.encrypt("newer", "accounts", row.id, "access_token")
    with world.db.write() as s:
        s.get_one(Account, row.id).access_token_enc = changed
    assert rotate_keys._encrypt_batch(world.db, BOTH, secret, read) == 0
    with world.db.read() as s:
        assert s.get_one(Account, row.id).access_token_enc == changed
