"""An outcome is applied to its order once, with all its facts, and never undoes a proof."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from ridedash.rides.state.outcome import Outcome
from ridedash.rides.state.settle import new_ride, settle
from ridedash.rides.state.transitions import clear_attention
from ridedash.store.actors import WORKER
from ridedash.store.audit import AuditRow
from ridedash.store.models.orders import Order, OrderState, Ride
from tests.rides.desk_world import World

S = OrderState
BOOKED = Outcome(S.BOOKED, booking_id="C1", http_status=200, evidence='{"status": "SUCCESS"}')
MATCHING = Outcome(S.MATCHING, txn_id="T1", http_status=200, next_retry="14:02:30")
REJECTED = Outcome(S.REJECTED, code="NO_CABS_AVAILABLE", message="None near", http_status=422)
UNKNOWN = Outcome(S.UNKNOWN, code="UNCLEAR", http_status=502, evidence="<h1>Bad gateway</h1>")
NOT_SENT = Outcome(S.NOT_SENT, code="NO_CONNECTION")


def sending(world: World, **facts: Any) -> int:
    """An order that a worker has just sent."""
    order_id = world.place(**facts)
    set_to(world, order_id, S.SENDING, owner="worker", lease_until=world.clock(), attempt=1)
    return order_id


def set_to(world: World, order_id: int, state: OrderState, **columns: Any) -> None:
    """Give an order a state and other columns, as another process would."""
    columns |= {"state": state, "version": Order.version + 1}
    with world.db.write() as s:
        s.execute(update(Order).where(Order.id == order_id).values(columns))


def settled(world: World, order_id: int, outcome: Outcome) -> OrderState:
    with world.db.write() as s:
        order = s.get_one(Order, order_id)
        return settle(s, order, outcome, world.clock(), WORKER)


def row(world: World, order_id: int) -> Order:
    return world.page(order_id).order


def items(world: World, order_id: int) -> dict[str, str | None]:
    """The details of an order's open attention items, by their names."""
    return {item.name: item.detail for item in world.page(order_id).attention}


def seen(world: World, order_id: int) -> None:
    """Staff have seen the alarm."""
    with world.db.write() as s:
        clear_attention(s, s.get_one(Order, order_id), "contradiction", world.clock())


def recorded(world: World, what: str) -> list[tuple[str, dict[str, Any]]]:
    query = select(AuditRow).where(AuditRow.what == what).order_by(AuditRow.id)
    with world.db.read() as s:
        return [(each.result, each.facts) for each in s.scalars(query)]


def test_the_contents_of_an_answer_are_in_the_row_and_in_the_audit_log(world: World) -> None:
    order_id = sending(world)
    assert settled(world, order_id, replace(REJECTED, evidence="{}")) == S.REJECTED
    order = row(world, order_id)
    assert (order.state, order.code, order.message) == (
        "REJECTED",
        "NO_CABS_AVAILABLE",
        "None near",
    )
    assert (order.http_status, order.evidence) == (422, "{}")
    assert (order.owner, order.lease_until, order.open) == (None, None, False)
    result, facts = recorded(world, "order.move")[-1]
    assert result == "REJECTED"
    assert facts == {"was": "SENDING", "code": "NO_CABS_AVAILABLE", "http": 422}
    assert world.page(order_id).ride is None


def test_text_that_no_database_takes_is_replaced_and_no_text_keeps_the_earlier(
    world: World,
) -> None:
    order_id = sending(world)
    settled(world, order_id, replace(UNKNOWN, evidence="half \udcff"))
    assert row(world, order_id).evidence == "half ?"
    settled(world, order_id, replace(REJECTED, evidence=""))
    assert (row(world, order_id).evidence, row(world, order_id).http_status) == ("half ?", 422)


def test_a_booking_gets_its_ride_and_keeps_how_long_the_service_searches(world: World) -> None:
    order_id = sending(world)
    outcome = replace(BOOKED, txn_id="T9", booking_timeout_s=240.0)
    assert settled(world, order_id, outcome) == S.BOOKED
    order, ride = row(world, order_id), world.ride(order_id)
    assert (order.booking_id, order.txn_id, order.open) == ("C1", "T9", True)
    assert (order.booking_timeout_s, order.booking_timeout_at) == (240, None)  # computed when read
    assert (ride.booking_id, ride.txn_id, ride.kind) == ("C1", "T9", "point_to_point")
    assert (ride.account_id, ride.property_id, ride.staff_id) == (
        world.account_id,
        world.property_id,
        world.staff_id,
    )
    assert (ride.next_poll_at, ride.created_at) == (world.clock(), world.clock())
    counts = (ride.poll_seq, ride.merged_seq, ride.errors, ride.poison, ride.unknown_id)
    assert (*counts, ride.final_polls, ride.retried) == (0, 0, 0, 0, 0, 0, False)
    assert (ride.interval_s, items(world, order_id)) == (3.0, {})


