"""Links of guests and followers: how long they are valid, how many there may be, who ends them."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from ridedash.rides.share_links import (
    LONGEST,
    LinkKind,
    RideOver,
    TooManyLinks,
    ValidLink,
    end_links,
    find_link,
    give_link,
    live_links,
    make_link,
    replace_rider_links,
    token_of,
)
from ridedash.rides.tracking.policy import STOPPED
from ridedash.store.actors import by_kiosk, by_staff
from ridedash.store.audit import AuditRow
from ridedash.store.encryption import secret_hash
from ridedash.store.models.desk import Link
from ridedash.store.models.orders import Order, TimelineEvent
from ridedash.store.models.people import EndedSignIn
from tests.rides.desk_world import World
from tests.views.ride_pages import NOON, Desk

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


RIDER, FOLLOWER = LinkKind.RIDER, LinkKind.FOLLOWER
MILLISECOND = timedelta(milliseconds=1)


def link(desk: Desk, order_id: int, kind: LinkKind = RIDER, at: datetime = NOON) -> str:
    who = by_staff(desk.ids["desk"])
    return make_link(desk.services.db, at, desk.ids["desk.property"], order_id, kind, who)


def valid(desk: Desk, token: str, at: datetime) -> bool:
    with desk.services.db.read() as s:
        found, was_there = find_link(s, token, at)
    assert was_there
    return found is not None


def stopped(desk: Desk, order_id: int, at: datetime, name: str = STOPPED) -> None:
    facts = {"property_id": desk.ids["desk.property"], "what": "event", "detail": None}
    desk.add(lambda s: s.add(TimelineEvent(order_id=order_id, name=name, at=at, **facts)))


def ends(desk: Desk, token: str, at: datetime) -> bool:
    """Whether a link is valid until `at` and no longer."""
    return valid(desk, token, at - MILLISECOND) and not valid(desk, token, at)


@pytest.mark.parametrize(
    ("kind", "after"), [(RIDER, timedelta(hours=24)), (FOLLOWER, timedelta(minutes=30))]
)
@pytest.mark.parametrize(
    ("status", "ride"),
    [
        ("COMPLETED", {"ended_at": NOON, "next_poll_at": None}),
        ("CALL_DRIVER", {"ended_at": NOON}),
        ("COMPLETED", {"seen_at": NOON, "ended_at": None}),
    ],
)
def test_a_link_ends_some_time_after_its_ride(
    desk: Desk, kind: LinkKind, after: timedelta, status: str, ride: dict[str, Any]
) -> None:
    token = link(desk, desk.order("BOOKED", status, ride=ride), kind)
    assert ends(desk, token, NOON + after)


def test_a_ride_that_is_followed_no_longer_ended_when_staff_stopped_following(desk: Desk) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER", ride={"next_poll_at": None})
    token = link(desk, order_id)
    stopped(desk, desk.order("BOOKED", "CALL_DRIVER"), NOON)
    stopped(desk, order_id, NOON, "swapped")
    assert ends(desk, token, NOON + LONGEST), "no one has stopped it"
    for hours in (2, 1):
        stopped(desk, order_id, NOON + hours * DAY / 24)
    assert ends(desk, token, NOON + DAY + DAY / 24), "the last time counts"
    other = link(desk, desk.order("BOOKED", "CALL_DRIVER"))
    assert ends(desk, other, NOON + LONGEST)
    assert ends(desk, link(desk, desk.order("READY")), NOON + LONGEST)


def test_a_link_of_an_order_that_became_no_ride_ends_with_the_decision(desk: Desk) -> None:
    order_id = desk.order("READY", age_s=60)
    token = link(desk, order_id)
    with desk.services.db.write() as s:
        s.get_one(Order, order_id).state = "NOT_SENT"
    assert ends(desk, token, NOON + DAY - timedelta(seconds=60))
    with desk.services.db.write() as s:
        s.get_one(Order, order_id).resolved_at = NOON
    assert ends(desk, token, NOON + DAY)
    with pytest.raises(RideOver):
        link(desk, order_id)


def test_a_ride_that_ended_long_ago_gets_no_link(desk: Desk) -> None:
    over = {"ended_at": NOON - DAY, "next_poll_at": None}
    order_id = desk.order("BOOKED", "COMPLETED", ride=over)
    with pytest.raises(RideOver):
        link(desk, order_id)
    with desk.services.db.read() as s:
        assert s.query(Link).count() == 0
    for missing in (10**6, desk.order("READY", prop="other")):
        with pytest.raises(LookupError):
            link(desk, missing)


def test_a_ride_has_five_valid_links_of_each_kind(desk: Desk) -> None:
    order_id, other = desk.order("READY"), desk.order("READY")
    tokens = [link(desk, order_id) for _ in range(5)]
    assert len(set(tokens)) == 5
    assert {len(token) for token in tokens} == {22}, "128 bits"
    with pytest.raises(TooManyLinks):
        link(desk, order_id)
    link(desk, order_id, FOLLOWER)
    link(desk, other)
    db, home = desk.services.db, desk.ids["desk.property"]
    last = replace_rider_links(db, NOON, home, order_id, by_staff(desk.ids["desk"]))
    assert [valid(desk, token, NOON) for token in (*tokens, last)] == [False] * 5 + [True]
    with db.read() as s:
        kinds = [each.kind for each in live_links(s, home, order_id, NOON)]
        assert kinds == [FOLLOWER, RIDER]
        assert live_links(s, desk.ids["other.property"], order_id, NOON) == ()
        entry = s.query(AuditRow).order_by(AuditRow.id.desc()).first()
        assert (entry.what, entry.facts) == ("link.made", {"kind": "rider", "replaced": 5})
        ended = {row.id_hash for row in s.query(EndedSignIn)}
        assert ended == {secret_hash(token) for token in tokens}


def test_a_link_identifies_its_order_and_until_when_it_is_valid(desk: Desk) -> None:
    order_id, home = desk.order("READY"), desk.ids["desk.property"]
    token = link(desk, order_id, FOLLOWER)
    with desk.services.db.read() as s:
        found, was_there = find_link(s, token, NOON)
        assert find_link(s, "unknown", NOON) == (None, False)
        entry = s.query(AuditRow).one()
    secret = secret_hash(token)
    assert (found, was_there) == (
        ValidLink(FOLLOWER, order_id, home, NOON, NOON + LONGEST, secret),
        True,
    )
    assert (entry.subject, entry.property_id, entry.at) == (f"orders:{order_id}", home, NOON)
    assert entry.facts == {"kind": "follower"}


def test_links_are_ended_in_their_own_property(desk: Desk) -> None:
    order_id, home = desk.order("READY"), desk.ids["desk.property"]
    other, who = desk.ids["other.property"], by_staff(desk.ids["desk"])
    tokens = [link(desk, order_id, kind) for kind in (RIDER, FOLLOWER)]
    later = link(desk, order_id, at=NOON - 8 * DAY)
    assert end_links(desk.services.db, NOON, other, order_id, who) == 0
    assert valid(desk, tokens[0], NOON)
    assert end_links(desk.services.db, NOON, home, order_id, who) == 2
    assert not any(valid(desk, token, NOON) for token in (*tokens, later))
    with desk.services.db.read() as s:
        facts = [row.facts for row in s.query(AuditRow).filter_by(what="link.ended")]
    assert facts == [{"kind": "rider"}, {"kind": "follower"}]


def test_a_kiosks_page_has_one_link_that_only_it_can_make(desk: Desk) -> None:
    order_id, db = desk.order("READY"), desk.services.db
    token = token_of("key", "secret")
    assert len(token) == 22
    assert token == token_of("key", "secret")
    assert len({token, token_of("other", "secret"), token_of("key", "other")}) == 3
    for _ in range(2):
        give_link(db, NOON, order_id, by_kiosk(3), token)
    assert valid(desk, token, NOON)
    with db.read() as s:
        [row] = s.query(Link).all()
        assert (row.kind, row.order_id, row.made_by) == ("rider", order_id, None)
        [entry] = s.query(AuditRow).filter_by(what="link.made").all()
        assert (entry.who, entry.facts) == ("kiosk:3", {"kind": "rider"})
    with pytest.raises(LookupError):
        give_link(db, NOON, 10**6, by_kiosk(3), "another")
    with pytest.raises(RideOver):
        give_link(db, NOON, desk.order("REJECTED"), by_kiosk(3), "another")
