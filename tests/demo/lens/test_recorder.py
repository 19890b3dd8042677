"""The recorder keeps every call in order, and never disturbs a call."""

import threading
from datetime import timedelta

import pytest

from ridedash.demo.lens import recorder as recording
from ridedash.demo.lens import writing
from ridedash.demo.lens.store import FILE, LensFile, Ties
from ridedash.observability.logs import worker_step
from tests.demo.lens.exchanges import CREATE, KEY, NOW, TOKEN, exchange, poll, recorder

LONG_S = 60.0  # an upper bound on a busy machine


@pytest.fixture(autouse=True)
def no_step():
    """Clear the worker's step, which another test of this process may have left."""
    before = worker_step.set(("", 0))
    yield
    worker_step.reset(before)


def listed(lens, ties=None, **more):
    assert lens.flush(LONG_S)
    wanted = {"only_errors": False, "after": 0, "limit": 10_000} | more
    return lens.file.calls(ties, **wanted)


def test_calls_are_stored_in_order_with_their_outcomes(tmp_path):
    lens = recorder(tmp_path)
    body = {"category": "mini", "merchant_txn_id": "RD-1"}
    made = {"status": "SUCCESS", "booking_id": "CRN1"}
    lens.exchange(exchange("/v1/products", {"categories": [{}, {}]}))
    lens.exchange(exchange(CREATE, made, json=body))
    lens.exchange(poll())
    refused = {"status": "FAILURE", "reason": "CANCELLATION_NOT_ALLOWED"}
    lens.exchange(exchange("/v1/bookings/cancel", refused, json={"booking_id": "CRN1"}))
    lens.exchange(exchange(failure="no answer (ReadTimeout), sent", outcome="unanswered"))
    calls = listed(lens)
    assert [(each.operation, each.result) for each in calls] == [
        ("products", "2 categories"),
        ("create", "CRN1"),
        ("track_ride", "CALL_DRIVER"),
        ("cancel", "CANCELLATION_NOT_ALLOWED"),
        ("track_ride", "no answer (ReadTimeout), sent"),
    ]
    assert [each.operation for each in listed(lens, only_errors=True)] == ["cancel", "track_ride"]
    mine = listed(lens, Ties(7, mtx="RD-1", booking_id="CRN1"))
    assert [each.operation for each in mine] == ["create", "track_ride", "cancel"]
    assert listed(lens, after=calls[-2].turn) == calls[-1:]
    one = lens.file.call(calls[1].number)
    assert (one.request.body, one.answer.body) == (
        '{"category":"mini","merchant_txn_id":"RD-1"}',
        '{"status":"SUCCESS","booking_id":"CRN1"}',
    )
    assert one.request.headers["X-APP-TOKEN"] == "••••(32)"
    assert one.cause == ""
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert KEY.encode() not in stored
    assert TOKEN.encode() not in stored


def test_prices_are_tied_to_the_offers_that_they_became(tmp_path):
    """An offer is tied to the prices of its own search, and not to another one of the same trip."""
    lens = recorder(tmp_path)
    trip = {"pickup_lat": "1", "pickup_lng": "2"}
    for number, offers in ((1, (11, 12)), (2, ()), (1, (13,))):
        worker_step.set(("due", number))
        lens.exchange(exchange("/v1/products", {"categories": [{}]}, params=trip))
        if number == 1 and 11 in offers:  # the price of one category, requested alone
            lens.exchange(exchange("/v1/products", params=trip | {"category": "share"}))
        if offers:
            lens.offers(offers)
    assert [each.number for each in listed(lens, Ties(7, offer=12))] == [1, 2]
    assert [each.number for each in listed(lens, Ties(8, offer=13))] == [4]
    assert listed(lens, Ties(9, offer=14)) == []
    before = lens.file.newest()
    worker_step.set(("due", 2))
    lens.offers((15,))  # made a while after its call was listed
    assert [each.number for each in listed(lens, after=before)] == [3]
    assert lens.file.offers([1, 3]) == {1: [11, 12], 3: [15]}
    lens.file.clear(NOW + timedelta(days=1))
    assert lens.file.offers([1, 2, 3, 4]) == {}


def test_equal_polls_are_one_row_with_the_first_and_the_last(tmp_path):
    lens = recorder(tmp_path)
    for n in range(14):
        left = {"value": 20 - n, "unit": "MINUTE"}
        lens.exchange(poll(driver_lat=1.5 + n, driver_lng=-2, bearing=n, speed=n, duration=left))
    (call,) = listed(lens)
    assert call.same == 14
    assert (call.ended - call.began).total_seconds() == pytest.approx(13, abs=0.1)
    whole = lens.file.call(call.number)
    assert '"driver_lat":1.5,' in whole.first.body
    assert '"driver_lat":14.5,' in whole.answer.body
    lens.exchange(exchange("/v1/bookings/drop_location", json={"booking_id": "CRN1"}))
    lens.exchange(poll(driver_lat=3))
    lens.exchange(poll(status="CLIENT_LOCATED"))
    lens.exchange(poll("CRN2", driver_lat=3))
    assert [(each.operation, each.same) for each in listed(lens)] == [
        ("track_ride", 14),
        ("drop_location", 1),
        ("track_ride", 1),
        ("track_ride", 1),
        ("track_ride", 1),
    ]


def test_two_processes_write_one_file(tmp_path):
    one, two = recorder(tmp_path), recorder(tmp_path)
    for lens in (one, two, one, two):
        lens.exchange(poll(driver_lat=1))
        assert lens.flush(LONG_S)
    assert sum(each.same for each in listed(one)) == 4