def test_a_shared_ride_without_a_booking_id_is_followed_by_its_txn_id(world: World) -> None:
    order_id = sending(world, kind="share")
    assert settled(world, order_id, MATCHING) == S.MATCHING
    order, ride = row(world, order_id), world.ride(order_id)
    assert (order.txn_id, order.next_retry, order.booking_id) == ("T1", "14:02:30", None)
    assert (order.booking_timeout_s, order.booking_timeout_at) == (None, None)
    assert (ride.txn_id, ride.booking_id, ride.kind) == ("T1", None, "share")


def test_a_ride_that_exists_already_is_preserved(world: World) -> None:
    order_id = sending(world)
    with world.db.write() as s:
        order = s.get_one(Order, order_id)
        order.version += 1
        s.add(new_ride(order, world.clock()))
    other = sending(world)
    assert settled(world, order_id, BOOKED) == S.BOOKED
    assert settled(world, other, replace(BOOKED, booking_id="C2")) == S.BOOKED
    with world.db.read() as s:
        assert sorted(s.scalars(select(Ride.order_id))) == [order_id, other]


# outcomes after which an order may be sent again
RETRIES = [
    replace(NOT_SENT, retry="auth", code="RECONNECT"),
    replace(NOT_SENT, retry="rate", code="RATE_LIMITED", retry_after_s=10.0),
]


@pytest.mark.parametrize("outcome", RETRIES)
def test_an_order_goes_again_once_after_a_refused_token_and_once_after_a_short_throttle(
    world: World, outcome: Outcome
) -> None:
    order_id = sending(world)
    assert settled(world, order_id, outcome) == S.READY
    order = row(world, order_id)
    assert (order.state, order.owner, order.lease_until, order.sent_at) == (
        "READY",
        None,
        None,
        None,
    )
    assert (order.reauthorised, order.throttled) == (
        outcome.retry == "auth",
        outcome.retry == "rate",
    )
    wait = timedelta(seconds=outcome.retry_after_s or 0)
    assert order.due_at == world.clock() + wait
    assert (order.code, order.http_status) == (None, None), "nothing has ended"
    assert recorded(world, "order.move")[-1][1]["retry"] == outcome.retry
    set_to(world, order_id, S.SENDING)
    assert settled(world, order_id, outcome) == S.NOT_SENT
    other = next(each for each in RETRIES if each is not outcome)
    set_to(world, order_id, S.SENDING)
    assert settled(world, order_id, other) == S.READY


@pytest.mark.parametrize("wait", [None, 10.001, 300.0])
def test_a_long_throttle_and_one_without_an_end_are_not_waited_for(
    world: World, wait: float | None
) -> None:
    order_id = sending(world)
    outcome = replace(RETRIES[1], retry_after_s=wait)
    assert settled(world, order_id, outcome) == S.NOT_SENT
    assert (row(world, order_id).code, row(world, order_id).throttled) == ("RATE_LIMITED", False)


@pytest.mark.parametrize("outcome", RETRIES)
def test_an_order_goes_again_only_while_its_press_is_fresh(world: World, outcome: Outcome) -> None:
    first, second = sending(world), sending(world)
    world.clock.go(29.999 - (outcome.retry_after_s or 0))
    assert settled(world, first, outcome) == S.READY
    world.clock.go(0.001)
    assert settled(world, second, outcome) == S.NOT_SENT, "after the wait it would be too late"
    assert row(world, second).code == outcome.code
    never = sending(world)
    set_to(world, never, S.SENDING, ready_at=None)
    assert settled(world, never, outcome) == S.NOT_SENT


@pytest.mark.parametrize("outcome", RETRIES)
def test_an_order_of_unknown_outcome_is_never_sent_again(world: World, outcome: Outcome) -> None:
    order_id = sending(world)
    set_to(world, order_id, S.UNKNOWN)
    assert settled(world, order_id, outcome) == S.REJECTED, "it is proved: nothing was booked"


