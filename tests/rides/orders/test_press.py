"""One press that makes several orders (a group, a way back, a series) makes each of them once.

One ride of a series and all later ones can be changed or withdrawn together.
"""

import itertools
import json
import multiprocessing
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import pytest
from sqlalchemy import select

from ridedash.geo import LatLng
from ridedash.rides.orders.change import Change
from ridedash.rides.orders.fields import BookingRequest
from ridedash.rides.orders.onward import change_onward, withdraw_onward
from ridedash.rides.orders.place import RequestRefused, TokenReused, place
from ridedash.rides.orders.press import MOST_PARTS, Part, parts, tokens_of
from ridedash.rides.orders.resolve import withdraw
from ridedash.rides.times.schedule_times import MOST_RIDES, series_rides
from ridedash.store.audit import AuditRow
from ridedash.store.board import LATELY, NEWEST, OF_LATE, board_marks
from ridedash.store.database.database import Database
from ridedash.store.offers import OfferOwner, Priced, Trip, add_offer, fixed_price_categories
from ridedash.store.orders import Order, OrderPage
from tests.rides.desk_world import PICKUP, START, World, request_of
from tests.rides.orders.test_due import HOURS, LEAD, offered
from tests.rides.orders.test_side_by_side import at_once

KOLKATA = ZoneInfo("Asia/Kolkata")
BERLIN = ZoneInfo("Europe/Berlin")
DAY = timedelta(days=1)
EVERY_DAY = range(7)


def series(world: World, rides: int = 4, **facts: object) -> BookingRequest:
    """A ride a day at the same time, from tomorrow on."""
    times = tuple(world.clock() + DAY * n for n in range(1, rides + 1))
    return world.request(series=times, pickup_at=times[0], **facts)


def pages(world: World) -> list[OrderPage]:
    return [world.page(order.id) for order in world.orders()]


def test_a_return_trip_is_a_planned_order_with_the_ends_swapped(world: World) -> None:
    back_at = world.clock() + HOURS
    placed = world.placed(back_at=back_at, note="two bags", coupon="STAY10", payment="cash")
    out, back = pages(world)
    assert placed.order_ids == (out.order.id, back.order.id)
    assert (out.order.state, back.order.state) == ("READY", "SCHEDULED")
    assert (out.order.group_key, back.order.group_key) == (None, None), "one car is no group"
    assert (back.order.back_of, out.way_back) == (out.order.id, back.order.id)
    assert back.order.pickup_at == back_at
    assert (back.offer.pickup_name, back.offer.drop_name) == ("Airport", "Lobby")
    assert (back.offer.fare_id, back.offer.price_text) == (None, ""), "no price was shown for it"
    assert back.order.guest_id == out.order.guest_id
    assert (back.order.note, "STAY10" in back.order.body) == (None, False)
    assert back.order.payment == "cash"


def test_each_car_of_a_group_has_its_own_return_trip(world: World) -> None:
    world.placed(cars=2, back_at=world.clock() + HOURS)
    found = pages(world)
    ids = [page.order.id for page in found]
    assert [page.order.back_of for page in found] == [None, None, *ids[:2]]
    assert [page.car for page in found] == [(1, 2), (2, 2)] * 2


@pytest.mark.parametrize(
    ("cars", "record"), [(1, [True, False]), (2, [True, "group", False, "group"])]
)
def test_a_second_car_on_purpose_is_recorded_for_the_outward_trip_alone(
    world: World, cars: int, record: list[object]
) -> None:
    world.place(guest_name="Guest Heron")
    facts = {"cars": cars, "guest_name": "Guest Heron", "back_at": world.clock() + HOURS}
    made = world.placed(override_guard=True, **facts).order_ids
    overrides = [world.page(each).order.guard_override_by for each in made]
    assert overrides == [world.staff_id] * cars + [None] * cars
    with world.db.read() as s:
        query = select(AuditRow).where(AuditRow.what == "order.place").order_by(AuditRow.id)
        assert [row.facts["override"] for row in s.scalars(query)][1:] == record


def test_a_form_that_is_sent_again_finds_its_own_orders_among_all(world: World) -> None:
    others = [world.place() for _ in range(2)]
    request = world.request(back_at=world.clock() + HOURS)
    first, again = (place(world.db, world.clock, request) for _ in range(2))
    assert (again.created, again.order_ids) == (False, first.order_ids)
    assert not set(first.order_ids) & set(others)


