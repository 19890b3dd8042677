"""The history page and its CSV file: filters, pages, sums, and cells that are never formulas."""

import csv
import io
import re
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import httpx
import pytest
from flask.testing import FlaskClient
from playwright.sync_api import Browser
from sqlalchemy import event
from sqlalchemy.exc import OperationalError
from werkzeug.test import TestResponse

from ridedash.extensions import limiter
from ridedash.store.audit import AuditRow
from ridedash.store.history import Totals
from ridedash.store.models.desk import CostCentre
from ridedash.store.models.people import Staff
from ridedash.store.orders import Order, Ride
from ridedash.views.history.csv_export import CutShort, harmless
from ridedash.views.history.pages import _sums
from ridedash.wording import in_language
from tests.sandbox.serving import waitress, werkzeug
from tests.test_security import csrf
from tests.views.ride_pages import NOON, PASSWORD, Desk, compact, make_desk, token
from tests.views.served import served_desk

pytestmark = pytest.mark.database


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = make_desk(tmp_path)
    made.add(lambda s: setattr(s.get(Staff, made.ids["desk"]), "role", "manager"))
    with made.app.app_context():
        limiter.reset()
    yield made
    made.close()


@pytest.fixture
def client(desk: Desk) -> FlaskClient:
    return desk.client()


def done(desk: Desk, status: str = "COMPLETED", total: int | None = 24_000, **facts: Any) -> int:
    """A ride that has ended, as the worker stores it."""
    over = {"ended_at": NOON, "next_poll_at": None, "plate": "KA01AB1234"}
    order_id = desk.order("BOOKED", status, ride=over, **facts)
    with desk.services.db.write() as s:
        order, ride = s.get(Order, order_id), s.query(Ride).filter_by(order_id=order_id).one()
        order.ended_as = status
        order.total_minor = ride.total_minor = total if status == "COMPLETED" else None
        order.currency = "INR"
    return order_id


def test_a_list_with_cents_writes_each_currency_with_its_own(
    desk: Desk, client: FlaskClient
) -> None:
    for currency, total in (("INR", 24_050), ("JPY", 90_000), ("KWD", 238)):
        order_id = done(desk, total=total)
        desk.add(lambda s, id_=order_id, c=currency: setattr(s.get(Order, id_), "currency", c))
    page = unescape(client.get("/history?from=2026-05-01&to=2026-05-04").text)
    for shown in ("₹240.50", "¥900<", "KWD\u00a02.38<"):
        assert shown in page, "no coins of the yen, and no digit that is not stored"


def test_a_ride_that_was_cancelled_before_it_was_sent_is_cancelled(
    desk: Desk, client: FlaskClient
) -> None:
    ids = [desk.order("NOT_SENT", code=code) for code in ("WITHDRAWN", "PLAN_MISSED")]
    page = unescape(client.get("/history?from=2026-05-01&to=2026-05-04").text)
    shown = {id_: page.partition(f'href="/rides/{id_}"')[2].partition("</tr>")[0] for id_ in ids}
    assert ["Cancelled" in shown[id_] for id_ in ids] == [True, False]
    assert ["Not booked" in shown[id_] for id_ in ids] == [False, True]
    rows = list(csv.reader(io.StringIO(export(client).text.lstrip("\ufeff"))))[1:]
    assert sorted(row[2] for row in rows) == ["Cancelled", "Not booked"]


def sent(client: FlaskClient, form: str) -> str:
    """The query of the address to which the filter form redirects."""
    data = dict(parse_qsl(form)) | {"csrf_token": token(client)}
    answer = client.post("/history", data=data)
    assert answer.status_code == 303
    return str(answer.location).removeprefix("/history?")


def export(client: FlaskClient, query: str = "") -> TestResponse:
    return client.post(f"/history.csv?{query}", data={"csrf_token": token(client)})


def listed(client: FlaskClient, query: str = "") -> list[int]:
    answer = client.get(f"/history?{query}")
    assert answer.status_code == 200
    return [
        int(found)
        for found in re.findall(r'cell-when[^"]*"><a href="/rides/(\d+)"', compact(answer.text))
    ]


