"""The poll middleware answers as Flask does, to the viewers that Flask accepted, and sees each
change in time.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import Engine, delete, event, update
from werkzeug.test import Client, TestResponse

from ridedash.factory import create_app
from ridedash.rides.share_links import LinkKind, end_links, make_link, replace_rider_links
from ridedash.service_time import ServiceTime, Turn
from ridedash.store import properties
from ridedash.store.actors import Actor, by_staff
from ridedash.store.kiosks import begin, new_device
from ridedash.store.models.kiosks import KioskKind
from ridedash.store.models.people import Account, EndedSignIn, SignIn, Staff
from ridedash.store.orders import Order, Ride
from ridedash.store.poll_marks import revisions
from ridedash.store.sign_ins import close_all_sign_ins
from ridedash.views.poll_cache import cache as poll_cache
from ridedash.views.poll_cache.cache import (
    EXTENSION,
    FRESH_S,
    KNOWN_S,
    LOOK_S,
    MAX_CREDENTIAL,
    CacheEntry,
    Key,
    PollCache,
    Viewer,
)
from ridedash.views.poll_cache.middleware import READS, PollMiddleware
from tests.views.ride_pages import HASH, NOON, ORDER_STATES, STATUSES, Desk, make_desk, token

pytestmark = pytest.mark.database
OWN_TIME = {"X-Server-Now", "Date", "X-Request-Id"}


class Process:
    """One of several web processes over a database: an app of its own, whose seconds the test
    counts.
    """

    def __init__(self, desk: Desk, seconds: list[float], looks_at: Any = None) -> None:
        instance = str(desk.services.settings.instance)
        environ = {"RIDEDASH_INSTANCE": instance, "RIDEDASH_DATABASE_URL": desk.services.db.url}
        self.app = create_app(environ, clock=lambda: desk.now)
        self.services = self.app.extensions["ridedash"]
        turned = lambda: self.services.time().turned_at  # noqa: E731
        self.cache = PollCache(looks_at or self.services.db, lambda: seconds[0], turned)
        self.app.extensions[EXTENSION] = self.cache
        self.flask_paths: list[str] = []
        self.counted: list[int] = []
        self.middleware = PollMiddleware(
            self.flask, self.cache, self.services.clock, self.counted.append
        )
        self.app.wsgi_app = self.app.wsgi_app.app  # type: ignore[attr-defined, method-assign]

    def flask(self, environ: dict[str, Any], start: Any) -> Any:
        """Flask behind the middleware; the path of each request is noted."""
        self.flask_paths.append(environ["PATH_INFO"])
        return self.app.wsgi_app(environ, start)

    def get(
        self, order_id: int, cookie: str, seen: str | None = None, **headers: str
    ) -> TestResponse:
        sent = {"Cookie": cookie, **({"If-None-Match": seen} if seen else {}), **headers}
        return Client(self.middleware, use_cookies=False).get(
            f"/rides/{order_id}/snapshot.json", headers=sent
        )

    def ask(self, path: str, cookie: str = "", seen: str | None = None) -> TestResponse:
        sent = {"Cookie": cookie} if cookie else {}
        headers = sent | ({"If-None-Match": seen} if seen else {})
        return Client(self.middleware, use_cookies=False).get(path, headers=headers)

    def twice(
        self, order_id: int, cookie: str, seen: str | None = None, **headers: str
    ) -> TestResponse:
        """The second answer to the same request, from the cache if the first one was stored."""
        self.get(order_id, cookie, seen, **headers)
        return self.get(order_id, cookie, seen, **headers)

    def close(self) -> None:
        self.services.db.close()


@pytest.fixture(scope="module")
def shared_desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    made = make_desk(tmp_path_factory.mktemp("property"))
    with made.services.db.write() as s:
        for role in ("manager", "admin"):
            properties.add_staff(s, made.ids["desk.property"], role, HASH, role, NOON)
    yield made
    made.close()


@pytest.fixture
def desk(shared_desk: Desk) -> Desk:
    shared_desk.now = NOON
    return shared_desk


@pytest.fixture
def seconds() -> list[float]:
    return [1000.0]


@pytest.fixture
def process(desk: Desk, seconds: list[float]) -> Iterator[Process]:
    made = Process(desk, seconds)
    yield made
    made.close()


@pytest.fixture
def cookie(desk: Desk) -> str:
    return signed_in(desk)


def signed_in(desk: Desk, name: str = "desk") -> str:
    """The cookie header of a member of staff who has just signed in."""
    return cookie_of(desk.client(name=name))


def cookie_of(client: FlaskClient) -> str:
    held = client.get_cookie("ridedash_sid")
    assert held is not None
    return f"ridedash_sid={held.value}"


def from_flask(
    app: Flask, order_id: int, cookie: str, seen: str | None = None, **headers: str
) -> TestResponse:
    """Flask's own answer, without the middleware and the cache."""
    sent = {"Cookie": cookie, **({"If-None-Match": seen} if seen else {}), **headers}
    return app.test_client(use_cookies=False).get(f"/rides/{order_id}/snapshot.json", headers=sent)


