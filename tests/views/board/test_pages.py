"""The poll of the board: changes since the client's revisions, and the chosen ride's snapshot."""

import re
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import event
from sqlalchemy.orm import Session

from ridedash.rides.state.transitions import add_event
from ridedash.service_time import ServiceTime, Turn
from ridedash.store.accounts import keep_tokens
from ridedash.store.encryption import TokenVault, new_key
from ridedash.store.guest_lists import LIST_FAILING, LIST_STOPPED, GuestList, NewLine, lines_of
from ridedash.store.models.people import Account, Guest
from ridedash.store.orders import Attention, Order, Ride, TimelineEvent
from ridedash.views.board.pages import NOTHING, known
from ridedash.views.poll_cache.cache import EXTENSION
from tests.views.lists.stored import stored_list
from tests.views.ride_pages import NOON, ORDER_STATES, Desk, make_desk, snapshot_facts

pytestmark = pytest.mark.database


@pytest.fixture
def browser(desk: Desk) -> FlaskClient:
    return desk.client()


def poll(browser: FlaskClient, **query: Any) -> dict[str, Any]:
    answer = browser.get("/board.json", query_string=query)
    assert answer.status_code == 200, answer.text
    return dict(answer.json or {})


def has(body: dict[str, Any]) -> str:
    """The parameter `since` of a page with these rows."""
    return f"{body['v']}~{''.join(row['rev'] for row in body['rows'])}"


def move(desk: Desk, order_id: int, **facts: Any) -> None:
    """Record an update of a ride, as the worker does."""

    def rows(s: Any) -> None:
        s.get(Order, order_id).version += 1
        ride = s.query(Ride).filter(Ride.order_id == order_id).one()
        for name, value in facts.items():
            setattr(ride, name, value)
        if "status" in facts:
            property_id = ride.property_id
            s.add(
                TimelineEvent(
                    property_id=property_id,
                    order_id=order_id,
                    what="ride",
                    name=ride.status,
                    detail=None,
                    at=desk.now,
                )
            )

    desk.add(rows)


def test_a_current_client_gets_no_rows_and_no_order(desk: Desk, browser: FlaskClient) -> None:
    desk.order("BOOKED", "CALL_DRIVER")
    desk.order("UNKNOWN")
    first = poll(browser)
    again = poll(browser, since=has(first))
    assert len(first["rows"]) == len(first["order"]) == 2
    assert again == {"v": first["v"], "bar": first["bar"], "needs": 1, "rows": []}


def test_only_groups_that_list_all_of_theirs_say_how_many(desk: Desk, browser: FlaskClient) -> None:
    """Only the latest rides that are done are listed, fewer of them if more are under way."""
    for status in ("CALL_DRIVER", "COMPLETED"):
        desk.order("BOOKED", status)
    page = browser.get("/").text
    counted = {
        name: "data-count" in part.split("</section>")[0]
        for name, part in (part.split('"', 1) for part in page.split('data-group="')[1:])
    }
    assert counted == {"unknown": True, "needs": True, "now": True, "later": True, "done": False}
    assert page.count("data-jump-count") == 2  # now and later


def test_the_age_of_an_unknown_order_is_a_duration_and_no_time_of_day(
    desk: Desk, browser: FlaskClient
) -> None:
    desk.order("UNKNOWN")
    assert poll(browser)["rows"][0]["timer"]["pattern"] == "{up}"


def test_only_changed_rows_are_sent_and_the_order_when_it_changed(
    desk: Desk, browser: FlaskClient
) -> None:
    riding, coming = desk.order("BOOKED", "IN_PROGRESS"), desk.order("BOOKED", "CALL_DRIVER")
    first = poll(browser)
    move(desk, coming, facts=snapshot_facts("point_to_point", "CALL_DRIVER", eta={"seconds": 100}))
    second = poll(browser, since=has(first))
    assert [(row["id"], row["headline"]) for row in second["rows"]] == [
        (coming, "Driver on the way\u00a0· 2 min")
    ]
    assert "order" not in second
    move(desk, coming, status="COMPLETED", ended_at=NOON, next_poll_at=None)
    third = poll(browser, since=has(first))
    assert (first["order"], third["order"]) == ([coming, riding], [riding, coming])
    assert [row["id"] for row in third["rows"]] == [coming]


