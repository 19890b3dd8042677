"""The pencil over HTTP: what it shows, what it refuses and keeps, and what it says afterwards."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from ridedash.rides.share_links import LinkKind, make_link
from ridedash.store.actors import by_staff
from ridedash.store.models.orders import Order
from ridedash.store.models.people import Guest, Staff
from tests.views.ride_pages import NOON, Desk, compact, make_desk, token

pytestmark = pytest.mark.database
RIGHT = "+912227783300"
SHOWN = {"shown_name": "Guest Heron", "shown_phone": "+910000012345", "shown_room": "412"}
GIVEN = {"guest_name": "Guest Heron", "guest_phone": "+910000012345", "guest_room": "412"}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = make_desk(tmp_path)
    yield made
    made.close()


@pytest.fixture
def browser(desk: Desk) -> FlaskClient:
    return desk.client()


def post(browser: FlaskClient, order_id: int, **form: str) -> Any:
    given = {"csrf_token": token(browser)} | SHOWN | GIVEN | form
    return browser.post(f"/rides/{order_id}/guest", data=given)


def guest(desk: Desk, order_id: int) -> tuple[str, str | None, str | None]:
    with desk.services.db.read() as s:
        order = s.get_one(Order, order_id)
        row = s.get_one(Guest, order.guest_id)
        return row.name, row.phone, order.room


@pytest.mark.parametrize(
    ("state", "status"),
    [("SCHEDULED", None), ("UNKNOWN", None), ("BOOKED", "IN_PROGRESS"), ("BOOKED", "COMPLETED")],
)
def test_each_fact_of_the_guest_has_a_pencil_at_any_time(
    desk: Desk, browser: FlaskClient, state: str, status: str | None
) -> None:
    order_id = desk.order(state, status)
    for headers in ({}, {"X-Part": "beside"}):
        page = compact(browser.get(f"/rides/{order_id}", headers=headers).text)
        for field in ("name", "room", "phone"):
            assert f'href="#correct-{field}"' in page
            assert f'id="correct-{field}"' in page
    done = post(browser, order_id, guest_name="Guest Wren", guest_phone="022 2778 3300")
    assert done.status_code == 303
    page = compact(browser.get(done.headers["Location"]).text)
    assert "The guest is corrected." in page
    assert "Messages and calls go to" in page
    assert guest(desk, order_id) == ("Guest Wren", RIGHT, "412")


@pytest.mark.parametrize(
    ("form", "words", "field"),
    [
        ({"guest_name": ""}, "Type the guest&#39;s name", "name"),
        ({"guest_name": "w" * 121}, "under 120 characters", "name"),
        ({"guest_room": "9" * 33}, "under 32 characters", "room"),
        ({"guest_phone": "12"}, "No phone has this number", "phone"),
        ({"guest_phone": "9" * 70}, "phone number", "phone"),
        ({"guest_phone": "<script>"}, "phone number", "phone"),
    ],
)
def test_what_is_refused_names_its_field_and_keeps_what_was_typed(
    desk: Desk, browser: FlaskClient, form: dict[str, str], words: str, field: str
) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    refused = post(browser, order_id, **{"guest_room": "507"} | form)
    page = compact(refused.text)
    assert refused.status_code == 422
    assert words in page
    assert f'id="correct-{field}"' in page.partition('aria-invalid="true"')[0]
    for name, typed in ({"guest_room": "507"} | form).items():
        value = typed.replace("<", "&lt;").replace(">", "&gt;")
        assert f'value="{value}"' in page, name
    assert guest(desk, order_id) == ("Guest Heron", "+910000012345", "412")


def test_a_number_that_is_not_touched_is_not_read_again(desk: Desk, browser: FlaskClient) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER", phone="house phone 7")
    done = post(
        browser, order_id, shown_phone="house phone 7", guest_phone="house phone 7", guest_room="9"
    )
    assert done.status_code == 303
    assert guest(desk, order_id) == ("Guest Heron", "house phone 7", "9")


def test_a_message_and_the_card_go_by_the_corrected_guest(desk: Desk, browser: FlaskClient) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    post(browser, order_id, guest_name="Guest Wren", guest_phone=RIGHT)
    form = {"csrf_token": token(browser)}
    accept = {"Accept": "application/json"}
    made = browser.post(f"/rides/{order_id}/links/rider", data=form, headers=accept).get_json()
    assert made["message"]["sms"].startswith(f"sms:{RIGHT}?")
    assert "Guest Wren" in browser.post(f"/rides/{order_id}/card", data=form).text
    later = browser.post(f"/rides/{order_id}/messages", data=form | {"how": "sms", "text": "x"})
    assert RIGHT in later.text


def test_the_end_of_the_old_link_is_said(desk: Desk, browser: FlaskClient) -> None:
    order_id, s = desk.order("BOOKED", "CALL_DRIVER"), desk.services
    who = by_staff(desk.ids["desk"])
    home = desk.ids["desk.property"]
    old = make_link(s.db, NOON, home, order_id, LinkKind.RIDER, who)
    assert browser.get(f"/t/{old}").status_code == 200
    done = post(browser, order_id, guest_phone=RIGHT)
    assert browser.get(f"/t/{old}").status_code == 404
    assert "the old number may have it" in browser.get(done.headers["Location"]).text


def test_another_open_ride_of_the_corrected_guest_is_named(
    desk: Desk, browser: FlaskClient
) -> None:
    other = desk.order("BOOKED", "CALL_DRIVER", guest="Guest Wren", phone=RIGHT, room="507")
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    for each in (other, order_id):
        desk.add(lambda s, each=each: setattr(s.get_one(Order, each), "open", True))
    done = post(browser, order_id, guest_phone=RIGHT)
    page = compact(browser.get(done.headers["Location"]).text)
    assert "another open ride from the same pickup" in page
    assert f'<a href="/rides/{other}">' in page.partition("Are both wanted?")[2]
    for query in ("said=guest-done&beside=x+-1+99999999999999999999", "said=guest-done"):
        assert browser.get(f"/rides/{order_id}?{query}").status_code == 200


def test_the_second_desk_is_told_and_keeps_what_it_typed(desk: Desk, browser: FlaskClient) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    post(browser, order_id, guest_phone=RIGHT)
    second = post(desk.client(), order_id, guest_name="Guest Wren")
    page = compact(second.text)
    assert second.status_code == 422
    assert "A colleague corrected this guest meanwhile" in page
    assert 'value="Guest Wren"' in page
    assert f'name="shown_phone" value="{RIGHT}"' in page
    again = post(browser, order_id, guest_name="Guest Wren", shown_phone=RIGHT, guest_phone=RIGHT)
    assert again.status_code == 303
    assert guest(desk, order_id) == ("Guest Wren", RIGHT, "412")


def test_a_removed_guest_has_no_pencil(desk: Desk, browser: FlaskClient) -> None:
    order_id = desk.order("BOOKED", "COMPLETED")

    def remove(s: Any) -> None:
        s.get_one(Guest, s.get_one(Order, order_id).guest_id).erased_at = NOON

    desk.add(remove)
    assert "correct-name" not in browser.get(f"/rides/{order_id}").text
    refused = post(browser, order_id, guest_name="Guest Wren")
    assert refused.status_code == 422
    assert guest(desk, order_id)[0] == "Guest Heron"


def test_a_ride_of_another_property_is_not_found(desk: Desk) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    assert post(desk.client(name="other"), order_id, guest_name="Guest Wren").status_code == 404


def test_the_audit_log_says_who_corrected_what_into_what(desk: Desk, browser: FlaskClient) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    post(browser, order_id, guest_name="Guest <b>Wren</b>", guest_room="")
    desk.add(lambda s: setattr(s.get_one(Staff, desk.ids["desk"]), "role", "manager"))
    browser = desk.client()
    page = compact(browser.get(f"/admin/audit?ride={order_id}").text)
    assert "Corrected a guest" in page
    assert "Guest name: from Guest Heron to Guest &lt;b&gt;Wren&lt;/b&gt;" in page
    assert "Room or ref.: from 412 to –" in page
    export = browser.post("/admin/audit/export.csv", data={"csrf_token": token(browser)}).text
    assert "Heron" not in export