def comparable(answer: TestResponse) -> tuple[int, dict[str, str], Any]:
    """Status, headers and body of an answer, without what differs between equal requests."""
    body = answer.json if answer.status_code >= 400 else answer.data
    if isinstance(body, dict):
        body.pop("reference", None)
    head = {name: value for name, value in answer.headers if name not in OWN_TIME}
    if answer.status_code >= 400:
        head.pop("Content-Length", None)
    return answer.status_code, head, body


def test_an_answer_from_before_a_clock_turn_is_not_sent_after_it(
    desk: Desk, process: Process, cookie: str, seconds: list[float]
) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    assert "held" not in process.twice(order_id, cookie).json
    held = ServiceTime((Turn(NOON, NOON, 1.0), Turn(NOON, NOON, 0.0)))
    process.services.time = lambda: held
    seconds[0] += LOOK_S
    process.flask_paths.clear()
    assert process.twice(order_id, cookie).json["held"] == "14:00"
    assert len(process.flask_paths) == 1


CASES = [(state, None, "point_to_point") for state in ORDER_STATES] + [
    ("BOOKED", status, kind)
    for kind in STATUSES
    for status in ("CALL_DRIVER", "COMPLETED", "BOOKING_CANCELLED")
]


@pytest.mark.parametrize("name", ["desk", "manager", "admin", "other"])
def test_the_middleware_answers_as_flask_does(desk: Desk, process: Process, name: str) -> None:
    for number, case in enumerate(CASES):
        if number % 10 == 0:  # each sign-in has a limit of requests for missing rides
            cookie = signed_in(desk, name)
        order_id = desk.order(*case)
        expected = from_flask(desk.app, order_id, cookie)
        process.flask_paths.clear()
        assert comparable(process.twice(order_id, cookie)) == comparable(expected), case
        # the 404 for a ride of another property is not stored
        assert len(process.flask_paths) == (2 if name == "other" else 1)
        tag = expected.headers.get("ETag")
        for seen in ('"older"', tag, f"W/{tag}", "*", '"a", "b"', "x"):
            assert comparable(process.twice(order_id, cookie, seen)) == comparable(
                from_flask(desk.app, order_id, cookie, seen)
            ), case


def test_a_ride_that_is_not_there_is_not_there(
    desk: Desk, process: Process, cookie: str, caplog: pytest.LogCaptureFixture
) -> None:
    for missing in (999_999, 2**63, 0):
        assert comparable(process.twice(missing, cookie)) == comparable(
            from_flask(desk.app, missing, cookie)
        )
    assert "the poll cache failed" not in caplog.text


def test_a_304_has_no_body_and_says_the_time(
    desk: Desk, process: Process, seconds: list[float], cookie: str
) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    first = process.get(order_id, cookie)
    desk.now, seconds[0] = NOON + timedelta(seconds=0.5), seconds[0] + 0.5
    again = process.get(order_id, cookie, first.headers["ETag"])
    assert (again.status_code, again.data, "Content-Length" in again.headers) == (304, b"", False)
    assert again.headers["X-Server-Now"] == "2026-05-04T08:30:00.500Z"
    assert again.headers["X-Seen-At"] == first.headers["X-Seen-At"]
    assert len(process.flask_paths) == 1


@pytest.mark.parametrize(
    "headers",
    [
        {"Range": "bytes=0-9"},
        {"If-Modified-Since": "Mon, 04 May 2026 08:00:00 GMT"},
        {"If-Match": '"x"'},
        {"Host": "elsewhere.example"},
    ],
)
def test_an_unusual_request_is_answered_by_flask(
    desk: Desk, process: Process, cookie: str, headers: dict[str, str]
) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    process.twice(order_id, cookie)
    assert comparable(process.get(order_id, cookie, **headers)) == comparable(
        from_flask(desk.app, order_id, cookie, **headers)
    )
    assert len(process.flask_paths) == 2


def test_another_method_or_a_query_is_answered_by_flask(
    desk: Desk, process: Process, cookie: str
) -> None:
    path = f"/rides/{desk.order('BOOKED', 'CALL_DRIVER')}/snapshot.json"
    client = Client(process.middleware, use_cookies=False)
    for _ in range(2):
        assert (
            client.get(path, query_string={"a": "1"}, headers={"Cookie": cookie}).status_code == 200
        )
        assert client.head(path, headers={"Cookie": cookie}).data == b""
        assert client.post(path, headers={"Cookie": cookie}).status_code in (400, 405)
    assert len(process.flask_paths) == 6


