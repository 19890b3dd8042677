"""How long links of guests and followers are valid."""

from datetime import timedelta

import pytest

from ridedash.rides.share_links import LONGEST, LinkKind, end_links, find_link, make_link
from tests.rides.desk_world import World

pytestmark = pytest.mark.database
DAY = timedelta(days=1)


def opens(world: World, token: str, later: timedelta) -> bool:
    with world.db.read() as s:
        return find_link(s, token, world.clock() + later)[0] is not None


@pytest.mark.parametrize("kind", list(LinkKind))
@pytest.mark.parametrize("ahead", [8, 20, 30])
def test_the_link_of_a_ride_planned_weeks_ahead_opens_on_its_day(
    world: World, kind: LinkKind, ahead: int
) -> None:
    order_id = world.place(pickup_at=world.clock() + ahead * DAY)
    token = make_link(world.db, world.clock(), world.property_id, order_id, kind, world.actor)
    assert opens(world, token, ahead * DAY)
    assert opens(world, token, ahead * DAY + LONGEST - timedelta(seconds=1))
    assert not opens(world, token, ahead * DAY + LONGEST)


def test_the_link_of_a_ride_for_now_lasts_a_week_at_most(world: World) -> None:
    order_id = world.place()
    kind = LinkKind.RIDER
    token = make_link(world.db, world.clock(), world.property_id, order_id, kind, world.actor)
    assert opens(world, token, LONGEST - timedelta(seconds=1))
    assert not opens(world, token, LONGEST)


def test_all_links_of_a_ride_end_together(world: World) -> None:
    order_id, now = world.place(), world.clock()
    made = [
        make_link(world.db, now, world.property_id, order_id, kind, world.actor)
        for kind in (LinkKind.RIDER, LinkKind.RIDER, *LinkKind)
    ]
    assert end_links(world.db, now, world.property_id, order_id, world.actor) == len(made)
    assert not any(opens(world, token, timedelta(0)) for token in made)
    assert end_links(world.db, now, world.property_id, order_id, world.actor) == 0
