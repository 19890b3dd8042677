"""The plan of the rides in the week before a demo begins, and on its day. Pure.

The same moment and seed give the same plan. The rides of the day are placed before and after that
moment, so that some have ended, some are under way and some are still to come, at any hour.
"""

from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from random import Random
from typing import Final
from zoneinfo import ZoneInfo

from ridedash import wire
from ridedash.demo.cast import CAST, Guest
from ridedash.rides.orders.schedule_times import SOONEST

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
class Wish:
    """One ride to order: when, for whom, where to, in which car, and how it goes."""

    at: datetime
    guest: Guest
    to: str  # a place of the city
    car: str
    goes: str = ""  # the sandbox's scenario for it
    lost: bool = False  # whether its answer is lost on the way
    account: str = ""  # another account than the usual one
    centre: str = ""  # the name of its cost centre
    payment: str | None = None
    pickup_at: datetime | None = None  # the planned pickup time
    note: str | None = None
    cancelled: str = ""  # the status at which staff cancel it
    rating: int | None = None  # the guest's feedback


def wishes(now: datetime, zone: ZoneInfo, seed: int, days: int = DAYS) -> list[Wish]:
    """All rides of `days` days and of the day of `now`, in the order in which they are ordered."""
    dice = Random(f"day of {seed}")  # noqa: S311 - a demo's dice
    guests = list(CAST)
    dice.shuffle(guests)
    begins = now - BEGINS
    today = now.astimezone(zone).date()
    found = []
    for back in range(days, -1, -1):
        made = _day_before(today - timedelta(days=back), zone, dice, guests)
        found += [each for each in made if begins - timedelta(days=days) < each.at < begins]
    found += _ended(now, dice, guests)
    found += _now(now, guests)
    found += _to_come(now, zone, guests)
    return sorted(found, key=lambda each: each.at)


def begins_at(now: datetime) -> datetime:
    """A moment before the first ride."""
    return now - BEGINS - timedelta(days=DAYS, hours=1)


def _day_before(day: date, zone: ZoneInfo, dice: Random, guests: list[Guest]) -> list[Wish]:
    hours = sorted(dice.sample(HOURS, dice.choice(RIDES_A_DAY)))
    who = dice.sample(guests, len(hours))
    made = []
    for hour, guest in zip(hours, who, strict=True):
        at = datetime.combine(day, time(hour, dice.randrange(60), dice.randrange(60)), zone)
        made.append(_usual(at, guest, dice))
    which = dice.randrange(len(made) * 2)
    if which < len(made):  # not every day goes well
        spoilt = replace(made[which], rating=None)
        nobody = dice.random() < 0.5
        made[which] = (
            replace(spoilt, goes=NO_CAB) if nobody else replace(spoilt, cancelled=wire.CALL_DRIVER)
        )
    return made


def _usual(at: datetime, guest: Guest, dice: Random) -> Wish:
    """A ride that goes well."""
    rating = dice.choice((5, 5, 4, 5, 3)) if dice.random() < 0.4 else None
    centre = dice.choice(CENTRES) if dice.random() < 0.3 else ""
    payment = wire.CASH if dice.random() < 0.15 else None
    car = dice.choice(CARS)
    if car == "share":
        payment = None  # this product is paid before the ride
    return Wish(at, guest, guest.place, car, centre=centre, payment=payment, rating=rating)


def _ended(now: datetime, dice: Random, guests: list[Guest]) -> list[Wish]:
    """Ten rides of the day that are over, including those that went wrong."""
    span = (BEGINS - ENDED) / 10
    made = [
        _usual(now - BEGINS + span * i + span * dice.uniform(0.1, 0.9), guest, dice)
        for i, guest in enumerate(guests[:10])
    ]
    fee, owes = guests[10:12]
    return [
        *made,
        Wish(_ago(now, 95), fee, fee.place, "suv", cancelled=wire.CLIENT_LOCATED),
        Wish(_ago(now, 52), owes, owes.place, "mini", account=OWING),
    ]


def _now(now: datetime, guests: list[Guest]) -> list[Wish]:
    """Rides that are under way, each in another status, and some that need a decision."""
    ride, board, soon, comes, search, lost, alone, leaves, retry = guests[12:21]
    return [
        Wish(_ago(now, 17), ride, "Meridian Airport", "prime", centre="Crew"),
        Wish(_ago(now, 12), board, "Lode Stadium", "suv", note="Two large suitcases"),
        Wish(_ago(now, 10), leaves, leaves.place, "auto", goes=LEAVES),
        Wish(_ago(now, 8), alone, alone.place, "mini", goes=NO_CAB),
        Wish(_ago(now, 7), lost, lost.place, "mini", lost=True),
        Wish(_ago(now, 5), soon, soon.place, "mini"),
        Wish(_ago(now, 3), comes, comes.place, "prime", payment=wire.CASH),
        Wish(_ago(now, 1.5), retry, "City Hall", "share", goes=RETRIES),
        Wish(_ago(now, 0.5), search, search.place, "mini"),
    ]


def _to_come(now: datetime, zone: ZoneInfo, guests: list[Guest]) -> list[Wish]:
    """Planned rides: two in the next hours, three tomorrow morning."""
    here = now.astimezone(zone)
    tomorrow = here.date() + timedelta(days=1)
    later = [_quarter(here + timedelta(hours=hours)) for hours in (2.5, 5)]
    early = [datetime.combine(tomorrow, time(*at), zone) for at in ((6, 30), (8, 15), (9, 0))]
    places = ("Opera on the Lode", "", "Meridian Airport", "Conference Centre", "")
    cars = ("prime", "mini", "prime", "suv", "mini")
    made = []
    for i, pickup in enumerate(sorted([*later, *early])):
        guest = guests[21 + i]
        at = _ago(now, 180 - 30 * i)
        if pickup - now < SOONEST * 3:  # at night an early pickup is too soon: take the next day
            pickup += timedelta(days=1)
        centre = "Conferences" if places[i] == "Conference Centre" else ""
        made.append(
            Wish(at, guest, places[i] or guest.place, cars[i], pickup_at=pickup, centre=centre)
        )
    return made


def _ago(now: datetime, minutes: float) -> datetime:
    return now - timedelta(minutes=minutes)


def _quarter(at: datetime) -> datetime:
    """The last full quarter of an hour before a moment."""
    return at.replace(minute=at.minute // 15 * 15, second=0, microsecond=0)
