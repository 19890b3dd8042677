"""Which orders are on a property's board, and what on it needs a person's attention."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from ridedash.store import accounts, board
from ridedash.store.board import AccountInNeed, BoardMark
from ridedash.store.encryption import TokenVault, new_key
from ridedash.store.models.orders import UNSETTLED, Attention, Order, Ride
from ridedash.store.models.people import Account
from tests.views.ride_pages import NOON, Desk

pytestmark = pytest.mark.database
MILLISECOND = timedelta(milliseconds=1)
LATELY = NOON - timedelta(minutes=40)
OVER = {"ride": {"next_poll_at": None}}


def marks(desk: Desk) -> dict[int, BoardMark]:
    with desk.services.db.read() as s:
        found = board.board_marks(s, desk.ids["desk.property"], NOON)
    assert len({mark.order_id for mark in found}) == len(found)
    return {mark.order_id: mark for mark in found}


def change(desk: Desk, order_id: int, **facts: Any) -> int:
    with desk.services.db.write() as s:
        order = s.get_one(Order, order_id)
        for name, value in facts.items():
            setattr(order, name, value)
    return order_id


def crowd(desk: Desk, count: int = 30) -> list[int]:
    """Place `count` newer orders, which ended long ago."""
    return [desk.order("BOOKED", age_s=2400) for _ in range(count)]


def test_an_order_that_is_not_over_or_is_followed_or_needs_attention_stays(desk: Desk) -> None:
    def old(state: str = "BOOKED", status: str | None = None, **facts: Any) -> int:
        return desk.order(state, status, age_s=2401, **facts)

    there = [old(state) for state in UNSETTLED]
    there += [old(status="CALL_DRIVER"), old(attention=("late",))]
    gone = [old(), old(status="COMPLETED", **OVER)]
    gone += [old(attention=(name,)) for name in ("car_swapped", "unknown_status")]
    cleared = old(attention=("late",))
    theirs = [old("UNKNOWN", prop="other"), old(status="CALL_DRIVER", prop="other")]
    theirs += [old(attention=("late",), prop="other"), desk.order("BOOKED", prop="other")]
    with desk.services.db.write() as s:
        s.query(Attention).filter_by(order_id=cleared).one().cleared_at = NOON
    newest = crowd(desk)
    assert set(marks(desk)) == {*there, *newest}


def test_the_newest_thirty_are_shown_however_old(desk: Desk) -> None:
    orders = crowd(desk, 31)
    assert set(marks(desk)) == set(orders[1:])


def test_what_ended_lately_is_shown_for_forty_minutes_from_when_it_was_due(desk: Desk) -> None:
    def due(at: datetime, state: str = "BOOKED", **facts: Any) -> int:
        return change(desk, desk.order(state), due_at=at, **facts)

    tomorrow = NOON + timedelta(days=1)
    shown = [
        due(LATELY + MILLISECOND),
        due(NOON, "NOT_SENT"),
        due(tomorrow),
        due(tomorrow, "NOT_SENT", resolved_at=LATELY + MILLISECOND),
    ]
    due(LATELY)
    due(tomorrow, "NOT_SENT", resolved_at=LATELY, code="WITHDRAWN")
    due(tomorrow, "NOT_SENT", code="WITHDRAWN")
    change(desk, desk.order("REJECTED", prop="other"), due_at=NOON)
    newest = crowd(desk)
    assert set(marks(desk)) == {*shown, *newest}


def test_of_very_many_that_ended_lately_those_come_first_that_were_due(desk: Desk) -> None:
    first = desk.order("REJECTED")
    with desk.services.db.write() as s:
        row = s.get_one(Order, first)
        columns = {c.key: getattr(row, c.key) for c in Order.__table__.columns if c.key != "id"}
        row.due_at = NOON
        for number in range(205):
            own = {"form_token": f"f{number}", "mtx": f"m{number}"}
            minutes = timedelta(minutes=number)
            s.add(Order(**{**columns, **own, "due_at": NOON + MILLISECOND + minutes}))
    crowd(desk)
    found = marks(desk)
    assert first in found
    assert len(found) == 200 + 30


@pytest.mark.sqlite_only  # SQLite's query plan is readable text
def test_a_board_reads_orders_that_are_over_by_when_they_were_due(desk: Desk) -> None:
    """Of the orders of all years only the newest are read by their property alone."""
    with desk.services.db.read() as s:
        values = dict.fromkeys(("now", "lately", "since"), NOON) | {"property_id": 1}
        query = board._MARKS.params(values)
        compiled = query.compile(s.connection(), compile_kwargs={"literal_binds": True})
        rows = s.connection().exec_driver_sql(f"EXPLAIN QUERY PLAN {compiled}").all()
    plan = [row[-1] for row in rows if row[-1].startswith(("SEARCH orders ", "SCAN orders"))]
    by_property = [line for line in plan if "(property_id=?)" in line or "SCAN" in line]
    assert by_property == ["SEARCH orders USING COVERING INDEX orders_recent (property_id=?)"]
    assert sum("due_at>?" in line for line in plan) == 2, plan


def test_a_revision_identifies_what_a_page_shows_and_when_it_was_learnt(desk: Desk) -> None:
    without = desk.order("READY")
    followed = desk.order("BOOKED", "CALL_DRIVER")
    over = desk.order("BOOKED", "COMPLETED", **OVER)
    with desk.services.db.write() as s:
        for row in s.query(Ride).all():
            row.seen_at, row.interval_s = NOON, 7.0
    assert marks(desk) == {
        without: BoardMark(without, 3, None, None, None, False),
        followed: BoardMark(followed, 3, "CALL_DRIVER", NOON, 7.0, True),
        over: BoardMark(over, 3, "COMPLETED", NOON, 7.0, False),
    }


def test_orders_that_were_placed_since_a_given_time(desk: Desk) -> None:
    last = change(desk, desk.order("READY"), created_at=NOON)
    change(desk, desk.order("READY"), created_at=NOON - MILLISECOND)
    change(desk, desk.order("READY", prop="other"), created_at=NOON)
    with desk.services.db.read() as s:
        assert board.placed_since(s, desk.ids["desk.property"], NOON) == {last}


def test_unknown_orders_are_counted_since_the_oldest_was_sent(desk: Desk) -> None:
    def unknown() -> tuple[int, datetime | None]:
        with desk.services.db.read() as s:
            return board.unknown_orders(s, desk.ids["desk.property"])

    assert unknown() == (0, None)
    for age_s in (10, 70, 30):
        desk.order("UNKNOWN", age_s=age_s)
    desk.order("UNKNOWN", age_s=99, prop="other")
    desk.order("BOOKED", age_s=99)
    assert unknown() == (3, NOON - timedelta(seconds=70))


def test_accounts_that_the_service_refuses_or_no_key_decrypts_are_named(desk: Desk) -> None:
    property_id = desk.ids["desk.property"]
    vault = desk.services.vault
    names = ("fine", "refused", "both", "sealed", "replaced", "removed", "no token")
    with desk.services.db.write() as s:
        rows = {n: accounts.add_account(s, vault, property_id, n, "t", NOON) for n in names}
        rows["refused"].state = rows["both"].state = "reconnect"
        rows["removed"].state = "removed"
        rows["sealed"].access_token_enc = rows["both"].access_token_enc = "lost.abc.def"
        same_name = TokenVault(f"{vault.first}:{new_key()}")
        accounts.keep_tokens(rows["replaced"], same_name, "t", None, None, NOON)
        rows["no token"].access_token_enc = None
        ids = {name: row.id for name, row in rows.items()}
        s.get_one(Account, desk.ids["other.account"]).state = "reconnect"
    with desk.services.db.read() as s:
        assert board.accounts_in_need(s, property_id, vault) == [
            AccountInNeed(ids["refused"], "refused", is_unreadable=False),
            AccountInNeed(ids["both"], "both", is_unreadable=False),
            AccountInNeed(ids["sealed"], "sealed", is_unreadable=True),
            AccountInNeed(ids["replaced"], "replaced", is_unreadable=True),
        ]


def test_an_account_under_a_key_with_a_long_name_is_not_in_need(desk: Desk) -> None:
    vault = TokenVault(f"installation2026spring:{new_key()}")
    property_id = desk.ids["desk.property"]
    with desk.services.db.write() as s:
        accounts.add_account(s, vault, property_id, "fine", "t", NOON)
    with desk.services.db.read() as s:
        needs = board.accounts_in_need(s, property_id, vault)
    assert "fine" not in [each.label for each in needs]
