"""One change of a ride of a series and of all later ones, each of which keeps what is its own."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from ridedash.rides.orders.change import Change, Overtaken, TooLate
from ridedash.rides.orders.onward import NoCarLater, change_onward, withdraw_onward
from ridedash.rides.orders.place import place
from ridedash.store.accounts import add_account, keep_tokens
from ridedash.store.orders import Order
from tests.rides.desk_world import World
from tests.rides.orders.test_due import offered, planned, wanted
from tests.rides.orders.test_press import onward, own_car, pages, series, to_station

HOUR = timedelta(hours=1)


@pytest.fixture
def three(world: World) -> list[int]:
    """The rides of a series of three days."""
    return list(place(world.db, world.clock, series(world, 3)).order_ids)


def guests(world: World) -> list[tuple[str, str | None]]:
    return [(page.guest.name, page.guest.phone) for page in pages(world)]


def test_another_guest_rides_from_here_on_and_the_earlier_rides_keep_theirs(
    world: World, three: list[int]
) -> None:
    before = guests(world)[0]
    assert onward(world, 2, guest_name="Guest Wren", guest_phone="+912227783300") == 2
    assert guests(world) == [before, *[("Guest Wren", "+912227783300")] * 2]
    assert len({order.guest_id for order in world.orders()}) == 2


def test_a_later_ride_keeps_its_own_guest_while_something_else_changes(
    world: World, three: list[int]
) -> None:
    own = wanted(world, three[2], guest_name="Guest Wren", guest_phone="+912227783300")
    assert change_onward(world.runtime, own) == 1
    usual = guests(world)[0]
    assert onward(world, 1, payment="cash") == 3
    assert guests(world) == [usual, usual, ("Guest Wren", "+912227783300")]
    assert [order.payment for order in world.orders()] == ["cash"] * 3


def test_one_car_and_its_seats_go_together(world: World, three: list[int]) -> None:
    world.service.products = lambda query: {
        "categories": [{"id": "share", "display_name": "Share", "currency": "INR"}],
        "ride_estimate": [
            {"category": "share", "fares": [{"seats": n, "cost": 90 * n} for n in (1, 2)]}
        ],
    }
    assert onward(world, 1, offer_id=world.offer("share", "share"), seats=2) == 3
    assert [(order.category, order.seats) for order in world.orders()] == [("share", 2)] * 3


def test_a_later_ride_is_priced_with_the_account_that_it_will_have(
    world: World, three: list[int]
) -> None:
    with world.db.write() as s:
        second = add_account(s, world.vault, world.property_id, "Events", "good", world.clock())
        keep_tokens(second, world.vault, "good", "again", None, world.clock())
        account_id = second.id
    world.service.products = lambda query: offered(120, "F2", query["category"])
    assert onward(world, 1, offer_id=to_station(world), account_id=account_id) == 3
    found = pages(world)
    assert [page.order.account_id for page in found] == [account_id] * 3
    assert [page.offer.account_id for page in found[1:]] == [account_id] * 2


def test_a_later_car_that_is_not_offered_is_reported_with_its_day_and_name(
    world: World, three: list[int]
) -> None:
    own_car(world, 3, "prime")
    world.service.products = lambda query: offered(120, "F2", "mini")
    with pytest.raises(NoCarLater) as missing:
        onward(world, 1, offer_id=to_station(world))
    assert (missing.value.pickup_at, missing.value.car) == (
        world.orders()[2].pickup_at,
        "Prime",
    )


def test_no_price_is_requested_if_neither_trip_nor_car_changes(
    world: World, three: list[int]
) -> None:
    assert onward(world, 1, note="two bags") == 3
    assert world.service.calls == []


def test_one_request_is_made_for_rides_of_one_trip_and_car(world: World, three: list[int]) -> None:
    world.service.products = lambda query: offered(120, "F2", query["category"])
    assert onward(world, 1, offer_id=to_station(world)) == 3
    assert world.service.count("products") == 1


def test_rides_that_changed_while_prices_were_requested_are_shown_again(
    world: World, three: list[int]
) -> None:
    """A colleague gives a later ride another car meanwhile: its price was never requested."""

    def meanwhile(query: dict[str, Any]) -> Any:
        own_car(world, 3, "prime")
        return offered(120, "F2", query["category"])

    world.service.products = meanwhile
    with pytest.raises(Overtaken):
        onward(world, 1, offer_id=to_station(world))
    assert [page.offer.drop_name for page in pages(world)] == ["Airport"] * 3


def test_a_ride_that_was_changed_meanwhile_is_not_changed_again(
    world: World, three: list[int]
) -> None:
    made = wanted(world, three[0], note="mine")
    assert onward(world, 1, note="theirs") == 3
    with pytest.raises(Overtaken):
        change_onward(world.runtime, made)
    assert {order.note for order in world.orders()} == {"theirs"}


def test_other_rides_of_the_property_stay_as_they_are(world: World, three: list[int]) -> None:
    others = list(place(world.db, world.clock, series(world, 2)).order_ids)
    alone = planned(world)
    assert onward(world, 1, note="two bags") == 3
    assert [world.page(each).order.note for each in (*others, alone)] == [None] * 3
    ids = {*three, *others, alone}
    assert withdraw_onward(world.db, world.clock, three[1], world.staff_id, ids) == 2
    states = [world.state(each) for each in (*three, *others, alone)]
    assert states == ["SCHEDULED", "NOT_SENT", "NOT_SENT", *["SCHEDULED"] * 3]
    withdrawn = world.page(three[1]).order
    assert (withdrawn.code, withdrawn.resolved_by) == ("WITHDRAWN", world.staff_id)


def test_a_ride_of_no_series_changes_alone_and_is_withdrawn_otherwise(world: World) -> None:
    first, second = planned(world), planned(world)
    assert onward(world, 1, note="two bags") == 1
    assert [world.page(each).order.note for each in (first, second)] == ["two bags", None]
    assert withdraw_onward(world.db, world.clock, first, world.staff_id, {first, second}) == 0
    assert withdraw_onward(world.db, world.clock, first + 9, world.staff_id, {first}) == 0


def test_a_second_car_on_purpose_is_recorded_for_the_shown_ride_and_for_no_later_one(
    world: World, three: list[int]
) -> None:
    assert onward(world, 1, override_guard=True, note="two bags") == 3
    overrides = [order.guard_override_by for order in world.orders()]
    assert overrides == [world.staff_id, None, None]
    assert [order.note for order in world.orders()] == ["two bags"] * 3


def test_a_new_time_is_that_of_each_day_and_the_rest_of_the_ride_stays(
    world: World, three: list[int]
) -> None:
    station = to_station(world)
    with world.db.write() as s:
        s.get_one(Order, three[2]).offer_id = station
    before = world.orders()
    assert onward(world, 2, pickup_at=(before[1].pickup_at or world.clock()) + HOUR) == 2
    after = world.orders()
    assert [order.offer_id for order in after] == [order.offer_id for order in before]
    assert [
        (new.pickup_at or world.clock()) - (old.pickup_at or world.clock())
        for new, old in zip(after, before, strict=True)
    ] == [timedelta(0), HOUR, HOUR]


def test_a_form_of_another_property_changes_no_series(world: World, three: list[int]) -> None:
    made = wanted(world, three[0], note="two bags")
    elsewhere = replace(made.request, property_id=world.property_id + 9)
    with pytest.raises(TooLate):
        change_onward(world.runtime, Change(three[0], made.version, elsewhere))
    assert {order.note for order in world.orders()} == {None}
