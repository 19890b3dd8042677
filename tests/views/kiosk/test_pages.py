"""The only document of a kiosk, and the heartbeats that it sends."""

import gzip
import json
from datetime import timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient

from ridedash.rides.kiosk.health import can
from ridedash.service_time import ServiceTime, Turn
from ridedash.store import kiosks
from ridedash.store.database.database import Database, DatabaseBusy
from ridedash.store.models.kiosks import Kiosk, KioskVisit
from ridedash.store.models.orders import Heartbeat
from ridedash.store.models.people import Account
from ridedash.views.web.formatting import stamp
from tests.views.kiosk.devices import give_pickup, new_device, pair, row_of
from tests.views.ride_pages import Desk

pytestmark = pytest.mark.database
VISIT = "visit-0123456789"


def document(browser: FlaskClient) -> dict[str, Any]:
    text = browser.get("/kiosk").text
    found: dict[str, Any] = json.loads(text.split("data-kiosk>")[1].split("</script>")[0])
    return found


def heartbeat(browser: FlaskClient, csrf: str, **form: str) -> dict[str, Any]:
    answer = browser.post("/kiosk/beat", data={"csrf_token": csrf, "visit": VISIT, **form})
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "no-store"
    return dict(answer.json or {})


def change(desk: Desk, kiosk_id: int, **columns: Any) -> None:
    def rows(s: Any) -> None:
        for name, value in columns.items():
            setattr(s.get_one(Kiosk, kiosk_id), name, value)

    desk.add(rows)


def test_the_document_contains_the_kiosk_its_property_and_its_languages(desk: Desk) -> None:
    browser, kiosk_id = pair(desk)
    change(desk, kiosk_id, languages=["hi", "en", "xx"], default_language="hi", mm_per_px=0.248)
    data = document(browser)
    kiosk, prop = data["kiosk"], data["property"]
    assert (kiosk["id"], kiosk["mm_per_px"], kiosk["rule"]) == (kiosk_id, 0.248, "driver")
    assert (kiosk["languages"], kiosk["default_language"]) == (["hi", "en"], "hi")
    assert [each["tag"] for each in data["languages"]] == ["hi", "en"]
    assert data["by_machine"] == ["hi"], "no one has reviewed it, and English is the original"
    assert {"hi", "en"} <= set(data["words"])
    assert data["demo"] == {"hi": "डेमो: असली राइड नहीं", "en": "Demo: no real rides"}
    assert (prop["name"], prop["timezone"]) == ("Grand Meridian Hotel", "Asia/Kolkata")
    assert kiosk["desk_phone"] == prop["phone"] == "+910000000000"
    change(desk, kiosk_id, desk_phone="+912227783300")
    assert document(browser)["kiosk"]["desk_phone"] == "+91 22 2778 3300"
    assert data["release"] == heartbeat(browser, data["csrf"])["release"]
    secrets = (row_of(desk, kiosk_id).token_hash, browser.get_cookie("ridedash_kiosk").value)  # type: ignore[union-attr]
    assert not any(str(secret) in browser.get("/kiosk").text for secret in secrets)


