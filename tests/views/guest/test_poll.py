"""Cached answers to a guest's poll: correct, dropped in time, and never with a start code."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from ridedash.extensions import limiter
from ridedash.rides.privacy.retention import forget_guest
from ridedash.rides.share_links import LinkKind, end_links, make_link
from ridedash.store.actors import by_staff
from ridedash.store.models.people import Guest
from ridedash.store.orders import Order, Ride
from ridedash.views.guest import pages
from ridedash.views.poll_cache.cache import EXTENSION, FRESH_S, LOOK_S, PollCache
from tests.views.ride_pages import NOON, STATUSES, Desk, make_desk

pytestmark = pytest.mark.database

CODE = "4821"


@pytest.fixture
def seconds() -> list[float]:
    return [1000.0]


@pytest.fixture
def desk(tmp_path: Path, seconds: list[float]) -> Iterator[Desk]:
    made = make_desk(tmp_path)
    made.app.extensions[EXTENSION] = PollCache(made.services.db, lambda: seconds[0])
    yield made
    made.close()


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The order id of each answer that was computed, not taken from the cache."""
    real, orders = pages._make_entry, []

    def counted(shared: pages.ValidLink, now: object) -> pages.CacheEntry[pages.PollBody]:
        orders.append(shared.order_id)
        return real(shared, now)  # type: ignore[arg-type]

    monkeypatch.setattr(pages, "_make_entry", counted)
    return orders


@pytest.fixture
def phone(desk: Desk) -> FlaskClient:
    with desk.app.app_context():
        limiter.reset()
    return desk.client(signed_in=False)


def link(desk: Desk, order_id: int, kind: str = "rider") -> str:
    property_id = desk.ids["desk.property"]
    token = make_link(
        desk.services.db,
        desk.now,
        property_id,
        order_id,
        LinkKind(kind),
        by_staff(desk.ids["desk"]),
    )
    return f"/t/{token}/snapshot.json"


def drives(desk: Desk, order_id: int, status: str) -> None:
    def rows(s: object) -> None:
        s.get(Order, order_id).version += 1  # type: ignore[attr-defined]
        s.query(Ride).filter_by(order_id=order_id).one().status = status  # type: ignore[attr-defined]

    desk.add(rows)


def parts_of(answer: TestResponse) -> tuple[int, str, object, object, object]:
    head = answer.headers
    return (
        answer.status_code,
        answer.text,
        head.get("ETag"),
        head.get("X-Seen-At"),
        head["Cache-Control"],
    )


@pytest.mark.parametrize("kind", ["rider", "follower"])
def test_a_stored_answer_is_the_one_that_would_be_made(
    desk: Desk, phone: FlaskClient, kind: str
) -> None:
    cache = desk.app.extensions[EXTENSION]
    for ride, statuses in STATUSES.items():
        for status in statuses:
            path = link(desk, desk.order("BOOKED", status, ride), kind)
            answers = [parts_of(phone.get(path)) for _ in range(2)]
            del desk.app.extensions[EXTENSION]
            assert answers == [parts_of(phone.get(path))] * 2, (ride, status)
            desk.app.extensions[EXTENSION] = cache


def test_an_answer_is_shared_by_links_of_a_kind_until_time_or_an_update(
    desk: Desk, phone: FlaskClient, made: list[int], seconds: list[float]
) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    rider, *followers = (link(desk, order_id, kind) for kind in ("rider", "follower", "follower"))
    first = phone.get(rider)
    for path in (rider, *followers, *followers):
        assert phone.get(path).status_code == 200
    assert phone.get(rider, headers={"If-None-Match": first.headers["ETag"]}).status_code == 304
    assert len(made) == 2, "one for the rider, one for those who follow"
    drives(desk, order_id, "IN_PROGRESS")
    seconds[0] += LOOK_S
    assert (phone.get(rider).json or {})["status"] == "IN_PROGRESS"
    assert len(made) == 3
    seconds[0] += FRESH_S
    desk.now = NOON + timedelta(seconds=FRESH_S)
    assert phone.get(rider).status_code == 200
    assert len(made) == 4


def test_a_link_that_ended_gets_404_at_once(desk: Desk, phone: FlaskClient) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    path = link(desk, order_id)
    assert [phone.get(path).status_code for _ in range(2)] == [200, 200]
    staff = by_staff(desk.ids["desk"])
    end_links(desk.services.db, desk.now, desk.ids["desk.property"], order_id, staff)
    assert phone.get(path).status_code == 404


def test_a_start_code_is_sent_and_not_cached(
    desk: Desk, phone: FlaskClient, made: list[int]
) -> None:
    order_id = desk.order("BOOKED", "CLIENT_LOCATED", otp=CODE)
    path = link(desk, order_id)
    assert [(phone.get(path).json or {})["code"] for _ in range(2)] == [CODE, CODE]
    assert made == [order_id, order_id]
    cache = desk.app.extensions[EXTENSION]
    assert cache is not None
    assert cache.entries == {}
    drives(desk, order_id, "IN_PROGRESS")
    assert "code" not in (phone.get(path).json or {})


def test_an_erased_guest_is_named_by_no_stored_answer(
    desk: Desk, phone: FlaskClient, seconds: list[float]
) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER", guest="Wilma Heron")
    path = link(desk, order_id, "follower")
    assert "Wilma" in phone.get(path).text
    with desk.services.db.write() as s:
        forget_guest(s, s.get_one(Guest, s.get_one(Order, order_id).guest_id), desk.now, "a key")
    seconds[0] += LOOK_S
    assert "Wilma" not in phone.get(path).text
