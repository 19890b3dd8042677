"""A guest's phone in the booking form: read before the press, and asked where it may be two."""

from html import unescape
from typing import Any

import pytest
from sqlalchemy import select

from ridedash.store.audit import AuditRow
from ridedash.store.models.people import Guest, Property
from ridedash.store.orders import Order, order_page
from ridedash.store.search import find_orders
from ridedash.views.rides.messages import message_of
from tests.views.booking.test_pages import Desk, desk

__all__ = ["desk"]
pytestmark = pytest.mark.database

GERMAN, INDIAN = "+49919876543214", "+919876543214"


def of_country(desk: Desk, country: str, language: str = "en") -> None:
    with desk.app.extensions["ridedash"].db.write() as s:
        home = s.scalars(select(Property).order_by(Property.id)).first()
        assert home is not None
        home.country, home.language = country, language


def guest(desk: Desk) -> Guest:
    with desk.app.extensions["ridedash"].db.read() as s:
        return s.scalars(select(Guest).order_by(Guest.id.desc())).first() or Guest()


def read(desk: Desk, typed: str, **more: str) -> dict[str, Any]:
    """What the form shows for a typed number while nothing is pressed."""
    token = desk.form()["csrf_token"]
    answer = desk.client.post(
        "/guest-phone.json",
        data={"q": typed, "field": "guest_phone", "csrf_token": token} | more,
    )
    assert answer.headers["Cache-Control"] == "no-store"
    said: dict[str, Any] = answer.get_json()
    return said | {"words": " ".join(unescape(said["html"]).split())}


def as_typed(desk: Desk) -> list[tuple[str, str]]:
    with desk.app.extensions["ridedash"].db.read() as s:
        rows = s.scalars(select(AuditRow).where(AuditRow.what == "guest.phone_as_typed"))
        return [(row.who.partition(":")[0], str(row.facts)) for row in rows]


@pytest.mark.parametrize(
    ("country", "typed", "language", "words"),
    [
        ("DE", "0151 2345 6789", "en", ("Germany, mobile", "+49 1512 3456789")),
        ("DE", "0151 2345 6789", "de", ("Deutschland, ", "+49 1512 3456789")),
        ("SG", "0091 98450 00000", "en", ("India, mobile", "+91 98450 00000")),
        ("GB", "020 7946 0958 x12", "en", ("United Kingdom, landline", "ext. 12")),
        ("US", "212 555 0123", "en", ("United States, landline or mobile",)),
        ("DE", "91 98765 43214", "en", ("Germany, landline", "India, mobile", "may be two")),
        ("IN", "98450 OOOOO", "en", ("letters", "OOOOO")),
        ("IN", "98450 11111 / 98450 22222", "en", ("more than one", "98450 22222")),
        ("IN", "<b>1</b>", "en", ("letters", "“b b”")),
        ("IN", "1" * 9000, "en", ("country code",)),
        ("IN", " ", "en", ("",)),
    ],
)
def test_the_form_shows_how_a_number_is_read_before_the_press(
    desk: Desk, country: str, typed: str, language: str, words: tuple[str, ...]
) -> None:
    of_country(desk, country, language)
    said = read(desk, typed)
    assert all(each in said["words"] for each in words), said["words"]
    assert "<b>" not in said["html"]
    assert desk.orders() == []


def test_the_page_itself_shows_how_a_number_was_read(desk: Desk) -> None:
    of_country(desk, "DE")
    page = desk.press(desk.form(), guest_phone="0151 2345 6789", guest_name=" ").text
    assert "Germany, mobile" in page
    assert "+49 1512 3456789" in page


def test_a_number_with_two_readings_books_nothing_until_one_is_chosen(desk: Desk) -> None:
    of_country(desk, "DE")
    typed = {"guest_phone": "91 98765 43214", "guest_room": "412"}
    asked = desk.press(desk.form(), **typed)
    assert asked.status_code == 422
    assert desk.orders() == []
    for each in (GERMAN, INDIAN):
        assert f'value="{each}"' in asked.text
    assert 'value="91 98765 43214"' in asked.text
    # a choice for another text is none
    other = desk.press(desk.form(), guest_phone="91 98765 43215", guest_phone_as=INDIAN)
    assert other.status_code == 422
    assert desk.press(desk.form(), **typed, guest_phone_as=INDIAN).status_code == 303
    assert guest(desk).phone == INDIAN
    assert as_typed(desk) == []


def test_a_choice_stays_when_another_field_is_wrong(desk: Desk) -> None:
    of_country(desk, "DE")
    page = desk.press(
        desk.form(), guest_phone="91 98765 43214", guest_phone_as=GERMAN, guest_name=" "
    ).text
    chosen = page.partition(f'value="{GERMAN}"')[2]
    assert chosen.split(">")[0].strip() == "checked"


