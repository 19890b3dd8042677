"""Linked accounts: whether this installation's keys read what is stored of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ridedash.store.accounts import tokens_can_be_read
from ridedash.store.encryption import TokenVault, new_key
from ridedash.store.models.people import Account
from tests.rides.desk_world import World

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
