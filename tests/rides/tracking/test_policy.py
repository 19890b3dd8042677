"""The decision on the answer or failure of a poll, with examples and over random answers."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridedash.geo import LatLng
from ridedash.rides.accounts.tokens import NeedsReconnect, TokenUnreadable
from ridedash.rides.state.states import is_allowed
from ridedash.rides.tracking import policy
from ridedash.rides.tracking.intervals import FINAL_S, MIN_INTERVAL_S
from ridedash.rides.tracking.merge import ALARMS, RideState, merge
from ridedash.rides.tracking.policy import Before, Decision, Pacing, decide
from ridedash.service.errors import NoAnswer, RateLimited, Refused, Throttled
from ridedash.service.types.tracking import PriceDetails, Snapshot, TripInfo
from ridedash.service_time import REAL, ServiceTime
from ridedash.store.models.orders import OrderState
from ridedash.wire import TERMINAL, Kind

NOW = datetime(2026, 3, 1, 14, 0, tzinfo=UTC)
EVEN = Pacing(REAL, 0.5, 0.5)
FAILURES = [
    NoAnswer("timeout", sent=True),
    Throttled(Throttled.SILENT, 7.0),
    Throttled(Throttled.LIMITED, 0.1),
    RateLimited(429, retry_after_s=20.0),
    RateLimited(429),
    Refused("NO_BOOKING"),
    NeedsReconnect("account"),
    TokenUnreadable("account"),
]
STATUSES = st.sampled_from(
    [
        *("ALLOTMENT_PENDING", "PENDING", "ALLOTMENT_RETRYING", "SOFT_ALLOCATED", "CALL_DRIVER"),
        *("CLIENT_LOCATED", "INVOICE", "IN_PROGRESS", "COMPLETED", "ALLOTMENT_FAILED"),
        *("BOOKING_CANCELLED", "WHAT_IS_THIS", None),
    ]
)
SNAPSHOTS = st.builds(
    Snapshot,
    booking_status=STATUSES,
    booking_id=st.sampled_from([None, None, "B1", "B2"]),
    otp=st.sampled_from([None, "1111", "2222"]),
    vehicle_number=st.sampled_from([None, "P 1", "p1", "P 2"]),
    position=st.sampled_from([None, LatLng(1.0, 2.0), LatLng(3.0, 4.0)]),
    price=st.sampled_from(
        [None, PriceDetails(fare=Decimal(1)), PriceDetails(toll_charges=Decimal(2))]
    ),
    trip=st.sampled_from([None, TripInfo(payable_amount=Decimal(5))]),
)
WAITS = st.sampled_from([3, 5, 60, 400, 90_000])
ANSWERS = st.lists(st.tuples(WAITS, st.one_of(SNAPSHOTS, st.sampled_from(FAILURES))), max_size=12)


HALF_A_MINUTE = timedelta(seconds=30)
# other facts of a ride that has been polled without failures and has no bill yet
FIRST: dict[str, Any] = {
    "booking_timeout_at": None,
    "booking_timeout_s": None,
    "errors": 0,
    "unknown_id": 0,
    "final_polls": 0,
    "plate": None,
    "total_minor": None,
    "currency": None,
    "has_start_code": False,
    "taken": None,
}


@st.composite
def starts(draw: st.DrawFn) -> Before:
    """A ride that has not been polled yet."""
    matching = draw(st.booleans())
    ids = {"txn_id": "T1"} if matching else {"booking_id": "B1"}
    return Before(
        RideState(draw(st.sampled_from(list(Kind))), **ids),
        seq=1,
        created_at=NOW,
        order_state=OrderState.MATCHING if matching else OrderState.BOOKED,
        order_open=draw(st.booleans()),
        **FIRST | {"booking_timeout_at": draw(st.sampled_from([None, NOW + HALF_A_MINUTE]))},
    )


def after(before: Before, decision: Decision) -> Before:
    """What the next poll finds after a decision was written."""
    columns = decision.ride
    ride = {
        name: value for name, value in columns.items() if name in RideState.__dataclass_fields__
    }
    if "facts" in columns:
        ride["facts"] = Snapshot.model_validate_json(columns["facts"])
    if "otp_enc" in columns or decision.start_code is not None:
        ride["otp"] = decision.start_code
    state = RideState(**(vars(before.ride) | ride))
    own = {name: value for name, value in columns.items() if name in Before._fields}
    is_open = (
        before.order_open or decision.transition == OrderState.BOOKED
    ) and not decision.closes
    return before._replace(
        **own,
        ride=state,
        seq=before.seq + 1,
        order_state=decision.transition or before.order_state,
        order_open=is_open,
        has_start_code=state.otp is not None,
        currency="INR" if decision.needs_currency else before.currency,
    )


def steady(ride: RideState) -> dict[str, Any]:
    """A ride without the values that polls write even if nothing happens."""
    every_time = {"seen_at", "position_at", "merged_seq", "facts"}
    return {name: value for name, value in vars(ride).items() if name not in every_time}


def wait_s(decision: Decision, now: datetime = NOW) -> float | None:
    """Seconds to the next poll."""
    return None if decision.next_poll_at is None else (decision.next_poll_at - now).total_seconds()


def ride(status: str | None = "CALL_DRIVER", **facts: Any) -> Before:
    """A booked ride in a status."""
    ended_at = NOW - timedelta(seconds=60) if status in TERMINAL else None
    state = RideState(Kind.POINT_TO_POINT, booking_id="B1", status=status, ended_at=ended_at)
    known = {"created_at": NOW, "order_state": OrderState.BOOKED, "order_open": ended_at is None}
    return Before(state, seq=5, **(FIRST | known | facts))


@given(starts(), ANSWERS, st.sampled_from([1.0, 20.0]))
def test_over_any_answers_what_is_written_is_what_was_merged(
    before: Before, answers: list[Any], pace: float
) -> None:
    now = NOW
    for wait, answer in answers:
        now += timedelta(seconds=wait)
        decision = decide(before, answer, now, EVEN._replace(time=ServiceTime(pace=pace)))
        assert decision == decide(
            before, answer, now, EVEN._replace(time=ServiceTime(pace=pace))
        ), "the same again"
        following = after(before, decision)
        if isinstance(answer, Snapshot):
            merged = merge(before.ride, answer, before.seq, now)
            assert following.ride == merged.ride
            assert decision.shown == merged.changed
            assert (following.errors, following.unknown_id) == (0, 0)
            assert {item.name for item in decision.raised if item.alarm} == {
                event.name for event in merged.events if event.name in ALARMS
            }
        else:
            assert following.ride == before.ride
            assert decision.ride.keys() <= {"errors", "unknown_id", "interval_s", "next_poll_at"}
            assert not decision.answered
        before = following


@given(starts(), ANSWERS, st.floats(0, 1, exclude_max=True), st.floats(0, 1, exclude_max=True))
def test_over_any_answers_a_live_ride_is_polled_again_in_time(
    before: Before, answers: list[Any], spread: float, backoff: float
) -> None:
    now = NOW
    for wait, answer in answers:
        now += timedelta(seconds=wait)
        decision = decide(before, answer, now, Pacing(REAL, spread, backoff))
        following = after(before, decision)
        seconds = wait_s(decision, now)
        if seconds is None:
            assert before.ride.ended_at is not None, (
                "only a ride that has ended is no longer followed"
            )
            assert isinstance(answer, Snapshot) or following.errors >= policy.FINAL_TRIES
            return
        assert MIN_INTERVAL_S <= seconds <= 1.1 * policy.SLOW_S
        before = following


@given(starts(), ANSWERS)
def test_over_any_answers_orders_move_as_they_may_and_end_with_their_rides(
    before: Before, answers: list[Any]
) -> None:
    now = NOW
    for wait, answer in answers:
        now += timedelta(seconds=wait)
        decision = decide(before, answer, now, EVEN)
        if decision.transition is not None:
            assert is_allowed(OrderState(before.order_state), decision.transition)
        if "booking_id" in decision.order:
            assert before.ride.booking_id is None
            assert decision.ride["booking_id"] == decision.order["booking_id"]
        if decision.closes:
            assert before.order_open or decision.transition == OrderState.BOOKED
        before = after(before, decision)
        assert before.ride.ended_at is None or not before.order_open


@given(starts(), ANSWERS)
def test_over_any_answers_only_a_ride_whose_row_alone_changes_is_batched(
    before: Before, answers: list[Any]
) -> None:
    now = NOW
    for wait, answer in answers:
        now += timedelta(seconds=wait)
        decision = decide(before, answer, now, EVEN)
        beside = decision.timeline or decision.raised or decision.order or decision.transition
        if decision.batched:
            assert not beside
            assert not decision.closes
            assert decision.armed_cancel is None
            assert decision.start_code is None
            assert not decision.needs_currency
            assert steady(after(before, decision).ride) == steady(before.ride)
        elif not beside:
            assert (
                decision.ride.keys() - {"seen_at", "position_at", "merged_seq", "facts"}
                or decision.start_code
            )
        before = after(before, decision)


@given(starts(), ANSWERS)
def test_over_any_answers_a_start_code_is_nowhere_but_in_its_own_column(
    before: Before, answers: list[Any]
) -> None:
    now = NOW
    for wait, answer in answers:
        now += timedelta(seconds=wait)
        decision = decide(before, answer, now, EVEN)
        shown = (
            f"{decision!r} {decision.ride} {decision.order} {decision.timeline} {decision.raised}"
        )
        assert "1111" not in shown
        assert "2222" not in shown
        before = after(before, decision)


@pytest.mark.parametrize("error", FAILURES, ids=lambda each: type(each).__name__)
def test_what_was_not_called_is_no_failure_of_the_ride(error: Exception) -> None:
    decision = decide(ride(), error, NOW, EVEN)
    not_called = isinstance(error, Throttled | TokenUnreadable)
    assert ("errors" in decision.ride) is not not_called
    assert decision.batched


@pytest.mark.parametrize(
    ("error", "errors", "backoff", "seconds"),
    [
        (NoAnswer("timeout", sent=True), 0, 0.5, 1.0),
        (NoAnswer("timeout", sent=True), 3, 0.5, 8.0),
        (NoAnswer("timeout", sent=True), 9, 0.5, 15.0),
        (NoAnswer("timeout", sent=True), 0, 0.0, 0.5),
        (RateLimited(429, retry_after_s=20.0), 3, 0.5, 20.0),
        (Throttled(Throttled.SILENT, 7.0), 3, 0.5, 7.0),
        (Throttled(Throttled.LIMITED, 0.1), 3, 0.5, 0.5),
        (TokenUnreadable("account"), 3, 0.5, 5.0),
    ],
)
def test_failed_polls_wait_longer_each_time(
    error: Exception, errors: int, backoff: float, seconds: float
) -> None:
    assert wait_s(decide(ride(errors=errors), error, NOW, Pacing(REAL, 0.5, backoff))) == seconds


def test_the_third_refusal_in_a_row_asks_for_a_person() -> None:
    error = Refused("NO_BOOKING")
    assert decide(ride(unknown_id=1), error, NOW, EVEN).raised == ()
    decision = decide(ride(unknown_id=2), error, NOW, EVEN)
    assert decision.raised == (policy.AttentionItem(policy.NOT_KNOWN, "NO_BOOKING"),)
    assert wait_s(decision) == policy.SLOW_S
    assert decide(ride("COMPLETED", unknown_id=2), error, NOW, EVEN).raised == ()


@pytest.mark.parametrize("code", ["invalid_partner_key", "rate_limit", "BANNED USER"])
def test_a_refusal_of_us_does_not_say_that_the_ride_is_not_known(code: str) -> None:
    decision = decide(ride(errors=2, unknown_id=2), Refused(code), NOW, EVEN)
    assert (decision.raised, decision.ride["unknown_id"]) == ((), 0)
    assert wait_s(decision) < policy.SLOW_S


def test_the_final_price_is_polled_once_and_given_up_after_five_failures() -> None:
    ended = decide(ride("IN_PROGRESS"), Snapshot(booking_status="COMPLETED"), NOW, EVEN)
    assert wait_s(ended) == FINAL_S
    assert (
        decide(ride("COMPLETED"), Snapshot(booking_status="COMPLETED"), NOW, EVEN).next_poll_at
        is None
    )
    error = NoAnswer("timeout", sent=True)
    assert decide(ride("COMPLETED", errors=3), error, NOW, EVEN).next_poll_at is not None
    assert decide(ride("COMPLETED", errors=4), error, NOW, EVEN).next_poll_at is None


def test_a_booking_id_that_another_order_has_is_refused_with_the_whole_answer() -> None:
    state = RideState(Kind.SHARE, txn_id="T1", status="ALLOTMENT_PENDING")
    before = ride(None, order_state=OrderState.MATCHING)._replace(ride=state, seq=2, taken="B7")
    answer = Snapshot(
        booking_status="CALL_DRIVER",
        booking_id="B7",
        vehicle_number="P 1",
        position=LatLng(12.9, 77.6),
        otp="1111",
    )
    decision = decide(before, answer, NOW, EVEN)
    assert decision.raised == (policy.AttentionItem("other_booking", "B7", alarm=True),)
    assert after(before, decision).ride == replace(state, merged_seq=2)
    assert not decision.order
    assert decision.transition is None
    named_otherwise = decide(before, answer.model_copy(update={"booking_id": "B8"}), NOW, EVEN)
    assert named_otherwise.order == {"booking_id": "B8"}


@pytest.mark.parametrize(
    ("name", "calls", "status", "verdict"),
    [
        ("cancel", 1, "BOOKING_CANCELLED", policy.DONE),
        ("abort", 1, "COMPLETED", policy.REFUSED),
        ("abort", 1, "CALL_DRIVER", policy.REFUSED),
        ("cancel", 1, "CALL_DRIVER", policy.REPEAT),
        ("cancel", 2, "CALL_DRIVER", policy.WAIT),
        ("cancel", 1, "INVOICE", policy.REPEAT),
        ("abort", 1, "INVOICE", policy.REFUSED),
        ("cancel", 1, "IN_PROGRESS", policy.REFUSED),
        ("abort", 1, None, policy.REPEAT),
    ],
)
def test_a_later_poll_proves_a_stop_or_has_it_repeated_once(
    name: str, calls: int, status: str | None, verdict: str
) -> None:
    assert policy.read_stop(name, calls, status, Kind.SHARE).verdict == verdict


@pytest.mark.parametrize("name", ["abort", "cancel"])
def test_the_bill_of_an_auto_proves_that_it_was_not_stopped(name: str) -> None:
    assert policy.read_stop(name, 1, "INVOICE", Kind.AUTO).verdict == policy.REFUSED


HERE, NEAR, FAR = LatLng(-38.52, -128.03), LatLng(-38.5201, -128.03), LatLng(-38.6, -128.03)


@pytest.mark.parametrize(
    ("calls", "drop", "status", "newer", "verdict"),
    [
        (1, NEAR, "CALL_DRIVER", True, policy.DONE),
        (1, FAR, "COMPLETED", False, policy.REFUSED),
        (1, FAR, "CALL_DRIVER", True, policy.REFUSED),
        (1, FAR, "CALL_DRIVER", False, policy.REPEAT),
        (2, FAR, "CALL_DRIVER", False, policy.WAIT),
        (1, None, "CALL_DRIVER", False, policy.WAIT),
    ],
)
def test_a_later_poll_proves_a_change_of_drop_or_has_it_repeated_once(
    calls: int, drop: LatLng | None, status: str, newer: bool, verdict: str
) -> None:
    assert policy.read_drop(calls, HERE, drop, status, newer=newer).verdict == verdict


def test_an_answer_that_says_the_same_again_writes_no_facts() -> None:
    answer = Snapshot(booking_status="CALL_DRIVER", booking_id="B1", vehicle_number="P 1")
    first = decide(ride("CALL_DRIVER"), answer, NOW, EVEN)
    assert "facts" in first.ride
    again = decide(after(ride("CALL_DRIVER"), first), answer.model_copy(), NOW, EVEN)
    assert not {"facts", "plate"} & set(again.ride)
