"""What people decide after a restore: each decision once, by those who may make it, audited."""

import json
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from ridedash.rides.journals.answer_journal import AnswerJournal
from ridedash.rides.orders import after_restore
from ridedash.rides.orders.after_restore import AcceptedRestore, CannotTakeUp, TakeUp
from ridedash.rides.orders.request import digest
from ridedash.store import restores
from ridedash.store.accounts import add_account, keep_tokens
from ridedash.store.audit import AuditRow
from ridedash.store.models.people import Account, Property
from ridedash.store.models.restores import LostOrder
from ridedash.store.orders import Order, OrderPage
from ridedash.store.properties import add_property
from tests.rides.desk_world import START, World
from tests.rides.dumps import dump, restore
from tests.rides.journals.test_restore import noticed
from tests.rides.orders.test_due import items, planned

REFERENCE = "RD-LOST-1"
SENT = START
MATCHING = {"state": "MATCHING", "txn_id": "T9"}
BOOKED = {"state": "BOOKED", "booking_id": "C9"}


def held(world: World) -> int:
    """A planned ride that a declared restore holds."""
    order_id = planned(world)
    assert after_restore.declare(world.db, world.clock, world.clock()) == 1
    return order_id


def lose(world: World, **facts: Any) -> str:
    """Add a lost order, known to a journal only, to the list. Returns its reference."""
    row = {
        "mtx": REFERENCE,
        "property_id": world.property_id,
        "account_id": world.account_id,
        "category": "prime_suv",
        "attempt": 2,
        "sent_at": SENT,
        "outcome": None,
        "listed_at": world.clock(),
        "closed_at": None,
        **facts,
    }
    with world.db.write() as s:
        restores.list_lost(s, [row])
    return str(row["mtx"])


def taken_up(world: World, guest: str = "") -> OrderPage:
    wanted = TakeUp(world.property_id, world.staff_id, REFERENCE, guest)
    return world.page(after_restore.take_up(world.runtime, wanted))


def audited(world: World, what: str) -> list[tuple[str, str, str, dict[str, Any]]]:
    with world.db.read() as s:
        rows = s.scalars(select(AuditRow).where(AuditRow.what == what).order_by(AuditRow.id))
        return [(row.who, row.subject, row.result, row.facts) for row in rows]


def lost_row(world: World, reference: str = REFERENCE) -> LostOrder:
    with world.db.read() as s:
        return s.get_one(LostOrder, reference)


def test_a_held_ride_is_released_once_by_staff_of_its_property(world: World) -> None:
    order_id, other = held(world), planned(world)
    for stranger in (world.staff_id + 99, 0):
        assert not after_restore.release(world.db, world.clock, order_id, stranger)
    assert not after_restore.release(world.db, world.clock, other, world.staff_id), "was not held"
    assert not after_restore.release(world.db, world.clock, other + 9, world.staff_id)
    assert world.page(order_id).order.held_at is not None
    assert after_restore.release(world.db, world.clock, order_id, world.staff_id) is True
    page = world.page(order_id)
    assert (page.order.held_at, page.order.lease_until, items(world, order_id)) == (None, None, {})
    assert [(e.what, e.name) for e in page.events][-1] == ("event", "released")
    assert audited(world, "order.released") == [
        (
            f"staff:{world.staff_id}",
            f"orders:{order_id}",
            "SCHEDULED",
            {},
        )
    ]


def test_a_ride_that_was_ordered_before_the_restore_is_marked_as_ordered_once(world: World) -> None:
    order_id, other = held(world), planned(world)
    for wrong, staff in ((order_id, world.staff_id + 99), (other, world.staff_id)):
        assert not after_restore.ordered_already(world.db, world.clock, wrong, staff)
    assert after_restore.ordered_already(world.db, world.clock, order_id, world.staff_id) is True
    order = world.page(order_id).order
    assert (order.state, order.sent_at, order.held_at) == ("UNKNOWN", order.due_at, None)
    assert not after_restore.ordered_already(world.db, world.clock, order_id, world.staff_id)
    assert world.state(other) == "SCHEDULED"


