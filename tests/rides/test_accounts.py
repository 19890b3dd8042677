"""Bearer tokens: refreshed in time, once, and given up only when the service says so."""

import httpx
import pytest

from ridedash.rides.accounts import NeedsReconnect, NoRefreshNow
from ridedash.store.people import Account, keep_tokens
from tests.rides.desk_world import World


def expires_in(world: World, seconds: float) -> None:
    with world.db.write() as s:
        keep_tokens(s.get_one(Account, world.account_id), world.vault, "good", "again", seconds, world.clock())


def account_state(world: World) -> str:
    with world.db.read() as s:
        return s.get_one(Account, world.account_id).state


def test_a_token_that_is_about_to_end_is_refreshed_before_it_is_used(world: World) -> None:
    expires_in(world, 61)
    assert world.tokens.bearer(world.account_id) == "good"
    world.clock.go(2)
    assert world.tokens.bearer(world.account_id) == "fresh-1"
    assert world.tokens.bearer(world.account_id) == "fresh-1"
    assert world.service.refreshes == 1


@pytest.mark.parametrize("answer", ["silence", "invalid_client"])
def test_a_refresh_that_proves_nothing_uses_the_old_token_while_it_lasts(world: World, answer: str) -> None:
    def down() -> httpx.Response:
        if answer == "silence":
            raise httpx.ConnectError("refused")
        return httpx.Response(401, json={"error": answer})

    world.service.token = down  # type: ignore[method-assign]
    expires_in(world, 30)
    assert world.tokens.bearer(world.account_id) == "good"
    world.clock.go(31)
    with pytest.raises(NoRefreshNow):
        world.tokens.bearer(world.account_id)
    assert account_state(world) == "ok"


def test_a_refused_refresh_means_that_the_account_must_be_linked_again(world: World) -> None:
    world.service.token = lambda: httpx.Response(400, json={"error": "invalid_grant"})  # type: ignore[method-assign]
    with pytest.raises(NeedsReconnect):
        world.tokens.refreshed(world.account_id, "good")
    assert account_state(world) == "reconnect"
    with pytest.raises(NeedsReconnect):
        world.tokens.bearer(world.account_id)


def test_a_refresh_that_another_process_won_is_no_reason_to_link_again(world: World) -> None:
    def lost_race() -> httpx.Response:
        with world.db.write() as s:
            keep_tokens(s.get_one(Account, world.account_id), world.vault, "theirs", "next", 3600, world.clock())
        return httpx.Response(400, json={"error": "invalid_grant"})

    world.service.token = lost_race  # type: ignore[method-assign]
    assert world.tokens.refreshed(world.account_id, "good") == "theirs"
    assert account_state(world) == "ok"


def test_tokens_that_can_not_be_read_back_ask_for_a_new_link(world: World) -> None:
    with world.db.write() as s:
        s.get_one(Account, world.account_id).access_token_enc = "k9.gone.gone"
    with pytest.raises(NeedsReconnect):
        world.tokens.bearer(world.account_id)
    assert account_state(world) == "reconnect"