def sums(client: FlaskClient, query: str = "") -> list[str]:
    text = client.get(f"/history?{query}").text
    cells = re.findall(r'<dd class="[^"]*num">(.*?)</dd>', text, re.DOTALL)
    return [" ".join(re.sub(r"<[^>]+>", "", cell).split()) for cell in cells]


def rows(client: FlaskClient, query: str = "") -> list[dict[str, str]]:
    answer = export(client, query)
    assert answer.status_code == 200
    assert answer.text.startswith("\ufeff")
    return list(csv.DictReader(io.StringIO(answer.text[1:])))


@pytest.mark.parametrize(("code", "rides"), [("en", "1,234"), ("de", "1.234"), ("hi", "1,234")])
def test_sums_are_written_as_the_readers_language_does(
    client: FlaskClient, code: str, rides: str
) -> None:
    with client.application.test_request_context(), in_language(code):
        assert _sums(Totals(1234, 1234, 1234))[0][1] == rides


def test_either_all_prices_of_a_list_have_cents_or_none_has(
    desk: Desk, client: FlaskClient
) -> None:
    done(desk, total=24_000)
    assert "₹240<" in compact(client.get("/history").text)
    done(desk, total=14_422)
    text = compact(client.get("/history").text)
    assert "₹240.00<" in text
    assert "₹144.22<" in text


def test_the_last_seven_days_are_shown_with_their_sums(desk: Desk, client: FlaskClient) -> None:
    here = [
        done(desk),
        done(desk, "BOOKING_CANCELLED"),
        desk.order("UNKNOWN"),
        desk.order("BOOKED", "IN_PROGRESS"),
    ]
    done(desk, age_s=8 * 86400)
    done(desk, prop="other")
    assert listed(client) == here[::-1]
    assert sums(client) == ["4", "1", "1", "₹240"]
    text = client.get("/history").text
    for words in (
        "Mon 4 May 13:59",
        "Completed",
        "Cancelled",
        "We don&#39;t know",
        "On trip",
        "Guest Heron",
        "412",
        "Meridian Airport, Departures",
        "KA 01 AB 1234",
        "Concierge desk",
        "Asia/Kolkata",
    ):
        assert words in text, words


def test_days_are_the_propertys_and_both_are_included(desk: Desk, client: FlaskClient) -> None:
    # 23:59 on 3 May
    late = desk.order(age_s=int((NOON - NOON.replace(day=3, hour=18, minute=29)).total_seconds()))
    # midnight
    early = desk.order(age_s=int((NOON - NOON.replace(day=3, hour=18, minute=30)).total_seconds()))
    assert listed(client, "from=2026-05-03&to=2026-05-03") == [late]
    assert listed(client, "from=2026-05-04&to=2026-05-04") == [early]
    assert listed(client, "from=2026-05-04&to=2026-05-03") == [early, late]


@pytest.mark.parametrize(
    "query",
    [
        "from=yesterday",
        "to=2026-13-01",
        "from=9999-12-31",
        "to=0001-01-01",
        "before=x",
        "before=2026-05-04_",
        "staff=x&centre=-1",
        "state=happy",
        "staff=" + "9" * 60,
        "before=9999-12-31T23:59:59_1&centre=%00",
    ],
)
def test_invalid_filters_are_ignored_without_an_error(
    desk: Desk, client: FlaskClient, query: str
) -> None:
    order_id = desk.order()
    assert listed(client, query) in ([order_id], [])
    assert ("no day of the calendar" in client.get(f"/history?{query}").text) == query.startswith(
        ("from", "to")
    )


