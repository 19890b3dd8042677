"""Saved views of the history: filters with a name, of one member of staff or of the property."""

from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from ridedash.store.models.desk import SavedView
from ridedash.store.properties import locked_property

MOST_VIEWS: Final = 20  # of a property, and of each of its staff: more than fit on two lines
VIEW_NAME_MAX: Final = 40  # letters: a chip of one line on a phone


class TooManyViews(Exception):
    """There are MOST_VIEWS already; nothing was saved."""


class ViewNameTaken(Exception):
    """Another view of the same owner has this name, in whatever case; nothing was saved."""


def views_of(s: Session, property_id: int, staff_id: int) -> list[SavedView]:
    """The views that a member of staff sees: the property's, then their own; each by name."""
    query = select(SavedView).where(
        SavedView.property_id == property_id,
        SavedView.staff_id.is_(None) | (SavedView.staff_id == staff_id),
    )
    return sorted(s.scalars(query), key=lambda view: (bool(view.staff_id), view.name.casefold()))


def save_view(s: Session, property_id: int, staff_id: int | None, name: str, query: str) -> None:
    """Save filters under a name; of the property without `staff_id`.

    The property is locked: of two parallel saves the second one sees the first. Saving the same
    again changes nothing. Raises ViewNameTaken, TooManyViews.
    """
    locked_property(s, property_id)
    found = select(SavedView).where(
        SavedView.property_id == property_id, SavedView.staff_id.is_not_distinct_from(staff_id)
    )
    views = list(s.scalars(found))
    for view in views:
        if (view.name, view.query) == (name, query):
            return
        if view.name.casefold() == name.casefold():
            raise ViewNameTaken
    if len(views) >= MOST_VIEWS:
        raise TooManyViews
    s.add(SavedView(property_id=property_id, staff_id=staff_id, name=name, query=query))


def view_of(s: Session, property_id: int, view_id: int) -> SavedView | None:
    """One view of a property; None when it is another property's."""
    query = select(SavedView).where(SavedView.property_id == property_id, SavedView.id == view_id)
    return s.scalars(query).first()