def test_a_return_trip_is_ordered_when_it_is_due(world: World) -> None:
    world.placed(back_at=world.clock() + HOURS)
    with world.worker() as worker:
        worker.step()
        world.service.answers["products"] = [offered()]
        world.clock.go((HOURS - LEAD).total_seconds())
        for _ in range(4):
            worker.step()
    assert [order.state for order in world.orders()] == ["BOOKED", "BOOKED"]
    assert world.service.count("create") == 2


def test_a_return_trip_goes_to_no_flight(world: World) -> None:
    leaves = {"flight": "LH 760", "departs_at": world.clock() + HOURS / 2}
    world.placed(back_at=world.clock() + HOURS, **leaves)
    out, back = (page.order for page in pages(world))
    assert (out.flight, out.departs_at) == tuple(leaves.values())
    assert (back.flight, back.departs_at) == (None, None)


def test_a_return_trip_of_a_fixed_price_waits_for_a_price(world: World) -> None:
    """Every planned ride with a fixed price waits for a price. Its category still needs a drop."""
    world.placed(offer_id=world.offer(fare_id="F1"), back_at=world.clock() + HOURS)
    with world.db.read() as s:
        assert fixed_price_categories(s, world.property_id) == {"mini"}
    with world.worker() as worker:
        worker.step()
        world.service.answers["products"] = [offered(fare_id=None)]
        world.clock.go((HOURS - LEAD).total_seconds())
        worker.step()
        back = pages(world)[1]
        assert (back.order.state, back.order.message) == ("SCHEDULED", "PLAN_NO_PRICE")
        world.service.answers["products"] = [offered(fare_id="F2")]
        world.clock.go(6)
        for _ in range(2):
            worker.step()
    assert pages(world)[1].order.state == "BOOKED"


def test_many_series_leave_room_on_the_board_for_what_failed_just_now(world: World) -> None:
    failed = world.placed().order_id
    assert withdraw(world.db, world.clock, failed, world.actor)
    made = [place(world.db, world.clock, series(world, MOST_RIDES)) for _ in range(4)]

    def listed() -> set[int]:
        with world.db.read() as s:
            return {mark.order_id for mark in board_marks(s, world.property_id, world.clock())}

    planned = {each for placed in made for each in placed.order_ids}
    assert len(planned) > OF_LATE
    assert listed() == {failed, *planned}
    for placed in made:
        ids = placed.order_ids
        assert withdraw_onward(world.db, world.clock, ids[0], world.staff_id, ids) == len(ids)
    assert failed in listed()
    assert len(listed() & planned) >= OF_LATE - 1, "a withdrawal can be undone"
    world.clock.go(LATELY.total_seconds())
    assert len(listed()) == NEWEST, "what was withdrawn long ago is no news"


@pytest.mark.parametrize("minutes", [-5, 0, 14, 60 * 24 * 31])
def test_a_return_trip_at_a_wrong_time_orders_nothing(world: World, minutes: int) -> None:
    with pytest.raises(RequestRefused) as refused:
        world.placed(back_at=world.clock() + timedelta(minutes=minutes))
    assert (refused.value.field, world.orders()) == ("back_at", [])


def test_the_return_trip_of_a_planned_ride_is_after_it(world: World) -> None:
    there = world.clock() + HOURS
    for minutes in (-60, 0):
        with pytest.raises(RequestRefused) as refused:
            world.placed(pickup_at=there, back_at=there + timedelta(minutes=minutes))
        assert refused.value.field == "back_at"
    assert world.placed(pickup_at=there, back_at=there + timedelta(minutes=1)).created


