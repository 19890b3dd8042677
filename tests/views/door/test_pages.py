"""The display at the door as it is served: its page, its poll, the doorman's two buttons."""

from datetime import timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select

from ridedash.store.audit import AuditRow
from ridedash.store.kiosks import revoke
from ridedash.store.models.kiosks import Kiosk, Ticket
from ridedash.store.models.orders import TimelineEvent
from ridedash.wording import gettext, in_language
from ridedash.wording.languages import LANGUAGES
from tests.views.door.doors import paired
from tests.views.ride_pages import Desk, token

pytestmark = pytest.mark.database


def door(desk: Desk, **facts: Any) -> FlaskClient:
    return paired(desk, "door", **facts)[0]


def press(client: FlaskClient, order_id: object, mark: str) -> Any:
    body = {"order": order_id, "mark": mark, "csrf_token": token(client)}
    return client.post("/door/mark", data=body)


def events(desk: Desk, order_id: int) -> list[str]:
    with desk.services.db.read() as s:
        query = select(TimelineEvent.name).where(TimelineEvent.what == "event")
        return list(s.scalars(query.where(TimelineEvent.order_id == order_id)))


def test_the_page_has_its_rows_and_no_names_of_guests(desk: Desk) -> None:
    order_id = desk.order("BOOKED", "CLIENT_LOCATED", otp="4821")
    ticket = Ticket(
        property_id=desk.ids["desk.property"],
        order_id=order_id,
        number=27,
        day="2026-05-04",
        pin_hash="x",
    )
    desk.add(lambda s: s.add(ticket))
    text = door(desk).get("/door").text
    for text_shown in ("Grand Meridian Hotel", "KA 01 AB 1234", "K27", 'data-look="light"'):
        assert text_shown in text
    for secret in ("Heron", "Cedar", "4821", "12345", "Guest is in"):
        assert secret not in text


def test_an_unchanged_poll_answers_304_and_a_change_is_sent_at_once(desk: Desk) -> None:
    client = door(desk)
    first = client.get("/door/rows.json")
    assert first.json["rows"] == []
    again = client.get("/door/rows.json", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    assert again.headers["X-Server-Now"]
    desk.order("BOOKED", "CALL_DRIVER")
    update = client.get("/door/rows.json", headers={"If-None-Match": first.headers["ETag"]})
    assert [row["plate"] for row in update.json["rows"]] == ["KA 01 AB 1234"]


def test_each_door_shows_its_own_property_in_that_propertys_language(desk: Desk) -> None:
    desk.order("BOOKED", "CALL_DRIVER", prop="other")
    client = door(desk, default_language="ar")
    assert client.get("/door/rows.json").json["rows"] == []
    assert '<html lang="ar" dir="rtl"' in client.get("/door?lang=de").text


@pytest.mark.parametrize("code", LANGUAGES)
def test_that_no_driver_was_found_is_said_in_every_language(desk: Desk, code: str) -> None:
    desk.order("BOOKED", "ALLOTMENT_FAILED", ride={"ended_at": desk.now, "next_poll_at": None})
    client = door(desk, shows="room", default_language=code)
    with desk.app.test_request_context(), in_language(code):
        words = gettext("{who}: no driver, please ask the desk")
    assert "{who}" in words
    assert code == "en" or "driver" not in words
    assert f'data-failed="{words}"' in client.get("/door").text
    assert client.get("/door/rows.json").json["failed"] == ["412"]


def test_it_is_dark_at_night_or_by_its_own_hours(desk: Desk) -> None:
    client, own = door(desk), door(desk, hours={"mon": [["20:00", "22:00"]]})
    desk.now += timedelta(hours=6, minutes=30)  # 20:30 at the property
    assert client.get("/door/rows.json").json["look"] == "dark"
    assert own.get("/door/rows.json").json["look"] == "light"


def test_the_doorman_marks_a_guest_and_the_desk_reads_it(desk: Desk) -> None:
    order_id = desk.order("BOOKED", "CLIENT_LOCATED")
    client, device_id = paired(desk, "door", marks=True)
    assert press(client, order_id, "away").json == {"state": "ok"}
    assert press(client, order_id, "away").json == {"state": "ok"}
    assert events(desk, order_id) == ["door_away"]
    staff = desk.client()
    row = next(r for r in staff.get("/board.json").json["rows"] if r["id"] == order_id)
    assert (row["group"], row["why"]) == ("needs", "The guest is not at the door")
    assert row["do"]["label"] == "Call guest"
    assert "The guest is not at the door" in staff.get(f"/rides/{order_id}").text
    press(client, order_id, "in")
    row = next(r for r in staff.get("/board.json").json["rows"] if r["id"] == order_id)
    assert (row["group"], row["mark"]) == ("now", "The guest is in the car")
    with desk.services.db.read() as s:
        found = s.scalars(select(AuditRow).where(AuditRow.what == "door.mark")).all()
        entries = [(row.who, row.subject, row.result) for row in found]
    assert entries == [
        (f"kiosk:{device_id}", f"orders:{order_id}", name) for name in ("away", "in")
    ]


def test_marks_are_accepted_if_the_property_allows_them_and_of_its_own_rides_only(
    desk: Desk,
) -> None:
    own = desk.order("BOOKED", "CLIENT_LOCATED")
    other = desk.order("BOOKED", "CLIENT_LOCATED", prop="other")
    over = desk.order("BOOKED", "COMPLETED")
    assert press(door(desk), own, "in").status_code == 409
    client = door(desk, marks=True)
    assert "Guest is in" in client.get("/door").text
    assert [press(client, each, "in").status_code for each in (other, over)] == [409, 409]
    for order_id, name in ((own, "x"), ("9" * 30, "in"), ("-1", "in"), ("", ""), (own, "in\x00")):
        assert press(client, order_id, name).status_code == 422
    assert [events(desk, each) for each in (own, other, over)] == [[], [], []]
    without_key = client.post("/door/mark", data={"order": own, "mark": "in"})
    assert without_key.status_code in (400, 401)


def test_a_browser_that_is_no_display_is_led_to_its_pairing_and_learns_nothing(desk: Desk) -> None:
    desk.order("BOOKED", "CALL_DRIVER")
    client, device_id = paired(desk, "door")
    assert client.get("/door").status_code == 200
    desk.add(lambda s: revoke(s.get_one(Kiosk, device_id), desk.now))
    for each in (client, desk.client(signed_in=False)):
        led = each.get("/door")
        assert (led.status_code, led.headers["Location"]) == (303, "/kiosk/pair")
        assert each.get("/door/rows.json").status_code == 404
        assert each.post("/door/mark").status_code in (400, 401, 404)
