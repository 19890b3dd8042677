"""A guest books on their own phone: one browser, one ride, the kiosk's rules, no script."""

import re
from datetime import timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient

from ridedash.rides.privacy.retention import RetentionDays, remove_old_data
from ridedash.store.models.kiosks import Kiosk, OwnPhone
from ridedash.store.own_phones import BOOK_FOR, OPEN_FOR
from tests.views.kiosk.lobby import DROP, Lobby, desk, lobby

__all__ = ["desk", "lobby"]
MOST_BYTES = 4096  # of a cookie, with its name
PRIVATE = {
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow",
    "Cache-Control": "no-store",
}


def link(lobby: Lobby) -> str:
    """The path of a new link, as the kiosk shows it."""
    answer = lobby.post("cars", own="new")
    assert answer["state"] == "phone"
    assert answer["phone"]["qr"]["path"]
    assert answer["phone"]["minutes"] == 10
    return "/k/" + str(answer["phone"]["link"]).rsplit("/", 1)[1]


def phone(lobby: Lobby) -> FlaskClient:
    """The browser of a guest's own phone."""
    return lobby.desk.app.test_client()


def value(text: str, name: str) -> str:
    """The value of the first button or field of this name."""
    found = re.search(rf'name="{name}"[^>]*\svalue="([^"]*)"', text)
    assert found, text
    return found[1]


def walk(browser: FlaskClient, address: str, **who: str) -> Any:
    """Answer all questions but the last; returns the page of the last one."""
    assert browser.get(address).status_code == 200
    browser.post(f"{address}/where", data=DROP)
    cars = browser.get(f"{address}/car").text
    browser.post(f"{address}/car", data={"offer": value(cars, "offer")})
    browser.post(f"{address}/who", data={"name": "Ana", "phone": ""} | who)
    return browser.get(f"{address}/check")


def test_the_page_says_for_how_long_a_phone_number_is_stored(lobby: Lobby) -> None:
    address, browser = link(lobby), phone(lobby)
    assert browser.get(address).status_code == 200
    browser.post(f"{address}/where", data=DROP)
    cars = browser.get(f"{address}/car").text
    browser.post(f"{address}/car", data={"offer": value(cars, "offer")})
    assert "Deleted after 30 days." in browser.get(f"{address}/who").text


def test_a_guest_books_with_forms_alone_and_is_led_to_their_own_link(lobby: Lobby) -> None:
    address, browser = link(lobby), phone(lobby)
    first = browser.get(address)
    assert "Where to?" in first.text
    assert {name: first.headers[name] for name in PRIVATE} == PRIVATE
    cookie = first.headers["Set-Cookie"]
    assert f"Path={address}" in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    found = browser.post(f"{address}/where", data={"q": "airport"}, follow_redirects=True)
    assert "Meridian Airport" in found.text
    page = walk(browser, address)
    for text in ("Airport", "Ana", "₹", "You pay the driver in cash.", "Free to cancel"):
        assert text in page.text
    pressed = browser.post(f"{address}/check", follow_redirects=True)
    assert "Booking your ride" in pressed.text
    assert 'http-equiv="refresh"' in pressed.text
    assert browser.get(f"{address}/sent").status_code == 200
    [order] = lobby.orders()
    assert (order.kiosk_id, order.payment, order.staff_id) == (lobby.id, "cash", None)
    lobby.become(order.id, "BOOKED")
    booked = browser.get(f"{address}/sent")
    assert (booked.status_code, booked.headers["Location"][:3]) == (303, "/t/")
    assert browser.get(booked.headers["Location"]).status_code == 200
    again = browser.get(address, follow_redirects=True)
    assert again.request.path == booked.headers["Location"]
    assert len(lobby.orders()) == 1


def test_the_first_browser_has_the_link_and_no_other(lobby: Lobby) -> None:
    address, first, second = link(lobby), phone(lobby), phone(lobby)
    assert lobby.post("cars", own="look")["opened"] is False
    ahead = second.get(address, headers={"Sec-Purpose": "prefetch"})
    assert ahead.status_code == 404, "looking ahead opens nothing"
    assert first.get(address).status_code == 200
    assert lobby.post("cars", own="look")["opened"] is True
    refused = second.get(address)
    assert refused.status_code == 404
    assert "once, for 10 minutes, on one phone" in refused.text
    assert {name: refused.headers[name] for name in PRIVATE} == PRIVATE
    for step in ("where", "car", "who", "check", "sent"):
        assert second.get(f"{address}/{step}").status_code == 404
        assert second.post(f"{address}/{step}", data=DROP).status_code == 404
    other = link(lobby)
    cookie = first.get_cookie("phone", path=address)
    assert cookie is not None
    assert phone(lobby).get(other).status_code == 200
    stranger = phone(lobby)
    stranger.set_cookie("phone", cookie.value, path=other)
    assert stranger.get(f"{other}/car").status_code == 404, "a cookie is bound to its link"


