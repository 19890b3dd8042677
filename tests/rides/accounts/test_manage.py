"""What managers do with linked accounts: default, affiliate, removal (not while in use)."""

import pytest
from sqlalchemy import select, update

from ridedash.rides.accounts.manage import DONE, IN_USE, NOT_NOW, AccountManager
from ridedash.store.accounts import accounts_of, add_account, keep_tokens
from ridedash.store.audit import AuditRow
from ridedash.store.models.orders import Order, OrderState, Ride
from ridedash.store.models.people import Account
from ridedash.store.properties import add_property
from tests.rides.desk_world import World


def manager(world: World) -> AccountManager:
    return AccountManager(world.db, world.clock, world.property_id, world.staff_id)


def linked(world: World, label: str, property_id: int | None = None) -> int:
    """Another account, as it is after its linking; by default of the world's own property."""
    now = world.clock()
    with world.db.write() as s:
        row = add_account(s, world.vault, property_id or world.property_id, label, "theirs", now)
        keep_tokens(row, world.vault, "theirs", "next", 3600, now)
        return row.id


def account(world: World, account_id: int) -> Account:
    with world.db.read() as s:
        return s.get_one(Account, account_id)


def labels(world: World) -> list[tuple[str, bool]]:
    with world.db.read() as s:
        return [(each.label, each.is_default) for each in accounts_of(s, world.property_id)]


def recorded(world: World) -> list[tuple[str, str, str, int | None]]:
    """What the audit log has about accounts."""
    query = select(AuditRow).where(AuditRow.subject.startswith("accounts:")).order_by(AuditRow.id)
    with world.db.read() as s:
        return [(row.who, row.what, row.subject, row.property_id) for row in s.scalars(query)]


def test_the_default_moves_to_the_chosen_account_and_the_audit_log_has_who_did_it(
    world: World,
) -> None:
    other = linked(world, "Events")
    with world.db.write() as s:
        elsewhere = add_property(s, "Other Hotel", "UTC", world.clock()).id
    theirs = linked(world, "Their house", elsewhere)
    assert labels(world) == [("House", True), ("Events", False)]
    assert manager(world).make_default(other) == DONE
    assert labels(world) == [("Events", True), ("House", False)]
    assert account(world, theirs).is_default, "each property has a default of its own"
    assert recorded(world) == [
        (f"staff:{world.staff_id}", "account.default", f"accounts:{other}", world.property_id)
    ]


def test_an_account_that_must_be_linked_again_is_not_made_the_default(world: World) -> None:
    other = linked(world, "Events")
    with world.db.write() as s:
        s.get_one(Account, other).state = "reconnect"
    assert manager(world).make_default(other) == NOT_NOW
    assert labels(world) == [("House", True), ("Events", False)]
    assert recorded(world) == []


def test_an_affiliate_is_stored_and_taken_away_again_and_only_a_change_is_recorded(
    world: World,
) -> None:
    for uid in ("guest-desk-7", "guest-desk-7", None, None):
        assert manager(world).name_affiliate(world.account_id, uid) == DONE
        assert account(world, world.account_id).affiliate_uid == uid
    assert [what for _, what, _, _ in recorded(world)] == ["account.affiliate"] * 2


@pytest.mark.parametrize("state", [OrderState.SCHEDULED, OrderState.WAITING, OrderState.UNKNOWN])
def test_an_account_with_an_order_that_is_not_settled_is_not_deleted(
    world: World, state: OrderState
) -> None:
    order_id = world.place()
    with world.db.write() as s:
        s.execute(
            update(Order).where(Order.id == order_id).values(state=state, version=Order.version + 1)
        )
    assert manager(world).remove(world.account_id) == IN_USE
    row = account(world, world.account_id)
    assert (row.state, row.is_default) == ("ok", True)
    assert world.tokens.bearer(world.account_id) == "good"
    assert recorded(world) == []


def test_an_account_with_a_followed_ride_is_not_deleted_until_the_ride_ends(world: World) -> None:
    with world.worker() as worker:
        order_id = world.book(worker)
    assert world.state(order_id) == "BOOKED"
    assert manager(world).remove(world.account_id) == IN_USE
    with world.db.write() as s:
        s.execute(update(Ride).where(Ride.order_id == order_id).values(next_poll_at=None))
    assert manager(world).remove(world.account_id) == DONE


def test_what_waits_with_one_account_keeps_no_other(world: World) -> None:
    other = linked(world, "Events")
    with world.worker() as worker:
        world.book(worker)
    world.place()
    assert manager(world).remove(world.account_id) == IN_USE
    assert manager(world).remove(other) == DONE


def test_a_removed_account_has_no_tokens_and_the_next_usable_one_becomes_the_default(
    world: World,
) -> None:
    broken, usable, last = (linked(world, label) for label in ("Broken", "Events", "Last"))
    with world.db.write() as s:
        s.get_one(Account, broken).state = "reconnect"
        keep_tokens(s.get_one(Account, world.account_id), world.vault, "a", "b", 60, world.clock())
    assert manager(world).remove(world.account_id) == DONE
    row = account(world, world.account_id)
    assert (row.state, row.is_default) == ("removed", False)
    assert (row.access_token_enc, row.refresh_token_enc, row.expires_at) == (None, None, None)
    assert labels(world) == [("Events", True), ("Broken", False), ("Last", False)]
    assert recorded(world) == [
        (
            f"staff:{world.staff_id}",
            "account.removed",
            f"accounts:{world.account_id}",
            world.property_id,
        )
    ]
    assert manager(world).remove(last) == DONE
    assert manager(world).remove(usable) == DONE
    assert labels(world) == [("Broken", False)], "one that can't be used is no default"


def test_accounts_that_are_removed_or_of_another_property_do_not_exist_here(world: World) -> None:
    with world.db.write() as s:
        elsewhere = add_property(s, "Other Hotel", "UTC", world.clock()).id
    theirs, gone = linked(world, "Their house", elsewhere), linked(world, "Gone")
    assert manager(world).remove(gone) == DONE
    mine = manager(world)
    for account_id in (theirs, gone, 999):
        for act in (mine.make_default, mine.remove, lambda n: mine.name_affiliate(n, "x")):
            with pytest.raises(LookupError):
                act(account_id)
    assert (account(world, theirs).state, account(world, theirs).affiliate_uid) == ("ok", None)
