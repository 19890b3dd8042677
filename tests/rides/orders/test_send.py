"""Which orders may be sent now, and which claims succeed before the first byte is sent."""

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from sqlalchemy import update

from ridedash.rides.accounts.tokens import ELSEWHERE, NeedsReconnect, NoRefreshNow
from ridedash.rides.orders.request import digest, restated
from ridedash.rides.state.codes import EXPIRED, NO_CONNECTION
from ridedash.rides.state.outcome import Outcome, from_record
from ridedash.store.audit import AuditRow
from ridedash.store.models.orders import Order, OrderState
from ridedash.store.models.people import Account
from tests.rides.desk_world import START, World

pytestmark = pytest.mark.database
S = OrderState
MILLISECOND = timedelta(milliseconds=1)
FRESH = timedelta(seconds=30)


def set_to(world: World, order_id: int, **columns: Any) -> int:
    with world.db.write() as s:
        later = columns | {"version": Order.version + 1}
        s.execute(update(Order).where(Order.id == order_id).values(later))
    return order_id


def test_ready_orders_that_are_due_and_fresh_may_be_sent_the_oldest_first(world: World) -> None:
    second = set_to(world, world.place(), due_at=START)
    first = set_to(world, world.place(), due_at=START - MILLISECOND)
    fresh = set_to(world, world.place(), due_at=START - FRESH, ready_at=START - FRESH + MILLISECOND)
    left_out = [
        set_to(world, world.place(), due_at=START + MILLISECOND),
        set_to(world, world.place(), ready_at=START - FRESH),
        set_to(world, world.place(), state=S.UNKNOWN),
    ]
    with world.worker() as worker:
        assert list(worker.sender.due(9)) == [fresh, first, second]
        assert list(worker.sender.due(2)) == [fresh, first]
        assert [worker.sender.send(each) for each in left_out] == [False] * 3
        assert world.service.count("create") == 0
        assert worker.sender.send(first) is True
        assert list(worker.sender.journal.file.pending()) == [], "its answer is settled"
        assert worker.sender.send(first) is False
        assert worker.sender.send(10**6) is False
    assert world.service.count("create") == 1
    order = world.page(first).order
    assert (order.state, order.attempt, order.sent_at) == (S.BOOKED, 1, START)
    with world.db.read() as s:
        moves = s.query(AuditRow).filter_by(subject=f"orders:{first}", result="SENDING").all()
        [entry] = [row for row in moves if row.what == "order.move"]
        assert (entry.who, entry.property_id) == ("worker", world.property_id)
        assert entry.facts == {"attempt": 1}


def test_while_a_429_holds_calls_only_those_that_would_be_late_are_tried(world: World) -> None:
    waits = set_to(
        world, world.place(), ready_at=START - FRESH + timedelta(seconds=6) + MILLISECOND
    )
    late = set_to(world, world.place(), ready_at=START - FRESH + timedelta(seconds=6))
    traffic = world.client.traffic
    with world.worker() as worker, pytest.MonkeyPatch.context() as patch:
        patch.setattr(traffic, "throttled_s", lambda: 6.0)
        assert list(worker.sender.due(9)) == [late]
        patch.setattr(traffic, "throttled_s", lambda: 0.0)
        assert set(worker.sender.due(9)) == {waits, late}
        patch.setattr(worker.sender.journal, "ready", lambda: False)
        assert list(worker.sender.due(9)) == []


def test_a_claim_is_refused_once_the_order_is_no_longer_due_or_fresh(world: World) -> None:
    for columns in (
        {"due_at": START + MILLISECOND},
        {"ready_at": START - FRESH},
        {"state": S.SENDING},
    ):
        order_id = set_to(world, world.place(), **columns)
        with world.worker() as worker:
            assert worker.sender._claim(order_id) is None
        assert world.page(order_id).order.attempt == 0
    order_id = world.place()
    other = world.place()
    with world.worker() as worker:
        assert worker.sender._claim(order_id)
    row = world.page(order_id).order
    assert (row.state, row.attempt) == (S.SENDING, 1)
    assert row.lease_until == START + timedelta(seconds=60)
    assert world.state(other) == S.READY


