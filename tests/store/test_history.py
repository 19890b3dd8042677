"""The history: what orders store for it, which rides it finds, and their totals."""

from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from alembic import command
from sqlalchemy import select, text

from ridedash.store import properties
from ridedash.store.database.database import Database
from ridedash.store.database.migrate import alembic_config
from ridedash.store.history import (
    RideFilter,
    RideOutcome,
    Totals,
    by_index,
    categories,
    evidence,
    outcome_of,
    page,
    records,
    totals,
)
from ridedash.store.insights import InsightsProperty, Span, insights
from ridedash.store.models.desk import CostCentre
from ridedash.store.models.kiosks import Kiosk
from ridedash.store.models.people import Guest
from ridedash.store.orders import Order, OrderState, Ride
from ridedash.store.search import phone_digits
from ridedash.text import compact_key, normalised
from tests.views.ride_pages import NOON, Desk

pytestmark = pytest.mark.database


def migrate(db: Database, to: str) -> None:
    with db.engine.begin() as connection:
        config = alembic_config()
        config.attributes["connection"] = connection
        (command.downgrade if to == "0006" else command.upgrade)(config, to)


def stored_facts(desk: Desk, order_id: int) -> list[Any]:
    with desk.services.db.read() as s:
        rows = select(
            Order.happens_at,
            Order.ended_as,
            Order.total_minor,
            Order.currency,
            Ride.plate,
            Ride.total_minor,
            Ride.currency,
            Guest.folded,
        )
        joined = rows.join(Ride, Ride.order_id == Order.id).join(Guest, Guest.id == Order.guest_id)
        return list(s.execute(joined.where(Order.id == order_id)).one())


@pytest.mark.parametrize("kind", ["point_to_point", "auto"])
def test_a_database_that_was_in_use_gets_what_the_history_needs(desk: Desk, kind: str) -> None:
    over = {"ended_at": NOON, "next_poll_at": None}
    done = desk.order("BOOKED", "COMPLETED", kind, ride=over, guest="José García")
    live = desk.order("BOOKED", "CALL_DRIVER", kind)
    migrate(desk.services.db, "0006")
    migrate(desk.services.db, "head")
    desk.services.db.require_current()
    total = {"point_to_point": 24_000, "auto": 18_600}[kind]
    placed = stored_facts(desk, done)[0]
    assert stored_facts(desk, done) == [
        placed,
        "COMPLETED",
        total,
        "INR",
        "KA01AB1234",
        total,
        "INR",
        " josegarcia garciajose",
    ]
    assert stored_facts(desk, live) == [
        placed,
        None,
        None,
        None,
        "KA01AB1234",
        None,
        None,
        " gust guestheron heronguest",
    ]
    assert placed is not None


DAY = timedelta(days=1)
WEEK = RideFilter(NOON - 7 * DAY, NOON + DAY)


def done(
    desk: Desk,
    status: str = "COMPLETED",
    total: int | None = 24_000,
    currency: str = "INR",
    **facts: Any,
) -> int:
    """A ride that is over, as the worker stores it; `order` has more columns of the order."""
    columns = facts.pop("order", {})
    over = {"ended_at": NOON, "next_poll_at": None, "plate": facts.pop("plate", "KA01AB1234")}
    order_id = desk.order("BOOKED", status, ride=over, **facts)
    total = total if status == "COMPLETED" else None
    with desk.services.db.write() as s:
        order = s.get(Order, order_id)
        values = {
            "ended_as": status,
            "total_minor": total,
            "currency": currency if total else None,
        } | columns
        for name, value in values.items():
            setattr(order, name, value)
    return order_id


def found(desk: Desk, prop: str = "desk", **filters: Any) -> list[int]:
    wanted = RideFilter(**{"since": WEEK.since, "until": WEEK.until} | filters)
    with desk.services.db.read() as s:
        return [key.id for key in page(s, desk.ids[f"{prop}.property"], wanted, 50)]


def summed(desk: Desk, currency: str | None = "INR", **filters: Any) -> Totals:
    wanted = RideFilter(**{"since": WEEK.since, "until": WEEK.until} | filters)
    with desk.services.db.read() as s:
        return totals(s, desk.ids["desk.property"], wanted, currency)


