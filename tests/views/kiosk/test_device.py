"""A paired browser reaches its own routes and nothing else, until it is revoked."""

import json
import logging
from datetime import timedelta
from pathlib import Path

import pytest
from flask import Response
from flask.testing import FlaskClient

from ridedash.factory import create_app
from ridedash.store import kiosks
from ridedash.store.models.kiosks import Kiosk, KioskKind
from ridedash.views.web import devices
from tests.test_config import LIVE
from tests.views.kiosk.devices import pair, row_of
from tests.views.ride_pages import Desk, token

pytestmark = pytest.mark.database
COOKIE = "ridedash_kiosk"
DAY = timedelta(hours=24)


def heartbeat(browser: FlaskClient, csrf: str | None = None) -> int:
    form = {"csrf_token": csrf or token(browser)}
    return browser.post("/kiosk/beat", data=form).status_code


def cookie_of(browser: FlaskClient) -> str:
    cookie = browser.get_cookie(COOKIE)
    assert cookie is not None
    return str(cookie.value)


def revoke(desk: Desk, kiosk_id: int) -> None:
    desk.add(lambda s: kiosks.revoke(s.get_one(Kiosk, kiosk_id), desk.now))


def test_a_kiosk_reaches_no_page_of_the_desk_and_says_why(desk: Desk) -> None:
    browser, _ = pair(desk)
    for path in ("/", "/sign-in", "/board.json", "/admin", "/healthz", "/t/abc", "/readyz"):
        assert browser.get(path).status_code == 404, path
    page = browser.get("/sign-in").text
    assert "This browser is a kiosk or a door display" in page
    assert 'href="/kiosk"' in page
    with browser.get("/static/css/shared/base.css") as sheet:
        assert sheet.status_code == 200


def test_a_kiosk_and_a_door_display_and_a_member_of_staff_live_in_one_browser(desk: Desk) -> None:
    browser, kiosk_id = pair(desk, client=desk.client())
    pair(desk, "door", client=browser)
    assert browser.get("/").status_code == 200
    assert browser.get("/kiosk").status_code == 200
    assert heartbeat(browser) == 200
    form = {"csrf_token": token(browser)}
    out = browser.post("/sign-out", data=form)
    assert out.headers["Clear-Site-Data"] == '"storage"', "else it were no kiosk any more"
    assert browser.get("/").status_code == 404
    revoke(desk, kiosk_id)
    assert browser.get("/kiosk").status_code == 303
    assert 'href="/door"' in browser.get("/").text, "it is a door display still"


def test_a_document_whose_browser_has_become_another_kiosk_belongs_to_no_kiosk(desk: Desk) -> None:
    browser, first = pair(desk)
    csrf = token(browser)

    def heartbeat_of(kiosk_id: object) -> int:
        form = {"csrf_token": csrf, "kiosk": kiosk_id}
        return browser.post("/kiosk/beat", data=form).status_code

    assert [
        heartbeat_of(first),
        heartbeat_of(first + 1),
        heartbeat_of("x" * 500),
        heartbeat_of(""),
    ] == [200, 404, 404, 404]
    _, second = pair(desk, client=browser)
    assert [heartbeat_of(first), heartbeat_of(second)] == [404, 200]


def test_the_document_of_a_kiosk_has_no_sign_in_in_its_session(desk: Desk) -> None:
    browser, _ = pair(desk)
    answer = browser.get("/kiosk")
    assert answer.headers["Cache-Control"] == "no-store"
    with browser.session_transaction() as session:
        assert set(session) == {"csrf_token"}


def test_a_kiosk_that_is_revoked_is_unknown_at_once_in_every_process(
    desk: Desk, tmp_path: Path
) -> None:
    """No process remembers a device: each request asks the database."""
    browser, kiosk_id = pair(desk)
    settings = desk.services.settings
    environ = {
        "RIDEDASH_INSTANCE": str(settings.instance),
        "RIDEDASH_DATABASE_URL": settings.database_url,
    }
    elsewhere = create_app(environ, clock=lambda: desk.now)
    other = elsewhere.test_client()
    other.set_cookie(COOKIE, cookie_of(browser))
    assert (heartbeat(browser), heartbeat(other)) == (200, 200)
    revoke(desk, kiosk_id)
    for each in (browser, other):
        assert heartbeat(each) == 404
        assert each.get("/kiosk").status_code == 303
        assert each.get("/sign-in").status_code == 200, "a browser like any other"
    elsewhere.extensions["ridedash"].db.close()