def test_filters_apply_and_stay_in_the_form_and_in_the_links(
    desk: Desk, client: FlaskClient
) -> None:
    with desk.services.db.write() as s:
        centre = CostCentre(property_id=desk.ids["desk.property"], name="Banquets", closed_at=None)
        s.add(centre)
        s.flush()
        centre_id = centre.id
    wanted = done(desk, guest="José García", room="PH-1", kind="auto")
    desk.add(lambda s: setattr(s.get(Order, wanted), "cost_centre_id", centre_id))
    other = done(desk)
    for form in ("guest=garcia", "room=ph-1", "category=auto", f"centre={centre_id}"):
        assert listed(client, sent(client, form)) == [wanted], form
    both = sent(client, f"staff={desk.ids['desk']}&state=completed&guest=heron&room=412")
    assert listed(client, both) == [other]
    assert sent(client, "state=cancelled&guest=&from=2026-05-01&to=2026-05-04") == (
        "from=2026-05-01&to=2026-05-04&state=cancelled"
    )
    assert listed(client, "state=cancelled") == []
    text = client.get(f"/history?{sent(client, 'guest=gar&state=completed&room=PH-1')}").text
    assert 'value="gar"' in text
    assert re.search(r'aria-current="true">\s*State: <bdi class="one-line">Completed</bdi>', text)
    assert "Banquets" in text
    links = [
        unescape(each)
        for each in re.findall(r'(?:href|action)="/history(?:\.csv)?\?([^"]*)"', text)
    ]
    spans = [each for each in links if each.startswith("span=")]
    assert listed(client, spans[0]) == [wanted]
    assert {dict(parse_qsl(each))["span"] for each in spans} == {
        *("today", "yesterday", "week", "month", "last_month", "next_week")
    }
    assert len({each for each in links if "state=cancelled" in each}) == 1


def test_days_by_name_are_those_of_the_day_they_are_read(desk: Desk, client: FlaskClient) -> None:
    order_id = done(desk)
    assert listed(client, "span=today") == [order_id]
    assert listed(client, "span=yesterday") == []
    assert sent(client, "span=today&from=2026-05-04&to=2026-05-04") == "span=today"
    assert sent(client, "span=today&from=2026-05-01&to=2026-05-04") == (
        "from=2026-05-01&to=2026-05-04"
    )
    assert sent(client, "span=someday") == "from=2026-04-28&to=2026-05-04"
    desk.now += timedelta(days=1)
    later = desk.client()
    assert listed(later, "span=yesterday") == [order_id]


def test_no_address_of_the_history_contains_a_guest(desk: Desk, client: FlaskClient) -> None:
    done(desk, guest="José García", room="PH-1")
    query = sent(client, "guest=garcia&room=PH-1&state=completed")
    assert re.fullmatch(
        r"span=week&state=completed&guest=\w+\.[\w-]+\.[\w-]+&room=\w+\.[\w-]+\.[\w-]+",
        query,
    )
    text = client.get(f"/history?{query}").text
    addresses = re.findall(r'(?:href|action)="([^"]*)"', text)
    assert [each for each in addresses if re.search("garcia|PH-1", each, re.IGNORECASE)] == []


@pytest.mark.parametrize("query", ["guest=heron", "room=412", "guest=k1.x.y", "room=%00"])
def test_a_guest_in_an_address_encrypted_with_another_key_is_reported_as_unreadable(
    desk: Desk, client: FlaskClient, query: str
) -> None:
    done(desk)
    text = client.get(f"/history?{query}").text
    assert "The guest or room of this address can&#39;t be read any more" in text
    assert export(client, query).status_code == 400
    other = desk.client()
    mine = sent(client, "guest=heron")
    assert "can&#39;t be read any more" in other.get(f"/history?{mine}").text


def test_a_form_with_a_wrong_day_or_of_an_older_sign_in_gets_a_message(
    desk: Desk, client: FlaskClient
) -> None:
    form = {"from": "2026-13-01", "guest": "heron", "csrf_token": token(client)}
    wrong = client.post("/history", data=form)
    assert wrong.status_code == 422
    assert "That is no day of the calendar" in wrong.text
    assert 'value="heron"' in wrong.text
    for path in ("/history", "/history.csv"):
        old = client.post(path, data=form | {"csrf_token": "of yesterday"})
        assert (old.status_code, "This page was open for too long" in old.text) == (400, True)


