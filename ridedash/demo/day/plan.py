"""The plan of the rides in the week before a demo begins, and on its day. Pure.

The same moment and seed give the same plan. The rides of the day are placed before and after that
moment: whatever the hour is, some have ended, some are under way and some are still to come.
"""

from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from random import Random
from typing import Final
from zoneinfo import ZoneInfo

from ridedash import wire
from ridedash.demo.cast import CAST, CastGuest
from ridedash.rides.times.schedule_times import SOONEST

DAYS: Final = 7  # days of history
RIDES_A_DAY: Final = range(8, 12)
HOURS: Final = (
    *(6, 7, 7, 8, 8, 8, 9, 9, 10, 11, 12, 13, 14, 15, 16),
    *(17, 18, 18, 19, 19, 20, 22),
)
CARS: Final = ("mini",) * 5 + ("prime",) * 3 + ("auto",) * 3 + ("suv", "share")
CENTRES: Final = ("Concierge", "Conferences", "Crew", "Restaurant")
OWING: Final = "Account with an outstanding due"
NO_CAB: Final = "no_cab"  # scenarios of the sandbox
LEAVES: Final = "driver_leaves"
RETRIES: Final = "share_retry"
# the rides of the day begin this long before the start of the demo
BEGINS: Final = timedelta(hours=9)
ENDED: Final = timedelta(minutes=75)  # a ride that was ordered this long ago has ended


@dataclass(frozen=True)
class RideRequest:
    """One ride to order: when, for whom, where to, in which car, and how it goes."""

    at: datetime  # when it is ordered
    guest: CastGuest
    to: str  # a place of the city
    car: str
    goes: str = ""  # the sandbox's scenario for it
    lost: bool = False  # whether the answer to its booking is lost
    account: str = ""  # the label of its account; "" for the usual one
    centre: str = ""  # the name of its cost centre
    payment: str | None = None
    pickup_at: datetime | None = None  # the planned pickup time
    note: str | None = None
    cancelled: str = ""  # the status at which staff cancel it
    rating: int | None = None  # the guest's feedback


def ride_requests(now: datetime, zone: ZoneInfo, seed: int, days: int = DAYS) -> list[RideRequest]:
    """All rides of the day of `now` and of the `days` days before it, the earliest order first."""
    rng = Random(f"day of {seed}")  # noqa: S311 - a demo
    guests = list(CAST)
    rng.shuffle(guests)
    begins = now - BEGINS
    today = now.astimezone(zone).date()
    found = []
    for back in range(days, -1, -1):
        requests = _day_before(today - timedelta(days=back), zone, rng, guests)
        found += [each for each in requests if begins - timedelta(days=days) < each.at < begins]
    found += _ended(now, rng, guests)
    found += _now(now, guests)
    found += _to_come(now, zone, guests)
    return sorted(found, key=lambda each: each.at)


def begins_at(now: datetime) -> datetime:
    """A time that is before the first ride."""
    return now - BEGINS - timedelta(days=DAYS, hours=1)


def _day_before(
    day: date, zone: ZoneInfo, rng: Random, guests: list[CastGuest]
) -> list[RideRequest]:
    hours = sorted(rng.sample(HOURS, rng.choice(RIDES_A_DAY)))
    who = rng.sample(guests, len(hours))
    requests = []
    for hour, guest in zip(hours, who, strict=True):
        at = datetime.combine(day, time(hour, rng.randrange(60), rng.randrange(60)), zone)
        requests.append(_usual(at, guest, rng))
    which = rng.randrange(len(requests) * 2)
    if which < len(requests):  # not every day goes well
        spoilt = replace(requests[which], rating=None)
        if rng.random() < 0.5:
            requests[which] = replace(spoilt, goes=NO_CAB)
        else:
            requests[which] = replace(spoilt, cancelled=wire.CALL_DRIVER)
    return requests


def _usual(at: datetime, guest: CastGuest, rng: Random) -> RideRequest:
    """A ride that goes well."""
    rating = rng.choice((5, 5, 4, 5, 3)) if rng.random() < 0.4 else None
    centre = rng.choice(CENTRES) if rng.random() < 0.3 else ""
    payment = wire.CASH if rng.random() < 0.15 else None
    car = rng.choice(CARS)
    if car == "share":
        payment = None  # this product is paid before the ride
    return RideRequest(at, guest, guest.place, car, centre=centre, payment=payment, rating=rating)


def _ended(now: datetime, rng: Random, guests: list[CastGuest]) -> list[RideRequest]:
    """Twelve rides of the day that are over. One is cancelled with a fee, and one is refused."""
    span = (BEGINS - ENDED) / 10
    requests = [
        _usual(now - BEGINS + span * i + span * rng.uniform(0.1, 0.9), guest, rng)
        for i, guest in enumerate(guests[:10])
    ]
    fee, owes = guests[10:12]
    return [
        *requests,
        RideRequest(_ago(now, 95), fee, fee.place, "suv", cancelled=wire.CLIENT_LOCATED),
        RideRequest(_ago(now, 52), owes, owes.place, "mini", account=OWING),
    ]


def _now(now: datetime, guests: list[CastGuest]) -> list[RideRequest]:
    """Rides that are under way, each in another status, and some that need a decision."""
    ride, board, soon, comes, search, lost, alone, leaves, retry = guests[12:21]
    return [
        RideRequest(_ago(now, 17), ride, "Meridian Airport", "prime", centre="Crew"),
        RideRequest(_ago(now, 12), board, "Lode Stadium", "suv", note="Two large suitcases"),
        RideRequest(_ago(now, 10), leaves, leaves.place, "auto", goes=LEAVES),
        RideRequest(_ago(now, 8), alone, alone.place, "mini", goes=NO_CAB),
        RideRequest(_ago(now, 7), lost, lost.place, "mini", lost=True),
        RideRequest(_ago(now, 5), soon, soon.place, "mini"),
        RideRequest(_ago(now, 3), comes, comes.place, "prime", payment=wire.CASH),
        RideRequest(_ago(now, 1.5), retry, "City Hall", "share", goes=RETRIES),
        RideRequest(_ago(now, 0.5), search, search.place, "mini"),
    ]


def _to_come(now: datetime, zone: ZoneInfo, guests: list[CastGuest]) -> list[RideRequest]:
    """Planned rides: two in the next hours, three tomorrow morning."""
    here = now.astimezone(zone)
    tomorrow = here.date() + timedelta(days=1)
    later = [_quarter(here + timedelta(hours=hours)) for hours in (2.5, 5)]
    early = [datetime.combine(tomorrow, time(*at), zone) for at in ((6, 30), (8, 15), (9, 0))]
    places = ("Opera on the Lode", "", "Meridian Airport", "Conference Centre", "")
    cars = ("prime", "mini", "prime", "suv", "mini")
    requests = []
    for i, pickup in enumerate(sorted([*later, *early])):
        guest = guests[21 + i]
        at = _ago(now, 180 - 30 * i)
        if pickup - now < SOONEST * 3:  # at night an early pickup is too soon: take the next day
            pickup += timedelta(days=1)
        place = places[i] or guest.place
        centre = "Conferences" if places[i] == "Conference Centre" else ""
        requests.append(RideRequest(at, guest, place, cars[i], pickup_at=pickup, centre=centre))
    return requests


def _ago(now: datetime, minutes: float) -> datetime:
    return now - timedelta(minutes=minutes)


def _quarter(at: datetime) -> datetime:
    """The beginning of the quarter of an hour that a moment is in."""
    return at.replace(minute=at.minute // 15 * 15, second=0, microsecond=0)