def test_an_accepted_restore_says_what_it_set_free_and_what_is_left(world: World) -> None:
    assert after_restore.accept(world.db, world.clock) is None, "there was none"
    for _ in range(2):
        planned(world)
    to = world.clock() - timedelta(hours=3)
    assert after_restore.declare(world.db, world.clock, to) == 2
    lose(world)
    lose(world, mtx="RD-LOST-2", closed_at=world.clock())
    world.clock.go(60)
    assert after_restore.accept(world.db, world.clock) == AcceptedRestore(to, released=2, lost=1)
    assert [order.held_at for order in world.orders()] == [None, None]
    with world.db.read() as s:
        last = restores.last_restore(s)
    assert last is not None
    assert last.accepted_at == world.clock()
    [(who, subject, result, facts)] = audited(world, "restore.accepted")
    assert (who, subject, result) == ("cli", f"restores:{last.id}", "ok")
    assert facts["released"] == 2
    assert {who for who, *_ in audited(world, "order.released")} == {"cli"}
    assert after_restore.accept(world.db, world.clock) is None


def test_a_declared_restore_of_an_empty_book_holds_nothing(world: World) -> None:
    assert after_restore.declare(world.db, world.clock, world.clock()) == 0


def test_comparing_by_hand_notices_a_restore_as_a_worker_does(world: World) -> None:
    order_id = planned(world)
    with world.worker() as worker:
        worker.step()
        backup = dump(world.db)
        worker.step()
    restore(world.db, backup)
    journal = AnswerJournal(world.folder / "box", slots=4)
    try:
        for _ in range(2):  # the second time there is nothing new
            after_restore.compare(world.db, world.clock, journal.sent)
            assert noticed(world) == 1
    finally:
        journal.close()
    assert items(world, order_id) == {"held": None}


@pytest.mark.parametrize("which", ["unknown", "closed", "of another house"])
def test_a_lost_order_that_is_gone_from_the_list_is_not_taken_up(world: World, which: str) -> None:
    if which != "unknown":
        with world.db.write() as s:
            other = add_property(s, "Harbour House", "Asia/Kolkata", world.clock()).id
        lose(world, **{"closed": {"closed_at": world.clock()}}.get(which, {"property_id": other}))
    with pytest.raises(CannotTakeUp) as refused:
        taken_up(world)
    assert (refused.value.why, world.orders()) == ("gone", [])


def test_a_lost_order_of_a_property_without_an_account_is_not_taken_up(world: World) -> None:
    lose(world)
    with world.db.write() as s:
        s.get_one(Account, world.account_id).state = "removed"
        s.get_one(Account, world.account_id).property_id = add_property(
            s, "Harbour House", "Asia/Kolkata", world.clock()
        ).id
    with pytest.raises(CannotTakeUp) as refused:
        taken_up(world)
    assert (refused.value.why, world.orders()) == ("account", [])
    assert lost_row(world).closed_at is None, "it stays on the list"


@pytest.mark.parametrize("younger", [False, True])
def test_a_lost_order_keeps_its_account_unless_that_one_is_younger(
    world: World, younger: bool
) -> None:
    """After a restore another account may have the id of a lost account."""
    made_at = SENT + timedelta(seconds=int(younger))
    with world.db.write() as s:
        own = add_account(s, world.vault, world.property_id, "Events", "good", made_at)
        keep_tokens(own, world.vault, "good", "again", None, made_at)
        account_id = own.id
    lose(world, account_id=account_id)
    assert taken_up(world).order.account_id == (world.account_id if younger else account_id)


def test_a_lost_order_without_a_number_asks_the_service_nothing(world: World) -> None:
    lose(world)
    page = taken_up(world, "Guest Wren")
    order = page.order
    assert world.service.calls == []
    assert (order.state, order.code, order.category, order.attempt) == (
        "UNKNOWN",
        "RESTORED",
        "prime_suv",
        2,
    )
    assert (order.created_at, order.due_at, order.ready_at, order.sent_at) == (SENT,) * 4
    assert (order.open, order.reauthorised, order.throttled, order.late_double) == (
        True,
        False,
        False,
        False,
    )
    assert (page.guest.name, page.guest.staff_id, order.staff_id) == (
        "Guest Wren",
        world.staff_id,
        world.staff_id,
    )
    assert [(e.what, e.name) for e in page.events] == [("order", "UNKNOWN"), ("event", "recovered")]
    assert items(world, order.id) == {"unknown": REFERENCE}