def test_an_unclear_answer_leaves_the_order_unknown_with_an_item_for_a_person(
    world: World,
) -> None:
    order_id = sending(world)
    assert settled(world, order_id, UNKNOWN) == S.UNKNOWN
    order = row(world, order_id)
    assert (order.code, order.http_status, order.open) == ("UNCLEAR", 502, True)
    assert set(items(world, order_id)) == {"unknown"}
    assert settled(world, order_id, replace(UNKNOWN, code="NO_ANSWER")) == S.UNKNOWN
    assert row(world, order_id).code == "UNCLEAR", "a second doubt proves nothing"


def test_an_answer_that_contradicts_itself_raises_an_alarm(world: World) -> None:
    order_id = sending(world)
    settled(world, order_id, replace(UNKNOWN, alarm=True, code="CONTRADICTION"))
    assert items(world, order_id)["contradiction"] == "CONTRADICTION"
    named = sending(world)
    settled(world, named, replace(UNKNOWN, alarm=True, code="CONTRADICTION", named="C5"))
    assert items(world, named)["contradiction"] == "C5", "the booking to ask about"
    assert row(world, named).booking_id is None


@pytest.mark.parametrize(
    ("outcome", "state"), [(BOOKED, "BOOKED"), (MATCHING, "MATCHING"), (REJECTED, "REJECTED")]
)
def test_a_late_proof_ends_the_doubt(world: World, outcome: Outcome, state: str) -> None:
    order_id = sending(world)
    settled(world, order_id, UNKNOWN)
    assert settled(world, order_id, outcome) == state
    assert (row(world, order_id).state, items(world, order_id)) == (state, {})
    assert (world.page(order_id).ride is not None) is (state != "REJECTED")


def test_a_booking_id_of_another_order_proves_nothing_about_this_one(world: World) -> None:
    first, second = sending(world), sending(world)
    assert settled(world, first, BOOKED) == S.BOOKED
    assert settled(world, second, BOOKED) == S.UNKNOWN
    assert row(world, second).booking_id is None
    assert set(items(world, second)) == {"unknown", "contradiction"}
    assert settled(world, second, replace(BOOKED, booking_id="C2")) == S.BOOKED
    assert items(world, first) == {}


@pytest.mark.parametrize("outcome", [UNKNOWN, REJECTED, NOT_SENT])
def test_an_order_that_staff_closed_stays_closed_when_nothing_was_booked(
    world: World, outcome: Outcome
) -> None:
    order_id = sending(world)
    set_to(world, order_id, S.CLOSED_NOT_BOOKED, code="BEFORE")
    assert settled(world, order_id, outcome) == S.CLOSED_NOT_BOOKED
    assert (row(world, order_id).code, row(world, order_id).late_double) == ("BEFORE", False)
    assert items(world, order_id) == {}


@pytest.mark.parametrize(("outcome", "detail"), [(BOOKED, "C1"), (MATCHING, "T1")])
def test_a_booking_of_an_order_that_staff_closed_is_followed_and_an_alarm(
    world: World, outcome: Outcome, detail: str
) -> None:
    order_id = sending(world)
    set_to(world, order_id, S.CLOSED_NOT_BOOKED)
    assert settled(world, order_id, outcome) == outcome.state
    order, ride = row(world, order_id), world.ride(order_id)
    assert (order.late_double, ride.booking_id or ride.txn_id) == (True, detail)
    assert items(world, order_id) == {"late_double": detail}


@pytest.mark.parametrize(
    ("final", "late", "alarm"),
    [
        (S.REJECTED, BOOKED, "C1"),
        (S.NOT_SENT, replace(MATCHING, booking_id="C7"), "C7"),
        (S.NOT_SENT, MATCHING, "T1"),
        (S.REJECTED, MATCHING, "T1"),
        (S.BOOKED, REJECTED, None),
    ],
)
def test_an_outcome_after_the_final_one_is_recorded_and_changes_nothing(
    world: World, final: OrderState, late: Outcome, alarm: str | None
) -> None:
    order_id = sending(world)
    set_to(world, order_id, final, code="FIRST", open=False)
    assert settled(world, order_id, late) == final
    assert (row(world, order_id).state, row(world, order_id).code) == (final, "FIRST")
    assert [result for result, _ in recorded(world, "order.late_answer")] == [
        f"{late.state} after {final}"
    ]
    assert items(world, order_id) == ({"contradiction": alarm} if alarm else {})
    assert world.page(order_id).ride is None