def test_a_row_that_left_the_board_is_not_in_its_order(desk: Desk, browser: FlaskClient) -> None:
    leaves, stays = desk.order("BOOKED", "CALL_DRIVER"), desk.order("BOOKED", "CALL_DRIVER")
    first = poll(browser)
    assert set(first["order"]) == {leaves, stays}
    desk.add(lambda s: setattr(s.get(Order, leaves), "property_id", desk.ids["other.property"]))
    second = poll(browser, since=has(first))
    assert (second["order"], second["rows"]) == ([stays], [])


def test_rows_that_read_alike_have_revisions_of_their_own(desk: Desk, browser: FlaskClient) -> None:
    for _ in range(40):
        desk.order("BOOKED", "CALL_DRIVER")
    rows = poll(browser)["rows"]
    assert len({row["rev"] for row in rows}) == 40
    missing = {"v": "a.b.c", "rows": rows[1:]}
    assert [row["id"] for row in poll(browser, since=has(missing))["rows"]] == [rows[0]["id"]]


@pytest.mark.parametrize(
    "text", ["", "x", "a.b.c~1abcd.!", "a.b.c~....", "~", "a.b.c.d~1", "a.b.c~zzzzzzzzzzzzzzzzz.-"]
)
def test_unreadable_parts_of_since_are_ignored(desk: Desk, browser: FlaskClient, text: str) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    assert known(text) == NOTHING
    assert [row["id"] for row in poll(browser, since=text)["rows"]] == [order_id]


def test_cabs_are_sent_again_only_when_one_has_moved(desk: Desk, browser: FlaskClient) -> None:
    coming = desk.order("BOOKED", "CALL_DRIVER")
    desk.order("BOOKED", "ALLOTMENT_PENDING")
    first = poll(browser)
    assert first["cabs"] == [[coming, -38.505, -128.004, 73]]
    assert "cabs" not in poll(browser, since=has(first))
    move(
        desk,
        coming,
        facts=snapshot_facts("point_to_point", "CALL_DRIVER", position=[-38.5051, -128.0041]),
    )
    second = poll(browser, since=has(first))
    assert second["cabs"] == [[coming, -38.5051, -128.0041, 73]]
    assert second["rows"] == []  # the position is shown on the map alone


def test_the_chosen_ride_is_sent_with_the_board_and_again_when_it_changed(
    desk: Desk, browser: FlaskClient
) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    answer = browser.get(f"/board.json?ride={order_id}")
    first = dict(answer.json or {})
    assert first["ride"] == browser.get(f"/rides/{order_id}/snapshot.json").json
    assert answer.headers["X-Seen-At"]
    assert "ride" not in poll(browser, ride=order_id, since=has(first))
    move(desk, order_id, status="CLIENT_LOCATED")
    assert (
        poll(browser, ride=order_id, since=has(first))["ride"]["booking_status"] == "CLIENT_LOCATED"
    )


def test_a_ride_of_another_property_is_neither_listed_nor_shown(
    desk: Desk, browser: FlaskClient
) -> None:
    foreign = desk.order("BOOKED", "CALL_DRIVER", prop="other")
    body = poll(browser, ride=foreign)
    assert (body["rows"], body["cabs"], "ride" in body) == ([], [], False)


def see(browser: FlaskClient, order_id: int, item: str) -> None:
    """Press the button that ends an item."""
    token = browser.get("/").text.split('name="csrf-token" content="')[1].split('"')[0]
    form = {"item": item, "csrf_token": token}
    assert browser.post(f"/rides/{order_id}/acknowledge", data=form).status_code == 303