def test_flask_answers_the_same_again(
    desk: Desk, process: Process, caplog: pytest.LogCaptureFixture
) -> None:
    """A poll that the middleware leaves to Flask is answered from the cache there."""
    order_id, client = desk.order("BOOKED", "CALL_DRIVER"), desk.client()
    form, cookie = {"csrf_token": token(client)}, cookie_of(client)
    flask = Client(process.flask, use_cookies=False)
    path, sent = f"/rides/{order_id}/snapshot.json?a=1", {"Cookie": cookie}
    expected = from_flask(desk.app, order_id, cookie)
    with caplog.at_level("DEBUG", "ridedash.access"):
        assert [comparable(flask.get(path, headers=sent)) for _ in range(3)] == [
            comparable(expected)
        ] * 3
    assert {vars(each)["staff"] for each in caplog.records} == {desk.ids["desk"]}
    again = flask.get(path, headers=sent | {"If-None-Match": expected.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    Client(process.middleware, use_cookies=False).post("/sign-out", data=form, headers=sent)
    assert flask.get(path, headers=sent).status_code == 401


def test_another_page_of_that_ending_is_passed_on_unchanged(process: Process) -> None:
    seen: list[str | None] = []
    middleware = PollMiddleware(
        lambda environ, start: (
            seen.append(environ.get("HTTP_IF_NONE_MATCH")) or process.flask(environ, start)
        ),
        process.cache,
        process.services.clock,
        process.counted.append,
    )
    Client(middleware, use_cookies=False).get(
        "/elsewhere/x/snapshot.json", headers={"If-None-Match": '"x"'}
    )
    assert seen == ['"x"']


def test_a_host_that_is_not_ours_is_refused_though_ours_is_known(
    desk: Desk, process: Process, cookie: str
) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    process.twice(order_id, cookie)
    assert [process.get(order_id, cookie, Host="evil.example").status_code for _ in range(2)] == [
        400,
        400,
    ]


def test_strangers_and_changed_cookies_see_nothing(
    desk: Desk, process: Process, cookie: str
) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    process.twice(order_id, cookie)
    for held in ("", "ridedash_sid=x", cookie[:-1], cookie + "x", f"ridedash_sid=x; {cookie}"):
        assert comparable(process.twice(order_id, held)) == comparable(
            from_flask(desk.app, order_id, held)
        )
    assert process.get(order_id, cookie[:-1]).status_code == 401


def test_two_properties_never_share_an_answer(desk: Desk, process: Process, cookie: str) -> None:
    order_id, other = desk.order("BOOKED", "CALL_DRIVER"), signed_in(desk, "other")
    their_own = desk.order("BOOKED", "CALL_DRIVER", prop="other")
    process.twice(their_own, other)
    process.twice(order_id, cookie)
    assert [process.get(order_id, other).status_code for _ in range(2)] == [404, 404]
    assert [process.get(their_own, cookie).status_code for _ in range(2)] == [404, 404]


def test_a_sign_in_that_expires_while_it_polls_ends(
    desk: Desk, process: Process, seconds: list[float], cookie: str
) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    desk.now = NOON + timedelta(hours=11, minutes=59)
    assert process.twice(order_id, cookie).status_code == 200
    desk.now, seconds[0] = NOON + timedelta(hours=12), seconds[0] + 60
    assert process.get(order_id, cookie).status_code == 401


def test_what_is_answered_from_the_cache_is_counted(
    desk: Desk, process: Process, seconds: list[float], cookie: str
) -> None:
    order_id, counted = desk.order("BOOKED", "CALL_DRIVER"), []
    middleware = PollMiddleware(
        process.flask, process.cache, process.services.clock, counted.append
    )
    for late in (0, 0, 0, LOOK_S, 0, LOOK_S, LOOK_S):
        seconds[0] += late
        Client(middleware, use_cookies=False).get(
            f"/rides/{order_id}/snapshot.json", headers={"Cookie": cookie}
        )
    assert counted == [2, 2, 1]
    assert len(process.flask_paths) == 1


# ---- signing out, here and elsewhere


def test_a_cookie_is_worth_nothing_once_its_owner_signed_out_here(
    desk: Desk, process: Process
) -> None:
    order_id, client = desk.order("BOOKED", "CALL_DRIVER"), desk.client()
    form, cookie = {"csrf_token": token(client)}, cookie_of(client)
    assert process.twice(order_id, cookie).status_code == 200
    gone = Client(process.middleware, use_cookies=False).post(
        "/sign-out", data=form, headers={"Cookie": cookie}
    )
    assert gone.status_code == 303
    assert process.get(order_id, cookie).status_code == 401


def test_signing_out_elsewhere_holds_in_every_process_within_two_seconds(
    desk: Desk, process: Process, seconds: list[float]
) -> None:
    order_id, client = desk.order("BOOKED", "CALL_DRIVER"), desk.client()
    form, cookie, elsewhere = (
        {"csrf_token": token(client)},
        cookie_of(client),
        Process(desk, seconds),
    )
    assert [p.twice(order_id, cookie).status_code for p in (process, elsewhere)] == [200, 200]
    Client(elsewhere.middleware, use_cookies=False).post(
        "/sign-out", data=form, headers={"Cookie": cookie}
    )
    seconds[0] += 1.9
    assert [p.get(order_id, cookie).status_code for p in (process, elsewhere)] == [401, 401]
    elsewhere.close()


class HangingDatabase:
    """A real database; after `gone` is set, each reader waits for `back`."""

    def __init__(self, database: Any) -> None:
        self.database, self.gone = database, False
        self.reached, self.back = threading.Event(), threading.Event()

    @contextmanager
    def read(self) -> Iterator[Any]:
        if self.gone:
            self.reached.set()
            self.back.wait(60)
        with self.database.read() as s:
            yield s


def test_signing_out_elsewhere_holds_within_two_seconds_also_while_the_look_for_it_hangs(
    desk: Desk, seconds: list[float]
) -> None:
    order_id, client, database = (
        desk.order("BOOKED", "CALL_DRIVER"),
        desk.client(),
        HangingDatabase(desk.services.db),
    )
    form, cookie, process = (
        {"csrf_token": token(client)},
        cookie_of(client),
        Process(desk, seconds, database),
    )
    assert process.twice(order_id, cookie).status_code == 200
    assert client.post("/sign-out", data=form).status_code == 303
    ended_at, database.gone = seconds[0], True
    seconds[0] += LOOK_S
    looking = threading.Thread(target=process.cache.in_touch)
    looking.start()
    assert database.reached.wait(60)
    try:
        while process.get(order_id, cookie).status_code == 200:
            seconds[0] += 0.05
            assert seconds[0] - ended_at < 2
    finally:
        database.back.set()
        looking.join()
        process.close()


@pytest.mark.parametrize("change", ["close_all", "disabled", "role", "moved"])
def test_what_happens_to_a_member_of_staff_holds_within_two_seconds(
    desk: Desk, process: Process, seconds: list[float], change: str
) -> None:
    name = f"{change} {desk.order('READY')}"
    staff_id = new_concierge(desk, name)
    order_id, cookie = desk.order("BOOKED", "CALL_DRIVER"), signed_in(desk, name)
    assert process.twice(order_id, cookie).status_code == 200
    desk.add(lambda s: happen(desk, s, staff_id, change))
    seconds[0] += 1.9
    assert process.get(order_id, cookie).status_code == 401


@pytest.mark.parametrize("change", ["close_all", "disabled", "role", "moved"])
def test_it_holds_as_soon_for_who_watches_a_ride_that_changes_all_the_time(
    desk: Desk, process: Process, seconds: list[float], change: str
) -> None:
    """Flask answers these polls, with the sign-in that the middleware knows."""
    name = f"{change} watching {desk.order('READY')}"
    staff_id = new_concierge(desk, name)
    order_id, cookie = desk.order("BOOKED", "CALL_DRIVER"), signed_in(desk, name)
    assert process.get(order_id, cookie).status_code == 200
    answers = []
    for step in range(1, 12):
        if step == 2:
            desk.add(lambda s: happen(desk, s, staff_id, change))
        raise_version(desk, order_id)
        seconds[0] += 0.2
        answers.append(process.get(order_id, cookie).status_code)
    assert answers[0] == 200
    assert answers[-1] == 401, "2 s after it happened"


def test_a_sign_in_is_read_once_for_many_changes_of_a_ride(
    desk: Desk, process: Process, seconds: list[float], cookie: str
) -> None:
    order_id, read = desk.order("BOOKED", "CALL_DRIVER"), []
    event.listen(Engine, "before_cursor_execute", note := partial(note_sign_ins, read))
    try:
        versions = set()
        for _ in range(5):
            raise_version(desk, order_id)
            seconds[0] += LOOK_S
            versions.add((process.get(order_id, cookie).json or {})["version"])
        assert (len(versions), len(process.flask_paths), len(read)) == (5, 5, 1), read
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def test_a_sign_in_is_read_again_in_time_however_often_a_ride_changes(
    desk: Desk, process: Process, seconds: list[float]
) -> None:
    """The worst case: the row of a sign-in is deleted, and no EndedSignIn tells of its end."""
    order_id, name = desk.order("BOOKED", "CALL_DRIVER"), f"deleted {desk.order('READY')}"
    staff_id = new_concierge(desk, name)
    cookie = signed_in(desk, name)
    assert process.get(order_id, cookie).status_code == 200
    desk.add(lambda s: s.execute(delete(SignIn).where(SignIn.staff_id == staff_id)))
    began, answers = seconds[0], []
    while seconds[0] < began + KNOWN_S:
        raise_version(desk, order_id)
        seconds[0] += 20
        answers.append(process.get(order_id, cookie).status_code)
    assert (answers[0], answers[-1]) == (200, 401)


def new_concierge(desk: Desk, name: str) -> int:
    with desk.services.db.write() as s:
        home = desk.ids["desk.property"]
        return properties.add_staff(s, home, name, HASH, "concierge", NOON).id


def raise_version(desk: Desk, order_id: int) -> None:
    """Raise the revision of an order, as a worker does."""
    desk.add(
        lambda s: s.execute(
            update(Order).where(Order.id == order_id).values(version=Order.version + 1)
        )
    )


def note_sign_ins(read: list[str], _connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
    if "FROM sign_in" in statement:
        read.append(statement)


def happen(desk: Desk, s: Any, staff_id: int, change: str) -> None:
    staff = s.get(Staff, staff_id)
    if change == "close_all":
        close_all_sign_ins(s, staff_id)
    elif change == "disabled":
        staff.disabled_at = NOON
    elif change == "role":
        staff.role = "admin"
    else:
        staff.property_id = desk.ids["other.property"]


def test_a_sign_out_that_was_committed_out_of_order_is_not_missed(
    desk: Desk, process: Process, seconds: list[float], cookie: str
) -> None:
    """On PostgreSQL a smaller number may appear after a greater one was read."""
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    with desk.services.db.read() as s:
        mine = s.query(SignIn).order_by(SignIn.created_at.desc(), SignIn.id_hash).all()
    desk.add(
        lambda s: s.add(EndedSignIn(id=1_000_000 + order_id * 2, id_hash="of another", at=NOON))
    )
    assert process.twice(order_id, cookie).status_code == 200
    seconds[0] += LOOK_S
    assert process.get(order_id, cookie).status_code == 200
    desk.add(lambda s: [s.add(EndedSignIn(id_hash=row.id_hash, at=NOON)) for row in mine])
    desk.add(lambda s: [s.delete(s.merge(row)) for row in mine])
    seconds[0] += LOOK_S
    assert process.get(order_id, cookie).status_code == 401


def test_what_ends_after_hours_in_which_nothing_ended_is_not_missed(
    desk: Desk, process: Process, seconds: list[float]
) -> None:
    """Old rows are deleted, and SQLite numbers rows from 1 again once a table is empty."""
    client, facts = desk.client(), link_facts(desk)
    form, cookie = {"csrf_token": token(client)}, cookie_of(client)
    path = f"/t/{make_link(desk.services.db, NOON, *facts)}/snapshot.json"
    for another in ("one", "two"):
        desk.add(lambda s, h=another: s.add(EndedSignIn(id_hash=h, at=datetime.now(UTC))))
    process.get(facts[1], cookie)
    seconds[0] += 2 * 3600
    days_ago = datetime.now(UTC) - timedelta(days=2)
    desk.add(lambda s: s.query(EndedSignIn).update({"at": days_ago}))
    assert {process.ask(path).status_code for _ in range(2)} == {200}
    assert process.twice(facts[1], cookie).status_code == 200
    end_links(desk.services.db, NOON, facts[0], facts[1], facts[3])
    assert client.post("/sign-out", data=form).status_code == 303
    seconds[0] += 1.9
    assert process.ask(path).status_code == 404
    assert process.get(facts[1], cookie).status_code == 401
    with desk.services.db.read() as s:
        old = s.query(EndedSignIn).filter(EndedSignIn.at <= days_ago).count()
    assert old <= 1, "only the newest row stays"


# ---- guests' links and the board


def test_a_link_and_the_board_are_answered_here_as_ride_pages_are(
    desk: Desk, process: Process, cookie: str
) -> None:
    token = make_link(desk.services.db, NOON, *link_facts(desk))
    first = process.ask(f"/t/{token}/snapshot.json")
    board = process.ask("/board.json", cookie)
    process.flask_paths.clear()
    again = process.ask(f"/t/{token}/snapshot.json")
    assert (again.status_code, again.data) == (200, first.data)
    assert again.headers["Cache-Control"] == "no-store"
    unchanged = process.ask("/board.json?since=a.b.c~", cookie, board.headers["ETag"])
    assert (unchanged.status_code, unchanged.data) == (304, b"")
    assert process.flask_paths == []
    assert (process.ask("/board.json?since=a.b.c~", cookie).json or {})["rows"]
    assert process.flask_paths == ["/board.json"], "what differs from `since` is Flask's to say"


@pytest.mark.parametrize("how", ["ended", "replaced", "expired"])
def test_a_link_that_ends_opens_nothing_within_two_seconds_in_every_process(
    desk: Desk, process: Process, seconds: list[float], how: str
) -> None:
    facts = link_facts(desk)
    token, elsewhere = make_link(desk.services.db, NOON, *facts), Process(desk, seconds)
    path = f"/t/{token}/snapshot.json"
    assert {p.ask(path).status_code for p in (process, elsewhere) for _ in range(2)} == {200}
    if how == "ended":
        end_links(desk.services.db, NOON, facts[0], facts[1], facts[3])
    elif how == "replaced":
        replace_rider_links(desk.services.db, NOON, facts[0], facts[1], facts[3])
    else:
        drives(desk, facts[1], status="COMPLETED", ended_at=NOON - timedelta(days=1, seconds=-1))
        desk.now = NOON + timedelta(seconds=1.5)
    seconds[0] += 1.9
    assert [p.ask(path).status_code for p in (process, elsewhere)] == [404, 404]
    elsewhere.close()


def test_an_address_that_has_not_opened_a_link_is_counted_by_flask(
    desk: Desk, process: Process
) -> None:
    path = f"/t/{make_link(desk.services.db, NOON, *link_facts(desk))}/snapshot.json"
    assert {process.ask(path).status_code for _ in range(3)} == {200}
    assert len(process.flask_paths) == 1
    other = Client(process.middleware, use_cookies=False)
    assert other.get(path, environ_base={"REMOTE_ADDR": "198.51.100.7"}).status_code == 200
    assert len(process.flask_paths) == 2


def test_a_paired_device_opens_no_link_though_its_answer_is_stored(
    desk: Desk, process: Process
) -> None:
    path = f"/t/{make_link(desk.services.db, NOON, *link_facts(desk))}/snapshot.json"
    assert {process.ask(path).status_code for _ in range(2)} == {200}
    with desk.services.db.write() as s:
        lobby = new_device(s, desk.ids["desk.property"], KioskKind.KIOSK, "Lobby", NOON)
        device = begin(lobby, NOON)
    assert process.ask(path, f"ridedash_kiosk={device}").status_code == 404
    assert process.ask(path).status_code == 200


@pytest.mark.parametrize("change", ["close_all", "disabled", "role", "moved", "signed out"])
def test_the_board_is_no_longer_shown_within_two_seconds(
    desk: Desk, process: Process, seconds: list[float], change: str
) -> None:
    name = f"{change} {desk.order('READY')}"
    staff_id = new_concierge(desk, name)
    client = desk.client(name=name)
    form, cookie = {"csrf_token": token(client)}, cookie_of(client)
    tag = process.ask("/board.json", cookie).headers["ETag"]
    assert process.ask("/board.json", cookie, tag).status_code == 304
    if change == "signed out":
        assert client.post("/sign-out", data=form).status_code == 303
    else:
        desk.add(lambda s: happen(desk, s, staff_id, change))
    seconds[0] += 1.9
    assert process.ask("/board.json", cookie, tag).status_code == 401


def test_what_another_process_changed_is_on_the_board_within_half_a_second(
    desk: Desk, process: Process, seconds: list[float], cookie: str
) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    tag = process.ask("/board.json", cookie).headers["ETag"]
    drives(desk, order_id, status="CLIENT_LOCATED")
    seconds[0] += 0.5
    assert process.ask("/board.json", cookie, tag).status_code == 200


def link_facts(desk: Desk) -> tuple[int, int, LinkKind, Actor]:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    return desk.ids["desk.property"], order_id, LinkKind.RIDER, by_staff(desk.ids["desk"])


def drives(desk: Desk, order_id: int, **facts: Any) -> None:
    def rows(s: Any) -> None:
        s.get(Order, order_id).version += 1
        s.query(Ride).filter(Ride.order_id == order_id).update(facts)

    desk.add(rows)


# ---- changes


def test_changes_are_seen_within_a_quarter_of_a_second(
    desk: Desk, process: Process, seconds: list[float], cookie: str
) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    process.twice(order_id, cookie)
    desk.add(lambda s: setattr(s.get(Order, order_id), "version", 9))
    assert (process.get(order_id, cookie).json or {})["version"] == 3
    seconds[0] += LOOK_S
    assert (process.get(order_id, cookie).json or {})["version"] == 9
    seen_at = NOON + timedelta(seconds=3)
    desk.add(lambda s: s.query(Ride).filter(Ride.order_id == order_id).update({"seen_at": seen_at}))
    seconds[0] += LOOK_S
    assert process.get(order_id, cookie).headers["X-Seen-At"] == "2026-05-04T08:30:03.000Z"


def test_an_account_that_the_service_forgot_is_shown_within_a_quarter_of_a_second(
    desk: Desk, process: Process, seconds: list[float], cookie: str
) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    before = process.twice(order_id, cookie)
    # no shown fact of the ride differs: its version stays
    for state, shown in (("reconnect", True), ("ok", False)):
        desk.add(
            lambda s, to=state: setattr(
                s.get(Account, s.get(Order, order_id).account_id), "state", to
            )
        )
        seconds[0] += LOOK_S
        answer = process.get(order_id, cookie, before.headers["ETag"] if shown else None)
        assert ("The account needs reconnecting" in answer.text) is shown


def test_who_changes_something_sees_it_at_once(desk: Desk, process: Process) -> None:
    client = desk.client()
    order_id = desk.order("READY")
    form, cookie = {"csrf_token": token(client)}, cookie_of(client)
    assert (process.twice(order_id, cookie).json or {})["order_state"] == "READY"
    Client(process.middleware, use_cookies=False).post(
        f"/rides/{order_id}/withdraw", data=form, headers={"Cookie": cookie}
    )
    assert (process.get(order_id, cookie).json or {})["order_state"] != "READY"


def test_who_changes_something_sees_it_though_another_thread_read_before(
    desk: Desk, process: Process
) -> None:
    order_id, cache = desk.order("BOOKED", "CALL_DRIVER"), process.cache
    key, was_read, go_on = Key("/x", (1, "concierge"), "en"), threading.Event(), threading.Event()

    def slow(_before: int | None) -> CacheEntry[int]:
        with desk.services.db.read() as s:
            (found,) = revisions(s, [order_id])
        was_read.set()
        go_on.wait(60)
        return CacheEntry(found.version, found, FRESH_S)

    other = threading.Thread(target=lambda: cache.share(key, slow))
    other.start()
    assert was_read.wait(60)
    desk.add(lambda s: setattr(s.get(Order, order_id), "version", 9))
    cache.look_again()
    assert cache.in_touch()
    go_on.set()
    other.join()
    assert cache.valid(key) is None


def test_what_is_typed_to_find_a_guest_is_no_write(desk: Desk, process: Process) -> None:
    client = desk.client()
    form, before = {"csrf_token": token(client), "q": "412"}, process.cache.writes
    client_of_cache = Client(process.middleware, use_cookies=False)
    for path in READS:
        answer = client_of_cache.post(path, data=form, headers={"Cookie": cookie_of(client)})
        assert answer.status_code in (200, 303, 403), path
    assert process.cache.writes == before


def test_an_answer_is_made_anew_after_half_a_minute_for_all_who_watch(
    desk: Desk, process: Process, seconds: list[float], cookie: str
) -> None:
    order_id, another = desk.order("BOOKED", "CALL_DRIVER"), signed_in(desk)
    process.twice(order_id, cookie)
    process.twice(order_id, another)
    process.flask_paths.clear()
    for _ in range(10):
        seconds[0] += FRESH_S / 10
        process.get(order_id, cookie)
        process.get(order_id, another)
    assert len(process.flask_paths) == 1


def test_rides_that_no_one_asks_for_any_more_leave_nothing_stored(
    desk: Desk, process: Process, seconds: list[float], cookie: str
) -> None:
    over = [desk.order("BOOKED", "COMPLETED") for _ in range(3)]
    for order_id in over:
        assert process.twice(order_id, cookie).status_code == 200
    seconds[0] += 2 * FRESH_S
    live = desk.order("BOOKED", "CALL_DRIVER")
    assert process.twice(live, cookie).status_code == 200
    assert [key.page for key in process.cache.entries] == [f"/rides/{live}/snapshot.json"]
    assert process.get(over[0], cookie).status_code == 200, "Flask answers, and it is stored again"
    assert len(process.cache.entries) == 2


def test_an_answer_is_made_once_however_many_ask(desk: Desk, seconds: list[float]) -> None:
    """Threads that ask while another one makes the answer wait for it, and take it."""
    cache = PollCache(desk.services.db, lambda: seconds[0])
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    key = Key("a page", (1, "concierge"), "en")
    with desk.services.db.read() as s:
        (revision,) = revisions(s, [order_id])
    assert cache.in_touch()
    began, others_ask, made, got = threading.Event(), threading.Barrier(6), [], []

    def make(_before: object) -> CacheEntry[str]:
        began.set()
        others_ask.wait(60)
        made.append(CacheEntry("answer", revision, FRESH_S))
        return made[-1]

    def ask() -> None:
        others_ask.wait(60)
        got.append(cache.share(key, make))

    threads = [threading.Thread(target=lambda: got.append(cache.share(key, make)))]
    threads[0].start()
    assert began.wait(60)
    threads += [threading.Thread(target=ask) for _ in range(5)]
    for thread in threads[1:]:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == made * 6


def test_what_is_stored_and_who_is_known_is_bounded(
    desk: Desk, seconds: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MAX_VIEWERS", "MAX_ENTRIES"):
        monkeypatch.setattr(poll_cache, name, 3)
    cache = PollCache(desk.services.db, lambda: seconds[0])
    for n, cookie in enumerate([*(f"cookie {n}" for n in range(9)), "x" * 9_999]):
        audience = n, "concierge"
        cache.share(Key("a page", audience, "en"), lambda _before: CacheEntry(None, None, 1.0))
        cache.admit((cookie, "localhost"), Viewer("hash", audience, seconds[0] + 1))
    assert [len(cache.entries), len(cache.viewers)] == [3, 3]
    assert list(cache.viewers) == [(f"cookie {n}", "localhost") for n in (6, 7, 8)], (
        "who was verified last is known"
    )


# ---- errors


def test_long_credentials_and_hosts_are_not_stored(
    desk: Desk, process: Process, cookie: str
) -> None:
    token = make_link(desk.services.db, NOON, *link_facts(desk))
    browser = Client(process.middleware, use_cookies=False)
    path = f"/t/{token}/snapshot.json"
    there = {"Host": "x" * MAX_CREDENTIAL + ".example"}
    assert browser.get(path, headers=there).status_code in (200, 400)
    here = {"REMOTE_ADDR": "1" * MAX_CREDENTIAL}
    assert browser.get(path, environ_base=here).status_code == 200
    assert browser.get(path).status_code == 200
    assert list(process.cache.viewers) == [(path, "", "localhost")]


def test_without_its_database_nothing_stored_is_used(
    desk: Desk,
    process: Process,
    seconds: list[float],
    cookie: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    process.twice(order_id, cookie)

    class Away:
        def read(self) -> Any:
            raise OSError("away")

    process.cache._db, db = Away(), process.cache._db  # type: ignore[assignment]
    seconds[0] += LOOK_S
    assert process.twice(order_id, cookie).status_code == 200
    assert len(process.flask_paths) == 3
    assert [record.message for record in caplog.records] == [
        "stored polls can't be checked in the database: OSError"
    ]
    process.cache._db = db
    seconds[0] += LOOK_S
    process.twice(order_id, cookie)
    assert len(process.flask_paths) == 3


def test_an_error_in_the_middleware_costs_speed_only_and_is_logged_once(
    desk: Desk, process: Process, cookie: str, caplog: pytest.LogCaptureFixture
) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    clock: Any = lambda: 1 // 0  # noqa: E731
    broken = PollMiddleware(process.flask, process.cache, clock, print)
    answers = [
        Client(broken, use_cookies=False).get(
            f"/rides/{order_id}/snapshot.json", headers={"Cookie": cookie}
        )
        for _ in range(3)
    ]
    assert [comparable(answer) for answer in answers] == [
        comparable(from_flask(desk.app, order_id, cookie))
    ] * 3
    assert [record.levelname for record in caplog.records] == ["ERROR"]


def test_the_setting_switches_the_middleware_and_its_cache_off(tmp_path: Path) -> None:
    for setting, there in (("on", True), ("off", False)):
        desk = make_desk(tmp_path / setting, POLL_LAYER=setting)
        assert isinstance(desk.app.wsgi_app, PollMiddleware) == there
        assert (EXTENSION in desk.app.extensions) == there
        desk.close()


def test_behind_a_proxy_the_middleware_knows_the_requested_host(tmp_path: Path) -> None:
    desk = make_desk(
        tmp_path, POLL_LAYER="on", TRUSTED_PROXIES="1", TRUSTED_HOSTS="desk.example,localhost"
    )
    order_id, cookie = desk.order("BOOKED", "CALL_DRIVER"), signed_in(desk)
    headers = {"X-Forwarded-Host": "desk.example", "Host": "internal"}
    assert [from_flask(desk.app, order_id, cookie, **headers).status_code for _ in range(2)] == [
        200,
        200,
    ]
    evil = headers | {"X-Forwarded-Host": "evil.example"}
    assert [from_flask(desk.app, order_id, cookie, **evil).status_code for _ in range(2)] == [
        400,
        400,
    ]
    desk.close()


# ---- limits


def test_twenty_open_pages_of_one_desk_are_not_throttled(
    desk: Desk, process: Process, seconds: list[float], cookie: str
) -> None:
    rides = [desk.order("BOOKED", "CALL_DRIVER") for _ in range(20)]
    for _ in range(14):
        seconds[0] += 1.5
        assert {process.get(order_id, cookie).status_code for order_id in rides} == {200}


def test_one_page_that_polls_without_end_is_throttled_without_the_cache(
    desk: Desk, cookie: str
) -> None:
    assert [from_flask(desk.app, 999_999, cookie).status_code for _ in range(241)].count(429) == 1
    assert from_flask(desk.app, desk.order("BOOKED", "CALL_DRIVER"), cookie).status_code == 200


def test_rides_that_are_not_there_can_not_be_tried_without_end(
    process: Process, cookie: str
) -> None:
    assert [process.get(900_000 + n, cookie).status_code for n in range(241)].count(429) == 1