@pytest.mark.parametrize("late", [BOOKED, UNKNOWN, MATCHING])
def test_an_outcome_that_says_nothing_new_is_not_recorded(world: World, late: Outcome) -> None:
    order_id = sending(world, kind="share")
    settled(world, order_id, MATCHING)
    set_to(world, order_id, S.BOOKED, booking_id="C1")  # as a poll does
    assert settled(world, order_id, late) == S.BOOKED
    assert (recorded(world, "order.late_answer"), items(world, order_id)) == ([], {})


@pytest.mark.parametrize(
    ("first", "late", "detail"),
    [
        (BOOKED, replace(BOOKED, booking_id="C2"), "C2"),
        (MATCHING, replace(MATCHING, txn_id="T2"), "T2"),
    ],
)
def test_a_late_answer_with_another_ride_than_the_one_that_is_followed_is_an_alarm(
    world: World, first: Outcome, late: Outcome, detail: str
) -> None:
    """As when staff typed a wrong booking number, and then the answer to the create came."""
    order_id = sending(world, kind="share" if first is MATCHING else "point_to_point")
    settled(world, order_id, first)
    assert settled(world, order_id, late) == first.state
    assert [result for result, _ in recorded(world, "order.late_answer")] == [
        f"{late.state} after {first.state}"
    ]
    assert items(world, order_id) == {"contradiction": detail}
    assert row(world, order_id).booking_id == first.booking_id
    seen(world, order_id)
    assert settled(world, order_id, late) == first.state, "a journal is replayed"
    assert len(recorded(world, "order.late_answer")) == 1
    assert items(world, order_id) == {}, "what staff have seen is not raised again"


@pytest.mark.parametrize("state", [S.UNKNOWN, S.CLOSED_NOT_BOOKED])
@pytest.mark.parametrize(
    "late", [replace(UNKNOWN, alarm=True, code="CONTRADICTION"), replace(BOOKED, booking_id="C9")]
)
def test_a_late_answer_that_proves_nothing_but_names_a_booking_is_an_alarm(
    world: World, state: OrderState, late: Outcome
) -> None:
    other, order_id = sending(world), sending(world)
    settled(world, other, replace(BOOKED, booking_id="C9"))  # the id of another order
    settled(world, order_id, UNKNOWN)
    if state is S.CLOSED_NOT_BOOKED:
        set_to(world, order_id, state)
    assert settled(world, order_id, late) == state
    assert "contradiction" in items(world, order_id)
    assert [result for result, _ in recorded(world, "order.late_answer")] == [
        f"{late.state} after {state}"
    ]
    assert row(world, order_id).booking_id is None
    seen(world, order_id)
    assert settled(world, order_id, late) == state, "the journals are compared again"
    assert "contradiction" not in items(world, order_id)


def test_a_doubtful_answer_about_a_ride_that_is_followed_is_no_alarm(world: World) -> None:
    """As when staff typed the right booking number before the answer came with HTTP status 500."""
    order_id = sending(world)
    settled(world, order_id, BOOKED)
    assert settled(world, order_id, replace(UNKNOWN, alarm=True)) == S.BOOKED
    assert (recorded(world, "order.late_answer"), items(world, order_id)) == ([], {})


def test_a_booking_that_comes_after_its_match_has_failed_is_an_alarm(world: World) -> None:
    order_id = sending(world, kind="share")
    settled(world, order_id, MATCHING)
    set_to(world, order_id, S.FAILED, open=False)
    assert settled(world, order_id, replace(MATCHING, state=S.BOOKED, booking_id="C1")) == S.FAILED
    assert items(world, order_id) == {"contradiction": "C1"}


def test_another_match_than_the_one_that_is_followed_is_an_alarm(world: World) -> None:
    order_id, other = sending(world, kind="share"), sending(world, kind="share")
    settled(world, order_id, MATCHING)
    settled(world, other, replace(MATCHING, txn_id="T2"))
    set_to(world, order_id, S.BOOKED, booking_id="C1")
    assert settled(world, order_id, replace(MATCHING, txn_id="T2")) == S.BOOKED
    assert items(world, order_id) == {"contradiction": "T2"}
