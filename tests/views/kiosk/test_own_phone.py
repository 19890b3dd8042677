"""A guest books on their own phone: one browser, one ride, the kiosk's rules, no script."""

import re
from datetime import timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient

from ridedash.rides.kiosk import watch
from ridedash.rides.privacy.retention import RetentionDays, remove_old_data
from ridedash.store.accounts import accounts_of
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


def press(browser: FlaskClient, address: str, **headers: str) -> Any:
    """The answer to the button of a link's page; a browser that has opened it may press again."""
    found = re.search(r'name="session" value="([^"]*)"', browser.get(address, headers=headers).text)
    return browser.post(address, data={"session": found[1]} if found else {}, headers=headers)


def opened(browser: FlaskClient, address: str) -> Any:
    """The first question of a link that this browser has opened now."""
    assert press(browser, address).status_code == 303
    return browser.get(address)


def walk(browser: FlaskClient, address: str, **who: str) -> Any:
    """Open the link and answer all questions but the last; returns the page of the last one."""
    opened(browser, address)
    browser.post(f"{address}/where", data=DROP)
    cars = browser.get(f"{address}/car").text
    browser.post(f"{address}/car", data={"offer": value(cars, "offer")})
    browser.post(f"{address}/who", data={"name": "Ana", "phone": ""} | who)
    return browser.get(f"{address}/check")


def test_the_page_says_for_how_long_a_phone_number_is_stored(lobby: Lobby) -> None:
    address, browser = link(lobby), phone(lobby)
    opened(browser, address)
    browser.post(f"{address}/where", data=DROP)
    cars = browser.get(f"{address}/car").text
    browser.post(f"{address}/car", data={"offer": value(cars, "offer")})
    assert "Deleted after 30 days." in browser.get(f"{address}/who").text


def test_the_language_that_was_chosen_at_the_kiosk_goes_on_to_the_phone(lobby: Lobby) -> None:
    answer = lobby.post("cars", own="new", lang="ar")
    address, query = str(answer["phone"]["link"]).rsplit("/", 1)[1].split("?")
    browser, english = phone(lobby), {"Accept-Language": "en"}
    first = browser.get(f"/k/{address}?{query}", headers=english).text
    assert '<html lang="ar" dir="rtl"' in first
    session = {"session": value(first, "session"), "lang": value(first, "lang")}
    assert browser.post(f"/k/{address}", data=session, headers=english).status_code == 303
    assert '<html lang="ar" dir="rtl"' in browser.get(f"/k/{address}", headers=english).text
    late = phone(lobby).get(f"/k/{address}?{query}", headers=english)  # another phone reads why not
    assert late.status_code == 404
    assert '<html lang="ar" dir="rtl"' in late.text


def test_a_kiosk_on_which_no_language_was_chosen_leaves_it_to_the_phone(lobby: Lobby) -> None:
    address = link(lobby)
    assert "?" not in address
    page = phone(lobby).get(address, headers={"Accept-Language": "de"}).text
    assert '<html lang="de"' in page


def test_a_guest_books_with_forms_alone_and_is_led_to_their_own_link(lobby: Lobby) -> None:
    address, browser = link(lobby), phone(lobby)
    assert {name: browser.get(address).headers[name] for name in PRIVATE} == PRIVATE
    first = press(browser, address)
    assert "Where to?" in browser.get(first.headers["Location"]).text
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


def test_a_phone_books_at_a_full_kiosk_and_asks_for_a_room_beside_a_name_with_a_ride(
    lobby: Lobby,
) -> None:
    lobby.set(most_waiting=1)
    lobby.order(name="Ana")
    assert lobby.cars()["state"] == "trouble", "the screen has its one ride"
    address, browser = link(lobby), phone(lobby)
    walk(browser, address)
    refused = browser.post(f"{address}/check", follow_redirects=True)
    assert refused.status_code == 422
    assert "There is a ride for Ana already." in refused.text
    browser.post(f"{address}/who", data={"name": "Ana 204", "phone": ""})
    pressed = browser.post(f"{address}/check", follow_redirects=True)
    assert "Booking your ride" in pressed.text
    assert [ticket.on_phone for ticket in lobby.tickets()] == [False, True]
    other, second = link(lobby), phone(lobby)
    full = opened(second, other)
    assert "Guests who booked here still wait for their cars." in full.text, "phones have one too"


def test_the_first_browser_has_the_link_and_no_other(lobby: Lobby) -> None:
    address, first, second = link(lobby), phone(lobby), phone(lobby)
    assert opened(first, address).status_code == 200
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
    assert opened(phone(lobby), other).status_code == 200
    stranger = phone(lobby)
    stranger.set_cookie("phone", cookie.value, path=other)
    assert stranger.get(f"{other}/car").status_code == 404, "a cookie is bound to its link"


@pytest.mark.parametrize("method", ["HEAD", "GET", "OPTIONS"])
def test_reading_a_link_opens_nothing(lobby: Lobby, method: str) -> None:
    """Scanners of links, previews of messengers and browsers that look ahead read it first."""
    address = link(lobby)
    agents = {"User-Agent": "LinkScanner/2.0"}, {"Sec-Purpose": "prefetch;prerender"}, {}
    for headers in agents:
        stranger = phone(lobby)
        looked = stranger.open(address, method=method, headers=headers)
        assert (looked.status_code, looked.headers.get("Set-Cookie")) == (200, None)
        assert stranger.open(f"{address}/where", method=method).status_code != 303
    assert lobby.post("cars", own="look")["opened"] is False
    assert "Where to?" in opened(phone(lobby), address).text
    assert lobby.post("cars", own="look")["opened"] is True