def test_older_rides_are_on_the_next_page_and_none_is_shown_twice(
    desk: Desk, client: FlaskClient
) -> None:
    made = [desk.order(age_s=n // 3) for n in range(120)]
    seen, query, pages, counts = [], sent(client, "guest=heron"), 0, []
    while query:
        text = client.get(f"/history?{query}").text
        counts += re.findall(r"(\d+) of these 120 rides are listed here", text)
        seen += [
            int(found)
            for found in re.findall(r'cell-when[^"]*"><a href="/rides/(\d+)"', compact(text))
        ]
        older = re.search(r'href="/history\?([^"]*before=[^"]*)"', text)
        query, pages = older.group(1).replace("&amp;", "&") if older else "", pages + 1
    assert (pages, sorted(seen)) == (3, made)
    # on paper the totals are of all rides, and no link leads to the other pages
    assert counts == ["50", "50", "20"]


def test_a_page_with_every_ride_does_not_count_them_again(desk: Desk, client: FlaskClient) -> None:
    done(desk)
    assert "are listed here" not in client.get("/history").text


def test_an_empty_history_has_a_message(desk: Desk, client: FlaskClient) -> None:
    assert "Nothing was booked in these days" in client.get("/history").text
    assert "None of these days fits" in client.get(f"/history?{sent(client, 'guest=nobody')}").text
    assert sums(client) == ["0", "0", "0", "–"]


def test_completed_rides_without_a_price_are_counted_beside_the_sum(
    desk: Desk, client: FlaskClient
) -> None:
    done(desk)
    done(desk, total=None)
    assert sums(client)[3] == "₹240 1 without a price"


def picked_up(s: Any, order_id: int, at: str) -> None:
    """Store the time at which, according to the service, the guest was picked up."""
    ride = s.query(Ride).filter(Ride.order_id == order_id).one()
    ride.facts = {**ride.facts, "pickup_time": {"text": at, "at": at}}


def test_the_file_has_all_columns_of_a_bill(desk: Desk, client: FlaskClient) -> None:
    order_id = done(desk, drop_name="Old Harbour")
    auto = done(desk, "COMPLETED", 18_600, kind="auto", age_s=60)
    plan = desk.order("SCHEDULED", age_s=120)
    desk.add(lambda s: setattr(s.get(Order, plan), "pickup_at", NOON + timedelta(hours=2)))
    desk.add(lambda s: picked_up(s, auto, "2026-05-04T08:12:00Z"))
    first, fixed, meter = rows(client)
    assert [first["outcome"], first["pickup_planned_for"], first["total"]] == [
        "Planned",
        "2026-05-04T16:00:00+05:30",
        "",
    ]
    expected = {
        "outcome": "Completed",
        "placed_at": "2026-05-04T13:59:18+05:30",
        "pickup_planned_for": "",
        "ended_at": "2026-05-04T14:00:00+05:30",
        "guest": "Guest Heron",
        "room": "412",
        "phone": "'+910000012345",
        "pickup": "Grand Meridian Hotel, main door",
        "pickup_lat": "-38.5",
        "pickup_lng": "-128",
        "drop": "Old Harbour",
        "drop_lat": "-38.48",
        "drop_lng": "-127.97",
        "category": "mini",
        "driver": "Driver Cedar",
        "plate": "KA 01 AB 1234",
        "payment": "cash",
        "currency": "INR",
        "fare": "210",
        "tax": "18.50",
        "tolls": "35",
        "discount": "23.50",
        "total": "240",
        "booked_by": "Concierge desk",
        "note": "Two suitcases",
        "picked_up_at": "",
    }
    assert meter["picked_up_at"] == "2026-05-04T13:42:00+05:30"
    assert {name: fixed[name] for name in expected} == expected
    assert fixed["reference"].startswith("GMH-")
    assert fixed["began_at"] == "2026-05-04T13:56:45+05:30"
    assert fixed["minutes"] == "3"
    assert (fixed["part_of"], fixed["group"]) == ("", "")
    assert [
        meter[name]
        for name in (
            "fare",
            "extra_charges",
            "discount",
            "advance",
            "total",
            "distance_km",
            "minutes",
        )
    ] == ["181", "15", "10", "0", "186", "7.2", "23"]
    assert order_id < auto


def test_the_file_has_the_flight_of_a_ride(desk: Desk, client: FlaskClient) -> None:
    number = done(desk)
    desk.add(lambda s: setattr(s.get_one(Order, number), "flight", "LH 760"))
    assert [each["flight"] for each in rows(client)] == ["LH 760"]


def test_the_file_says_which_rides_belong_together(desk: Desk, client: FlaskClient) -> None:
    ids = [done(desk) for _ in range(4)]

    def join(s: Any) -> None:
        s.query(Order).filter(Order.id.in_(ids[:2])).update({"group_key": "G1"})
        s.query(Order).filter(Order.id.in_(ids[2:])).update({"series_key": "S1"})

    desk.add(join)
    assert sorted((each["part_of"], each["group"]) for each in rows(client)) == [
        ("Car 1/2", "G1"),
        ("Car 2/2", "G1"),
        ("Ride 1/2", "S1"),
        ("Ride 2/2", "S1"),
    ]


def test_the_file_is_of_the_own_property_and_of_the_filters(
    desk: Desk, client: FlaskClient
) -> None:
    done(desk, guest="Guest Wren")
    done(desk)
    done(desk, guest="Guest Wren", prop="other")
    assert [row["guest"] for row in rows(client, sent(client, "guest=wren"))] == ["Guest Wren"]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("=HYPERLINK(0)", "'=HYPERLINK(0)"),
        ("+1", "'+1"),
        ("-1+1", "'-1+1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t'=1"),
        ("\r=1", "'\r'=1"),
        ("  =1", "'  =1"),
        ("-38.5", "-38.5"),
        ("12", "12"),
        ("a=b", "a=b"),
        ("", ""),
        ("-", "'-"),
        ("-1e5", "'-1e5"),
        ("＝1", "'＝1"),
        ("x;=1+1", "x;'=1+1"),
        ("a\t @b", "a\t '@b"),
        ("-;=1+1;", "'-;'=1+1;"),
        ("a\n=1+1;", "a\n'=1+1;"),
        ('x;"=1+1;', "x;\"'=1+1;"),
        ("x; ;=1", "x; ;'=1"),
        # linear time: if a match could begin at each of the blanks, this would take minutes
        pytest.param("x" + "\n" * 100_000 + "y", "x" + "\n" * 100_000 + "y", id="blanks"),
    ],
)
def test_no_cell_is_a_formula(text: str, written: str) -> None:
    assert harmless(text) == written