def test_a_series_is_a_planned_order_for_each_of_its_times(world: World) -> None:
    request = series(world)
    placed = place(world.db, world.clock, request)
    found = pages(world)
    assert len({page.guest.id for page in found}) == 1
    assert placed.order_ids == tuple(page.order.id for page in found)
    assert [page.order.pickup_at for page in found] == list(request.series)
    assert [page.series for page in found] == [(n, 4) for n in range(1, 5)]
    assert {page.order.state for page in found} == {"SCHEDULED"}
    with world.db.read() as s:
        rows = s.scalars(select(AuditRow).where(AuditRow.what == "order.place")).all()
    assert [(row.who, row.facts["ride"], row.facts["rides"]) for row in rows] == [
        (f"staff:{world.staff_id}", n, 4) for n in range(1, 5)
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        {"cars": 2},
        {"back_at": START + DAY * 3},
        {"coupon": "STAY10"},
        {"series": tuple(START + DAY * n for n in range(1, MOST_RIDES + 2))},
        {"series": (START + DAY, START + DAY * 91)},
        {"series": (START + DAY, START + DAY)},
        {"series": (START + timedelta(minutes=5),)},
    ],
)
def test_a_series_beyond_its_bounds_plans_nothing(world: World, wrong: dict[str, object]) -> None:
    request = replace(series(world), **wrong)  # type: ignore[arg-type]
    with pytest.raises(RequestRefused):
        place(world.db, world.clock, request)
    assert world.orders() == []


def wanted(world: World, what: str) -> BookingRequest:
    if what == "series":
        return series(world, 6)
    if what == "back":
        return world.request(back_at=world.clock() + HOURS)
    return world.request(cars=2, back_at=world.clock() + HOURS)


@pytest.mark.parametrize(("what", "orders"), [("series", 6), ("back", 2), ("two cars and back", 4)])
def test_one_press_makes_each_order_once(world: World, what: str, orders: int) -> None:
    request = wanted(world, what)
    results = at_once([lambda: place(world.db, world.clock, request) for _ in range(4)])
    assert len({placed.order_ids for placed in results}) == 1
    assert sum(placed.created for placed in results) == 1
    assert len(world.orders()) == orders
    fresh = Database(world.db.url)  # a restart
    try:
        world.clock.go(120)
        again = place(fresh, world.clock, request)
    finally:
        fresh.close()
    assert (again.created, again.order_ids) == (False, results[0].order_ids)
    with pytest.raises(TokenReused):
        place(world.db, world.clock, replace(request, guest_name="Guest Teal", note="other"))
    assert len(world.orders()) == orders


def press(url: str, request: BookingRequest, now: datetime, gate: object, results: object) -> None:
    """Press Book in another process, and report the result."""
    db = Database(url)
    gate.wait(60)  # type: ignore[attr-defined]
    try:
        placed = place(db, lambda: now, request)
        results.put((placed.order_ids, placed.created))  # type: ignore[attr-defined]
    finally:
        db.close()


def test_two_processes_that_get_one_press_make_each_order_once(world: World) -> None:
    spawn = multiprocessing.get_context("spawn")
    gate, results = spawn.Barrier(2), spawn.Queue()
    url = world.db.url
    request = wanted(world, "list and back")
    both = [
        spawn.Process(target=press, args=(url, request, world.clock(), gate, results))
        for _ in range(2)
    ]
    for process in both:
        process.start()
    answers = [results.get(timeout=120) for _ in both]
    for process in both:
        process.join(60)
    assert len({ids for ids, _created in answers}) == 1
    assert sorted(created for _ids, created in answers) == [False, True]
    assert len(world.orders()) == 4


def test_tokens_of_all_orders_of_a_press_fit_their_column() -> None:
    tokens = tokens_of("x" * 60)
    assert (len(set(tokens)), max(map(len, tokens))) == (MOST_PARTS, 63)


def onward(world: World, number: int, **changes: object) -> int:
    """Change ride `number` of a series and the rides after it. Returns how many changed."""
    order = world.orders()[number - 1]
    base = world.request(
        offer_id=order.offer_id,
        guest_name=world.page(order.id).guest.name,
        pickup_at=order.pickup_at,
        note=order.note,
        flight=order.flight,
        departs_at=order.departs_at,
        tz=KOLKATA,
    )
    request = replace(base, **changes)  # type: ignore[arg-type]
    return change_onward(world.runtime, Change(order.id, order.version, request))