def test_an_unchanged_board_gets_304_for_every_query(desk: Desk, browser: FlaskClient) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    first = browser.get(f"/board.json?ride={order_id}")
    known_tag = {"If-None-Match": first.headers["ETag"]}
    for query in (f"ride={order_id}", f"ride={order_id}&since={has(dict(first.json or {}))}"):
        again = browser.get(f"/board.json?{query}", headers=known_tag)
        assert (again.status_code, again.data) == (304, b"")
        # this header is sent all the same
        assert again.headers["X-Seen-At"] == first.headers["X-Seen-At"]
    move(desk, order_id, status="CLIENT_LOCATED")
    assert browser.get(f"/board.json?ride={order_id}", headers=known_tag).status_code == 200


def test_time_alone_changes_the_text_of_a_row(desk: Desk, browser: FlaskClient) -> None:
    desk.order("BOOKED", "ALLOTMENT_PENDING", in_state_s=110)
    first = poll(browser)
    assert [row["group"] for row in first["rows"]] == ["now"]
    desk.now += timedelta(seconds=12)
    assert [row["why"] for row in poll(browser, since=has(first))["rows"]] == ["Long search"]


def test_an_unknown_outcome_is_timed_in_hours_and_minutes(desk: Desk, browser: FlaskClient) -> None:
    order_id = desk.order("UNKNOWN", age_s=85 * 60 + 17)
    (row,) = poll(browser)["rows"]
    assert row["headline"] == "Outcome unknown"
    page = browser.get(f"/rides/{order_id}").text
    assert "1 h 25 min" in page
    assert "85:17" not in page


def test_done_shows_the_time_by_which_it_is_sorted(desk: Desk, browser: FlaskClient) -> None:
    for hour in (2, 1):
        ended = {"ended_at": NOON - timedelta(hours=hour), "next_poll_at": None}
        desk.order("BOOKED", "COMPLETED", ride=ended)
    rows = poll(browser)["rows"]
    assert [(row["group"], row["placed"]) for row in rows] == [("done", "13:00"), ("done", "12:00")]


def test_rides_under_way_stand_by_urgency_and_then_by_the_minutes_until_they_arrive(
    desk: Desk, browser: FlaskClient
) -> None:
    def ride(status: str, seconds: int | None) -> int:
        facts = snapshot_facts("point_to_point", status, eta=seconds and {"seconds": seconds})
        return desk.order("BOOKED", status, ride={"facts": facts})

    unknown, far, near = (ride("CALL_DRIVER", each) for each in (None, 900, 120))
    late, soon = (ride("IN_PROGRESS", each) for each in (900, 120))
    here = ride("CLIENT_LOCATED", 900)
    assert poll(browser)["order"] == [here, near, far, unknown, soon, late]


def test_a_row_waits_until_its_order_has_left_sending(desk: Desk, browser: FlaskClient) -> None:
    orders = {desk.order(state): state for state in ORDER_STATES}
    waiting = {orders[row["id"]] for row in poll(browser)["rows"] if row.get("waiting")}
    assert waiting == {"SCHEDULED", "WAITING", "READY", "SENDING"}


def test_a_search_grows_no_longer_while_the_clock_of_a_demo_is_held(
    desk: Desk, browser: FlaskClient
) -> None:
    desk.order("BOOKED", "ALLOTMENT_PENDING", in_state_s=0)
    later = desk.now + timedelta(seconds=50)
    line = ServiceTime((Turn(desk.now, desk.now, 1.0), Turn(later, later, 0.0)))
    desk.services.time = lambda: line
    desk.now += timedelta(minutes=9)
    assert [row.get("why") for row in poll(browser)["rows"]] == [None]