def test_formulas_from_guests_and_the_service_are_text_in_the_file(
    desk: Desk, client: FlaskClient
) -> None:
    order_id = done(
        desk, guest='=cmd|"/c calc"!A1', room="@x", drop_name="+1\nsecond line", pickup_name="-2+3"
    )

    def driver(s: Any) -> None:
        ride = s.query(Ride).filter_by(order_id=order_id).one()
        ride.facts = ride.facts | {"driver_name": "=1+1"}

    desk.add(driver)
    (row,) = rows(client)
    assert [row[name] for name in ("guest", "room", "drop", "pickup", "driver")] == [
        '\'=cmd|"/c calc"!A1',
        "'@x",
        "'+1\nsecond line",
        "'-2+3",
        "'=1+1",
    ]


def test_a_long_file_is_read_in_short_transactions_and_is_complete(
    desk: Desk, client: FlaskClient
) -> None:
    made = [desk.order(age_s=n // 7) for n in range(503)]
    answer = export(client)
    parts = list(answer.iter_encoded())
    assert len(parts) == 2
    text = b"".join(parts).decode("utf-8-sig")
    assert len({row["reference"] for row in csv.DictReader(io.StringIO(text))}) == len(made)


@contextmanager
def readings(desk: Desk, good: int) -> Iterator[None]:
    """Let `good` parts of the file be read; then the database is unreachable."""
    left = iter(range(good))

    def read(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        if "happens_at DESC" in statement and next(left, None) is None:
            raise OperationalError("SELECT of a guest", None, OSError("away"))

    event.listen(desk.services.db.engine, "before_cursor_execute", read)
    yield
    event.remove(desk.services.db.engine, "before_cursor_execute", read)


def test_an_incomplete_file_has_a_last_line_that_says_so(
    desk: Desk, client: FlaskClient, caplog: pytest.LogCaptureFixture
) -> None:
    for n in range(501):
        desk.order(age_s=n)
    parts: list[bytes] = []

    def receive() -> None:
        for part in export(client).iter_encoded():
            parts.append(part)

    with readings(desk, 1), pytest.raises(CutShort) as failed:
        receive()
    lines = list(csv.reader(io.StringIO(b"".join(parts).decode("utf-8-sig"))))
    assert len(lines) == 502
    assert lines[-1] == [
        "INCOMPLETE: rides are missing here, because reading them failed. Export again."
    ]
    assert "SELECT" not in "".join(traceback.format_exception(failed.value))
    assert "an export was cut short by OperationalError, reference " in caplog.text


def test_a_file_that_can_not_be_read_at_all_is_an_error_page(
    desk: Desk, client: FlaskClient
) -> None:
    desk.order()
    with readings(desk, 0):
        answer = export(client)
    assert answer.status_code == 503
    assert "Content-Disposition" not in answer.headers


def test_an_incomplete_file_is_a_failed_download_in_browsers(desk: Desk) -> None:
    for n in range(501):
        desk.order(age_s=n)
    for server in (waitress, werkzeug):
        with (
            server(desk.app) as url,
            httpx.Client(base_url=url, trust_env=False, timeout=60) as web,
        ):
            form = {
                "csrf_token": csrf(web.get("/sign-in").text),
                "name": "desk",
                "password": PASSWORD,
            }
            assert web.post("/sign-in", data=form).status_code == 303
            form = {"csrf_token": csrf(web.get("/me").text)}
            with readings(desk, 1), pytest.raises(httpx.RemoteProtocolError):
                web.post("/history.csv", data=form)


def test_an_export_is_recorded_with_its_filters_but_without_the_guests_name(
    desk: Desk, client: FlaskClient
) -> None:
    export(client, sent(client, "from=2026-05-01&to=2026-05-04&state=completed&guest=Wren"))
    with desk.services.db.read() as s:
        (row,) = s.query(AuditRow).filter_by(what="history.exported").all()
    assert (row.who, row.property_id, row.at) == (
        f"staff:{desk.ids['desk']}",
        desk.ids["desk.property"],
        NOON,
    )
    assert row.facts == {
        "from": "2026-05-01",
        "to": "2026-05-04",
        "filters": {"state": "completed"},
        "by_guest": True,
    }


def test_a_concierge_may_not_export_and_exports_are_rate_limited(
    desk: Desk, client: FlaskClient
) -> None:
    assert 'action="/history.csv' in client.get("/history").text
    assert client.get("/history.csv").status_code == 405
    assert [export(client).status_code for _ in range(6)] == [200] * 5 + [429]
    desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), "role", "concierge"))
    other = desk.client()
    assert 'action="/history.csv' not in other.get("/history").text
    assert export(other).status_code == 403


