"""Guests at kiosks who need the desk: what rings, who may answer it, desk codes, tablets."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event, select

from ridedash.rides.kiosk import approvals, desk_codes
from ridedash.rides.kiosk.approvals import GuestRequest, NewAsk
from ridedash.store.audit import AuditRow
from ridedash.store.kiosks import device_of
from ridedash.store.models.kiosks import Kiosk, KioskAsk, KioskCode, KioskVisit, Ticket
from ridedash.store.models.orders import Order
from ridedash.store.models.people import Guest, Staff
from ridedash.store.orders import Offer
from tests.views.admin.test_kiosks import add_kiosk
from tests.views.admin.test_property import post
from tests.views.ride_pages import NOON, Desk

pytestmark = pytest.mark.database
JSON = {"Accept": "application/json"}


def ring(desk: Desk, kiosk_id: int, who: str = "desk", **facts: Any) -> str:
    """A guest at a kiosk asks for help. Returns the id of the visit."""
    number = next(desk.counter)
    row = KioskVisit(
        id=f"visit{number}", kiosk_id=kiosk_id, property_id=desk.ids[f"{who}.property"]
    )
    for name, value in ({"began_at": desk.now, "help_at": desk.now} | facts).items():
        setattr(row, name, value)
    desk.add(lambda s: s.add(row))
    return f"visit{number}"


def ask(desk: Desk, kiosk_id: int, who: str = "desk", name: str = "Ana") -> int:
    """A guest at a kiosk waits for the desk's approval. Returns the id of the request."""
    order_id = desk.order("NOT_SENT", prop=who)
    with desk.services.db.write() as s:
        offer = s.get_one(Offer, s.get_one(Order, order_id).offer_id)
        offer.drop_name = "Airport"
        request = GuestRequest(name, None, None, None)
        new = NewAsk(
            kiosk_id, desk.ids[f"{who}.property"], f"v{order_id}", f"t{order_id}", offer.id, request
        )
        return approvals.ask(s, desk.services.vault, new, desk.now)


def bar(desk: Desk, name: str = "desk") -> dict[str, Any]:
    answer = desk.client(name=name).get("/board.json")
    assert answer.status_code == 200
    found: dict[str, Any] = answer.json["bar"] | {"needs": answer.json["needs"]}
    return found


def recorded(desk: Desk) -> list[str]:
    with desk.services.db.read() as s:
        rows = s.scalars(select(AuditRow.what).where(AuditRow.what.startswith("kiosk.")))
        return list(rows)


def test_a_call_for_help_rings_on_the_board_until_staff_answer_it(desk: Desk) -> None:
    kiosk_id, client = add_kiosk(desk), desk.client()
    before = bar(desk)
    assert "kiosk" not in before
    visit = ring(desk, kiosk_id)
    shown = bar(desk)
    assert shown["kiosk"] == "Kiosk: 1 asks for help"
    assert shown["needs"] == before["needs"] + 1
    call = shown["calls"][0]
    assert (call["what"], call["address"]) == ("help", f"/kiosk-helps/{visit}")
    assert "Lobby" in call["title"]
    assert "Lobby: a guest asks for help" in client.get("/").text
    assert "Kiosk: 1 asks for help" in client.get("/history").text
    assert post(client, call["address"]).status_code == 303
    assert "kiosk" not in bar(desk)
    with desk.services.db.read() as s:
        row = s.get_one(KioskVisit, visit)
        assert (row.help_answered_at, row.help_answered_by) == (desk.now, desk.ids["desk"])
    assert recorded(desk) == ["kiosk.help_answered"]


def test_a_call_for_help_of_an_ended_visit_or_of_another_property_does_not_ring(desk: Desk) -> None:
    kiosk_id = add_kiosk(desk)
    ring(desk, kiosk_id, ended_at=NOON)
    ring(desk, kiosk_id, help_at=None)
    ring(desk, kiosk_id, began_at=NOON - timedelta(hours=1), help_at=NOON - timedelta(hours=1))
    foreign = ring(desk, add_kiosk(desk, "other"), "other")
    assert "kiosk" not in bar(desk)
    assert post(desk.client(), f"/kiosk-helps/{foreign}").status_code == 404
    assert post(desk.client(), "/kiosk-helps/nobody").status_code == 404
    assert bar(desk, "other")["kiosk"] == "Kiosk: 1 asks for help"