def test_from_here_on_changes_this_ride_and_the_later_ones_each_on_its_day(world: World) -> None:
    request = series(world, 5)
    place(world.db, world.clock, request)
    later = request.series[2] + timedelta(hours=1)
    assert onward(world, 3, pickup_at=later) == 3
    moved = [order.pickup_at for order in world.orders()]
    hour = timedelta(hours=1)
    assert moved == [*request.series[:2], *(at + hour for at in request.series[2:])]
    with world.db.read() as s:
        rows = s.scalars(select(AuditRow).where(AuditRow.what == "order.change")).all()
    assert len(rows) == 3, "each ride has its own entry"
    assert {(row.who, *row.facts["changed"]) for row in rows} == {
        (f"staff:{world.staff_id}", "pickup_at")
    }
    assert onward(world, 3, pickup_at=later) == 0, "pressed twice, it changes nothing more"


def test_from_here_on_leaves_what_a_ride_has_of_its_own(world: World) -> None:
    request = series(world, 3)
    _first, second, _third = place(world.db, world.clock, request).order_ids
    with world.db.write() as s:
        s.get_one(Order, second).note = "one more bag"
    assert onward(world, 1, pickup_at=request.series[0] + timedelta(hours=1)) == 3
    assert [order.note for order in world.orders()] == [None, "one more bag", None]


@pytest.mark.parametrize("state", ["READY", "SENDING", "BOOKED", "NOT_SENT"])
def test_from_here_on_never_touches_a_ride_that_is_ordered_or_over(
    world: World, state: str
) -> None:
    request = series(world, 4)
    ids = place(world.db, world.clock, request).order_ids
    with world.db.write() as s:
        ordered = s.get_one(Order, ids[2])
        ordered.state, ordered.version = state, ordered.version + 1
    before = world.orders()[2]
    assert onward(world, 2, pickup_at=request.series[1] + timedelta(hours=1)) == 2
    assert withdraw_onward(world.db, world.clock, ids[0], world.staff_id, ids) == 3
    after = world.orders()[2]
    assert (after.state, after.pickup_at, after.version, after.body) == (
        state,
        before.pickup_at,
        before.version,
        before.body,
    )


def test_each_ride_of_a_series_has_the_flight_of_its_own_day(world: World) -> None:
    """The flight keeps its local time, although Berlin's clocks go forward on the second day."""
    clock = datetime(2026, 3, 27, 12, 0, tzinfo=UTC)
    world.clock.go((clock - START).total_seconds())
    first = datetime(2026, 3, 28, 19, 0, tzinfo=UTC)  # 20:00 in Berlin
    days = (first.date(), first.date() + 2 * DAY)
    times = tuple(ride.at for ride in series_rides(days, EVERY_DAY, time(20, 0), BERLIN))
    leaves = datetime(2026, 3, 28, 23, 30, tzinfo=UTC)  # 00:30 the next day in Berlin
    flight = {"flight": "LH 760", "departs_at": leaves, "tz": BERLIN}
    place(world.db, world.clock, world.request(series=times, pickup_at=times[0], **flight))
    local = [(o.flight, o.departs_at.astimezone(BERLIN)) for o in world.orders() if o.departs_at]
    assert [(flight, f"{at:%d %H:%M}") for flight, at in local] == [
        ("LH 760", "29 00:30"),
        ("LH 760", "30 00:30"),
        ("LH 760", "31 00:30"),
    ]
    assert local[1][1].astimezone(UTC).hour == 22, "summer time"


def test_a_departure_that_says_its_time_only_is_the_next_one_after_each_pickup(
    world: World,
) -> None:
    request = series(world, 3)
    tonight = world.clock() + timedelta(hours=2)  # before the first ride of the series
    place(world.db, world.clock, replace(request, flight="AI 1", departs_at=tonight, tz=KOLKATA))
    assert [order.departs_at for order in world.orders()] == [
        at + timedelta(hours=2) for at in request.series
    ]


def test_from_here_on_a_flight_keeps_the_day_of_each_ride(world: World) -> None:
    request = series(world, 3)
    leaves = request.series[0] + timedelta(hours=4)
    place(world.db, world.clock, replace(request, flight="AI 1", departs_at=leaves, tz=KOLKATA))
    third = world.orders()[2].id
    with world.db.write() as s:
        s.get_one(Order, third).flight = "AI 99"
    hour = timedelta(hours=1)
    assert onward(world, 2, departs_at=leaves + DAY + hour) == 2
    assert [order.departs_at for order in world.orders()] == [
        leaves,
        leaves + DAY + hour,
        leaves + 2 * DAY + hour,
    ]
    assert [order.flight for order in world.orders()] == ["AI 1", "AI 1", "AI 99"]
    assert onward(world, 2, flight="AI 2") == 2
    assert [order.flight for order in world.orders()] == ["AI 1", "AI 2", "AI 2"]


