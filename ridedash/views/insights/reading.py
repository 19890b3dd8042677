"""Reads a request for insights, and its figures for one or several properties."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import Any

from flask import abort
from pydantic import ValidationError
from sqlalchemy.orm import Session
from werkzeug.datastructures import MultiDict

from ridedash.extensions import services
from ridedash.inputs import calendar_day, row_id
from ridedash.rides.tracking.intervals import cancel_free_until
from ridedash.rides.tracking.totals import minor
from ridedash.service.types.rate_cards import CancellationPolicy
from ridedash.service_time import ServiceTime
from ridedash.store.history import categories
from ridedash.store.insight_rollup import Rollup, rolled_up
from ridedash.store.insights import (
    Cancelled,
    Destination,
    Figures,
    House,
    Insights,
    centre_names,
    staff_names,
)
from ridedash.store.models.people import Property
from ridedash.store.properties import properties
from ridedash.views.insights.periods import MOST_DAYS, Period, before, chosen
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.formatting import zone
from ridedash.views.web.permissions import ADMIN, may
from ridedash.wording import gettext as _


@dataclass(frozen=True)
class Asked:
    """The requested days and properties; `known` are the properties that the user may choose."""

    period: Period
    houses: list[Property]
    known: list[Property]
    today: date
    wrong: str = ""

    @property
    def before(self) -> Period:
        return before(self.period)

    def query(self, period: Period | None = None) -> dict[str, Any]:
        """The fields of an address of these properties, with these days or others."""
        days = period or self.period
        fields: dict[str, Any] = {"from": days.first.isoformat(), "to": days.last.isoformat()}
        if [house.id for house in self.houses] != [current_staff().property_id]:
            fields["property"] = [house.id for house in self.houses]
        return fields


@dataclass
class Group:
    """One line of a table: its subject, and its figures now and before."""

    name: str
    house: str = ""  # the name of the group's property, if several are requested
    now: Figures = field(default_factory=Figures)
    before: Figures = field(default_factory=Figures)


@dataclass
class Month:
    """All figures of a request. Groups are sorted by their number of rides, the most first."""

    now: Insights
    before: Insights
    houses: list[Group] = field(default_factory=list)
    categories: list[Group] = field(default_factory=list)
    staff: list[Group] = field(default_factory=list)
    centres: list[Group] = field(default_factory=list)
    destinations: list[Group] = field(default_factory=list)


def asked_for(db: Session, args: MultiDict[str, str]) -> Asked:
    """The request in the fields of an address. A property that the user may not see gives 404."""
    own = db.get_one(Property, current_staff().property_id)
    known = properties(db) if may(ADMIN) else [own]
    ids = {row_id(text) for text in args.getlist("property")} - {None}
    houses = [house for house in known if house.id in ids]
    if len(houses) < len(ids):
        abort(404)
    today = services().clock().astimezone(zone(own.timezone)).date()
    first, last = (calendar_day(args.get(name, "")) for name in ("from", "to"))
    period, wrong = chosen(first, last, today), ""
    if (args.get("from") and first is None) or (args.get("to") and last is None):
        wrong = _("That is no day of the calendar. Choose one, such as 2026-03-05.")
    elif len(period.days) > MOST_DAYS:
        wrong = _("That is more than a year. Choose at most %(n)d days.", n=MOST_DAYS)
    if wrong:
        period = chosen(None, None, today)
    return Asked(period, houses or [own], known, today, wrong)


def read(asked: Asked) -> Month:
    """Read the figures of all requested properties for both periods."""
    houses = [_house(prop) for prop in asked.houses]
    periods = asked.period, asked.before
    wanted = [(house, period.span(house.tz)) for house in houses for period in periods]
    with rolled_up(services().db, wanted, services().clock()) as rollup, services().db.read() as db:
        return _read(db, asked, rollup)


def _read(db: Session, asked: Asked, rollup: Rollup) -> Month:
    found: Month | None = None
    for prop in asked.houses:
        found = _with(found, _of_one(db, asked, prop, rollup))
    assert found is not None  # there is always a property
    for groups in (found.categories, found.staff, found.centres, found.destinations, found.houses):
        groups.sort(key=lambda each: (-each.now.rides, -each.before.rides, each.name, each.house))
    return found


def _house(prop: Property) -> House:
    return House(prop.id, zone(prop.timezone), prop.currency)


def _of_one(db: Session, asked: Asked, prop: Property, rollup: Rollup) -> Month:
    house = _house(prop)
    now, earlier = (
        _with_fees(rollup.insights(db, house, period.span(house.tz)), prop)
        for period in (asked.period, asked.before)
    )
    shown = prop.name if len(asked.houses) > 1 else ""
    people = staff_names(db, [key for key in {*now.staff, *earlier.staff} if key is not None])
    centres = centre_names(db, [prop.id])
    products = dict(categories(db, prop.id))

    def groups(what: str, name: Callable[[Any], str]) -> list[Group]:
        mine, theirs = getattr(now, what), getattr(earlier, what)
        return [
            Group(name(key), shown, mine.get(key, Figures()), theirs.get(key, Figures()))
            for key in {**mine, **theirs}
        ]

    cars = groups("categories", lambda key: products.get(key, key))
    for group in cars:
        group.house = ""  # a category is the same in every property
    return Month(
        now,
        earlier,
        houses=[Group(prop.name, "", now.total, earlier.total)],
        categories=cars,
        staff=groups("staff", lambda key: people.get(key, "") or _("Nobody known")),
        centres=groups("centres", lambda key: centres.get(key, "") or _("No cost centre")),
        destinations=groups("destinations", place_name),
    )


def place_name(place: Destination) -> str:
    """The name of a destination, as in the history."""
    if not place.known:
        return _("The guest tells the driver")
    return place.name or _("the pinned place")


def _with(found: Month | None, more: Month) -> Month:
    """Combine two properties; figures of a category are then those of all properties."""
    if found is None:
        return more
    for mine, theirs in ((found.now, more.now), (found.before, more.before)):
        _merge(mine, theirs)
    for what in ("houses", "staff", "centres", "destinations"):
        getattr(found, what).extend(getattr(more, what))
    by_name = {group.name: group for group in found.categories}
    for group in more.categories:
        held = by_name.get(group.name)
        if held is None:
            found.categories.append(group)
        else:
            held.now.add(group.now)
            held.before.add(group.before)
    return found


def _merge(mine: Insights, theirs: Insights) -> None:
    total = Figures()
    total.add(mine.total)
    total.add(theirs.total)
    mine.total = total
    for what in ("days", "week"):
        for key, figures in getattr(theirs, what).items():
            getattr(mine, what)[key].add(figures)
    mine.driver_minutes += theirs.driver_minutes
    mine.guest_minutes += theirs.guest_minutes


def _with_fees(found: Insights, prop: Property) -> Insights:
    """Count rides that were cancelled too late to be free, and the costs by their policies."""
    time = services().time()
    for each in found.cancelled:
        policy = late_policy(each, time)
        if policy is not None and policy.charge is not None:
            currency = policy.currency or each.currency or prop.currency
            found.charge(each.keys, currency, minor(policy.charge))
    return found


def late_policy(ride: Cancelled, time: ServiceTime) -> CancellationPolicy | None:
    """The policy of a ride that was cancelled too late to be free; None if cancelling was free.

    The same rule as on the page of a ride: views/rides/facts.py, `charged`.
    """
    policy = _policy(ride.policy) if ride.policy else None
    if policy is None or not policy.charge or ride.aborted or ride.stopped_at is None:
        return None
    if policy.applies_after is None:
        return policy
    free_until = cancel_free_until(float(policy.applies_after.seconds), ride.allotted_at, time)
    if free_until is None:  # the service's clock is held before the end of the free time
        return None
    return policy if ride.stopped_at >= free_until else None


@lru_cache(maxsize=1_000)  # many offers have equal policies
def _policy(text: str) -> CancellationPolicy | None:
    """The policy of an offer; None if it can't be read."""
    try:
        return CancellationPolicy.model_validate_json(text)
    except ValidationError:
        return None