def test_the_document_travels_compressed_and_no_address_chooses_a_word_of_it(desk: Desk) -> None:
    client, _kiosk_id = pair(desk)
    answer = client.get("/kiosk")
    assert "Content-Encoding" not in answer.headers
    packed = client.get("/kiosk?lang=QXZ&q=QXZ", headers={"Accept-Encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in packed.headers["Vary"]
    text = gzip.decompress(packed.data).decode()
    assert "QXZ" not in text
    assert len(packed.data) * 3 < len(text)


def test_a_kiosk_offers_eight_languages_at_most_and_its_own_first(desk: Desk) -> None:
    browser, kiosk_id = pair(desk)
    offered = document(browser)["kiosk"]["languages"]
    assert len(offered) <= 8
    assert offered[0] == "en"
    change(desk, kiosk_id, default_language="de")
    assert document(browser)["kiosk"]["languages"][0] == "de"
    change(desk, kiosk_id, languages=["xx"], default_language="xx")
    assert "en" in document(browser)["kiosk"]["languages"]


def test_a_browser_that_is_no_kiosk_is_led_to_the_form_for_a_code(desk: Desk) -> None:
    answer = desk.client(signed_in=False).get("/kiosk")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/kiosk/pair")


def test_a_heartbeat_reports_the_state_of_the_page_and_is_stored_at_intervals(desk: Desk) -> None:
    browser, kiosk_id = pair(desk)
    csrf, now = document(browser)["csrf"], desk.now
    clock_ms = str(int((now + timedelta(seconds=90)).timestamp() * 1000))
    report = {"screen": "cars", "voices": "en,hi,<b>", "fonts": "en", "clock_ms": clock_ms}
    report |= {"width_px": "1280", "height_px": "800"}
    heartbeat(browser, csrf, release="1", lang="hi", **report)
    row = row_of(desk, kiosk_id)
    assert (row.seen_at, row.release) == (now, "1")
    health = {"screen": "cars", "language": "hi", "voices": ["en", "hi"], "fonts": ["en"]}
    assert row.health == health | {"skew_s": 90, "px": [1280, 800]}
    desk.now = now + timedelta(seconds=14)
    heartbeat(browser, csrf, release="2")
    assert row_of(desk, kiosk_id).release == "1"
    desk.now = now + timedelta(seconds=15)
    heartbeat(browser, csrf, release="2")
    row = row_of(desk, kiosk_id)
    assert (row.release, can(row, "fonts", "en")) == ("2", None), "its page has not reported yet"
    desk.now = now + timedelta(seconds=30)
    heartbeat(browser, csrf, release="2", fonts="")
    assert can(row_of(desk, kiosk_id), "fonts", "en") is False


def test_a_heartbeat_is_stored_at_once_after_a_clock_has_stepped_back(desk: Desk) -> None:
    browser, kiosk_id = pair(desk)
    csrf, back = document(browser)["csrf"], desk.now - timedelta(hours=1)
    heartbeat(browser, csrf, release="1")
    desk.now = back
    heartbeat(browser, csrf, release="2")
    row = row_of(desk, kiosk_id)
    assert (row.seen_at, row.release) == (back, "2"), "else a silent kiosk would look alive"


def test_a_heartbeat_answers_with_the_state_of_the_property(desk: Desk) -> None:
    give_pickup(desk)
    browser, kiosk_id = pair(desk)
    csrf = document(browser)["csrf"]

    def reported(*names: str) -> list[Any]:
        return [heartbeat(browser, csrf)[name] for name in names]

    assert reported("open", "out_of_order", "trouble", "help", "hand") == [
        True,
        False,
        "",
        "",
        None,
    ]
    desk.add(lambda s: setattr(s.get_one(Heartbeat, "w"), "silent_since", desk.now))
    change(desk, kiosk_id, out_of_order=True, hours={"sun": [["06:00", "23:00"]]})
    assert reported("open", "out_of_order", "trouble") == [False, True, "service"]
    desk.add(lambda s: s.delete(s.get_one(Heartbeat, "w")))
    assert reported("trouble") == ["worker"]


def test_a_heartbeat_says_what_a_kiosk_lacks_to_book(desk: Desk) -> None:
    browser, kiosk_id = pair(desk)
    csrf = document(browser)["csrf"]
    assert heartbeat(browser, csrf)["trouble"] == "pickup"
    change(desk, kiosk_id, lat=-38.5, lng=-128.0)
    assert heartbeat(browser, csrf)["trouble"] == ""
    account = desk.ids["desk.account"]
    desk.add(lambda s: setattr(s.get_one(Account, account), "state", "reconnect"))
    assert heartbeat(browser, csrf)["trouble"] == "reconnect"
    change(desk, kiosk_id, account_id=account)
    desk.add(lambda s: setattr(s.get_one(Account, account), "state", "removed"))
    assert heartbeat(browser, csrf)["trouble"] == "account"


def test_the_clock_is_the_servers_at_each_heartbeat_and_in_a_demo_the_rides(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page follows a clock that is set, leaps or stands still, without being loaded again."""
    browser, _ = pair(desk)
    data = document(browser)
    assert data["clock"] == {"now": stamp(desk.now), "speed": 1.0}
    desk.now += timedelta(hours=3)
    assert heartbeat(browser, data["csrf"])["clock"] == {"now": stamp(desk.now), "speed": 1.0}
    evening = desk.now + timedelta(hours=5)
    line = ServiceTime((Turn(desk.now, evening, 0.0),))
    monkeypatch.setattr(desk.services, "time", lambda: line)
    desk.now += timedelta(minutes=9)
    held = {"now": stamp(evening), "speed": 0.0}
    assert (heartbeat(browser, data["csrf"])["clock"], document(browser)["clock"]) == (held, held)


def test_a_read_only_database_is_a_reported_problem_and_no_failed_heartbeat(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser, _ = pair(desk)
    csrf = document(browser)["csrf"]

    def locked(_db: Database) -> Any:
        raise DatabaseBusy("locked")

    monkeypatch.setattr(Database, "write", locked)
    assert heartbeat(browser, csrf)["trouble"] == "database"


def test_a_call_for_help_rings_until_staff_come_or_the_visit_ends(desk: Desk) -> None:
    browser, kiosk_id = pair(desk)
    csrf, now = document(browser)["csrf"], desk.now
    home = desk.ids["desk.property"]
    of = {"property_id": home, "began_at": now, "help_at": now, "aids": []}
    desk.add(lambda s: s.add(KioskVisit(id=VISIT, kiosk_id=kiosk_id, **of)))
    other = new_device(desk)
    desk.add(lambda s: s.add(KioskVisit(id="another-0123456789", kiosk_id=other, **of)))
    assert heartbeat(browser, csrf)["help"] == "asked"
    assert heartbeat(browser, csrf, visit="another-0123456789")["help"] == ""
    desk.add(lambda s: setattr(s.get_one(KioskVisit, VISIT), "help_answered_at", now))
    assert heartbeat(browser, csrf)["help"] == "coming"
    desk.add(lambda s: setattr(s.get_one(KioskVisit, VISIT), "ended_at", now))
    assert heartbeat(browser, csrf)["help"] == ""


def test_a_kiosk_that_is_handed_over_begins_once_when_it_stands_idle(desk: Desk) -> None:
    browser, kiosk_id = pair(desk)
    csrf = document(browser)["csrf"]
    change(desk, kiosk_id, handed_at=desk.now, handed_language="zh_Hans")
    assert heartbeat(browser, csrf, screen="cars")["hand"] is None, "a guest stands there"
    assert heartbeat(browser, csrf, screen="start")["hand"] == {"language": "zh-Hans"}
    assert heartbeat(browser, csrf, screen="start")["hand"] is None
    change(desk, kiosk_id, handed_at=desk.now)
    desk.now += timedelta(minutes=3)
    assert heartbeat(browser, csrf, screen="start")["hand"] is None, "no one came"


def test_a_door_display_is_seen_by_its_requests(desk: Desk) -> None:
    browser, door_id = pair(desk, "door")
    assert row_of(desk, door_id).seen_at is None
    browser.get("/")
    assert row_of(desk, door_id).seen_at == desk.now
    desk.now -= timedelta(hours=1)  # the clock has stepped back
    browser.get("/")
    assert row_of(desk, door_id).seen_at == desk.now
    assert kiosks.kind_of(row_of(desk, door_id)) == "door"
