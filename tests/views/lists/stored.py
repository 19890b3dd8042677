"""A stored guest list, without reading one."""

from typing import Any

from ridedash.store.guest_lists import GuestList, NewLine, store_list
from tests.views.ride_pages import NOON, Desk


def stored_list(desk: Desk, lines: list[NewLine], **facts: Any) -> int:
    """Store a list of the property `desk` with these lines. Returns its id."""
    row = GuestList(
        property_id=desk.ids["desk.property"],
        staff_id=desk.ids["desk"],
        version=0,
        created_at=NOON,
        changed_at=NOON,
        digest="d",
        form_token="a token of a list",
        group_key="g",
        **{"label": "", "state": "DRAFT", "sheet": {}, "trip": {}, **facts},
    )
    with desk.services.db.write() as s:
        return store_list(s, row, lines).id