def test_a_body_that_was_changed_while_the_token_was_refreshed_is_not_sent_as_it_was(
    world: World,
) -> None:
    """During a slow refresh an order may be withdrawn, restored, changed and READY again."""
    order_id = world.place()
    with world.worker() as worker, pytest.MonkeyPatch.context() as patch:
        tokens = worker.sender.runtime.tokens
        bearer, body = tokens.bearer, restated(world.page(order_id).order.body, fare_id="F9")

        def slow(account_id: int) -> str:
            set_to(world, order_id, body=body, body_digest=digest(body))
            return bearer(account_id)

        patch.setattr(tokens, "bearer", slow)
        assert worker.sender.send(order_id) is False
        patch.undo()
        assert world.service.count("create") == 0
        assert worker.sender.send(order_id) is True
    [sent] = [created for name, created in world.service.calls if name == "create"]
    assert sent["fare_id"] == "F9"


def test_a_record_of_the_journal_allows_no_second_attempt() -> None:
    record = {"mtx": "M", "attempt": 1, "state": "NOT_SENT", "retry": "rate", "code": "C"}
    assert from_record(record) == Outcome(S.NOT_SENT, code="C")


def test_an_order_that_can_not_be_sent_is_given_up_while_it_waits(world: World) -> None:
    waits, sent = world.place(), set_to(world, world.place(), state=S.SENDING)
    with world.worker() as worker:
        for each in (waits, sent):
            worker.sender._give_up(each, NO_CONNECTION)
    order = world.page(waits).order
    assert (order.state, order.code) == (S.NOT_SENT, NO_CONNECTION)
    assert world.page(sent).order.code is None
    assert world.state(sent) == S.SENDING