@pytest.mark.parametrize(
    ("state", "status", "facts", "do"),
    [
        ("UNKNOWN", None, {}, ("open", "Say what happened", "/rides/{id}#action-resolve")),
        ("BOOKED", "ALLOTMENT_FAILED", {}, ("again", "Try again", "/rides/new?again={id}")),
        ("FAILED", None, {"resolved_at": NOON}, ("again", "Other cars", "/rides/new?again={id}")),
        (
            "BOOKED",
            "ALLOTMENT_PENDING",
            {"in_state_s": 121},
            ("seen", "Keep waiting", "/rides/{id}"),
        ),
        (
            "BOOKED",
            "CLIENT_LOCATED",
            {"in_state_s": 121},
            ("call", "Call guest", "tel:+910000012345"),
        ),
        (
            "BOOKED",
            "CLIENT_LOCATED",
            {"in_state_s": 121, "phone": None},
            ("open", "Look", "/rides/{id}"),
        ),
        (
            "BOOKED",
            "CALL_DRIVER",
            {"ride": {"previous_plate": "KA 1"}, "attention": ["car_swapped"]},
            ("seen", "Guest told", "/rides/{id}"),
        ),
        (
            "BOOKED",
            "CALL_DRIVER",
            {"attention": ["driver_lost"]},
            ("seen", "Guest told", "/rides/{id}"),
        ),
        (
            "BOOKED",
            "CALL_DRIVER",
            {"ride": {"seen_at": NOON - timedelta(seconds=61)}},
            ("call", "Call driver", "tel:+910000012345"),
        ),
    ],
)
def test_a_ride_that_needs_attention_suggests_one_action(
    desk: Desk,
    browser: FlaskClient,
    state: str,
    status: str | None,
    facts: dict[str, Any],
    do: tuple[str, ...],
) -> None:
    order_id = desk.order(state, status, **facts)
    (row,) = poll(browser)["rows"]
    assert row["group"] in ("unknown", "needs")
    what, label, href = do
    wanted = (what, label, href.replace("{id}", f"{order_id}"))
    assert (row["do"]["what"], row["do"]["label"], row["do"]["href"]) == wanted


def test_a_search_after_a_driver_who_cancelled_needs_attention_at_once(
    desk: Desk, browser: FlaskClient
) -> None:
    """A cab has no status of its own for it, as an auto has with ALLOTMENT_RETRYING."""
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    move(desk, order_id, status="ALLOTMENT_PENDING")
    assert poll(browser)["needs"] == 0
    desk.add(lambda s: add_event(s, s.get_one(Order, order_id), "event", "driver_lost", NOON))
    move(desk, order_id, status="ALLOTMENT_PENDING")
    (row,) = poll(browser)["rows"]
    assert (row["group"], row["why"], row["do"]["label"]) == (
        "needs",
        "Driver cancelled",
        "Keep waiting",
    )


@pytest.mark.parametrize("lost", [False, True])
def test_a_search_for_which_staff_wait_needs_nobody_until_a_driver_is_lost(
    desk: Desk, browser: FlaskClient, lost: bool
) -> None:
    order_id = desk.order("BOOKED", "ALLOTMENT_PENDING", in_state_s=130)
    if lost:
        desk.add(lambda s: add_event(s, s.get_one(Order, order_id), "event", "driver_lost", NOON))
    assert poll(browser)["needs"] == 1
    see(browser, order_id, "long_search")
    assert poll(browser)["needs"] == 0
    desk.now += timedelta(seconds=5)
    assert poll(browser)["needs"] == 0
    later = desk.now
    desk.add(lambda s: add_event(s, s.get_one(Order, order_id), "event", "driver_lost", later))
    move(desk, order_id, status="ALLOTMENT_PENDING")
    assert poll(browser)["needs"] == 1