def own_car(world: World, number: int, category: str) -> None:
    """Give ride `number` of a series a category of its own."""
    offer_id, order_id = world.offer(category=category), world.orders()[number - 1].id
    with world.db.write() as s:
        order = s.get_one(Order, order_id)
        order.offer_id, order.category = offer_id, category
        order.version += 1


def to_station(world: World, category: str = "mini") -> int:
    """Add an offer for another trip than that of the series. Returns its id."""
    trip = Trip(PICKUP, "Lobby", LatLng(-38.51, -128.02), "Station")
    priced = Priced(category, "point_to_point", "Car", "INR", "₹99", {"category": category})
    with world.db.write() as s:
        owner = OfferOwner(world.property_id, world.actor)
        return add_offer(s, owner, trip, priced, world.clock()).id


def cars(world: World) -> list[tuple[str, str | None]]:
    """The category and the drop of each ride; its order, offer and request must agree on them."""
    found = []
    for page in pages(world):
        body = json.loads(page.order.body)
        assert page.order.category == page.offer.category == body["category"]
        assert body["drop"] == [page.offer.drop_lat, page.offer.drop_lng]
        found.append((page.order.category, page.offer.drop_name))
    return found


def test_from_here_on_another_trip_is_priced_for_the_own_car_of_each_ride(world: World) -> None:
    place(world.db, world.clock, series(world, 4))
    own_car(world, 3, "prime")
    prices = {"mini": 120, "prime": 210}
    world.service.products = lambda query: offered(
        prices[query["category"]], "F2", query["category"]
    )
    assert onward(world, 2, offer_id=to_station(world)) == 3
    assert cars(world) == [
        ("mini", "Airport"),
        ("mini", "Station"),
        ("prime", "Station"),
        ("mini", "Station"),
    ]
    seen = [page.offer.seat_prices for page in pages(world)]
    assert seen[2:] == [{"": "210"}, {"": "120"}], "each has its own price"
    assert len({order.offer_id for order in world.orders()[1:]}) == 3


def test_from_here_on_another_car_takes_the_own_trip_of_each_ride(world: World) -> None:
    _first, second, _third = place(world.db, world.clock, series(world, 3)).order_ids
    station = to_station(world)
    with world.db.write() as s:
        s.get_one(Order, second).offer_id = station
    world.service.products = lambda query: offered(300, "F2", query["category"])
    assert onward(world, 1, offer_id=world.offer(category="prime")) == 3
    assert cars(world) == [("prime", "Airport"), ("prime", "Station"), ("prime", "Airport")]


@pytest.mark.parametrize("answer", ["another car", "no answer"])
def test_from_here_on_nothing_changes_where_a_ride_gets_no_price(world: World, answer: str) -> None:
    place(world.db, world.clock, series(world, 3))
    own_car(world, 3, "prime")
    before = [(order.version, order.body) for order in world.orders()]
    no_answer = httpx.ReadTimeout("no answer")

    def products(query: dict[str, Any]) -> Any:
        if query["category"] == "prime" and answer == "no answer":
            return no_answer
        return offered(120, "F2", "mini")

    world.service.products = products
    with pytest.raises(RequestRefused) as refused:
        onward(world, 1, offer_id=to_station(world))
    assert refused.value.field == {"another car": "later_car"}.get(answer, "later_price")
    assert [(order.version, order.body) for order in world.orders()] == before


def test_from_here_on_keeps_the_days(world: World) -> None:
    request = series(world, 3)
    place(world.db, world.clock, request)
    with pytest.raises(RequestRefused) as refused:
        onward(world, 1, pickup_at=request.series[0] + DAY)
    assert refused.value.field == "pickup_day"
    assert [order.pickup_at for order in world.orders()] == list(request.series)


def test_a_later_ride_that_can_not_change_stops_the_whole_change(world: World) -> None:
    request = series(world, 3)
    place(world.db, world.clock, request)
    world.clock.go((DAY - timedelta(hours=1)).total_seconds())
    with pytest.raises(RequestRefused):
        onward(world, 1, pickup_at=request.series[0] - timedelta(minutes=50))
    assert [order.pickup_at for order in world.orders()] == list(request.series)