def test_a_401_allows_another_attempt_only_with_a_fresh_token(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = Outcome(S.NOT_SENT, retry="auth", code="UNAUTHORIZED")
    prepared: Any = SimpleNamespace(account_id=world.account_id, token="good")
    answers: list[Any] = ["fresh", NeedsReconnect("House"), NoRefreshNow("later")]

    def refreshed(_account_id: int, _stale: str) -> str:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return str(answer)

    with world.worker() as worker:
        monkeypatch.setattr(worker.sender.runtime.tokens, "refreshed", refreshed)
        found = [worker.sender._refresh_token(prepared, refused) for _ in range(3)]
    assert found == [
        refused,
        Outcome(S.NOT_SENT, code="UNAUTHORIZED"),
        Outcome(S.NOT_SENT, code=NO_CONNECTION),
    ]


def test_an_order_whose_token_another_worker_reads_is_left_to_that_one_at_first(
    world: World,
) -> None:
    order_id = world.place()
    with world.db.write() as s:
        s.get_one(Account, world.account_id).access_token_enc = "k9.of.another"
    with world.worker() as worker:
        world.clock.go(ELSEWHERE.total_seconds() - 0.001)
        assert list(worker.sender.due(9)) == []
        world.clock.go(0.001)
        assert list(worker.sender.due(9)) == [order_id]


def test_a_claim_that_got_no_answer_ends_as_not_sent_and_no_other_claim_does(world: World) -> None:
    with world.worker() as worker:
        sender = worker.sender
        claim = {"state": S.SENDING, "owner": sender.runtime.owner, "attempt": 1}
        unclear = set_to(world, world.place(), sent_at=START, **claim)
        again = set_to(world, world.place(), sent_at=START + MILLISECOND, **claim)
        lost = world.place()
        sender._unclear_claims.update(dict.fromkeys((unclear, again, lost, 10**6), START))
        assert list(sender.due(9)) == [lost]
        assert sender._unclear_claims == {}
    assert [world.state(each) for each in (unclear, again, lost)] == [
        S.NOT_SENT,
        S.SENDING,
        S.READY,
    ]
    assert world.page(unclear).order.code == NO_CONNECTION
    assert world.service.count("create") == 0


def rejected(order_id: int, world: World, **facts: Any) -> dict[str, Any]:
    """A refusal as an answer journal contains it."""
    mtx = world.page(order_id).order.mtx
    return {"mtx": mtx, "attempt": 1, "state": "REJECTED", "code": "NO_CABS", **facts}


def test_answers_of_a_journal_are_settled_for_their_own_attempt_and_none_stops_the_others(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    with world.worker() as worker:
        sender, file = worker.sender, worker.sender.journal.file
        orders = [set_to(world, world.place(), state=S.SENDING, attempt=1) for _ in range(4)]
        strange, flying, of_no_attempt, sound = orders
        records = [rejected(each, world) for each in orders]
        records[0]["state"] = "LEVITATING"
        del records[2]["attempt"]
        for record in records:
            file.append(record)
        sender._in_flight.add(records[1]["mtx"])
        assert sender.replay(file) == 2
        left = {record["mtx"] for _, record in file.pending()}
        assert left == {records[0]["mtx"], records[1]["mtx"]}
    assert world.state(sound) == S.REJECTED
    assert [world.state(each) for each in (strange, flying, of_no_attempt)] == [S.SENDING] * 3
    message = f"the answer for {records[0]['mtx']} in the journal can't be settled: ValueError"
    assert message in caplog.text


def test_an_answer_to_an_attempt_that_the_database_does_not_know_asks_for_a_comparison(
    world: World,
) -> None:
    with world.worker() as worker:
        worker._recurring_jobs(always=True)
        order_id, file = world.place(), worker.sender.journal.file
        assert worker.sender.watch.settled
        file.append(rejected(order_id, world))
        assert worker.sender.replay(file) == 1
        assert not worker.sender.watch.settled
    assert world.state(order_id) == S.READY


def test_an_answer_that_is_not_in_the_sent_journal_yet_keeps_its_slot(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_given: Any) -> None:
        raise OSError("the disk is full")

    with world.worker() as worker:
        sender, order_id = worker.sender, world.place()
        with monkeypatch.context() as patch:
            patch.setattr(sender.journal.sent, "answered", full)
            assert sender.send(order_id)
        assert world.state(order_id) == S.BOOKED
        assert "an answer is not in the sent journal: " in caplog.text
        assert len(list(sender.journal.file.pending())) == 1
        assert sender.replay(sender.journal.file) == 1
        assert list(sender.journal.file.pending()) == []
        with monkeypatch.context() as patch:
            patch.setattr(sender.journal.file, "append", full)
            other = world.place()
            assert sender.send(other), "the database has the answer alone"
    assert world.state(other) == S.BOOKED


def test_a_request_leaves_only_while_its_press_is_fresh(world: World) -> None:
    with world.worker() as worker:
        prepared = worker.sender._prepare(world.place())
        assert prepared is not None
        world.clock.go(30)
        assert worker.sender._call(prepared) == Outcome(S.NOT_SENT, code=EXPIRED)
        assert world.service.count("create") == 0
        world.clock.go(-0.001)
        assert worker.sender._call(prepared).state is S.BOOKED


def test_an_answer_whose_attempt_the_database_lost_meanwhile_asks_for_a_comparison(
    world: World,
) -> None:
    with world.worker() as worker:
        worker._recurring_jobs(always=True)
        order_id = world.place()

        def restored_meanwhile(body: dict[str, Any]) -> httpx.Response:
            set_to(world, order_id, state=S.READY, attempt=0)
            return world.service.booked(body)

        world.service.create.append(restored_meanwhile)
        assert worker.sender.watch.settled
        assert worker.sender.send(order_id)
        assert not worker.sender.watch.settled
        assert list(worker.sender.journal.file.pending()) == [], "the sent journal has the answer"