@pytest.mark.parametrize(
    ("answer", "state", "house_pays"),
    [
        ({"answer": "approve"}, "approved", False),
        ({"answer": "house"}, "approved", True),
        ({"answer": "decline", "reason": "full"}, "declined", False),
    ],
)
def test_an_approval_waits_on_the_board_and_is_answered_once(
    desk: Desk, answer: dict[str, str], state: str, house_pays: bool
) -> None:
    number, client = ask(desk, add_kiosk(desk, rule="approval")), desk.client()
    shown = bar(desk)
    assert shown["kiosk"] == "Kiosk: 1 to approve"
    call = shown["calls"][0]
    assert call["title"] == "Lobby: Ana wants to go to Airport"
    assert call["until"] > call["since"]
    assert "Approve: guest pays" in client.get("/").text
    assert post(client, f"/kiosk-asks/{number}", **answer).status_code == 303
    with desk.services.db.read() as s:
        row = s.get_one(KioskAsk, number)
        assert (row.state, row.house_pays, row.answered_by) == (state, house_pays, desk.ids["desk"])
    assert "kiosk" not in bar(desk)
    token_form = {"answer": "house"}
    again = client.post(f"/kiosk-asks/{number}", data=token_form | csrf(client), headers=JSON)
    assert again.status_code == 409
    assert "Too late" in again.json["message"]


def csrf(client: Any) -> dict[str, str]:
    text = client.get("/me").text
    return {"csrf_token": text.split('name="csrf-token" content="')[1].split('"')[0]}


def test_no_other_property_can_answer_and_no_answer_of_another_kind_counts(desk: Desk) -> None:
    number = ask(desk, add_kiosk(desk, "other"), "other")
    assert "kiosk" not in bar(desk)
    client = desk.client()
    assert post(client, f"/kiosk-asks/{number}", answer="house").status_code == 404
    own = ask(desk, add_kiosk(desk))
    for form in ({"answer": "free"}, {"answer": "decline"}, {"answer": "decline", "reason": "x"}):
        assert post(client, f"/kiosk-asks/{own}", **form).status_code == 400, form
    with desk.services.db.read() as s:
        assert {s.get_one(KioskAsk, each).state for each in (number, own)} == {"waiting"}


def test_an_approval_of_three_minutes_ago_is_shown_no_more(desk: Desk) -> None:
    number = ask(desk, add_kiosk(desk))
    desk.now = NOON + timedelta(seconds=181)
    assert "kiosk" not in bar(desk)
    assert post(desk.client(), f"/kiosk-asks/{number}", answer="house").status_code == 303
    with desk.services.db.read() as s:
        assert not s.get_one(KioskAsk, number).house_pays


def test_a_desk_code_is_shown_once_and_states_whether_the_property_pays(desk: Desk) -> None:
    add_kiosk(desk)
    client = desk.client()
    assert "Kiosk code" in client.get("/").text
    order_id = desk.order("BOOKED", "COMPLETED")
    with desk.services.db.read() as s:
        guest_id = s.get_one(Order, order_id).guest_id
    form = {"house_pays": "on", "guest_id": str(guest_id)} | csrf(client)
    answer = client.post("/kiosk-codes", data=form, headers=JSON)
    assert answer.headers["Cache-Control"] == "no-store"
    code = answer.json["code"]
    assert answer.json | {"code": ""} == {"code": "", "until": "14:10", "house_pays": True}
    key, home = desk.services.settings.secret_key, desk.ids["desk.property"]
    with desk.services.db.read() as s:
        assert code not in str(s.scalars(select(KioskCode.code_hash)).one())
        found = desk_codes.open_code(s, key, home, code, NOON)
        assert found is not None
        assert (found.house_pays, found.guest_id) == (True, guest_id)
        assert desk_codes.open_code(s, key, desk.ids["other.property"], code, NOON) is None
    page = post(client, "/kiosk-codes").text
    assert "Works once, until 14:10." in page
    assert recorded(desk) == ["kiosk.code_made", "kiosk.code_made"]


def test_a_code_for_the_guest_of_another_property_is_not_made(desk: Desk) -> None:
    order_id = desk.order("BOOKED", "COMPLETED", prop="other")
    with desk.services.db.read() as s:
        guest_id = s.get_one(Order, order_id).guest_id
    assert post(desk.client(), "/kiosk-codes", guest_id=str(guest_id)).status_code == 404