def test_a_button_that_is_pressed_twice_opens_the_link_for_the_same_page_alone(
    lobby: Lobby,
) -> None:
    """The second press of a finger may arrive without the cookie that the first one was given."""
    address, other = link(lobby), phone(lobby)
    page = phone(lobby).get(address).text
    late = re.search(r'name="session" value="([^"]*)"', other.get(address).text)
    assert late
    twice = [phone(lobby), phone(lobby)]
    for browser in twice:
        taken = browser.post(address, data={"session": value(page, "session")})
        assert taken.headers["Location"] == address
    assert all("Where to?" in each.get(address).text for each in twice)
    assert other.post(address, data={"session": late[1]}).status_code == 404


@pytest.mark.parametrize("session", ["", "short", "x" * 33, "ü" * 32])
def test_a_press_without_a_page_of_ours_opens_nothing(lobby: Lobby, session: str) -> None:
    address = link(lobby)
    assert phone(lobby).post(address, data={"session": session}).status_code == 404
    assert "Where to?" in opened(phone(lobby), address).text


def test_a_page_of_a_link_that_ended_meanwhile_opens_nothing(lobby: Lobby) -> None:
    address, browser = link(lobby), phone(lobby)
    page = browser.get(address).text
    lobby.desk.now += OPEN_FOR
    late = browser.post(address, data={"session": value(page, "session")})
    assert late.status_code == 404
    assert "once, for 10 minutes, on one phone" in late.text


def test_a_link_of_a_kiosk_that_was_removed_is_not_open(lobby: Lobby) -> None:
    address, browser = link(lobby), phone(lobby)
    page = browser.get(address).text
    lobby.set(revoked_at=lobby.desk.now)
    assert phone(lobby).get(address).status_code == 404
    assert browser.post(address, data={"session": value(page, "session")}).status_code == 404


def test_the_language_that_was_chosen_before_the_press_is_kept(lobby: Lobby) -> None:
    address, browser = link(lobby), phone(lobby)
    page = browser.get(f"{address}?lang=ar").text
    assert '<html lang="ar" dir="rtl"' in page
    form = {"session": value(page, "session"), "lang": value(page, "lang")}
    browser.post(address, data=form)
    assert '<html lang="ar" dir="rtl"' in browser.get(address).text


def without_ticket(lobby: Lobby, order_id: int) -> list[str]:
    """The open attention items of an order, after the worker has looked at all kiosks."""
    watch.watch(lobby.services.db, lobby.desk.now)
    return [item.name for item in lobby.page(order_id).attention]


def test_a_phone_that_shows_its_ride_has_its_ticket(lobby: Lobby) -> None:
    address, browser = link(lobby), phone(lobby)
    walk(browser, address)
    browser.post(f"{address}/check", follow_redirects=True)
    [order] = lobby.orders()
    lobby.become(order.id, "BOOKED")
    lobby.desk.now += timedelta(seconds=10)
    assert browser.get(f"{address}/sent").headers["Location"].startswith("/t/")
    lobby.desk.now += timedelta(seconds=60)
    assert without_ticket(lobby, order.id) == []


def test_the_desk_hears_of_a_phone_that_never_came_back_until_it_does(lobby: Lobby) -> None:
    address, browser = link(lobby), phone(lobby)
    walk(browser, address)
    browser.post(f"{address}/check", follow_redirects=True)
    [order] = lobby.orders()
    lobby.become(order.id, "BOOKED")
    lobby.desk.now += timedelta(seconds=60)
    assert without_ticket(lobby, order.id) == ["kiosk_no_ticket"]
    browser.get(f"{address}/sent")
    assert without_ticket(lobby, order.id) == []


def test_a_link_ends_after_ten_minutes_and_a_newer_one_ends_it_at_once(lobby: Lobby) -> None:
    older = link(lobby)
    newer = link(lobby)
    assert phone(lobby).get(older).status_code == 404
    lobby.desk.now += OPEN_FOR
    assert phone(lobby).get(newer).status_code == 404
    last, browser = link(lobby), phone(lobby)
    assert opened(browser, last).status_code == 200
    lobby.desk.now += BOOK_FOR - timedelta(seconds=1)
    assert browser.get(last).status_code == 200
    lobby.desk.now += timedelta(seconds=1)
    assert browser.get(last).status_code == 404
    assert phone(lobby).get("/k/nothing").status_code == 404


def test_a_question_without_an_answer_comes_before_those_after_it(lobby: Lobby) -> None:
    address, browser = link(lobby), phone(lobby)
    opened(browser, address)
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
    with lobby.services.db.read() as s:
        account = f"{accounts_of(s, 1)[0].id}"
    forged = {"payment": "", "account": account, "account_id": account, "staff_id": "1"}
    forged["house_pays"] = "1"
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
    opened(browser, address)
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
    assert "Nothing was booked." in sent.text
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
    assert "Nothing was booked." in sent.text
    assert lobby.orders() == []


def test_it_speaks_the_guests_language_and_keeps_the_chosen_one(lobby: Lobby) -> None:
    address, browser = link(lobby), phone(lobby)
    opened(browser, address)
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
    opened(browser, address)
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
