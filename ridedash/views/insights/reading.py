"""Reads a request for insights, and its metrics for one or several properties."""

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
    Insights,
    InsightsProperty,
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
class InsightFilters:
    """The requested days and properties; `known` are the properties that the user may choose."""

    period: Period
    properties: list[Property]
    known: list[Property]
    today: date
    wrong: str = ""

    @property
    def before(self) -> Period:
        return before(self.period)

    def query(self, period: Period | None = None) -> dict[str, Any]:
        """The fields of an address of these properties, for `period` or the filters' own days."""
        days = period or self.period
        fields: dict[str, Any] = {"from": days.first.isoformat(), "to": days.last.isoformat()}
        if [prop.id for prop in self.properties] != [current_staff().property_id]:
            fields["property"] = [prop.id for prop in self.properties]
        return fields


@dataclass
class TableLine:
    """One line of a table: its subject, and its metrics now and before."""

    name: str
    of_property: str = ""  # the name of the group's property, if several are requested
    now: Figures = field(default_factory=Figures)
    before: Figures = field(default_factory=Figures)


@dataclass
class Month:
    """All metrics of a request. Groups are sorted by their number of rides, the most first."""

    now: Insights
    before: Insights
    properties: list[TableLine] = field(default_factory=list)
    categories: list[TableLine] = field(default_factory=list)
    staff: list[TableLine] = field(default_factory=list)
    centres: list[TableLine] = field(default_factory=list)
    destinations: list[TableLine] = field(default_factory=list)


def read_filters(db: Session, args: MultiDict[str, str]) -> InsightFilters:
    """The days and properties that an address asks for. 404 for a property that the user can't see.

    For invalid or too many days, `wrong` has a message, and the period is this month up to today.
    """
    own = db.get_one(Property, current_staff().property_id)
    known = properties(db) if may(ADMIN) else [own]
    ids = {row_id(text) for text in args.getlist("property")} - {None}
    selected = [prop for prop in known if prop.id in ids]
    if len(selected) < len(ids):
        abort(404)
    today = services().clock().astimezone(zone(own.timezone)).date()
    first, last = (calendar_day(args.get(name, "")) for name in ("from", "to"))
    period = chosen(first, last, today)
    wrong = ""
    if (args.get("from") and first is None) or (args.get("to") and last is None):
        wrong = _("That is no day of the calendar. Choose one, such as 2026-03-05.")
    elif len(period.days) > MOST_DAYS:
        wrong = _("That is more than a year. Choose at most %(n)d days.", n=MOST_DAYS)
    if wrong:
        period = chosen(None, None, today)
    return InsightFilters(period, selected or [own], known, today, wrong)


def read(filters: InsightFilters) -> Month:
    """Read the metrics of all requested properties for both periods."""
    places = [_house(prop) for prop in filters.properties]
    periods = filters.period, filters.before
    wanted = [(place, period.span(place.tz)) for place in places for period in periods]
    with rolled_up(services().db, wanted, services().clock()) as rollup, services().db.read() as db:
        return _read(db, filters, rollup)


def _read(db: Session, filters: InsightFilters, rollup: Rollup) -> Month:
    found: Month | None = None
    for prop in filters.properties:
        found = _with(found, _of_one(db, filters, prop, rollup))
    assert found is not None  # there is always a property
    for groups in (
        found.categories,
        found.staff,
        found.centres,
        found.destinations,
        found.properties,
    ):
        groups.sort(
            key=lambda each: (-each.now.rides, -each.before.rides, each.name, each.of_property)
        )
    return found


def _house(prop: Property) -> InsightsProperty:
    return InsightsProperty(prop.id, zone(prop.timezone), prop.currency)


def _of_one(db: Session, filters: InsightFilters, prop: Property, rollup: Rollup) -> Month:
    place = _house(prop)
    now, earlier = (
        _with_fees(rollup.insights(db, place, period.span(place.tz)), prop)
        for period in (filters.period, filters.before)
    )
    shown = prop.name if len(filters.properties) > 1 else ""
    people = staff_names(db, [key for key in {*now.staff, *earlier.staff} if key is not None])
    centres = centre_names(db, [prop.id])
    products = dict(categories(db, prop.id))

    def groups(what: str, name: Callable[[Any], str]) -> list[TableLine]:
        mine = getattr(now, what)
        theirs = getattr(earlier, what)
        return [
            TableLine(name(key), shown, mine.get(key, Figures()), theirs.get(key, Figures()))
            for key in {**mine, **theirs}
        ]

    cars = groups("categories", lambda key: products.get(key, key))
    for group in cars:
        group.of_property = ""  # a category is the same in every property
    return Month(
        now,
        earlier,
        properties=[TableLine(prop.name, "", now.total, earlier.total)],
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
    """Add a property's metrics to those found so far.

    Lines of categories with the same name become one line; other lines stay separate.
    """
    if found is None:
        return more
    for mine, theirs in ((found.now, more.now), (found.before, more.before)):
        _merge(mine, theirs)
    for what in ("properties", "staff", "centres", "destinations"):
        getattr(found, what).extend(getattr(more, what))
    by_name = {group.name: group for group in found.categories}
    for group in more.categories:
        same = by_name.get(group.name)
        if same is None:
            found.categories.append(group)
        else:
            same.now.add(group.now)
            same.before.add(group.before)
    return found


def _merge(mine: Insights, theirs: Insights) -> None:
    total = Figures()
    total.add(mine.total)
    total.add(theirs.total)
    mine.total = total
    for what in ("days", "week"):
        for key, metrics in getattr(theirs, what).items():
            getattr(mine, what)[key].add(metrics)
    mine.add_waits(theirs)


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
    # None: the service's clock is held before the end of the free time
    if free_until is None or ride.stopped_at < free_until:
        return None
    return policy


@lru_cache(maxsize=1_000)  # many offers have equal policies
def _policy(text: str) -> CancellationPolicy | None:
    """The policy of an offer; None if it can't be read."""
    try:
        return CancellationPolicy.model_validate_json(text)
    except ValidationError:
        return None