def test_a_tablet_at_the_desk_is_handed_over_in_the_guests_language(desk: Desk) -> None:
    lobby, tablet = add_kiosk(desk), add_kiosk(desk, name="Desk tablet", attended=True)
    client = desk.client()
    page = client.get("/").text
    assert "Hand to the guest" in page
    assert f"/kiosk-devices/{tablet}/hand" in page
    assert f"/kiosk-devices/{lobby}/hand" not in page
    assert post(client, f"/kiosk-devices/{tablet}/hand", language="ar").status_code == 303
    with desk.services.db.read() as s:
        row = device_of(s, desk.ids["desk.property"], tablet)
        assert row is not None
        assert (row.handed_language, row.handed_at) == ("ar", desk.now)
    assert post(client, f"/kiosk-devices/{lobby}/hand", language="ar").status_code == 404
    assert post(client, f"/kiosk-devices/{tablet}/hand", language="xx").status_code == 400


def test_a_kiosk_that_is_silent_for_three_minutes_is_a_matter_for_managers(desk: Desk) -> None:
    kiosk_id = add_kiosk(desk, seen_at=NOON - timedelta(minutes=4))
    add_kiosk(desk, name="Broken", seen_at=NOON - timedelta(days=1), out_of_order=True)
    add_kiosk(desk, name="New", token_hash=None)
    add_kiosk(desk, name="Busy", seen_at=NOON - timedelta(minutes=2))
    # closed at this hour: a Monday, 14:00 in the property's time
    closed = {"mon": [["15:00", "23:00"]]}
    add_kiosk(desk, name="Closed", seen_at=NOON - timedelta(hours=9), hours=closed)
    assert "alerts" not in bar(desk)
    desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), "role", "manager"))
    alerts = bar(desk)["alerts"]
    assert [each["href"] for each in alerts] == [f"/admin/kiosks/{kiosk_id}"]
    assert alerts[0]["title"] == "Kiosk Lobby is silent"


def test_a_poll_while_nothing_rings_makes_one_statement_more(desk: Desk) -> None:
    """It makes the statement whether or not the property has kiosks."""
    client = desk.client()
    client.get("/board.json")
    without = statements(desk, client)
    add_kiosk(desk)
    assert statements(desk, client) == without
    assert sum("kiosk_visits" in each for each in without) == 1


def statements(desk: Desk, client: Any) -> list[str]:
    made: list[str] = []

    def note(_c: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        made.append(statement)

    engine = desk.services.db.engine
    event.listen(engine, "before_cursor_execute", note)
    try:
        assert client.get("/board.json").status_code == 200
    finally:
        event.remove(engine, "before_cursor_execute", note)
    return [each for each in made if each.lstrip().upper().startswith("SELECT")]


def test_a_property_without_kiosks_sees_nothing_of_them(desk: Desk) -> None:
    page = desk.client().get("/").text
    assert "Kiosk code" not in page.split("<dialog")[0]
    with desk.services.db.read() as s:
        assert s.scalars(select(Kiosk)).first() is None


def placed_at_kiosk(desk: Desk, kiosk_id: int, payment: str | None, number: int) -> int:
    """An order that an unknown guest placed at a kiosk, with a ticket."""
    order_id = desk.order("BOOKED", "CALL_DRIVER", guest="Ana")

    def rows(s: Any) -> None:
        order = s.get_one(Order, order_id)
        order.kiosk_id, order.staff_id, order.payment = kiosk_id, None, payment
        s.get_one(Guest, order.guest_id).unverified = True
        home = order.property_id
        facts = {"day": "2026-05-04", "pin_hash": "x", "number": number}
        s.add(Ticket(property_id=home, order_id=order_id, **facts))

    desk.add(rows)
    return order_id


def test_a_ride_from_a_kiosk_says_which_and_who_pays_on_every_list(desk: Desk) -> None:
    kiosk_id, client = add_kiosk(desk), desk.client()
    cash = placed_at_kiosk(desk, kiosk_id, "cash", 27)
    property_pays = placed_at_kiosk(desk, kiosk_id, None, 28)
    by_staff = desk.order("BOOKED", "CALL_DRIVER")
    rows = {row["id"]: row for row in client.get("/board.json").json["rows"]}
    assert rows[cash]["kiosk"] == "Kiosk Lobby · K27 · guest pays · unverified"
    assert rows[property_pays]["kiosk"] == "Kiosk Lobby · K28 · house pays · unverified"
    assert "kiosk" not in rows[by_staff]
    page = client.get("/").text
    assert "Kiosk Lobby · K27 · guest pays · unverified" in page
    assert "Kiosk Lobby · K27" in client.get(f"/rides/{cash}").text
    assert "Kiosk Lobby" in client.get("/history").text