def test_cancelling_from_here_on_takes_only_what_was_shown(world: World) -> None:
    first, second, third, fourth = place(world.db, world.clock, series(world, 4)).order_ids
    assert withdraw(world.db, world.clock, third, world.actor)
    shown = {first, second, third}
    assert withdraw_onward(world.db, world.clock, second, world.staff_id, shown) == 1
    assert [order.state for order in world.orders()] == [
        "SCHEDULED",
        "NOT_SENT",
        "NOT_SENT",
        "SCHEDULED",
    ]
    stranger = world.staff_id + 99
    assert withdraw_onward(world.db, world.clock, second, stranger, {fourth}) == 0


def test_a_series_keeps_its_local_time_when_clocks_change() -> None:
    saturday, monday = datetime(2026, 3, 28).date(), datetime(2026, 3, 30).date()
    usual = series_rides((saturday, monday), EVERY_DAY, time(8, 0), BERLIN)
    assert [ride.at.astimezone(BERLIN).hour for ride in usual] == [8, 8, 8]
    assert [ride.at.hour for ride in usual] == [7, 6, 6]
    gap = series_rides((saturday, monday), EVERY_DAY, time(2, 30), BERLIN)
    assert [ride.moved for ride in gap] == [False, True, False]
    assert gap[1].at == datetime(2026, 3, 29, 1, 0, tzinfo=UTC)


def test_a_range_of_years_costs_nothing() -> None:
    days = datetime(2026, 1, 1).date(), datetime(9999, 12, 31).date()
    assert len(series_rides(days, EVERY_DAY, time(8, 0), KOLKATA)) == MOST_RIDES + 1
    assert series_rides(days, (), time(8, 0), KOLKATA) == []


def keys() -> Callable[[], str]:
    numbers = itertools.count(1)
    return lambda: f"key {next(numbers)}"


def test_one_car_is_one_part_without_a_group() -> None:
    request = request_of(note="two bags", guest_id=7)
    assert parts(request, keys()) == [Part(1, request)]


def test_return_trips_are_numbered_after_the_cars_in_a_group_of_their_own() -> None:
    back_at, leaves = START + HOURS, START + 2 * HOURS
    facts = {"note": "two bags", "coupon": "STAY10", "flight": "LH 760", "departs_at": leaves}
    request = request_of(
        cars=2, back_at=back_at, back_offer_id=9, supersedes=3, payment="cash", **facts
    )
    made = parts(request, keys())
    assert [(part.number, part.group, part.back_of) for part in made] == [
        (1, "key 1", None),
        (2, "key 1", None),
        (3, "key 2", 1),
        (4, "key 2", 2),
    ]
    there, back = made[0].request, made[2].request
    assert (there.note, there.coupon, there.flight, there.departs_at) == tuple(facts.values())
    assert (there.supersedes, there.back_at, there.back_offer_id, there.cars) == (3, None, None, 1)
    assert (back.note, back.coupon, back.flight, back.departs_at) == (None,) * 4
    assert (back.pickup_at, back.supersedes, back.payment) == (back_at, None, "cash")
    [_, alone] = parts(replace(request, cars=1), keys())
    assert (alone.number, alone.group, alone.back_of) == (2, None, 1)


def test_rides_of_a_series_are_numbered_and_have_the_flight_of_their_day() -> None:
    times = (START, START + DAY)
    request = request_of(series=times, pickup_at=START, departs_at=START + timedelta(hours=3))
    made = parts(request, keys())
    assert [(part.number, part.series, part.group) for part in made] == [
        (1, "key 1", None),
        (2, "key 1", None),
    ]
    requests = [part.request for part in made]
    assert [each.pickup_at for each in requests] == list(times)
    assert [each.departs_at for each in requests] == [each + timedelta(hours=3) for each in times]
    assert {each.series for each in requests} == {()}
    assert parts(replace(request, departs_at=None), keys())[1].request.departs_at is None


def test_the_first_order_of_a_form_has_its_token_and_the_others_their_number() -> None:
    tokens = tokens_of("t")
    assert tokens[:3] == ["t", "t.2", "t.3"]
    assert len(tokens) == MOST_PARTS == max(MOST_RIDES, 12)
