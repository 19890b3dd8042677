"""The lens says in words what the program concludes from an answer."""

import json

import pytest

from ridedash.demo.lens.made import made_of
from ridedash.wire import Kind
from tests.demo.lens.answers import BOOKED, METERED, driven, over
from tests.demo.lens.exchanges import CREATE, TRACK, exchange, poll, recorder
from tests.demo.lens.scenes import CANCELLED, MATCHING, SEARCHING

SENT = {"category": "mini", "merchant_txn_id": "RD-1"}
CANCEL = "/v1/bookings/cancel"


@pytest.fixture
def made(tmp_path):
    """A function: records exchanges as calls of one ride. What the lens says was made of each."""

    def of(*exchanges):
        lens = recorder(tmp_path)
        for each in exchanges:
            lens.exchange(each)
        assert lens.flush(60)
        listed = lens.file.calls(None, only_errors=False, after=0, limit=100)
        calls = [lens.file.call(each.number) for each in listed]
        return list(made_of(calls, Kind.POINT_TO_POINT).values())

    return of


@pytest.mark.parametrize(
    ("answer", "more", "beginning"),
    [
        (BOOKED, {}, "Accepted, because it names a booking id. The order is now BOOKED."),
        (MATCHING, {}, "Accepted, and still searching: it names a txn_id alone. "),
        ({"status": "FAILURE", "code": "BANNED USER"}, {}, "Refused, because of its code BANNED"),
        (BOOKED | {"merchant_txn_id": "RD-2"}, {}, "Unknown, because the answer contradicts "),
        (b"<html>", {"status": 502, "outcome": "5xx"}, "Unknown, because the answer proves "),
        ({}, {"status": 429, "outcome": "429"}, "Nothing was booked, because too many calls "),
        (
            {},
            {"failure": "no answer (ReadTimeout), sent", "outcome": "unanswered"},
            "Unknown, because the request left and no answer came. The order is now UNKNOWN: ",
        ),
        (
            {},
            {"failure": "no answer (ConnectError), nothing was sent", "outcome": "not_sent"},
            "Nothing was booked, because no connection was made. The order is now NOT_SENT.",
        ),
        (
            {},
            {"failure": "no answer (limited), nothing was sent", "outcome": "held"},
            "Nothing was booked, because too many calls were made. The order may be sent once",
        ),
        ({}, {"failure": "unreadable answer", "outcome": "unreadable"}, "Unknown, because the an"),
    ],
)
def test_a_create_is_accepted_refused_or_unknown_and_says_why(made, answer, more, beginning):
    (found,) = made(exchange(CREATE, answer, json=SENT, **more))
    assert found.startswith(beginning)


def test_polls_say_what_is_new_as_the_merge_decides(made):
    swapped = driven("CALL_DRIVER", vehicle_number="KA05CD5671")
    silent = {"failure": "no answer (ReadTimeout), sent", "outcome": "unanswered"}
    track = exchange(TRACK, **silent, params={"booking_id": "CRN000001"})
    found = made(
        exchange(CREATE, BOOKED, json=SENT),
        poll_with(SEARCHING),
        poll_with(driven("CALL_DRIVER")),
        poll_with(swapped),
        track,
        poll("CRN000001", "ALLOTMENT_PENDING"),
        poll("CRN000001", "HAILED"),
        poll_with(driven("CALL_DRIVER") | {"booking_id": "CRN2"}),
        poll_with(over() | {"vehicle_number": "KA05CD5671"}),
        poll("CRN000001", "CALL_DRIVER"),
    )
    assert found[1] == "The ride is now ALLOTMENT_PENDING. Nothing else is new."
    assert found[2].startswith("The ride is now CALL_DRIVER. New: plate, driver, ")
    assert found[3].startswith("The ride is still CALL_DRIVER. Another car comes: desk and guest")
    assert found[4] == "No facts came: those of before stay, and grow older."
    assert found[5].startswith("Not believed yet: a step back to ALLOTMENT_PENDING must come")
    assert "HAILED is not in the document: the last known one stays." in found[6]
    assert found[7] == "Not believed: it is about another booking."
    assert found[8].startswith("The ride is now COMPLETED. ")
    assert "Gone: " in found[8]
    assert found[9] == "Not shown: the ride is over."


def poll_with(body):
    """A poll that is answered with this body."""
    return exchange(TRACK, body, params={"booking_id": "CRN000001"})


def test_equal_answers_are_judged_as_the_first_and_counted(made):
    (found,) = made(*(poll(driver_lat=n / 10, driver_lng=1) for n in range(3)))
    assert found.startswith("The ride is now CALL_DRIVER. New: position.")
    assert found.endswith("The same again: 3 answers in a row.")


def test_other_requests_are_judged_too(made):
    refused = {"status": "FAILURE", "reason": "CANCELLATION_NOT_ALLOWED"}
    found = made(
        exchange("/v1/products", METERED, params={"pickup_lat": "1", "pickup_lng": "2"}),
        exchange(CANCEL, CANCELLED, json={"booking_id": "CRN1"}),
        exchange(CANCEL, refused, json={"booking_id": "CRN1"}),
        exchange(CANCEL, b"<html>", json={"booking_id": "CRN1"}, status=502, outcome="5xx"),
    )
    priced = len(METERED["ride_estimate"])
    assert found == [
        f"Cars read: {len(METERED['categories'])}, with a price: {priced}.",
        "Done: the service confirms it.",
        "Refused, because of CANCELLATION_NOT_ALLOWED. The ride goes on.",
        "Not clear. The worker reads back what came of it.",
    ]


def test_what_a_hostile_service_says_is_no_more_than_words(made):
    (found,) = made(exchange(CREATE, {"status": "FAILURE", "code": "<b>%(x)s</b>"}, json=SENT))
    assert "<b>%(x)s</b>" in found
    assert json.dumps(found)
