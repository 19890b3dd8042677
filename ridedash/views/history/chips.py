"""The history's filters as chips, whose choices are addresses; and the views that are saved."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final

from sqlalchemy.orm import Session

from ridedash.store.history import categories
from ridedash.store.properties import cost_centres_of, staff_of
from ridedash.store.saved_views import views_of
from ridedash.views.history.filters import WEEK, Filters, HistoryQuery, days_by_name
from ridedash.views.history.rows import outcomes
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.permissions import MANAGE, may
from ridedash.wording import gettext as _
from ridedash.wording import lazy

SPANS: Final = {
    "today": lazy("Today"),
    "yesterday": lazy("Yesterday"),
    WEEK: lazy("7 days"),
    "month": lazy("This month"),
    "last_month": lazy("Last month"),
    "next_week": lazy("Next 7 days"),
}


@dataclass(frozen=True)
class Choice:
    """What can be chosen: its name, the query of its address, and whether it is the shown one."""

    name: str
    query: str
    shown: bool


@dataclass(frozen=True)
class Chip:
    """A filter, by its name in an address; the first of its choices is any."""

    key: str
    label: str
    choices: list[Choice]

    @property
    def named(self) -> bool:
        """Whether the choices are names: of people, of cars, of what a property has named."""
        return self.key != "state"

    @property
    def chosen(self) -> str:
        """The name of what is chosen; "" for any."""
        return next((choice.name for choice in self.choices[1:] if choice.shown), "")


@dataclass(frozen=True)
class View:
    """A saved view; `of_all`: it is the property's. `id` is 0 for a user who may not delete it."""

    id: int
    choice: Choice
    of_all: bool


def span_choices(filters: Filters, today: date) -> list[Choice]:
    """Common periods, with the other filters as they are."""
    shown = (filters.first, filters.last)
    return [
        Choice(
            str(SPANS[name]),
            replace(filters, first=days[0], last=days[1], span=name).query(),
            days == shown,
        )
        for name, days in days_by_name(today).items()
    ]


def chips_of(db: Session, query: HistoryQuery) -> list[Chip]:
    """A chip for each filter that has choices."""
    filters, property_id = query.filters, query.prop.id
    centres = [(each.id, each.name) for each in cost_centres_of(db, property_id)]
    found = [
        _chip(filters, "state", (_("State"), _("Any")), _states()),
        _chip(filters, "category", (_("Category"), _("Any")), categories(db, property_id)),
        _chip(
            filters,
            "staff",
            (_("Booked by"), _("Anybody")),
            [(each.id, each.name) for each in staff_of(db, property_id)],
        ),
        _chip(filters, "centre", (_("Cost centre"), _("Any")), centres),
    ]
    return [chip for chip in found if len(chip.choices) > 1]


def _states() -> list[tuple[str, str]]:
    return [(outcome.value, state.words) for outcome, state in outcomes().items()]


def _chip(
    filters: Filters, key: str, words: tuple[str, str], values: Iterable[tuple[str | int, str]]
) -> Chip:
    """The chip of the filter `key`; `words` are its label, and the name of no choice."""
    label, anything = words
    now = getattr(filters, key)
    every: list[tuple[Any, str]] = [(type(now)(), anything), *values]

    def choice(value: Any, name: str) -> Choice:
        other: dict[str, Any] = {key: value}
        return Choice(name, replace(filters, **other).query(), value == now)

    return Chip(key, label, [choice(*each) for each in every])


def saved(db: Session, query: HistoryQuery) -> list[View]:
    """The views that the user sees: the property's, then their own."""
    shown = query.filters.query()
    return [
        View(
            id=view.id if view.staff_id or may(MANAGE) else 0,
            choice=Choice(view.name, view.query, view.query == shown),
            of_all=view.staff_id is None,
        )
        for view in views_of(db, query.prop.id, current_staff().id)
    ]
