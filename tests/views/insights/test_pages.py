"""The insights page and file: who may see them, their days, and the same sums as the history."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from ridedash.extensions import limiter
from ridedash.service_time import REAL, ServiceTime
from ridedash.store.audit import AuditRow
from ridedash.store.insights import Cancelled
from ridedash.store.models.desk import CostCentre
from ridedash.store.models.orders import TimelineEvent
from ridedash.store.models.people import Property, Staff
from ridedash.store.orders import Order, Ride, order_page
from ridedash.views.insights.periods import Period, before, chosen, common
from ridedash.views.insights.pictures import heat, nice, wait_bars
from ridedash.views.insights.reading import late_policy
from ridedash.views.insights.waits import mean, median, within
from ridedash.views.rides.facts import RideFacts
from tests.views.history.test_pages import done
from tests.views.ride_pages import NOON, Desk, compact, make_desk, token

pytestmark = pytest.mark.database
TODAY = date(2026, 5, 4)
MINUTE = timedelta(minutes=1)


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


def tiles(client: FlaskClient, query: str = "") -> dict[str, list[str]]:
    """The figures at the top, with their remarks, by label."""
    text = compact(client.get(f"/insights?{query}").text)
    found = re.findall(r"<dt[^>]*>([^<]*)</dt>(.*?)</div>", text)
    return {
        label: [unescape(" ".join(each.split())) for each in re.findall(r"<dd[^>]*>([^<]*)", rest)]
        for label, rest in found
    }


@pytest.mark.parametrize(
    ("days", "labelled"), [(5, [0, 1, 2, 3, 4]), (21, [0, 5, 10, 15, 20]), (23, [0, 11, 22])]
)
def test_each_label_of_a_day_stands_below_its_bar(
    desk: Desk, client: FlaskClient, days: int, labelled: list[int]
) -> None:
    done(desk)
    first = TODAY - timedelta(days=days - 1)
    page = compact(client.get(f"/insights?from={first}&to={TODAY}").text)
    labels = page[page.index("plot-labels") :].split("</p>")[0]
    wanted = [first + timedelta(days=n) for n in labelled]
    assert [each.day for each in wanted] == [int(n) for n in re.findall(r"\d+", labels)]


def rows(client: FlaskClient, query: str = "") -> list[dict[str, str]]:
    answer = client.post(f"/insights.csv?{query}", data={"csrf_token": token(client)})
    assert answer.status_code == 200
    return list(csv.DictReader(io.StringIO(answer.text.removeprefix("\ufeff"))))


def change(desk: Desk, order_id: int, **columns: Any) -> None:
    def write(s: Any) -> None:
        for name, value in columns.items():
            setattr(s.get(Order, order_id), name, value)

    desk.add(write)


@pytest.mark.parametrize(
    ("first", "last", "first_before", "last_before"),
    [
        ("2026-05-01", "2026-05-04", "2026-04-01", "2026-04-04"),
        ("2026-03-01", "2026-03-31", "2026-02-01", "2026-02-28"),
        ("2026-03-01", "2026-03-30", "2026-02-01", "2026-02-28"),
        ("2026-01-01", "2026-01-31", "2025-12-01", "2025-12-31"),
        ("2026-05-02", "2026-05-02", "2026-05-01", "2026-05-01"),
        ("2026-04-01", "2026-06-30", "2025-12-31", "2026-03-31"),
    ],
)
def test_days_are_compared_with_those_before_them(
    first: str, last: str, first_before: str, last_before: str
) -> None:
    found = before(Period(date.fromisoformat(first), date.fromisoformat(last)))
    assert found == Period(date.fromisoformat(first_before), date.fromisoformat(last_before))


def test_a_form_may_leave_days_out() -> None:
    assert chosen(None, None, TODAY) == Period(date(2026, 5, 1), TODAY)
    assert chosen(date(2026, 4, 9), None, TODAY) == Period(date(2026, 4, 9), TODAY)
    assert chosen(None, date(2026, 4, 9), TODAY) == Period(date(2026, 4, 1), date(2026, 4, 9))
    assert chosen(TODAY, date(2026, 4, 9), TODAY) == Period(date(2026, 4, 9), TODAY)
    assert [len(period.days) for _, period in common(TODAY)] == [4, 30, 7, 89]


def test_the_month_stands_beside_the_one_before(desk: Desk, client: FlaskClient) -> None:
    for order_id in (done(desk), done(desk), done(desk, total=None)):
        change(desk, order_id, driver_s=100, guest_s=400)
    change(desk, done(desk), currency="EUR")
    done(desk, "ALLOTMENT_FAILED")
    desk.order("UNKNOWN")
    done(desk, age_s=31 * 86400)
    done(desk, prop="other")
    found = tiles(client)
    assert found == {
        "Rides": ["6", "4 completed", "before: 1 (+5)"],
        "Spend": ["€240", "₹480", "1 without a price", "before: ₹240"],
        "From booking to driver": ["1:40", "median; 9 of 10 within 1:40"],
        "From driver to guest": ["6:40", "median; 9 of 10 within 6:40"],
        "Cancelled": ["0", "before: 0"],
        "No driver found": ["1", "16.7% of the rides", "before: 0"],
        "Outcome unknown": ["1", "1 still open", "before: 0"],
    }
    text = compact(client.get("/insights").text)
    assert "<h1>Insights" in text
    assert "·<bdi>Grand Meridian Hotel</bdi></span></h1>" in text  # on a printed sheet
    assert "<strong>1 – 4 May 2026</strong>beside 1 – 4 Apr 2026" in text
    assert "Meridian Airport, Departures" in text
    assert "Busiest: Monday 13–14, 6 rides" in text


def test_the_page_tells_which_waits_are_halves_and_which_are_averages(
    desk: Desk, client: FlaskClient
) -> None:
    for seconds in (90, 90, 600):
        change(desk, done(desk), driver_s=seconds)
    wait = tiles(client)["From booking to driver"]
    assert wait == ["1:30", "median; 9 of 10 within 10:00"]
    page = compact(client.get("/insights").text)
    table = page.partition('aria-labelledby="by-category"')[2]
    assert ">4:20<" in table
    assert "To driver, average<" in table
    total = next(row for row in rows(client) if row["part"] == "total")
    assert (total["driver_wait_s"], total["driver_wait_median_s"]) == ("260", "90")
    assert "at the top, half of the rides waited no longer than the figure" in page
    assert "in the tables they are averages" in page


WAITS_OF_RIDES = [  # waits in seconds by day of May, their median, 9 of 10, average; as shown
    ({4: [64]}, "1:04", None, None),
    ({4: [65, 64]}, "1:05", "1:05", "1:05"),
    ({4: [60, 64, 90]}, "1:04", "1:30", "1:11"),
    ({4: [61, 64], 3: [64, 119]}, "1:04", "1:59", "1:17"),
    ({4: [30], 3: [64, 65], 1: [119, 4000]}, "1:05", "1 h 6 min", "14:16"),
    ({4: [10] * 9 + [59, 59]}, "0:10", "0:59", "0:19"),
    ({4: [3600, 5100]}, "1 h 12 min", "1 h 25 min", "1 h 12 min"),
    ({4: [0, 0]}, "0:00", "0:00", "0:00"),
]


@pytest.mark.parametrize(("waits", "half", "most", "average"), WAITS_OF_RIDES)
def test_the_figure_of_the_waits_is_their_median_to_the_second(
    desk: Desk,
    client: FlaskClient,
    waits: dict[int, list[int]],
    half: str,
    most: str | None,
    average: str | None,
) -> None:
    """Of these days, and the same of the days before: stored figures are as exact as fresh ones."""
    for day, of_day in waits.items():
        for seconds in of_day:
            for at in (NOON.replace(day=day), NOON.replace(month=4, day=day)):
                change(desk, done(desk), created_at=at, driver_s=seconds, guest_s=seconds)
    for _look in ("counted", "stored"):
        shown = tiles(client)
        for label in ("From booking to driver", "From driver to guest"):
            note = "the only ride" if most is None else f"median; 9 of 10 within {most}"
            assert shown[label] == [half, note, f"before: {half}"]
    table = compact(client.get("/insights").text).partition('aria-labelledby="by-category"')[2]
    assert f">{average or half}<" in table


def test_the_median_of_two_properties_is_that_of_all_their_rides(desk: Desk) -> None:
    desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), "role", "admin"))
    for name, waits in (("desk", (10, 20, 30)), ("other", (64, 200))):
        for seconds in waits:
            change(desk, done(desk, prop=name), driver_s=seconds)
    both = "&".join(f"property={desk.ids[f'{name}.property']}" for name in ("desk", "other"))
    assert tiles(desk.client(), both)["From booking to driver"][0] == "0:30"


def test_without_known_waits_nothing_is_said_of_them(desk: Desk, client: FlaskClient) -> None:
    done(desk)
    assert tiles(client)["From booking to driver"] == ["–"]
    total = next(row for row in rows(client) if row["part"] == "total")
    waits = ("s", "median_s", "9_of_10_s")
    assert {total[f"{who}_wait_{each}"] for who in ("driver", "guest") for each in waits} == {""}


@pytest.mark.parametrize(
    ("waits", "seconds"),
    [((59, 60), 60), ((60, 61), 61), ((1, 1, 0), 1), ((1, 0, 0), 0), ((99, 100, 100), 100)],
)
def test_the_file_and_the_page_round_an_average_in_one_way(
    desk: Desk, client: FlaskClient, waits: tuple[int, ...], seconds: int
) -> None:
    """To the nearest second, half a second up: for a table and a row of the file."""
    for each in waits:
        change(desk, done(desk), driver_s=each)
    words = f"{seconds // 60}:{seconds % 60:02d}"
    table = compact(client.get("/insights").text).partition('aria-labelledby="by-category"')[2]
    assert f">{words}<" in table
    found = {row["part"]: row for row in rows(client) if row["from"] == "2026-05-01"}
    for part in ("total", "category", "destination", "staff", "hour"):
        assert found[part]["driver_wait_s"] == str(seconds), part


def test_the_file_has_the_medians_of_the_page_and_counts_by_minutes(
    desk: Desk, client: FlaskClient
) -> None:
    for seconds in (59, 60, 64, 65, 9_000, 3_600):
        change(desk, done(desk), driver_s=seconds, guest_s=2 * seconds)
    found = rows(client)
    total = next(row for row in found if row["part"] == "total")
    assert total["driver_wait_median_s"] == "65"  # half of 64 and 65
    assert total["guest_wait_median_s"] == "129"
    assert (total["driver_wait_9_of_10_s"], total["guest_wait_9_of_10_s"]) == ("9000", "18000")
    counts = {row["name"]: row["rides"] for row in found if row["part"] == "driver_wait_min"}
    assert counts == {"0": "1", "1": "3", "60": "2"}


def test_one_ride_is_one_ride(desk: Desk, client: FlaskClient) -> None:
    change(desk, done(desk), driver_s=100)
    assert tiles(client)["From booking to driver"] == ["1:40", "the only ride"]
    text = compact(client.get("/insights").text)
    assert "Busiest: Monday 13–14, 1 ride<" in text
    assert "Mon 4 May: 1 ride, 1 completed; before: 0" in text
    assert "1 to 2 minutes" in text
    assert "1 rides" not in text
    desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), "language", "ar"))
    assert "رحلة واحدة" in client.get("/insights").text


def test_a_ride_whose_driver_was_lost_costs_no_fee_here_as_on_its_own_page(
    desk: Desk, client: FlaskClient
) -> None:
    charged = []
    for events in (["driver_lost"], ["driver_lost", "CALL_DRIVER"]):
        order_id = done(desk, "BOOKING_CANCELLED")

        def drive(s: Any, order_id: int = order_id, events: list[str] = events) -> None:
            ride = s.query(Ride).filter_by(order_id=order_id).one()
            ride.allotted_at, ride.ended_at = NOON - 9 * MINUTE, NOON
            s.query(TimelineEvent).filter_by(order_id=order_id).delete()
            for n, name in enumerate(["CALL_DRIVER", *events, "BOOKING_CANCELLED"]):
                what = "event" if name == "driver_lost" else "ride"
                facts = {"property_id": ride.property_id, "order_id": order_id, "detail": None}
                at = NOON + (n - 4) * MINUTE
                s.add(TimelineEvent(what=what, name=name, at=at, **facts))

        desk.add(drive)
        with desk.services.db.read() as s:
            page = order_page(s, desk.ids["desk.property"], order_id)
        assert page is not None
        charged.append(RideFacts(page, NOON, REAL, "en").charged)
    assert charged == [False, True]
    assert "1 too late to be free: ₹30 by their terms" in tiles(client)["Cancelled"]


def test_a_fee_counts_from_when_cancelling_is_no_longer_free(
    desk: Desk, client: FlaskClient
) -> None:
    for allotted, names in ((6, ["cancel"]), (4, ["cancel"]), (6, ["abort", "cancel"])):
        order_id = done(desk, "BOOKING_CANCELLED", actions=[(name, "done", {}) for name in names])

        def allot(s: Any, order_id: int = order_id, minutes: int = allotted) -> None:
            s.query(Ride).filter_by(order_id=order_id).one().allotted_at = NOON - minutes * MINUTE

        desk.add(allot)
    assert tiles(client)["Cancelled"] == ["3", "1 too late to be free: ₹30 by their terms"]
    policy = {"charge": "30", "applies_after": {"seconds": 300}}
    ride = Cancelled(None, json.dumps(policy), "INR", NOON - 6 * MINUTE, NOON, False)  # type: ignore[arg-type]
    assert late_policy(ride, REAL) is not None
    assert late_policy(ride._replace(allotted_at=NOON - 4 * MINUTE), REAL) is None
    assert (
        late_policy(ride._replace(allotted_at=NOON - 4 * MINUTE), ServiceTime(pace=2)) is not None
    )
    assert late_policy(ride._replace(aborted=True), REAL) is None
    assert late_policy(ride._replace(policy='{"charge": "30"}'), REAL) is not None
    assert late_policy(ride._replace(policy='{"charge": "many"}'), REAL) is None
    assert late_policy(ride._replace(policy=None), REAL) is None


def test_either_all_sums_of_a_table_have_cents_or_none_has(desk: Desk, client: FlaskClient) -> None:
    done(desk, total=24_000)
    done(desk, kind="auto", total=14_422)
    text = compact(client.get("/insights").text)
    assert "₹240.00" in text
    assert "₹144.22" in text


def test_the_file_agrees_with_the_history_to_the_cent(desk: Desk, client: FlaskClient) -> None:
    for total in (24_001, 99, 1):
        done(desk, total=total)
    change(desk, done(desk, total=500), currency="EUR")
    text = client.get("/history?from=2026-05-01&to=2026-05-04").text
    assert "€5 + ₹241.01" in text
    found = rows(client)
    for part in ("total", "category", "destination", "staff", "cost_centre", "day", "hour"):
        of = [row for row in found if row["part"] == part and row["from"] == "2026-05-01"]
        money = {
            currency: sum(Decimal(row["spend"]) for row in of if row["currency"] == currency)
            for currency in ("INR", "EUR")
        }
        assert money == {"INR": Decimal("241.01"), "EUR": Decimal(5)}, part
        assert sum(int(row["rides"] or 0) for row in of) == 4, part
    with desk.services.db.read() as s:
        row = s.query(AuditRow).filter_by(what="insights.exported").one()
        assert row.facts == {"from": "2026-05-01", "to": "2026-05-04"}


def test_hostile_names_are_text_on_the_page_and_no_formula_in_the_file(
    desk: Desk, client: FlaskClient
) -> None:
    names = ['=HYPERLINK("x")', "<script>alert(1)</script>", "\u202eevil", "x" * 200]
    for name in names:
        done(desk, drop_name=name)
    text = client.get("/insights").text
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert {row["name"] for row in rows(client) if row["part"] == "destination"} == {
        "'" + names[0],
        *names[1:],
    }


def test_thousands_of_cost_centres_are_one_line_beside_the_greatest(
    desk: Desk, client: FlaskClient
) -> None:
    def centres(s: Any) -> None:
        property_id = desk.ids["desk.property"]
        s.add_all(CostCentre(property_id=property_id, name=f"C{n}") for n in range(25))

    desk.add(centres)
    with desk.services.db.read() as s:
        ids = [row.id for row in s.query(CostCentre)]
    for centre_id in (*ids, ids[7], ids[7]):
        change(desk, done(desk), cost_centre_id=centre_id)
    text = compact(client.get("/insights").text)
    table = text.split('id="by-centre"')[1].split("</table>")[0]
    names = re.findall(r'\bfigures-name"><bdi>([^<]*)</bdi>', table)
    assert (names[0], len(names), names[-1]) == ("C7", 11, "15 others")
    assert table.count('class="off-paper"') == 5
    assert len([row for row in rows(client) if row["part"] == "cost_centre"]) == 25


def test_unknown_waits_have_no_chart(desk: Desk, client: FlaskClient) -> None:
    order_id = done(desk)
    assert 'id="wait-' not in client.get("/insights").text
    change(desk, order_id, driver_s=100)
    shown = client.get("/insights").text
    assert 'id="wait-driver"' in shown
    assert 'id="wait-guest"' not in shown


def test_days_without_rides_are_shown_as_such(desk: Desk, client: FlaskClient) -> None:
    text = client.get("/insights").text
    assert "Nothing was booked in these days" in text
    assert 'class="bars full"' not in text
    assert tiles(client)["Rides"] == ["0", "0 completed", "before: 0"]
    assert rows(client)[0]["rides"] == "0"
    done(desk)
    text = client.get("/insights").text
    assert "Nothing was booked in these days" not in text
    assert 'class="bars full"' in text


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("from=2026-13-01", "no day of the calendar"),
        ("from=2020-01-01&to=2026-01-01", "more than a year"),
    ],
)
def test_days_that_make_no_period_get_a_message(
    client: FlaskClient, query: str, words: str
) -> None:
    answer = client.get(f"/insights?{query}")
    assert (answer.status_code, words in answer.text) == (422, True)
    export = client.post(f"/insights.csv?{query}", data={"csrf_token": token(client)})
    assert export.status_code == 400


def test_a_manager_sees_the_own_property_alone_and_a_concierge_none(desk: Desk) -> None:
    manager, other = desk.client(), desk.ids["other.property"]
    assert manager.get(f"/insights?property={other}").status_code == 404
    assert manager.get(f"/insights?property={desk.ids['desk.property']}").status_code == 200
    assert "/insights" in manager.get("/history").text
    concierge = desk.client(name="other")
    assert concierge.get("/insights").status_code == 403
    assert "/insights" not in concierge.get("/history").text


def test_an_admin_adds_up_several_properties_each_in_its_own_days(desk: Desk) -> None:
    mine, other = desk.ids["desk.property"], desk.ids["other.property"]

    def elsewhere(s: Any) -> None:
        s.get(Staff, desk.ids["desk"]).role = "admin"
        s.get(Property, other).timezone = "America/New_York"
        s.get(Property, other).currency = "USD"

    desk.add(elsewhere)
    done(desk)
    early = done(desk, prop="other")
    # 0:30 on 1 May in Kolkata is still 30 April in New York
    at = NOON.replace(day=30, month=4, hour=19, minute=0)
    change(desk, early, created_at=at, currency="USD")
    late = done(desk, prop="other")
    change(desk, late, currency="USD")
    client = desk.client()
    both = f"from=2026-05-01&to=2026-05-04&property={mine}&property={other}"
    assert tiles(client, both)["Spend"][:2] == ["₹240", "$240"]
    assert tiles(client, f"property={other}")["Rides"][0] == "1"
    text = compact(client.get(f"/insights?{both}").text)
    assert "2 of 2 properties" in text
    assert text.count('<span class="figures-house"><bdi>Other House</bdi></span>') == 2
    found = rows(client, both)
    assert {(row["name"], row["property"]) for row in found if row["part"] == "category"} == {
        ("Mini", "")
    }
    parts = {row["name"]: row["rides"] for row in found if row["part"] == "property"}
    assert parts == {"Grand Meridian Hotel": "1", "Other House": "1"}
    with desk.services.db.read() as s:
        entries = s.query(AuditRow).filter_by(what="insights.exported")
        assert {row.property_id for row in entries} == {mine, other}


def test_pictures_hold_their_extremes() -> None:
    assert [nice(n) for n in (0, 1, 10, 11, 99, 100, 101, 12_345)] == [
        *(1, 1, 10, 15, 100, 100, 150, 15_000),
    ]
    bars = wait_bars(Counter({0: 1, 59: 2, 900: 1, 9_000: 2})).bars
    assert [round(bar.height) for bar in (bars[0], bars[1], bars[15])] == [100, 0, 100]
    assert heat({}, "en").busiest == ""
    assert {square.level for square in heat({}, "en").squares} == {0}
    assert within(Counter({0: 5, 3: 4, 9: 1}), 9, 10) == 3
    assert within(Counter({0: 5, 3: 4, 9: 2}), 9, 10) == 9
    assert within(Counter(), 9, 10) is None
    assert median(Counter({0: 5, 3: 4, 9: 1})) == 2
    assert median(Counter()) is None
    assert mean(0, 0) is None