def test_the_filter_of_every_outcome_finds_what_is_shown_with_it(desk: Desk) -> None:
    made = {desk.order(state): outcome_of(state, None) for state in OrderState}
    made |= {
        done(desk, status): outcome_of("BOOKED", status)
        for status in ("COMPLETED", "BOOKING_CANCELLED", "ALLOTMENT_FAILED")
    }
    assert set(made.values()) == set(RideOutcome)
    for outcome in RideOutcome:
        assert set(found(desk, outcome=outcome)) == {
            id_ for id_, found_as in made.items() if found_as is outcome
        }, outcome


def test_pages_follow_one_another_without_gap_or_repeat_also_when_many_came_at_once(
    desk: Desk,
) -> None:
    made = [desk.order(age_s=60 * (n // 4)) for n in range(10)]  # up to four at each instant
    seen, before = [], None
    with desk.services.db.read() as s:
        while keys := page(s, desk.ids["desk.property"], WEEK, 3, before):
            seen += [key.id for key in keys]
            before = keys[-1]
    assert sorted(seen) == made
    assert seen == [*made[3::-1], *made[7:3:-1], *made[9:7:-1]]


def test_a_span_includes_its_first_instant_and_not_its_last(desk: Desk) -> None:
    order_id = desk.order(age_s=0)
    assert found(desk, since=NOON, until=NOON + DAY) == [order_id]
    assert found(desk, since=NOON - DAY, until=NOON) == []


def test_a_planned_ride_is_found_on_the_day_of_its_pickup(desk: Desk) -> None:
    order_id = done(desk, order={"pickup_at": NOON + 10 * DAY})
    assert found(desk) == []
    assert found(desk, since=NOON + 9 * DAY, until=NOON + 11 * DAY) == [order_id]


@pytest.mark.parametrize(
    "text", ["garcia", "GARCÍA jo", "  josé  r", "(0)22 2778 3300", "+91 2227783300", "3300"]
)
def test_a_guest_is_found_by_words_in_any_case_and_accent_and_by_phone_in_any_notation(
    desk: Desk, text: str
) -> None:
    wanted = desk.order(guest="José García-Ruiz", phone="+912227783300")
    desk.order(guest="Joseline Arcia", phone="+912227783301")
    assert found(desk, guest=text) == [wanted]


@pytest.mark.parametrize("text", ["%", "_", "arcia", "777", "--", "12"])
def test_text_without_a_word_or_number_of_a_guest_finds_no_guest(desk: Desk, text: str) -> None:
    desk.order(guest="José García", phone="+912227783300")
    assert found(desk, guest=text) == []


def test_room_staff_category_and_cost_centre_choose_and_other_properties_are_never_seen(
    desk: Desk,
) -> None:
    with desk.services.db.write() as s:
        centre = CostCentre(property_id=desk.ids["desk.property"], name="Banquets", closed_at=None)
        s.add(centre)
        s.flush()
        centre_id = centre.id
    here = done(desk, room="PH-1", kind="auto", order={"cost_centre_id": centre_id})
    done(desk, room="412")
    done(desk, prop="other", room="PH-1", kind="auto")
    for filters in ({"room": "ph-1"}, {"category": "auto"}, {"centre_id": centre_id}):
        assert found(desk, **filters) == [here], filters
    assert len(found(desk, staff_id=desk.ids["desk"])) == 2
    assert found(desk, staff_id=desk.ids["other"]) == []
    with desk.services.db.read() as s:
        assert categories(s, desk.ids["desk.property"]) == [("auto", "Auto"), ("mini", "Mini")]


def test_an_order_keeps_the_room_of_its_day(desk: Desk) -> None:
    order_id = done(desk, room="412")
    with desk.services.db.write() as s:
        s.get(Guest, s.get(Order, order_id).guest_id).room = "118"
    assert found(desk, room="412") == [order_id]
    assert found(desk, room="118") == []


def test_rides_add_up_by_currency_and_those_without_a_price_are_counted(desk: Desk) -> None:
    for total, currency in ((24_000, "INR"), (10_050, "INR"), (1_999, "EUR")):
        done(desk, total=total, currency=currency)
    done(desk, total=None)
    done(desk, "BOOKING_CANCELLED")
    desk.order("BOOKED", "IN_PROGRESS")
    expected = Totals(6, 4, 1, 1, {"INR": 34_050, "EUR": 1_999})
    for usual in ("INR", "EUR", "USD", None):
        assert summed(desk, usual) == expected, usual
    assert summed(desk, outcome=RideOutcome.CANCELLED) == Totals(1, 0, 1, 0, {})
    assert summed(desk, since=NOON - 9 * DAY, until=NOON - 8 * DAY) == Totals()


def test_a_record_tells_where_the_ride_went_after_a_change_of_drop(desk: Desk) -> None:
    taken = ("drop", "done", {"payload": {"lat": -38.6, "lng": -128.1, "name": "Old Harbour"}})
    refused = ("drop", "refused", {"payload": {"lat": -38.7, "lng": -128.2, "name": "Nowhere"}})
    order_id, foreign = done(desk, actions=[taken, refused]), done(desk, prop="other")
    with desk.services.db.read() as s:
        (record,) = records(s, desk.ids["desk.property"], [order_id, foreign])
    assert (record.drop, record.plate, record.total_minor, record.room) == (
        "Old Harbour",
        "KA01AB1234",
        24_000,
        "412",
    )


def test_a_record_has_the_time_at_which_the_ride_happens(desk: Desk) -> None:
    planned = desk.order("SCHEDULED")
    with desk.services.db.write() as s:
        s.get_one(Order, planned).pickup_at = NOON + DAY
    with desk.services.db.read() as s:
        (record,) = records(s, desk.ids["desk.property"], [planned])
    assert (record.at, record.planned) == (NOON + DAY, True)


def test_text_is_compared_without_case_accents_and_spaces() -> None:
    assert normalised("  JOSÉ  García-Ruiz ") == " jose garcia ruiz"
    assert normalised("Straße O'Neil") == " strasse o neil"
    assert normalised("मीरा नायर") == " मीरा नायर"
    assert normalised(None) == normalised("...") == ""
    assert compact_key("ka 01 ab-1234") == "KA01AB1234"
    assert [
        phone_digits(text) for text in ("+44 (0)20 7946 0958", "0091 22", "412", "Room 4121")
    ] == [
        "442079460958",
        "9122",
        "",
        "",
    ]


def test_postgresql_reads_an_index_alone_in_that_transaction_and_no_other(desk: Desk) -> None:
    if desk.services.db.dialect == "sqlite":
        pytest.skip("its planner has no such settings")
    settings = [text(f"SHOW {name}") for name in ("enable_seqscan", "enable_bitmapscan", "jit")]
    with desk.services.db.read() as s:
        usual = [s.scalar(each) for each in settings]
        by_index(s)
        assert [s.scalar(each) for each in settings] == ["off"] * 3
    with desk.services.db.read() as s:
        assert [s.scalar(each) for each in settings] == usual != ["off"] * 3


def test_totals_and_insights_use_the_index_alone_too(desk: Desk) -> None:
    if desk.services.db.dialect == "sqlite":
        pytest.skip("its planner has no such settings")
    prop = InsightsProperty(desk.ids["desk.property"], ZoneInfo("UTC"), "INR")
    for reads in (
        lambda s: totals(s, prop.id, WEEK, "INR"),
        lambda s: insights(s, prop, Span(WEEK.since, WEEK.until)),
    ):
        with desk.services.db.read() as s:
            reads(s)
            assert s.scalar(text("SHOW enable_seqscan")) == "off"


def test_an_end_that_is_not_known_by_name_leaves_a_ride_live(desk: Desk) -> None:
    order_id = done(desk, "TELEPORTED")
    assert outcome_of("BOOKED", "TELEPORTED") is RideOutcome.LIVE
    assert [outcome for outcome in RideOutcome if found(desk, outcome=outcome) == [order_id]] == [
        RideOutcome.LIVE
    ]


def test_categories_are_those_that_the_property_has_booked_by_its_own_names(desk: Desk) -> None:
    desk.order(kind="auto", prop="other", display_name="Theirs")
    desk.order(kind="share", prop="other")
    desk.order(kind="auto", display_name="Auto")
    desk.order(display_name="")
    with desk.services.db.read() as s:
        assert categories(s, desk.ids["desk.property"]) == [("auto", "Auto"), ("mini", "mini")]


def test_a_record_has_all_that_a_list_shows_of_an_order(desk: Desk) -> None:
    home, stranger = desk.ids["desk.property"], desk.order("BOOKED", "CALL_DRIVER")
    order_id = done(desk, drop_name="Pier", drop_lat=None, plate="MH12QQ1234")
    bare = desk.order("REJECTED", room=None)
    with desk.services.db.write() as s:
        centre = CostCentre(property_id=home, name="Banquets", closed_at=None)
        other = CostCentre(property_id=home, name="Spa", closed_at=None)
        kiosks = [Kiosk(kind="kiosk", name=n, made_at=NOON, property_id=home) for n in "AB"]
        s.add_all([centre, other, *kiosks])
        s.flush()
        row = s.get_one(Order, order_id)
        row.cost_centre_id, row.kiosk_id = centre.id, kiosks[1].id
        row.series_key, row.back_of, row.flight, row.departs_at = "t", stranger, "AI 1", NOON
        s.get_one(Order, stranger).series_key = "t"
        s.get_one(Order, bare).staff_id = None
        s.get_one(Order, bare).group_key = "g"
        properties.add_staff(s, home, "Desk Wren", "hash", "concierge", NOON)
    with desk.services.db.read() as s:
        one, two = records(s, home, [order_id, bare])
    assert (one.guest, one.staff, one.centre, one.kiosk) == (
        "Guest Heron",
        "Concierge desk",
        "Banquets",
        "B",
    )
    assert (one.pickup, one.drop, one.has_drop) == (
        "Grand Meridian Hotel, main door",
        "Pier",
        False,
    )
    assert (one.status, one.ended_as, one.plate) == ("COMPLETED", "COMPLETED", "MH12QQ1234")
    assert (one.series, one.car, one.group, one.is_way_back) == ((2, 2), None, "t", True)
    assert (one.flight, one.departs_at, one.planned) == ("AI 1", NOON, False)
    assert (two.staff, two.centre, two.kiosk, two.status, two.plate) == (None,) * 5
    assert (two.series, two.car, two.group, two.is_way_back) == (None, (1, 1), "g", False)
    assert (two.has_drop, two.room, two.total_minor) == (True, None, None)


def test_a_bill_has_its_instants_places_and_facts_beside_the_record(desk: Desk) -> None:
    home, harbour = desk.ids["desk.property"], {"lat": -38.6, "lng": -128.1, "name": "Harbour"}
    taken = ("drop", "done", {"payload": harbour})
    redirected = done(desk, actions=[taken], in_state_s=0)
    unchanged = done(desk, kind="share", payment="account", actions=[("cancel", "done", {})])
    open_end = desk.order("REJECTED", drop_lat=None)
    foreign = done(desk, prop="other", actions=[taken])
    with desk.services.db.read() as s:
        ids = [redirected, unchanged, open_end, foreign]
        found = evidence(s, home, ids)
        assert evidence(s, home, [unchanged]).keys() == {unchanged}
    assert found.keys() == {redirected, unchanged, open_end}
    assert [found[each].drop for each in ids[:3]] == [(-38.6, -128.1), (-38.48, -127.97), None]
    assert found[unchanged].pickup == (-38.5, -128.0)
    assert (found[unchanged].kind, found[unchanged].seats, found[unchanged].payment) == (
        "share",
        1,
        "account",
    )
    began = found[redirected].began_at
    assert began == NOON - timedelta(seconds=150), "one step before its end"
    assert (found[redirected].ended_at, found[redirected].facts["driver_name"]) == (
        NOON,
        "Driver Cedar",
    )
    assert found[open_end].created_at == NOON - timedelta(seconds=42)
    assert (found[open_end].began_at, found[open_end].ended_at) == (None, None)
    assert found[open_end].facts == {}