@pytest.mark.parametrize(
    ("status", "needs"),
    [
        ("ALLOTMENT_PENDING", 1),
        ("CALL_DRIVER", 1),
        ("CLIENT_LOCATED", 1),
        ("IN_PROGRESS", 0),  # the guest has found the car
        ("COMPLETED", 0),
        ("BOOKING_CANCELLED", 0),
    ],
)
def test_a_guest_who_waits_for_a_lost_driver_is_told_while_a_car_is_to_come(
    desk: Desk, browser: FlaskClient, status: str, needs: int
) -> None:
    order_id = desk.order("BOOKED", status, attention=["driver_lost"])
    body = poll(browser)
    assert body["needs"] == needs
    if needs:
        (row,) = body["rows"]
        assert (row["why"], row["do"]["label"]) == ("The driver cancelled", "Guest told")
        page = browser.get(f"/rides/{order_id}").text
        assert re.search(r"data-verb[^>]*>\s*Guest told\s*</button>", page)
        see(browser, order_id, "driver_lost")
        assert poll(browser)["needs"] == 0


def test_a_swap_that_the_guest_knows_of_needs_no_attention(
    desk: Desk, browser: FlaskClient
) -> None:
    order_id = desk.order(
        "BOOKED", "CALL_DRIVER", ride={"previous_plate": "KA 1"}, attention=["car_swapped"]
    )
    assert poll(browser)["needs"] == 1
    see(browser, order_id, "car_swapped")
    assert poll(browser)["needs"] == 0


def test_an_account_to_reconnect_is_shown_once_and_not_by_each_ride(
    desk: Desk, browser: FlaskClient
) -> None:
    for _ in range(3):
        desk.order("BOOKED", "CALL_DRIVER")
    desk.add(lambda s: s.query(Account).update({"state": "reconnect"}))
    body = poll(browser)
    assert [row["group"] for row in body["rows"]] == ["now"] * 3
    (alert,) = body["bar"]["alerts"]
    assert (body["needs"], alert["title"]) == (1, "House account needs reconnecting")


def test_a_guest_list_that_waits_for_a_person_is_shown(desk: Desk, browser: FlaskClient) -> None:
    lines = [NewLine(n, (), None, f"RD-LINE{n}") for n in range(3)]
    found = stored_list(desk, lines, state="RUNNING", label="guests.csv")
    assert "alerts" not in poll(browser)["bar"]

    def ask(s: Session) -> None:
        for line in lines_of(s, found)[:2]:
            line.state, line.code = "ASKED", "LIST_PRICE"

    desk.add(ask)
    body = poll(browser)
    (alert,) = body["bar"]["alerts"]
    assert (body["needs"], alert["href"]) == (1, f"/lists/{found}")
    assert alert["title"] == "Guest list: 2 cars wait for an answer"
    assert "guests.csv" in alert["detail"]


@pytest.mark.parametrize("code", [LIST_STOPPED, LIST_FAILING])
def test_a_guest_list_that_stopped_by_itself_is_shown(
    desk: Desk, browser: FlaskClient, code: str
) -> None:
    found = stored_list(desk, [NewLine(1, (), None, "RD-LINE1")], state="STOPPED", code=code)
    alerts = poll(browser)["bar"].get("alerts", [])
    assert [each["title"] for each in alerts] == ["A guest list has stopped"] * (
        code == LIST_FAILING
    )
    desk.add(
        lambda s: setattr(s.get_one(GuestList, found), "property_id", desk.ids["other.property"])
    )
    assert "alerts" not in poll(browser)["bar"]


def test_an_account_with_a_missing_key_is_shown_without_advice_to_reconnect(
    desk: Desk, browser: FlaskClient
) -> None:
    assert "alerts" not in poll(browser)["bar"]
    vault = TokenVault("k9:" + new_key())
    desk.add(
        lambda s: [keep_tokens(each, vault, "good", "again", 60, NOON) for each in s.query(Account)]
    )
    (alert,) = poll(browser)["bar"]["alerts"]
    assert (alert["title"], alert["href"]) == ("ridedash can't read its link to House account", "")
    assert "A key is missing" in alert["detail"]


def test_while_all_updates_have_stopped_no_single_ride_needs_attention(
    desk: Desk, browser: FlaskClient
) -> None:
    desk.order("BOOKED", "CALL_DRIVER")
    desk.now = NOON + timedelta(seconds=90)  # the worker's last heartbeat is as old
    body = poll(browser)
    assert body["bar"]["stopped"]
    assert body["needs"] == 0
    assert body["rows"][0]["seen"] == "2026-05-04T08:29:58.000Z"  # the time of the last update