def test_what_another_process_writes_is_learnt_and_costs_no_last_answer(tmp_path):
    file, rides = LensFile(tmp_path), [f"CRN{n}" for n in range(2 * writing.LASTS)]

    def write(writer, *calls):
        writer.write([writing.Seen(NOW.timestamp(), "", None, call) for call in calls])

    with file.writing() as ours, file.writing() as theirs:
        mine, other = writing.Writer(ours), writing.Writer(theirs)
        for lat in (1, 2):
            write(mine, *(poll(ride, driver_lat=lat) for ride in rides))
        cancel = exchange("/v1/bookings/cancel", json={"booking_id": rides[0]})
        write(other, cancel, poll("CRN99"))
        write(mine)  # nothing to record for a while
        write(mine, poll(rides[0]), poll("CRN99"))
    calls = file.calls(None, False, 0, 100)
    listed_calls = [(each.operation, each.ids.booking_id, each.same) for each in calls]
    assert listed_calls == [
        *(("track_ride", ride, 2) for ride in rides),
        ("cancel", rides[0], 1),
        ("track_ride", "CRN99", 2),
        ("track_ride", rides[0], 1),
    ]
    for call in calls[: len(rides)]:
        assert '"driver_lat":2' in file.call(call.number).answer.body


def test_the_steps_of_a_worker_are_the_cause(tmp_path):
    lens = recorder(tmp_path)
    before = worker_step.set(("send", 12))
    lens.exchange(exchange(CREATE, json={}))
    worker_step.reset(before)
    (call,) = listed(lens, Ties(12))
    assert (call.cause, call.hint) == ("worker: send 12", 12)


def test_the_oldest_calls_go(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "MOST_CALLS", 30)
    monkeypatch.setattr(writing, "TRIMMED_EVERY", 10)
    lens = recorder(tmp_path)
    for n in range(100):
        lens.exchange(poll(f"CRN{n}"))
        if n % 10 == 9:
            assert lens.flush(LONG_S)
    ids = [each.ids.booking_id for each in listed(lens)]
    assert ids[-1] == "CRN99"
    assert 30 <= len(ids) < 41
    lens.exchange(poll("CRN1"))  # the row of this ride is gone: the poll gets a new one
    assert listed(lens)[-1].ids.booking_id == "CRN1"


def test_a_full_queue_drops_calls_and_counts_them(tmp_path, monkeypatch):
    lens = recorder(tmp_path)
    go, blocked, first = threading.Event(), threading.Event(), poll("CRN0")
    write = writing.Writer.write

    def slowly(self, batch):
        # threads of earlier tests may still write, too
        if any(getattr(seen, "exchange", None) is first for seen in batch):
            blocked.set()
            go.wait(LONG_S)
        write(self, batch)

    monkeypatch.setattr(writing.Writer, "write", slowly)
    monkeypatch.setattr(recording, "MOST_WAITING", 5)
    lens.exchange(first)
    assert blocked.wait(LONG_S)
    for n in range(20):
        lens.exchange(poll(f"CRN{n}"))  # returns at once
    assert lens.dropped == 15
    go.set()
    assert sum(each.same for each in listed(lens)) == 6


def test_a_broken_file_is_made_anew(tmp_path):
    (tmp_path / FILE).write_bytes(b"no database at all" * 1000)
    lens = recorder(tmp_path)
    assert lens.file.calls(None, False, 0, 10) == []
    lens.exchange(poll())
    assert len(listed(lens)) == 1


def test_a_file_that_is_deleted_meanwhile_is_made_anew(tmp_path):
    """The recorder's thread runs while rides are polled: it must not write to a deleted file."""
    lens = recorder(tmp_path)
    lens.exchange(poll())
    assert len(listed(lens)) == 1
    for end in ("", "-wal", "-shm"):
        (tmp_path / (FILE + end)).unlink(missing_ok=True)
    lens.exchange(poll("CRN2"))  # may be lost with the file
    assert lens.flush(LONG_S)
    lens.exchange(poll("CRN3"))
    assert listed(lens)[-1].ids.booking_id == "CRN3"


def test_half_a_pair_in_an_answer_costs_no_record(tmp_path):
    """JSON can escape half of a surrogate pair: that is no character, and no file can hold it."""
    lens = recorder(tmp_path)
    raw = rb'{"booking_id":"CRN\ud800","driver_name":"A\udfff","booking_status":"CALL_DRIVER"}'
    lens.exchange(exchange(body=raw, params={"booking_id": "CRN1"}))
    lens.exchange(exchange(CREATE, body=raw, json={"name": "\ud800"}))
    one, other = listed(lens)
    assert lens.file.call(one.number).answer.body == raw.decode()
    assert (one.ids.booking_id, other.result) == ("CRN?", "CRN")
    assert lens.dropped == 0


def test_a_file_that_cannot_be_written_costs_records_but_no_call(tmp_path, caplog):
    (tmp_path / FILE).mkdir()
    lens = recorder(tmp_path)
    for _ in range(3):
        lens.exchange(poll())
        lens.flush(LONG_S)
    assert lens.dropped == 3
    assert (lens.file.calls(None, False, 0, 10), lens.file.call(1)) == ([], None)
    assert caplog.text.count("the lens can't record") == 1


def test_clearing_also_drops_calls_in_flight(tmp_path):
    lens = recorder(tmp_path)
    lens.exchange(poll())
    assert len(listed(lens)) == 1
    lens.file.clear(lens._clock())
    assert listed(lens) == []
    lens.exchange(exchange(total_s=60.0))  # this call began before the clearing
    lens.exchange(poll())
    assert [each.same for each in listed(lens)] == [1]
