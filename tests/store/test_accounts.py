"""Linked accounts: the default one, their tokens, and whether our keys decrypt them."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from ridedash.store import accounts
from ridedash.store.accounts import add_account, tokens_can_be_read
from ridedash.store.encryption import TokenVault, new_key
from ridedash.store.models.people import Account
from ridedash.store.properties import add_property
from tests.rides.desk_world import START, World

pytestmark = pytest.mark.database


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.close()


def test_other_keys_do_not_read_the_tokens_of_an_account(world: World) -> None:
    with world.db.read() as s:
        row = s.get_one(Account, world.account_id)
    assert tokens_can_be_read(row, world.vault)
    assert not tokens_can_be_read(row, TokenVault("k9:" + new_key()))


def test_the_first_account_of_a_property_is_its_default_until_another_is_chosen(
    world: World,
) -> None:
    with world.db.write() as s:
        first = s.get_one(Account, world.account_id)
        other = add_property(s, "Other House", "UTC", START)
        second = add_account(s, world.vault, world.property_id, "Second", "t", START)
        theirs = add_account(s, world.vault, other.id, "Theirs", "t", START)
        assert [row.is_default for row in (first, second, theirs)] == [True, False, True]
        assert (second.state, second.created_at, second.label) == ("ok", START, "Second")
        stored = second.access_token_enc or ""
        assert world.vault.decrypt(stored, "accounts", second.id, "access_token") == "t"
        assert accounts.default_account(s, world.property_id) is first
        accounts.make_default(s, second)
        s.flush()
        s.expire_all()
        assert [row.is_default for row in (first, second, theirs)] == [False, True, True]
        assert accounts.default_account(s, world.property_id) is second
        assert accounts.default_account(s, 1_000) is None
        hidden = [add_account(s, world.vault, world.property_id, n, "t", START) for n in "ab"]
        hidden[0].state, hidden[1].state = "new", "removed"
        assert accounts.accounts_of(s, world.property_id) == [second, first]
        assert accounts.account_of(s, world.property_id, first.id) is first
        assert accounts.account_of(s, other.id, first.id) is None
        assert accounts.account_of(s, world.property_id, 1_000) is None


def test_new_tokens_make_an_account_usable_again_and_end_a_refresh(world: World) -> None:
    with world.db.write() as s:
        row = s.get_one(Account, world.account_id)
        row.state, row.refresh_owner, row.refresh_until = "reconnect", "w", START
        accounts.keep_tokens(row, world.vault, "new", None, 60.0, START)
        assert (row.state, row.refresh_owner, row.refresh_until) == ("ok", None, None)
        assert row.expires_at == START + timedelta(seconds=60)
        assert row.refresh_token_enc is None
        assert row.access_token_enc
        read = world.vault.decrypt(row.access_token_enc, "accounts", row.id, "access_token")
        assert read == "new"
        accounts.keep_tokens(row, world.vault, "new", "again", None, START)
        assert row.expires_at is None
        assert row.refresh_token_enc
        read = world.vault.decrypt(row.refresh_token_enc, "accounts", row.id, "refresh_token")
        assert read == "again"


def test_tokens_are_readable_if_each_that_is_stored_is(world: World) -> None:
    with world.db.read() as s:
        row = s.get_one(Account, world.account_id)
    stored = row.access_token_enc
    for access, refresh, readable in (
        (None, None, True),
        (stored, None, True),
        (stored, "k9.a.b", False),
        (None, "k9.a.b", False),
        ("k9.a.b", None, False),
    ):
        row.access_token_enc, row.refresh_token_enc = access, refresh
        assert tokens_can_be_read(row, world.vault) is readable


def test_an_account_that_is_billed_to_an_affiliate_names_it(world: World) -> None:
    with world.db.write() as s:
        row = s.get_one(Account, world.account_id)
        other = add_account(s, world.vault, world.property_id, "Second", "t", START)
        other.affiliate_uid = "B"
        for stored, named in ((None, None), ("", None), ("A", "A")):
            row.affiliate_uid = stored
            s.flush()
            assert accounts.affiliate_uid_of(s, row.id) == named
        assert accounts.affiliate_uid_of(s, 1_000) is None