@pytest.mark.parametrize(
    ("age_s", "policy", "headline"),
    [
        (200, {}, "Cancelled by our desk · free"),
        (400, {}, "Cancelled by our desk · fee of ₹30 possible"),
        (400, {"cancellation": None}, "Cancelled by our desk"),
    ],
)
def test_a_cancelled_ride_shows_whether_a_fee_applies_if_known(
    desk: Desk, browser: FlaskClient, age_s: int, policy: dict[str, Any], headline: str
) -> None:
    ride = {"next_poll_at": None, "allotted_at": NOON - timedelta(seconds=age_s)}
    desk.order("BOOKED", "BOOKING_CANCELLED", actions=[("cancel", "done", {})], ride=ride, **policy)
    assert [row["headline"] for row in poll(browser)["rows"]] == [headline]


def test_rides_that_need_attention_stay_listed_after_many_newer_rides(
    desk: Desk, browser: FlaskClient
) -> None:
    old = desk.order(
        "BOOKED", "COMPLETED", age_s=9_000, ride={"next_poll_at": None}, attention=["contradiction"]
    )
    live = desk.order("BOOKED", "IN_PROGRESS", age_s=9_000)
    gone = desk.order("BOOKED", "COMPLETED", age_s=9_000, ride={"next_poll_at": None})
    for _ in range(31):
        desk.order("BOOKED", "COMPLETED", ride={"next_poll_at": None})
    body = poll(browser)
    assert body["order"][:2] == [old, live]
    assert gone not in body["order"]


def test_a_changed_guest_name_and_a_cleared_item_change_the_row(
    desk: Desk, browser: FlaskClient
) -> None:
    desk.order("BOOKED", "COMPLETED", ride={"next_poll_at": None}, attention=["contradiction"])
    assert poll(browser)["rows"][0]["group"] == "needs"
    desk.add(lambda s: s.query(Attention).update({"cleared_at": NOON}))
    desk.add(lambda s: s.query(Guest).update({"name": "Guest Wren"}))
    assert [(row["group"], row["guest"]) for row in poll(browser)["rows"]] == [
        ("done", "Guest Wren")
    ]


def test_a_cached_board_reads_no_order_twice_and_has_each_change(
    tmp_path: Path,
) -> None:
    desk = make_desk(tmp_path, POLL_LAYER="on")
    try:
        browser, read = desk.client(), []
        moving, _, _ = [desk.order("BOOKED", "CALL_DRIVER") for _ in range(3)]
        seconds = count(100)
        # each poll comes a second later
        desk.app.extensions[EXTENSION].monotonic = lambda: float(next(seconds))
        first = poll(browser)

        @event.listens_for(desk.services.db.engine, "before_cursor_execute")
        def note(_c: Any, _cursor: Any, statement: str, values: Any, *_: Any) -> None:
            if "JOIN offers" in statement:
                read.append(list(values.values()) if isinstance(values, dict) else list(values))

        assert poll(browser, since=has(first))["rows"] == []
        assert read == []
        move(desk, moving, status="CLIENT_LOCATED")
        assert [row["headline"] for row in poll(browser, since=has(first))["rows"]] == [
            "Driver is here"
        ]
        assert len(read) == 1
        assert set(read[0]) == {moving, desk.ids["desk.property"]}
    finally:
        desk.close()


