"""Messages about the service: no answer, a refused key, a clock that differs, throttled prices."""

from datetime import datetime, timedelta
from html import unescape

import pytest

from ridedash.rides.health import Alarms, alarms, write_heartbeat
from ridedash.service.throttle.traffic import Priority, Result
from ridedash.store.models.people import Staff
from tests.views.ride_pages import NOON, Desk

pytestmark = pytest.mark.database

BAND = "The ride company has not answered since 14:00. Rides go on; what you see may be old."


def last_answers(desk: Desk, silent_since: datetime | None, worker: str = "w") -> None:
    write_heartbeat(desk.services.db, worker, desk.now, Alarms(silent_since))


def test_a_silent_service_is_shown_on_every_page_and_in_their_json(desk: Desk) -> None:
    browser, order_id = desk.client(), desk.order("BOOKED", "CALL_DRIVER")
    assert browser.get("/board.json?only=bar").get_json()["bar"]["silent"] == ""
    last_answers(desk, NOON)
    for path in ("/", f"/rides/{order_id}", "/rides/new"):
        band = browser.get(path).text.split("data-silent-band")[1].split("</div>")[0]
        assert BAND in band
        assert "hidden" not in band.split(">")[0]
    assert browser.get("/board.json").get_json()["bar"]["silent"] == BAND
    last_answers(desk, None)
    assert browser.get("/board.json").get_json()["bar"]["silent"] == ""
    assert "hidden" in browser.get("/").text.split("data-silent-band")[1].split(">")[0]


def test_a_dead_worker_is_no_sign_of_a_silent_service(desk: Desk) -> None:
    last_answers(desk, NOON)
    desk.now = NOON + timedelta(seconds=31)
    bar = desk.client().get("/board.json?only=bar").get_json()["bar"]
    assert bar["stopped"]
    assert bar["silent"] == ""


def test_the_longest_silence_of_several_live_workers_counts(desk: Desk) -> None:
    last_answers(desk, NOON - timedelta(minutes=9), "dead")
    desk.now = NOON + timedelta(seconds=40)
    last_answers(desk, NOON + timedelta(seconds=20), "first")
    last_answers(desk, NOON + timedelta(seconds=10), "second")
    last_answers(desk, None, "third")
    with desk.services.db.read() as s:
        assert alarms(s, desk.now).silent_since == NOON + timedelta(seconds=10)
        assert alarms(s, desk.now + timedelta(minutes=1)).silent_since is None


REFUSED = (
    "The ride company has refused this desk's key since 14:00: nothing can be booked. Rides go on; "
    "what you see may be old."
)


@pytest.mark.parametrize(
    ("role", "todo"),
    [
        ("concierge", "Tell a manager."),
        ("manager", "Tell whoever runs ridedash to check the key with the ride company."),
        ("admin", "Tell whoever runs ridedash to check the key with the ride company."),
    ],
)
def test_a_refused_key_is_one_band_on_every_page_and_goes_by_itself(
    desk: Desk, role: str, todo: str
) -> None:
    desk.add(lambda s: setattr(s.get_one(Staff, desk.ids["desk"]), "role", role))
    browser = desk.client()
    write_heartbeat(desk.services.db, "w", desk.now, Alarms(key_refused_since=NOON))
    for path in ("/", "/rides/new"):
        page = browser.get(path).text
        band = page.split("data-silent-band")[1].split("</div>")[0]
        assert f"{REFUSED} {todo}" in unescape(band)
        assert page.count("refused this desk") == 1
    write_heartbeat(desk.services.db, "w", desk.now, Alarms(NOON, NOON))
    assert browser.get("/board.json").get_json()["bar"]["silent"] == BAND, "one thing at a time"
    write_heartbeat(desk.services.db, "w", desk.now)
    assert browser.get("/board.json").get_json()["bar"]["silent"] == ""


@pytest.mark.parametrize(("ahead_s", "how"), [(720.4, "fast"), (-90.0, "slow")])
def test_a_worker_with_a_wrong_clock_is_an_alert_on_the_board(
    desk: Desk, ahead_s: float, how: str
) -> None:
    browser = desk.client()
    write_heartbeat(desk.services.db, "w", desk.now, Alarms(clock_ahead_s=ahead_s))
    (alert,) = browser.get("/board.json").get_json()["bar"]["alerts"]
    assert (alert["title"], alert["href"]) == (f"The clock of ridedash is {how}", "")
    minutes = round(abs(ahead_s) / 60)
    assert f"It is {minutes} min from the ride company's." in unescape(alert["detail"])
    write_heartbeat(desk.services.db, "w", desk.now)
    assert "alerts" not in browser.get("/board.json").get_json()["bar"]


TRIP = {
    "pickup": "Lobby",
    "pickup_lat": "-38.5",
    "pickup_lng": "-128",
    "drop": "Airport",
    "drop_lat": "-38.55",
} | {"drop_lng": "-128.06"}


def test_throttled_prices_have_a_message_and_no_request(desk: Desk) -> None:
    traffic = desk.services.client.traffic
    while not traffic.is_open(write=False):
        traffic.settle(traffic.enter(Priority.PAGE), Result.FAILED)
    answer = desk.client().get("/products.json", query_string=TRIP)
    assert answer.status_code == 503
    assert "The ride company is not answering" in answer.get_json()["html"]


def test_prices_above_the_rate_limit_show_when_to_try_again(desk: Desk) -> None:
    traffic = desk.services.client.traffic
    traffic.settle(traffic.enter(Priority.PAGE), Result.LIMITED, 120.0)
    answer = desk.client().get("/products.json", query_string=TRIP)
    assert answer.status_code == 503
    assert "Too many requests at once" in answer.get_json()["html"]
    html = answer.get_json()["html"]
    seconds = html.partition("Next try in ")[2].partition(" s")[0]
    assert seconds.isdecimal()
    assert f'data-asks="{seconds}"' in html, "the page waits as long as it says"
