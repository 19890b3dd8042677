"""What is sent to create a booking, and what the answer says."""

import pytest

from ridedash.geo import LatLng
from ridedash.service.types.bookings import (
    DOCUMENT_OPTIONS,
    CreateAnswer,
    CreateBody,
    Done,
    FeedbackOptions,
    NewBooking,
)
from tests.service.bodies import CREATED, RETRYING

PICKUP, DROP = LatLng(12.1, 77.1), LatLng(12.2, 77.2)


def test_every_payload_field_of_the_document_can_be_sent():
    order = NewBooking(
        pickup=PICKUP,
        drop=DROP,
        category="share",
        pickup_mode="later",
        payment_instrument_type="svc_money",
        fare_id="f-1",
        affiliate_uid="u-1",
        coupon_code="TEN",
        merchant_txn_id="rd-1",
        seats=2,
        retry=True,
    )
    assert order.payload() == {
        "pickup_lat": 12.1,
        "pickup_lng": 77.1,
        "drop_lat": 12.2,
        "drop_lng": 77.2,
        "category": "share",
        "pickup_mode": "later",
        "payment_instrument_type": "svc_money",
        "fare_id": "f-1",
        "affiliate_uid": "u-1",
        "coupon_code": "TEN",
        "merchant_txn_id": "rd-1",
        "seats": 2,
        "retry": True,
    }
    assert NewBooking.model_validate_json(order.model_dump_json()) == order


def test_what_is_not_chosen_is_not_sent():
    assert NewBooking(pickup=PICKUP, category="mini").payload() == {
        "pickup_lat": 12.1,
        "pickup_lng": 77.1,
        "category": "mini",
        "pickup_mode": "now",
    }


@pytest.mark.parametrize(
    "wrong",
    [
        {"merchant_txn_id": "a b"},
        {"merchant_txn_id": "a_b"},
        {"merchant_txn_id": "a\n"},
        {"merchant_txn_id": ""},
        {"seats": 3, "category": "share"},
        {"seats": 1},
        {"retry": True},
        {"pickup_mode": "NOW"},
        {"payment_instrument_type": "gold"},
        {"category": ""},
        {"pickup": LatLng(float("nan"), 1)},
        {"drop": LatLng(91, 1)},
        {"unknown": 1},
    ],
)
def test_a_payload_that_the_document_does_not_allow_is_refused_here(wrong):
    with pytest.raises(ValueError):
        NewBooking(**{"pickup": PICKUP, "category": "mini", **wrong})


def test_a_point_to_point_answer_has_every_field():
    assert CreateBody.from_wire(CREATED) == CreateBody(
        status="SUCCESS",
        booking_id="CRN1",
        message="Booked",
        merchant_txn_id="rd-1",
        booking_timeout_s=240,
    )


def test_a_share_answer_in_retry_has_every_field():
    assert CreateBody.from_wire(RETRYING) == CreateBody(
        status="SUCCESS",
        txn_id="TXN1",
        retry_timeout_s=300,
        next_retry_time="2016-06-16T10:45:38.000+05:30",
    )


@pytest.mark.parametrize(
    ("sent", "read"),
    [(123456, "123456"), ("CRN1", "CRN1"), ("", None), (None, None), ("null", None)],
)
def test_a_booking_id_is_text_or_a_number(sent, read):
    assert CreateBody.from_wire(CREATED | {"booking_id": sent}).booking_id == read


@pytest.mark.parametrize("sent", [["CRN1"], {"id": 1}, True, "CRN 1", "x" * 500, 1.5, "null"])
def test_a_booking_id_that_cannot_be_read_makes_the_answer_unusable(sent):
    # A refusal with an id, even a strange one, proves nothing: there may be a booking.
    assert not CreateBody.usable(CREATED | {"booking_id": sent})


@pytest.mark.parametrize("sent", [["T1"], {"id": 1}, True, "T 1", "x" * 500, 1.5, "null"])
def test_without_a_booking_id_a_txn_id_that_cannot_be_read_makes_the_answer_unusable(sent):
    assert not CreateBody.usable({"status": "FAILURE", "txn_id": sent})
    assert CreateBody.usable({"status": "SUCCESS", "booking_id": "CRN1", "txn_id": sent})


@pytest.mark.parametrize("sent", [["rd-1"], {"id": "rd-1"}, True, "rd 1", "x" * 500, 1.5, "null"])
def test_an_echo_that_cannot_be_read_makes_the_answer_unusable(sent):
    # The answer may belong to another order, and so may a booking in it.
    assert not CreateBody.usable(CREATED | {"merchant_txn_id": sent})


@pytest.mark.parametrize("sent", [None, "", "rd-1", 7])
def test_an_answer_with_an_echo_that_can_be_read_or_without_one_is_usable(sent):
    assert CreateBody.usable(CREATED | {"merchant_txn_id": sent})


@pytest.mark.parametrize("body", [None, [], "SUCCESS", 7])
def test_what_is_no_object_is_unusable(body):
    assert not CreateBody.usable(body)


def test_feedback_options_keep_ratings_1_to_5_and_their_labels():
    sent = {"1": ["Late", 7, None, ""], "5": "Good", "6": ["x"], "four": ["y"], "2": []}
    read = FeedbackOptions.from_wire({"driver_feedback_options": sent})
    assert read == FeedbackOptions(options={1: ("Late", "7")})
    assert read.for_rating(5) == ()


def test_the_documents_own_labels_are_at_hand():
    assert DOCUMENT_OPTIONS.from_document
    assert [len(DOCUMENT_OPTIONS.for_rating(rating)) for rating in range(1, 6)] == [8, 8, 8, 8, 5]
    assert DOCUMENT_OPTIONS.for_rating(5)[0] == "Polite and professional driver"


@pytest.mark.parametrize(("length", "fits"), [(1, True), (100, True), (101, False)])
def test_a_category_has_up_to_a_hundred_characters(length, fits):
    def order():
        return NewBooking(pickup=PICKUP, category="m" * length)

    if fits:
        assert len(order().category) == length
    else:
        with pytest.raises(ValueError):
            order()


def test_an_answer_of_which_nothing_is_known_is_neither_readable_nor_names_an_id():
    answer = CreateAnswer(http_status=502)
    assert (answer.body, answer.readable, answer.names_id) == (None, False, False)
    assert (answer.retry_after_s, answer.evidence) == (None, "")
    assert CreateBody.from_wire({}) == CreateBody()


def test_a_success_without_a_status_is_one_and_keeps_its_words():
    read = Done.from_wire({"request_type": "CANCEL", "header": "Ok", "code": "c", "text": "t"})
    assert read == Done(request_type="CANCEL", header="Ok", code="c", text="t")
    assert Done.from_wire({"status": "failure"}).status == "FAILURE"


def test_labels_are_the_services_unless_they_are_the_documents():
    read = FeedbackOptions.from_wire({"driver_feedback_options": {"1": ["a"], "5": ["b"]}})
    assert (read.from_document, read.options) == (False, {1: ("a",), 5: ("b",)})
    assert {n: DOCUMENT_OPTIONS.for_rating(n)[:1] for n in (1, 4, 5, 6)} == {
        1: ("Delayed Pick up",),
        4: ("Delayed Pick up",),
        5: ("Polite and professional driver",),
        6: (),
    }