def test_a_cached_board_equals_a_new_one(tmp_path: Path) -> None:
    desk = make_desk(tmp_path, POLL_LAYER="on")
    try:
        browser, memory = desk.client(), desk.app.extensions[EXTENSION]
        order_id = desk.order("BOOKED", "CALL_DRIVER")
        seconds = count(100)
        memory.monotonic = lambda: float(next(seconds))

        def facts(**more: Any) -> dict[str, Any]:
            return snapshot_facts("point_to_point", "CALL_DRIVER", **more)

        changes: list[dict[str, Any]] = [
            {},
            {"facts": facts(position=[-38.51, -128.01])},
            {"facts": facts(position=[-38.51, -128.01], eta={"seconds": 60})},
            {"reported": "ODD"},
            {"reported": None, "seen_at": NOON - timedelta(seconds=70)},
            {"seen_at": NOON, "previous_plate": "KA 1", "swapped_at": NOON},
            {"status": "CLIENT_LOCATED"},
            {"status": "COMPLETED", "next_poll_at": None, "ended_at": NOON},
        ]
        seen = []
        for change in changes:
            move(desk, order_id, **change)
            remembered = poll(browser)
            del desk.app.extensions[EXTENSION]
            assert poll(browser) == remembered, change
            desk.app.extensions[EXTENSION] = memory
            seen.append((remembered["rows"][0]["rev"], str(remembered["cabs"])))
        assert len(set(seen)) == len(changes) - 1  # a swap without an open item looks as before
    finally:
        desk.close()


def test_two_rides_for_one_guest_need_attention_although_one_replaced_the_other(
    desk: Desk, browser: FlaskClient
) -> None:
    old = desk.order("BOOKED", "CALL_DRIVER", attention=["late_double"])
    new = desk.order("BOOKED", "CALL_DRIVER")

    def rows(s: Any) -> None:
        s.get(Order, old).late_double = True
        s.get(Order, new).supersedes = old

    desk.add(rows)
    body = poll(browser)
    found = {row["id"]: row for row in body["rows"]}
    assert (found[old]["group"], found[old]["why"]) == (
        "needs",
        "Two rides may exist for this guest",
    )
    assert (found[new]["group"], body["needs"]) == ("now", 1)


def test_an_unknown_order_suggests_an_action_although_it_was_booked_again(
    desk: Desk, browser: FlaskClient
) -> None:
    old, new = desk.order("UNKNOWN"), desk.order("BOOKED", "CALL_DRIVER")
    desk.add(lambda s: setattr(s.get(Order, new), "supersedes", old))
    assert (
        next(row for row in poll(browser)["rows"] if row["id"] == old)["do"]["label"]
        == "Say what happened"
    )


@pytest.mark.parametrize("step", ["z" * 3000, "0", "-1", "zzzzzzzzzzzzz"])
def test_impossible_rows_in_since_are_ignored(desk: Desk, browser: FlaskClient, step: str) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    assert [row["id"] for row in poll(browser, since=f"a.b.c~{step}AAAA")["rows"]] == [order_id]


def test_the_cars_of_a_group_are_numbered_and_listed_in_that_order(
    desk: Desk, browser: FlaskClient
) -> None:
    ids = [desk.order("BOOKED", "CALL_DRIVER") for _ in range(4)]

    def group(s: Any) -> None:
        s.query(Order).filter(Order.id.in_(ids[:3])).update({"group_key": "a-group"})

    desk.add(group)
    answer = poll(browser)
    rows = {row["id"]: row.get("car") for row in answer["rows"]}
    assert [rows[each] for each in ids] == ["Car 1/3", "Car 2/3", "Car 3/3", None]
    assert answer["order"] == [ids[3], *ids[:3]]
    assert "Car 2 of 3 for this group" in browser.get(f"/rides/{ids[1]}").text


def test_cars_of_a_group_stay_together_around_an_order_that_another_desk_placed_meanwhile(
    desk: Desk, browser: FlaskClient
) -> None:
    first, others, second, third = (desk.order("BOOKED", "CALL_DRIVER") for _ in range(4))

    def group(s: Any) -> None:
        cars = Order.id.in_((first, second, third))
        s.query(Order).filter(cars).update({"group_key": "a-group"})
        s.get_one(Order, others).created_at += timedelta(milliseconds=1)

    desk.add(group)
    assert poll(browser)["order"] == [others, first, second, third]