def test_a_link_ends_after_ten_minutes_and_a_newer_one_ends_it_at_once(lobby: Lobby) -> None:
    older = link(lobby)
    newer = link(lobby)
    assert phone(lobby).get(older).status_code == 404
    lobby.desk.now += OPEN_FOR
    assert phone(lobby).get(newer).status_code == 404
    opened, browser = link(lobby), phone(lobby)
    assert browser.get(opened).status_code == 200
    lobby.desk.now += BOOK_FOR - timedelta(seconds=1)
    assert browser.get(opened).status_code == 200
    lobby.desk.now += timedelta(seconds=1)
    assert browser.get(opened).status_code == 404
    assert phone(lobby).get("/k/nothing").status_code == 404


def test_a_question_without_an_answer_comes_before_those_after_it(lobby: Lobby) -> None:
    address, browser = link(lobby), phone(lobby)
    browser.get(address)
    for step in ("car", "who", "check"):
        assert browser.get(f"{address}/{step}").headers["Location"] == address
    assert browser.get(f"{address}/sent").status_code == 404
    browser.post(f"{address}/where", data=DROP)
    assert browser.get(f"{address}/check").headers["Location"] == f"{address}/car"
    browser.post(f"{address}/car", data={"offer": "1"})
    assert browser.get(f"{address}/check").headers["Location"] == f"{address}/who"


def test_wrong_words_are_shown_again_with_what_is_wrong(lobby: Lobby) -> None:
    address, browser = link(lobby), phone(lobby)
    walk(browser, address)
    wrong = browser.post(f"{address}/who", data={"name": "!!!", "phone": ""})
    assert wrong.status_code == 422
    assert 'value="!!!"' in wrong.text
    assert "Type a first name or a room number." in wrong.text
    odd = browser.post(f"{address}/who", data={"name": "Ana", "phone": "12"})
    assert odd.status_code == 422
    assert "phone number can" in odd.text
    assert lobby.orders() == []


def test_the_kiosks_rule_and_limits_hold_on_a_phone(lobby: Lobby) -> None:
    lobby.set(rule="code")
    address, browser = link(lobby), phone(lobby)
    assert "Code from our desk" in walk(browser, address).text
    refused = browser.post(f"{address}/check", data={"code": "000000"}, follow_redirects=True)
    assert "That code is not right." in refused.text
    forged = {"payment": "", "account": "1", "account_id": "1", "staff_id": "1", "house_pays": "1"}
    browser.post(f"{address}/check", data=forged)
    assert lobby.orders() == []
    lobby.set(rule="driver", out_of_order=True)
    browser.get(f"{address}/sent")
    assert lobby.orders() == []


def test_outside_the_kiosks_hours_a_phone_reads_so_at_once_and_books_nothing(
    lobby: Lobby,
) -> None:
    address, browser = link(lobby), phone(lobby)
    walk(browser, address)
    lobby.set(hours={"mon": []})
    for step in ("", "/car"):
        assert "This screen is closed now." in browser.get(f"{address}{step}").text
    sent = browser.post(f"{address}/check", follow_redirects=True)
    assert "This screen is closed now." in sent.text
    assert lobby.orders() == []


def test_a_phone_far_away_keeps_no_one_in_the_lobby_waiting(lobby: Lobby) -> None:
    address, browser = link(lobby), phone(lobby)
    browser.get(address)
    browser.post(f"{address}/where", data=DROP)
    for _ in range(22):
        page = browser.get(f"{address}/car").text
    assert "Please wait a moment." in page
    assert lobby.cars()["state"] == "ok"
    lobby.set(rule="code")
    for n in range(6):
        browser.post(f"{address}/car", data={"offer": str(lobby.offer())})
        browser.post(f"{address}/who", data={"name": "Ana", "phone": ""})
        sent = browser.post(f"{address}/check", data={"code": f"{n:06}"}, follow_redirects=True)
    assert "Too many wrong codes." in sent.text
    assert lobby.order(code="000000")["state"] == "wrong_code"


