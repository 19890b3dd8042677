"""Messages to the guest: their words in every state, their addresses, and what is recorded."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import pytest
from flask.testing import FlaskClient

from ridedash.extensions import limiter
from ridedash.store.audit import AuditRow
from tests.test_guard import Addresses
from tests.views.ride_pages import ENDS, NOON, ORDER_STATES, STATUSES, Desk, make_desk, token

pytestmark = pytest.mark.database

CODE = "4821"
LINK = re.compile(r"https://rides\.example\.test/t/[\w-]{22}")
WITH_RIDE = [(kind, status) for kind, each in STATUSES.items() for status in [*each, *ENDS]]
HOSTILE = "A \"b\" & c=d#e?f%41 'g'\r\nBcc: x@example.test <i>\u202e\u05d0 \U0001f697 {{7*191}}"


@pytest.fixture(scope="module")
def shared_desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    made = make_desk(tmp_path_factory.mktemp("desk"), PUBLIC_URL="https://rides.example.test")
    yield made
    made.close()


@pytest.fixture
def desk(shared_desk: Desk) -> Desk:
    shared_desk.now = NOON
    with shared_desk.app.app_context():
        limiter.reset()
    return shared_desk


@pytest.fixture
def browser(desk: Desk) -> FlaskClient:
    return desk.client()


def made(browser: FlaskClient, order_id: int) -> dict[str, Any]:
    """The message that comes with a new link for the guest."""
    form = {"csrf_token": token(browser)}
    wanted = {"Accept": "application/json"}
    answer = browser.post(f"/rides/{order_id}/links/rider", data=form, headers=wanted)
    assert answer.status_code == 200, answer.text
    return dict(answer.json["message"])  # type: ignore[index]


def prepare(browser: FlaskClient, order_id: int, how: str, text: str = "x", **more: Any) -> Any:
    form = {"csrf_token": token(browser), "how": how, "text": text}
    return browser.post(f"/rides/{order_id}/messages", data=form, **more)


def href(page: str) -> str:
    found = re.search(r'href="((?:sms|https|mailto):[^"]*)"', page)
    return found.group(1).replace("&amp;", "&") if found else ""


@pytest.mark.parametrize(("kind", "status"), WITH_RIDE)
def test_no_words_hold_the_start_code(
    desk: Desk, browser: FlaskClient, kind: str, status: str
) -> None:
    limiter.reset()
    order_id = desk.order("BOOKED", status, kind, otp=CODE)
    words = made(browser, order_id)["text"]
    assert CODE not in LINK.sub("", words)
    assert LINK.search(words)
    assert words.startswith("Grand Meridian Hotel\n")
    assert ("KA 01 AB 1234" in words) == (status in STATUSES["share"][1:])
    before = status not in ("IN_PROGRESS", "COMPLETED", *ENDS)
    before = before and (kind, status) != ("auto", "INVOICE")
    assert ("Meet the car at Grand Meridian Hotel, main door" in words) == before
    assert not re.search(r"[{}\[\]]|None|\n\n", words)


@pytest.mark.parametrize(
    "state",
    [s for s in ORDER_STATES if s not in ("REJECTED", "NOT_SENT", "CLOSED_NOT_BOOKED", "FAILED")],
)
def test_an_order_without_a_ride_has_words_too(
    desk: Desk, browser: FlaskClient, state: str
) -> None:
    words = made(browser, desk.order(state))["text"]
    assert LINK.search(words)
    assert "main door" in words
    assert len(words.splitlines()) in (5, 6)


def test_the_minutes_the_plate_and_the_car_are_in_it(desk: Desk, browser: FlaskClient) -> None:
    lines = made(browser, desk.order("BOOKED", "CALL_DRIVER"))["text"].splitlines()
    assert lines[:4] == [
        "Grand Meridian Hotel",
        "Driver Cedar arrives in 4 min",
        "KA 01 AB 1234 · White · Mini · Tata Tiago",
        "Meet the car at Grand Meridian Hotel, main door",
    ]


@pytest.mark.parametrize(
    ("phone", "sms", "whatsapp"),
    [
        ("+910000012345", "sms:+910000012345?&body=", "https://wa.me/910000012345?text="),
        ("+91 00000-12345", "sms:+910000012345?&body=", "https://wa.me/910000012345?text="),
        ("00000 12345", "sms:0000012345?&body=", ""),  # no country code
        ("+0910000012345", "sms:+0910000012345?&body=", ""),
        ("+12", "sms:+12?&body=", ""),
        ("+\u0661\u0662\u0663\u0664\u0665\u0666\u0667\u0668\u0669", "", ""),
        ("javascript:1@example.test", "sms:1?&body=", ""),
        (None, "", ""),
    ],
)
def test_a_number_is_made_of_digits_and_whatsapp_needs_the_country_code(
    desk: Desk, browser: FlaskClient, phone: str | None, sms: str, whatsapp: str
) -> None:
    message = made(browser, desk.order("BOOKED", "CALL_DRIVER", phone=phone))
    assert (message["sms"], message["whatsapp"]) == (sms, whatsapp)
    assert (
        message["mail"] == "mailto:?subject=Your%20ride%20%C2%B7%20Grand%20Meridian%20Hotel&body="
    )


@pytest.mark.parametrize("how", ["sms", "whatsapp", "mail"])
def test_hostile_words_stay_words_in_each_address(
    desk: Desk, browser: FlaskClient, how: str
) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER", guest=HOSTILE, pickup_name=HOSTILE)
    text = made(browser, order_id)["text"]
    assert "\u202e" not in text
    assert "\r" not in text
    assert "1337" not in text
    page = prepare(browser, order_id, how, f"{HOSTILE}\n{text}").text
    assert Addresses(page).wrong == []
    begin, _, body = href(page).partition("text=" if how == "whatsapp" else "body=")
    assert re.fullmatch(r"(?:[\w.~-]|%[0-9A-F]{2})+", body)
    assert "Bcc" not in begin
    line_end = "\r\n" if how == "mail" else "\n"
    lines = unquote(body).split(line_end)
    assert lines[0] == "A \"b\" & c=d#e?f%41 'g'"
    assert lines[1].startswith("Bcc: x@example.test <i>\u05d0")
    assert "%20" in body
    assert ("%0D%0A" in body) == (how == "mail")


def test_right_to_left_names_do_not_reorder_the_line(desk: Desk, browser: FlaskClient) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER", pickup_name="\u0627\u0644\u0628\u0627\u0628 3")
    assert "at \u2068\u0627\u0644\u0628\u0627\u0628 3\u2069\n" in made(browser, order_id)["text"]


def test_what_was_prepared_is_recorded_without_its_words(desk: Desk, browser: FlaskClient) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    script = {"headers": {"Accept": "application/json"}}
    for how in ("sms", "whatsapp", "mail", "copy"):
        assert prepare(browser, order_id, how, **script).status_code == 204
    assert prepare(browser, order_id, "pigeon", **script).status_code == 422
    with desk.services.db.read() as s:
        rows = s.query(AuditRow).filter_by(subject=f"orders:{order_id}").all()
        assert [(row.what, row.facts) for row in rows] == [
            ("message.prepared", {"how": how}) for how in ("sms", "whatsapp", "mail", "copy")
        ]


def test_without_scripts_the_words_can_be_changed_before_the_program_opens(
    desk: Desk, browser: FlaskClient
) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    form = {"csrf_token": token(browser)}
    page = browser.post(f"/rides/{order_id}/links/rider", data=form).text
    assert Addresses(page).wrong == []
    assert re.findall(r'name="how" value="(\w+)"', page) == ["sms", "whatsapp", "mail"]
    page = prepare(browser, order_id, "sms", "Come to the side door").text
    assert href(page) == "sms:+910000012345?&body=Come%20to%20the%20side%20door"
    assert ">Come to the side door</textarea" in page
    without_phone = desk.order("BOOKED", "CALL_DRIVER", phone=None)
    assert "The guest has no number for that" in prepare(browser, without_phone, "sms").text


def test_a_message_about_another_propertys_ride_is_not_there(
    desk: Desk, browser: FlaskClient
) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER", prop="other")
    form = {"csrf_token": token(browser), "how": "sms"}
    assert browser.post(f"/rides/{order_id}/messages", data=form).status_code == 404


def test_the_pages_of_a_ride_lead_to_no_foreign_address(desk: Desk, browser: FlaskClient) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    for path in (f"/rides/{order_id}", f"/rides/{order_id}/card", "/"):
        assert Addresses(browser.get(path).text).wrong == []