def test_an_unknown_number_is_confirmed_once_and_that_is_recorded(desk: Desk) -> None:
    assert desk.press(desk.form(), guest_phone="4711").status_code == 422
    assert desk.orders() == []
    first = desk.press(desk.form(), guest_phone="4711", guest_phone_as="4711", guest_room="412")
    assert first.status_code == 303
    assert guest(desk).phone == "4711"
    ((who, facts),) = as_typed(desk)
    assert who == "staff"
    assert "4711" not in facts
    chosen = {"guest_id": f"{guest(desk).id}", "guest_phone": "4711", "guest_room": "412"}
    assert "No phone" not in read(desk, "4711", guest=chosen["guest_id"])["html"]
    again = desk.press(desk.form(), **chosen, guest_name="Guest Heron")
    assert again.status_code in (303, 409), "only a second car may be asked about"
    assert len(as_typed(desk)) == 1


def test_an_extension_is_kept_and_shown_and_gets_no_message(desk: Desk) -> None:
    of_country(desk, "GB")
    desk.press(desk.form(), guest_phone="020 7946 0958 ext. 12")
    assert guest(desk).phone == "+442079460958;ext=12"
    page = desk.client.get(f"/rides/{desk.ride(1)}").text
    assert "+44 20 7946 0958, ext. 12" in page
    assert 'href="tel:+442079460958,12"' in page
    (order,) = desk.orders()
    with desk.app.extensions["ridedash"].db.read() as s, desk.app.test_request_context("/"):
        found = order_page(s, order.property_id, order.id)
        assert found is not None
        message = message_of(found, "")
    assert message.sms.startswith("sms:+442079460958?")
    assert message.whatsapp == "https://wa.me/442079460958?text="
    assert "7946" not in order.body
    # the same guest without the extension has an open ride
    assert desk.press(desk.form(), guest_phone="020 7946 0958").status_code == 409


def test_a_second_phone_is_read_stored_shown_and_found(desk: Desk) -> None:
    wrong = desk.press(desk.form(), guest_phone="98450 11111", guest_phone2="98450 OOOOO")
    assert (wrong.status_code, desk.orders()) == (422, [])
    assert "“OOOOO”" in unescape(wrong.text)
    told = {"guest_phone": "98450 11111", "guest_phone2": "0044 20 7946 0958 x12"}
    assert desk.press(desk.form(), **told, guest_room="412").status_code == 303
    assert (guest(desk).phone, guest(desk).phone2) == ("+919845011111", "+442079460958;ext=12")
    page = desk.client.get(f"/rides/{desk.ride(1)}").text
    assert "Second phone" in page
    assert 'href="tel:+442079460958,12"' in page
    assert "7946" not in desk.orders()[0].body
    token = desk.form()["csrf_token"]
    answer = desk.client.post("/guests.json", data={"q": "020 7946 0958", "csrf_token": token})
    (found,) = answer.get_json()["guests"]
    assert (found["phone2"], found["exact"]) == ("+442079460958;ext=12", True)
    with desk.app.extensions["ridedash"].db.read() as s:
        order = desk.orders()[0]
        assert find_orders(s, order.property_id, "7946 0958", 5) == [order.id]
    assert 'value="+442079460958;ext=12"' in desk.page(again=f"{order.id}")


def test_who_books_with_their_second_number_is_the_same_guest_and_keeps_both(desk: Desk) -> None:
    desk.press(desk.form(), guest_phone="98450 11111", guest_phone2="98450 22222")
    assert desk.press(desk.form(), guest_phone="98450 22222").status_code == 409
    with desk.app.extensions["ridedash"].db.write() as s:
        for order in s.scalars(select(Order)):
            order.open = False
    assert desk.press(desk.form(), guest_phone="98450 22222").status_code == 303
    assert len({order.guest_id for order in desk.orders()}) == 1
    assert (guest(desk).phone, guest(desk).phone2) == ("+919845022222", "+919845011111")


def test_of_two_numbers_in_the_field_the_other_becomes_the_second_phone(desk: Desk) -> None:
    both = {"guest_phone": "98450 11111 / 98450 22222"}
    assert desk.press(desk.form(), **both).status_code == 422
    desk.press(desk.form(), **both, guest_phone_as="+919845022222")
    assert (guest(desk).phone, guest(desk).phone2) == ("+919845022222", "+919845011111")


def test_a_second_phone_of_a_chosen_guest_is_removed_by_an_empty_field(desk: Desk) -> None:
    desk.press(desk.form(), guest_phone="98450 11111", guest_phone2="4711", guest_phone2_as="4711")
    assert len(as_typed(desk)) == 1
    with desk.app.extensions["ridedash"].db.write() as s:
        for order in s.scalars(select(Order)):
            order.open = False
    chosen = {"guest_id": f"{guest(desk).id}", "guest_phone": "98450 11111"}
    assert desk.press(desk.form(), **chosen, guest_phone2="4711").status_code == 303
    assert (guest(desk).phone2, len(as_typed(desk))) == ("4711", 1)
    with desk.app.extensions["ridedash"].db.write() as s:
        for order in s.scalars(select(Order)):
            order.open = False
    assert desk.press(desk.form(), **chosen, guest_phone2="").status_code == 303
    assert guest(desk).phone2 is None