@pytest.mark.parametrize("outcome", [BOOKED, MATCHING])
def test_the_trip_of_a_lost_order_is_the_one_that_the_service_tells(
    world: World, outcome: dict[str, Any]
) -> None:
    number = outcome.get("booking_id") or outcome["txn_id"]
    world.service.tracks[number] = [
        {
            "booking_status": "CALL_DRIVER",
            "pickup_location": {"lat": -38.51, "lng": -128.01},
            "drop_location": {"lat": -38.6, "lng": -128.1},
        }
    ]
    lose(world, outcome=outcome)
    page = taken_up(world)
    [(_name, query)] = world.service.calls
    assert number in query.values()
    body = json.loads(page.order.body)
    assert (body["pickup"], body["drop"]) == ([-38.51, -128.01], [-38.6, -128.1])
    assert (body["category"], body["merchant_txn_id"]) == ("prime_suv", REFERENCE)
    assert page.order.body_digest == digest(page.order.body)
    assert page.offer.display_name == "Prime suv"
    assert (page.order.state, items(world, page.order.id)) == (outcome["state"], {})
    row = lost_row(world)
    assert (row.closed_at, row.order_id) == (world.clock(), page.order.id)
    [(who, subject, result, facts)] = audited(world, "order.recovered")
    assert (who, subject, result) == (
        f"staff:{world.staff_id}",
        f"orders:{page.order.id}",
        outcome["state"],
    )
    assert facts["sent_at"] == SENT.isoformat()


def test_a_lost_order_whose_answer_proved_nothing_still_needs_its_number(world: World) -> None:
    lose(world, outcome={"state": "UNKNOWN", "code": "UNCLEAR"})
    page = taken_up(world)
    assert page.order.state == "UNKNOWN"
    assert items(world, page.order.id) == {"unknown": REFERENCE}


@pytest.mark.parametrize("usual", [(-38.45, -128.02), (None, None), (-38.45, None)])
def test_where_the_service_is_silent_a_lost_order_begins_at_the_usual_pickup(
    world: World, usual: tuple[float | None, float | None]
) -> None:
    with world.db.write() as s:
        here = s.get_one(Property, world.property_id)
        here.pickup_lat, here.pickup_lng = usual
        here.pickup_name = "Main gate"
    lose(world, outcome=BOOKED)
    offer = taken_up(world).offer
    is_known = None not in usual
    assert (offer.pickup_lat, offer.pickup_lng) == (usual if is_known else (0.0, 0.0))
    assert (offer.pickup_name, offer.drop_lat) == ("Main gate" if is_known else None, None)


def test_an_unknown_guest_has_no_name_and_is_created_now(world: World) -> None:
    lose(world)
    world.clock.go(90)
    guest = taken_up(world).guest
    assert (guest.name, guest.staff_id, guest.created_at) == ("", world.staff_id, world.clock())


def test_a_lost_order_of_no_property_is_dealt_with_once(world: World) -> None:
    lose(world, property_id=None)
    lose(world, mtx="RD-LOST-2")
    deal = after_restore.dealt_with
    assert not deal(world.db, world.clock, "RD-LOST-2", world.staff_id), "it has a property"
    assert not deal(world.db, world.clock, "RD-LOST-3", world.staff_id)
    assert deal(world.db, world.clock, REFERENCE, world.staff_id) is True
    assert lost_row(world).closed_at == world.clock()
    assert lost_row(world, "RD-LOST-2").closed_at is None
    assert not deal(world.db, world.clock, REFERENCE, world.staff_id)
    assert [found[:3] for found in audited(world, "lost.dealt_with")] == [
        (f"staff:{world.staff_id}", f"lost_orders:{REFERENCE}", "ok")
    ]


def test_a_recovered_order_has_a_token_of_its_own(world: World) -> None:
    """No open form has this token, so pressing Book in one is never taken for this order."""
    lose(world)
    taken_up(world)
    with world.db.read() as s:
        assert s.scalars(select(Order.form_token)).all() == [f"recovered-{REFERENCE}"]
