"""A process without the key of an account's token sends and polls nothing and counts no errors; it
goes on once it has the key.
"""

from datetime import timedelta

import pytest

from ridedash.rides.accounts.rotate_keys import rotate
from ridedash.rides.accounts.tokens import AccountTokens
from ridedash.rides.actions import request
from ridedash.store.audit import AuditRow
from ridedash.store.encryption import TokenVault, new_key
from ridedash.store.models.people import Account
from ridedash.wording import outcome_words
from tests.rides.desk_world import KEYS, World

pytestmark = pytest.mark.database

NEW = "k2:" + new_key()
CAB = {"booking_id": "C1", "booking_status": "CALL_DRIVER"}


def rotated_too_early(world: World) -> None:
    """Rotate the keys as an operator does who has not given the new key to other processes."""
    assert rotate(world.db, TokenVault(f"{NEW},{KEYS}"), world.clock).left == 0


def with_both_keys(world: World) -> AccountTokens:
    return AccountTokens(world.db, TokenVault(f"{NEW},{KEYS}"), world.oauth, world.clock)


def account_state(world: World) -> str:
    with world.db.read() as s:
        return s.get_one(Account, world.account_id).state


def test_an_order_is_left_to_a_worker_that_has_the_key(world: World) -> None:
    rotated_too_early(world)
    order_id = world.place()
    with world.worker() as without:
        without.step()
        assert world.state(order_id) == "READY"
    world.tokens = with_both_keys(world)
    with world.worker() as other:
        other.step()
    assert (world.state(order_id), world.service.count("create")) == ("BOOKED", 1)


def test_an_order_without_a_readable_token_fails_with_the_reason_until_the_key_is_there(
    world: World,
) -> None:
    rotated_too_early(world)
    with world.worker() as worker:
        order_id = world.place()
        worker.step()
        world.clock.go(5)
        worker.step()
    assert (world.state(order_id), world.page(order_id).order.code) == ("NOT_SENT", "KEY_MISSING")
    assert (world.service.count("create"), account_state(world)) == (0, "ok")
    world.tokens = with_both_keys(world)
    with world.worker() as worker:
        assert world.state(world.book(worker)) == "BOOKED"


def test_rides_keep_their_facts_while_the_key_is_missing_and_are_followed_again_with_it(
    world: World,
) -> None:
    world.service.tracks["C1"] = [CAB]
    with world.worker() as worker:
        order_id = world.book(worker)
        worker.step()
    rotated_too_early(world)
    with world.worker() as worker:
        polls = world.service.count("track_ride")
        for _ in range(20):
            world.clock.go(6)
            worker.step()
    ride = world.ride(order_id)
    assert (ride.status, ride.errors, world.service.count("track_ride")) == (
        "CALL_DRIVER",
        0,
        polls,
    )
    assert ride.next_poll_at is not None
    assert ride.next_poll_at - world.clock() < timedelta(seconds=6)
    assert account_state(world) == "ok"
    world.tokens = with_both_keys(world)
    with world.worker() as worker:
        world.clock.go(6)
        worker.step()
    assert world.service.count("track_ride") == polls + 1
    assert world.ride(order_id).seen_at == world.clock()


def test_what_a_person_presses_for_a_ride_is_not_sent_and_says_why(world: World) -> None:
    world.service.tracks["C1"] = [CAB]
    with world.worker() as worker:
        order_id = world.book(worker)
        worker.step()
    rotated_too_early(world)
    arguments = (world.runtime, order_id, world.actor)
    result = request.cancel(*arguments, "changed plans")
    assert (result.outcome, result.code, world.service.count("cancel")) == (
        "not_sent",
        "KEY_MISSING",
        0,
    )
    words = outcome_words("cancel", result.outcome, code=result.code)
    assert words.headline == "ridedash can't read its link to this account"
    assert "Try again" not in words.detail
    assert words.detail.endswith("Until then, call the driver.")


def test_feedback_waits_for_the_key_however_long_and_is_then_sent_once(world: World) -> None:
    world.service.tracks["C1"] = [{"booking_id": "C1", "booking_status": "COMPLETED"}]
    with world.worker() as worker:
        order_id = world.book(worker)
        worker.step()
    rotated_too_early(world)
    arguments = (world.runtime, order_id, world.actor)
    assert request.feedback(*arguments, 5).code == "KEY_MISSING"
    with world.worker() as without:
        for _ in range(5):
            world.clock.go(60)
            without.step()
    world.tokens = with_both_keys(world)
    with world.worker() as worker:
        world.clock.go(60)
        worker.step()
    assert (world.service.count("feedback"), world.page(order_id).actions[-1].state) == (1, "done")
    with world.db.read() as s:
        rows = s.query(AuditRow).filter_by(what="ride.feedback").order_by(AuditRow.id)
        assert [(row.who, row.result) for row in rows] == [
            (f"staff:{world.staff_id}", "not_sent"),
            ("worker", "done"),
        ]