def test_the_cookie_is_replaced_once_a_day_and_a_lost_answer_ends_no_pairing(desk: Desk) -> None:
    browser, kiosk_id = pair(desk)
    first = cookie_of(browser)
    desk.now += DAY - timedelta(seconds=1)
    assert heartbeat(browser) == 200
    assert cookie_of(browser) == first
    desk.now += timedelta(seconds=1)
    assert heartbeat(browser) == 200
    second = cookie_of(browser)
    assert second != first
    browser.set_cookie(COOKIE, first)  # as if the answer with the second cookie had been lost
    desk.now += timedelta(hours=9)
    assert heartbeat(browser) == 200
    third = cookie_of(browser)
    assert third not in (first, second)
    assert heartbeat(browser) == 200, "the first request with it confirms it"
    browser.set_cookie(COOKIE, first)
    desk.now += timedelta(minutes=10, seconds=1)
    assert heartbeat(browser) == 404
    browser.set_cookie(COOKIE, third)
    assert heartbeat(browser) == 200
    assert row_of(desk, kiosk_id).token_hash


@pytest.mark.parametrize("cookie", ["", "x", "é" * 40, "x" * 3_000, "../../etc", "'; --"])
def test_no_other_cookie_is_a_device(desk: Desk, cookie: str) -> None:
    pair(desk)
    browser = desk.client(signed_in=False)
    browser.set_cookie(COOKIE, cookie)
    assert browser.get("/kiosk").status_code == 303
    assert heartbeat(browser, token(browser)) == 404


def test_a_form_of_a_document_that_is_open_for_days_is_taken(desk: Desk) -> None:
    browser, _ = pair(desk)
    text = browser.get("/kiosk").text
    data = json.loads(text.split("data-kiosk>")[1].split("</script>")[0])
    for _ in range(5):
        desk.now += DAY
        form = {"csrf_token": data["csrf"], "release": data["release"]}
        answer = browser.post("/kiosk/beat", data=form)
        assert answer.status_code == 200
    fresh = (answer.json or {})["csrf"]
    assert heartbeat(browser, fresh) == 200
    assert browser.post("/kiosk/beat", data={}).status_code in (400, 401)


def test_a_log_line_of_a_kiosk_has_the_visit_and_nothing_that_was_typed(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    browser, kiosk_id = pair(desk)
    form = {"csrf_token": token(browser), "visit": "visit-0123456789"}
    caplog.set_level(logging.DEBUG, "ridedash.access")
    caplog.clear()
    browser.post("/kiosk/beat", data=form | {"screen": "Guest Heron 412"})
    browser.post("/kiosk/beat", data=form | {"visit": "Guest Heron, room 412"})
    lines = [vars(record) for record in caplog.records if record.name == "ridedash.access"]
    assert [(line["kiosk"], line["visit"]) for line in lines] == [
        (kiosk_id, "visit-0123456789"),
        (kiosk_id, None),
    ]
    assert "Heron" not in str(lines)


def test_a_live_cookie_is_for_this_host_over_tls_and_nothing_else(tmp_path: Path) -> None:
    environ = {"RIDEDASH_INSTANCE": str(tmp_path), "RIDEDASH_TRUSTED_HOSTS": "localhost"}
    app = create_app(LIVE | environ)
    services = app.extensions["ridedash"]
    with app.test_request_context("/"):
        answer = Response()
        devices.give(answer, KioskKind.KIOSK, "token")
        devices.give(answer, KioskKind.DOOR, "token")
    for kind, cookie in zip(("kiosk", "door"), answer.headers.getlist("Set-Cookie"), strict=True):
        assert cookie.startswith(f"__Host-{kind}=token;")
        assert {"Secure", "HttpOnly", "Path=/", "SameSite=Strict"} < set(cookie.split("; "))
        assert "Domain" not in cookie
    services.db.close()