def test_an_unknown_offer_books_nothing(lobby: Lobby) -> None:
    address, browser = link(lobby), phone(lobby)
    walk(browser, address)
    browser.post(f"{address}/car", data={"offer": "999999"})
    assert "This car can" in browser.get(f"{address}/check").text
    sent = browser.post(f"{address}/check", follow_redirects=True)
    assert "Nothing was ordered." in sent.text
    assert lobby.orders() == []


def test_an_offer_to_another_place_than_the_phone_names_books_nothing(lobby: Lobby) -> None:
    """Such an offer may come from an older tab; the ride would go to the wrong place."""
    elsewhere = lobby.offer(drop_name="Old Fort", drop_lat="-38.57")
    address, browser = link(lobby), phone(lobby)
    walk(browser, address)
    for offer, shown in ((elsewhere, False), (lobby.offer(), True)):
        browser.post(f"{address}/car", data={"offer": str(offer)})
        page = browser.get(f"{address}/check").text
        assert ("Book for" in page, "This car can" in page) == (shown, not shown)
    sent = browser.post(f"{address}/check", data={"offer": elsewhere}, follow_redirects=True)
    assert "Nothing was ordered." in sent.text
    assert lobby.orders() == []


def test_it_speaks_the_guests_language_and_keeps_the_chosen_one(lobby: Lobby) -> None:
    address, browser = link(lobby), phone(lobby)
    german = browser.get(address, headers={"Accept-Language": "de"})
    assert '<html lang="de"' in german.text
    assert german.text.count("guest-by-machine") == 1, "no one has reviewed it"
    assert '<html lang="ar" dir="rtl"' in browser.get(f"{address}?lang=ar").text
    browser.post(f"{address}/where", data=DROP)
    cars = browser.get(f"{address}/car").text
    assert '<html lang="ar"' in cars
    assert 'href="?lang=en#lang-en"' in cars.partition("guest-by-machine")[2]
    english = browser.get(f"{address}/car?lang=en").text
    assert '<html lang="en"' in english
    assert "guest-by-machine" not in english


def test_the_cookie_and_the_database_hold_nothing_that_can_be_read(lobby: Lobby) -> None:
    address, browser = link(lobby), phone(lobby)
    walk(browser, address, name="Marked", phone="+910000012345")
    cookie = browser.get_cookie("phone", path=address)
    assert cookie is not None
    assert "Marked" not in cookie.value
    with lobby.services.db.read() as s:
        row = s.query(OwnPhone).one()
        stored = f"{vars(row)}"
    for secret in ("Marked", "910000012345", address.rsplit("/", 1)[1], "Airport"):
        assert secret not in stored
    lobby.set(revoked_at=lobby.desk.now)
    assert browser.get(address).status_code == 404, "it ends with its kiosk"
    with lobby.services.db.read() as s:
        assert s.get_one(Kiosk, lobby.id).revoked_at is not None


@pytest.mark.parametrize("letter", ["\U0001f600", "\U00020bb7", "क", '"', "\\"])
def test_browsers_keep_the_cookie_of_the_longest_words_of_any_script(
    lobby: Lobby, letter: str
) -> None:
    """Browsers drop a cookie of more than 4096 bytes, and with it all that the guest has typed."""
    address, browser = link(lobby), phone(lobby)
    browser.get(address)
    long = letter * 300
    drop = {name: DROP[name] + long for name in ("drop_lat", "drop_lng")}
    browser.post(f"{address}/where", data=drop | {"drop_name": long})
    browser.post(f"{address}/car", data={"point": long})
    browser.post(f"{address}/car", data={"offer": f"{lobby.offer()}:2"})
    who = {"name": "\U00020bb7" * 20, "phone": "+91 80 4567 8900"}
    browser.post(f"{address}/who", data=who)
    browser.get(f"{address}/car?lang=zh-Hans")
    browser.post(f"{address}/where", data={"q": long})
    last = browser.post(f"{address}/check", data={"code": long})
    assert last.headers["Location"].endswith("/sent"), "all of it was stored"
    assert len(last.headers["Set-Cookie"].encode()) < MOST_BYTES


def test_old_links_are_deleted_after_two_days(lobby: Lobby) -> None:
    link(lobby)
    app, later = lobby.services, lobby.desk.now + timedelta(days=2, seconds=1)
    remove_old_data(app.db, later, RetentionDays(), app.settings.secret_key)
    with app.db.read() as s:
        assert s.query(OwnPhone).count() == 0