def test_the_file_has_a_name_and_is_not_cached(desk: Desk, client: FlaskClient) -> None:
    headers = export(client, "from=2026-05-01&to=2026-05-04").headers
    assert (
        headers["Content-Disposition"]
        == 'attachment; filename="demo-rides-2026-05-01-to-2026-05-04.csv"'
    )
    assert headers["Content-Type"] == "text/csv; charset=utf-8"
    assert headers["Cache-Control"] == "no-store"


@pytest.mark.browser
def test_a_press_downloads_the_file_of_the_shown_rides(tmp_path: Path, browser: Browser) -> None:
    with served_desk(tmp_path, browser) as served:
        served.desk.add(lambda s: setattr(s.get(Staff, served.desk.ids["desk"]), "role", "manager"))
        done(served.desk, guest="Guest Wren")
        done(served.desk)
        page = served.staff(viewport={"width": 1280, "height": 800})
        page.goto("/history?from=2026-05-01&to=2026-05-04")
        page.locator("#chip-person > summary").click()
        page.get_by_label("Guest", exact=True).fill("wren")
        page.keyboard.press("Enter")
        page.wait_for_url("**/history?*&guest=*")
        with page.expect_download() as saved:
            page.get_by_role("button", name="Export as CSV").click()
        assert saved.value.failure() is None
        assert saved.value.suggested_filename == "demo-rides-2026-05-01-to-2026-05-04.csv"
        with saved.value.path().open(encoding="utf-8-sig", newline="") as file:
            assert [row["guest"] for row in csv.DictReader(file)] == ["Guest Wren"]
