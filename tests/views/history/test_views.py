"""Saved views of the history: who saves which, names that are refused, and what is never saved."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from ridedash.extensions import limiter
from ridedash.store.models.desk import SavedView
from ridedash.store.models.people import Staff
from ridedash.store.properties import add_staff
from ridedash.store.saved_views import MOST_VIEWS, VIEW_NAME_MAX
from tests.views.ride_pages import HASH, Desk, make_desk, token

pytestmark = pytest.mark.database


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = make_desk(tmp_path)
    made.add(lambda s: setattr(s.get(Staff, made.ids["desk"]), "role", "manager"))
    made.add(
        lambda s: add_staff(s, made.ids["desk.property"], "colleague", HASH, "concierge", made.now)
    )
    with made.app.app_context():
        limiter.reset()
    yield made
    made.close()


def save(client: FlaskClient, name: str, **fields: str) -> TestResponse:
    form = {"name": name, "csrf_token": token(client)} | fields
    return client.post("/history/views", data=form)


def shown(client: FlaskClient, query: str = "") -> dict[str, tuple[str, bool]]:
    """The saved views of the page by name: the query of each, and whether it is the shown one."""
    page = client.get(f"/history?{query}").text
    nav = page.partition('aria-label="Saved views"')[2].partition("</nav>")[0]
    links = re.findall(r'href="/history\?([^"]*)"(.*?)>.*?<bdi>(.*?)</bdi>', nav, re.DOTALL)
    return {
        unescape(name): (unescape(query), "aria-current" in rest) for query, rest, name in links
    }


def test_a_view_is_saved_shown_and_deleted_by_its_owner(desk: Desk) -> None:
    boss, colleague = desk.client(), desk.client(name="colleague")
    answer = save(boss, "Lost ones", span="month", state="no_driver")
    assert (answer.status_code, answer.location) == (303, "/history?span=month&state=no_driver")
    assert shown(boss, "span=month&state=no_driver") == {
        "Lost ones": ("span=month&state=no_driver", True)
    }
    assert shown(boss) == {"Lost ones": ("span=month&state=no_driver", False)}
    assert shown(colleague) == {}
    with desk.services.db.read() as s:
        (view,) = s.query(SavedView).all()
    address = f"/history/views/{view.id}/delete"
    assert colleague.post(address, data={"csrf_token": token(colleague)}).status_code == 404
    gone = boss.post(address, data={"csrf_token": token(boss)})
    assert (gone.status_code, gone.location) == (303, "/history?span=month&state=no_driver")
    assert shown(boss) == {}


def test_managers_save_for_everybody_and_concierges_do_not(desk: Desk) -> None:
    boss, colleague = desk.client(), desk.client(name="colleague")
    save(boss, "Bills", span="last_month", of_all="y")
    assert list(shown(colleague)) == ["Bills"]
    assert save(colleague, "Mine for all", of_all="y").status_code == 403
    assert 'name="of_all"' not in colleague.get("/history").text
    with desk.services.db.read() as s:
        (view,) = s.query(SavedView).all()
    address = f"/history/views/{view.id}/delete"
    assert colleague.post(address, data={"csrf_token": token(colleague)}).status_code == 403
    assert address not in colleague.get("/history?span=last_month").text
    assert address in boss.get("/history?span=last_month").text
    assert boss.post(address, data={"csrf_token": token(boss)}).status_code == 303
    assert list(shown(colleague)) == []


def test_a_view_of_another_property_is_not_there(desk: Desk) -> None:
    save(desk.client(), "Bills", of_all="y")
    other = desk.client(name="other")
    assert shown(other) == {}
    with desk.services.db.read() as s:
        (view,) = s.query(SavedView).all()
    answer = other.post(f"/history/views/{view.id}/delete", data={"csrf_token": token(other)})
    assert answer.status_code == 404


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "What is the view called?"),
        (" \u200b\n", "What is the view called?"),
        ("x" * (VIEW_NAME_MAX + 1), "That name is too long"),
    ],
)
def test_a_name_that_can_not_be_shown_is_refused(desk: Desk, name: str, why: str) -> None:
    client = desk.client()
    answer = save(client, name, span="month")
    assert answer.status_code == 422
    assert why in answer.text
    assert shown(client) == {}


def test_there_is_a_limit_of_views_and_a_name_that_is_taken_replaces_none(desk: Desk) -> None:
    client = desk.client()
    for n in range(MOST_VIEWS):
        assert save(client, f"View {n}", span="week").status_code == 303
    full = save(client, "One more", span="week")
    assert (full.status_code, f"There are {MOST_VIEWS} views already" in full.text) == (422, True)
    for name in ("View 3", "view 3"):
        taken = save(client, name, span="today")
        assert (taken.status_code, "There is one of this name" in taken.text) == (422, True)
    assert shown(client)["View 3"][0] == "span=week"
    assert len(shown(client)) == MOST_VIEWS


def test_a_hostile_name_is_text_and_no_guest_is_saved(desk: Desk) -> None:
    client = desk.client()
    name = '"><img src=x>{{ 7*7 }}'
    answer = save(client, name, span="month", guest="heron", room="412", state="nonsense")
    assert answer.status_code == 303
    assert shown(client) == {name: ("span=month", False)}
    assert "<img src=x>" not in client.get("/history").text
    with desk.services.db.read() as s:
        (view,) = s.query(SavedView).all()
        assert (view.name, view.query) == (name, "span=month")


def test_a_page_that_refused_a_name_is_reloaded_with_its_filters(desk: Desk) -> None:
    boss = desk.client()
    page = boss.get("/history?span=month&state=no_driver").text
    address = re.findall(r'action="(/history/views\?[^"]*)"', page)
    assert address == ["/history/views?span=month&amp;state=no_driver"]
    again = boss.get(unescape(address[0]))
    assert (again.status_code, again.location) == (303, "/history?span=month&state=no_driver")
