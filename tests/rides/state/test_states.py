"""Transitions and actions of each state, written out as in docs/booking-protocol.md 1.5 and 1.6."""

import itertools

import pytest

from ridedash.rides.state.states import ActionAllowed, actions, has_failed, held_actions, is_allowed
from ridedash.rides.state.states import may_cancel as may
from ridedash.store.models.orders import OrderState
from ridedash.wire import Kind

S = OrderState
ALLOWED = {
    "SCHEDULED": "READY NOT_SENT UNKNOWN",
    "WAITING": "READY NOT_SENT UNKNOWN",
    "READY": "SENDING NOT_SENT UNKNOWN",
    "SENDING": "BOOKED MATCHING REJECTED NOT_SENT UNKNOWN READY",
    "UNKNOWN": "BOOKED MATCHING REJECTED CLOSED_NOT_BOOKED",
    "MATCHING": "BOOKED FAILED",
    "CLOSED_NOT_BOOKED": "BOOKED UNKNOWN",
    "NOT_SENT": "SCHEDULED WAITING UNKNOWN",
}
ENDS = ("ALLOTMENT_FAILED", "BOOKING_CANCELLED")
SEARCHING = ("ALLOTMENT_PENDING", "PENDING", "ALLOTMENT_RETRYING", "SOFT_ALLOCATED")


def test_an_order_makes_only_the_transitions_of_the_protocol() -> None:
    for a, b in itertools.product(S, S):
        assert is_allowed(a, b) is (b in ALLOWED.get(a, "").split()), f"{a} to {b}"


def offered(state: str, status: str | None = None, **facts: object) -> list[str]:
    """The actions in their order; one that is not allowed has a "-" before it and a reason."""
    given = {"kind": Kind.POINT_TO_POINT, "booking_id": "C1", "armed": False} | facts
    found = actions(S(state), status, **given)  # type: ignore[arg-type]
    return [each.name if each.allowed else f"-{each.name} {each.note}" for each in found]


@pytest.mark.parametrize(
    ("state", "names"),
    [
        ("SCHEDULED", "change withdraw"),
        ("WAITING", "start withdraw"),
        ("READY", "withdraw"),
        ("SENDING", ""),
        ("UNKNOWN", "resolve"),
        ("CLOSED_NOT_BOOKED", "reopen again"),
        ("REJECTED", "again"),
        ("NOT_SENT", "again"),
        ("FAILED", "again"),
        ("MATCHING", "arm"),
    ],
)
def test_an_order_without_a_ride_has_the_actions_of_its_state(state: str, names: str) -> None:
    assert offered(state, booking_id=None) == names.split()


@pytest.mark.parametrize("state", ["MATCHING", "BOOKED"])
def test_before_there_is_a_booking_id_a_cancel_can_be_armed_once(state: str) -> None:
    assert offered(state, booking_id=None) == ["arm"]
    assert offered(state, booking_id=None, armed=True) == ["-arm armed"]
    [armable] = actions(S(state), None, Kind.SHARE, None, False)
    assert armable == ActionAllowed("arm", True, "no_booking_id")


@pytest.mark.parametrize("kind", Kind)
def test_a_ride_has_one_way_to_end_it_last_while_searching_and_with_a_driver(kind: Kind) -> None:
    for status in (None, *SEARCHING):
        assert offered("BOOKED", status, kind=kind) == ["drop", "abort"]
        assert not may(status, kind)
    for status in ("CALL_DRIVER", "CLIENT_LOCATED"):
        assert offered("BOOKED", status, kind=kind) == ["drop", "cancel"]
        assert may(status, kind)
    assert offered("BOOKED", "IN_PROGRESS", kind=kind) == ["drop", "-cancel on_trip"]
    assert not may("IN_PROGRESS", kind)


def test_the_invoice_of_an_auto_comes_after_the_ride_and_that_of_others_before_it() -> None:
    assert (offered("BOOKED", "INVOICE", kind=Kind.AUTO), may("INVOICE", Kind.AUTO)) == ([], False)
    for kind in (Kind.POINT_TO_POINT, Kind.SHARE):
        assert offered("BOOKED", "INVOICE", kind=kind) == ["drop", "cancel"]
        assert may("INVOICE", kind)


def test_after_the_ride_there_is_feedback_once_and_after_a_failed_one_another_booking() -> None:
    assert offered("BOOKED", "COMPLETED") == ["feedback"]
    assert offered("BOOKED", "COMPLETED", feedback_given=True) == ["-feedback given"]
    assert offered("BOOKED", "COMPLETED", booking_id=None) == [], "feedback is given by the id"
    for status in ENDS:
        assert offered("BOOKED", status) == ["again"]
        assert offered("BOOKED", status, booking_id=None) == ["again"]


def test_a_new_order_may_replace_one_that_has_no_ride_or_whose_ride_never_began() -> None:
    without = {"REJECTED", "NOT_SENT", "FAILED", "CLOSED_NOT_BOOKED", "UNKNOWN"}
    for state in S:
        if state != S.BOOKED:
            assert has_failed(state, None) is (state in without), state
            assert has_failed(state, "COMPLETED") is (state in without), state
    for status in ENDS:
        assert has_failed(S.BOOKED, status)
    for going in (None, "COMPLETED", "IN_PROGRESS", "CALL_DRIVER", *SEARCHING):
        assert not has_failed(S.BOOKED, going)


def test_a_ride_that_is_held_is_released_marked_as_ordered_changed_or_withdrawn() -> None:
    names = ["release", "ordered", "change", "withdraw"]
    assert held_actions() == tuple(ActionAllowed(name, True) for name in names)
    assert [each.name for each in held_actions(S.WAITING)] == ["release", "ordered", "withdraw"]
    assert all(each.allowed for each in held_actions(S.WAITING))
