"""The pages that the top bar, the tabs of the settings and the search lead to."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from flask import request

from ridedash.views.web.permissions import ADMIN, AUDIT, MANAGE, SEE, may
from ridedash.wording import lazy
from ridedash.wording.say import Text


@dataclass(frozen=True)
class PageLink:
    """A page by its address and title.

    `name` is that of its tab. `pages` are the beginnings of the addresses for which a link of the
    top bar is the current one; without them that is its own address alone. A `further` link has no
    room in a narrow top bar.
    """

    url: str
    title: Text
    need: str
    name: str = ""
    pages: tuple[str, ...] = ()
    further: bool = False

    @property
    def is_here(self) -> bool:
        """Whether this is the page of the request."""
        if self.pages:
            return request.path.startswith(self.pages)
        return request.path == self.url


MAIN: Final = (
    PageLink("/", lazy("Rides"), SEE),
    PageLink("/rides/new", lazy("New ride"), SEE),
    PageLink("/history", lazy("History"), SEE),
    PageLink("/insights", lazy("Insights"), MANAGE, further=True),
    PageLink("/handover", lazy("Hand-over"), SEE, pages=("/handover",), further=True),
)
TABS: Final = (
    PageLink("/admin/property", lazy("Property"), MANAGE, "property"),
    PageLink("/admin/places", lazy("Places"), MANAGE, "places"),
    PageLink("/admin/staff", lazy("Staff"), MANAGE, "staff"),
    PageLink("/admin/accounts", lazy("Accounts"), MANAGE, "accounts"),
    PageLink("/admin/kiosks", lazy("Kiosks"), MANAGE, "kiosks"),
    PageLink("/admin/languages", lazy("Languages"), MANAGE, "languages"),
    PageLink("/admin/audit", lazy("Audit log"), AUDIT, "audit"),
    PageLink("/admin/properties", lazy("All properties"), ADMIN, "properties"),
    PageLink("/me", lazy("You"), SEE, "me"),
)


def main_pages() -> list[PageLink]:
    """The pages of the top bar that the signed-in person may open; the settings are the last."""
    settings = [
        replace(tab, title=lazy("Settings"), pages=("/admin", "/me"), further=True)
        for tab in settings_tabs()[:1]
    ]
    return [*_allowed(MAIN), *settings]


def settings_tabs() -> list[PageLink]:
    """The pages of settings that the signed-in person may open."""
    return list(_allowed(TABS))


def _allowed(links: tuple[PageLink, ...]) -> Iterator[PageLink]:
    return (each for each in links if may(each.need))
