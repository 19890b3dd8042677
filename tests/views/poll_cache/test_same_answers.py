"""Guests' links and the board answer the same with the cache and without it, in every state.

test_middleware.py tests the same for ride pages.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from ridedash.extensions import limiter
from ridedash.rides.share_links import LinkKind, RideOver, make_link
from ridedash.store import properties
from ridedash.store.actors import by_staff
from ridedash.views.poll_cache.cache import EXTENSION, PollCache
from tests.views.poll_cache.cases import cases
from tests.views.poll_cache.test_languages import requests_to_flask
from tests.views.ride_pages import HASH, NOON, Desk, make_desk

pytestmark = pytest.mark.database
OWN = {"X-Server-Now", "X-Request-Id", "Date"}  # differ between two equal requests
ROLES = ["desk", "manager", "admin", "other"]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    found = make_desk(tmp_path, POLL_LAYER="on")
    with found.services.db.write() as s:
        for role in ("manager", "admin"):
            properties.add_staff(s, found.ids["desk.property"], role, HASH, role, NOON)
    found.app.extensions[EXTENSION].monotonic = lambda: 100.0  # LOOK_S never passes
    limiter.enabled = False
    yield found
    limiter.enabled = True
    found.close()


def comparable(answer: Any) -> tuple[int, dict[str, str], Any]:
    """Status, headers and body, without what differs between two requests."""
    head = {name: value for name, value in answer.headers if name not in OWN}
    body = answer.json if answer.status_code >= 400 and answer.is_json else answer.data
    if isinstance(body, dict) and body.pop("reference", None):
        head.pop("Content-Length", None)
    return answer.status_code, head, body


def without_cache(desk: Desk, ask: Callable[[], Any]) -> Any:
    """An answer of Flask's own, without the middleware and the cache."""
    middleware, cache = desk.app.wsgi_app, desk.app.extensions.pop(EXTENSION)
    desk.app.wsgi_app = middleware.app  # type: ignore[attr-defined, method-assign]
    try:
        return ask()
    finally:
        desk.app.wsgi_app, desk.app.extensions[EXTENSION] = middleware, cache  # type: ignore[method-assign]


def compare(
    desk: Desk, browser: FlaskClient, path: str, case: object, *, missing: bool = False
) -> set[int]:
    """Compare the first answer, one from the cache, and 304s, each with Flask's own.

    Returns the statuses that the cache answered without Flask.
    """
    cache: PollCache = desk.app.extensions[EXTENSION]
    flask_requests, from_cache = requests_to_flask(desk), set()
    tag = without_cache(desk, lambda: browser.get(path)).headers.get("ETag", '"none"')
    for seen in (None, tag):
        headers = {"If-None-Match": seen} if seen else {}
        cache.look_again()
        answer = browser.get(path, headers=headers)
        found = 304 if seen else 200
        assert answer.status_code == (404 if missing else found), (case, path)
        flask_requests.clear()
        stored = browser.get(path, headers=headers)
        if not flask_requests:
            from_cache.add(stored.status_code)
        expected = without_cache(desk, lambda headers=headers: browser.get(path, headers=headers))
        assert comparable(answer) == comparable(stored) == comparable(expected), (case, path, seen)
    return from_cache


@pytest.mark.parametrize("kind", list(LinkKind))
def test_of_a_guests_link(desk: Desk, kind: LinkKind) -> None:
    browser, facts = desk.client(signed_in=False), (desk.ids["desk.property"], desk.ids["desk"])
    from_cache: set[int] = set()
    for case in cases():
        order_id = desk.order(*case[:3], **case[3])
        try:
            token = make_link(desk.services.db, NOON, facts[0], order_id, kind, by_staff(facts[1]))
        except RideOver:
            token = "none"
        path = f"/t/{token}/snapshot.json"
        from_cache |= compare(desk, browser, path, case, missing=token == "none")
    assert from_cache == {200, 304}


def test_of_the_board(desk: Desk) -> None:
    """First without rides, then with more and more of them; for each role and kind of query."""
    browsers = {role: desk.client(name=role) for role in ROLES}
    from_cache: set[int] = set()
    for case in (None, *list(cases())[::12]):
        order_id = 0 if case is None else desk.order(*case[:3], **case[3])
        for role, browser in browsers.items():
            desk.app.extensions[EXTENSION].look_again()
            body = browser.get("/board.json").json or {}
            for query in ("", "?only=bar", f"?ride={order_id}", f"?since={body['v']}~"):
                from_cache |= compare(desk, browser, f"/board.json{query}", (role, case))
    assert from_cache == {304}
