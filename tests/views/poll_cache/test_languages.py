"""Readers of one ride in several languages: each gets their own, from the cache or from Flask."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import event
from werkzeug.test import Client, TestResponse

from ridedash.extensions import limiter
from ridedash.rides.share_links import LinkKind, make_link
from ridedash.store.actors import by_staff
from ridedash.views.poll_cache.cache import EXTENSION, PollCache
from tests.marked_words import marked_words
from tests.views.ride_pages import NOON, Desk, make_desk

pytestmark = pytest.mark.database
LANGUAGES = {"": set(), "lang=ar": {"ar"}, "lang=zh-Hans": {"zh_Hans"}, "lang=de": {"de"}}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    found = make_desk(tmp_path, POLL_LAYER="on")
    limiter.enabled = False
    with marked_words(found.app, ["ar", "de", "zh_Hans"]):
        yield found
    limiter.enabled = True
    found.close()


def addresses(desk: Desk, order_id: int) -> list[str]:
    """The addresses of a ride's polls: the desk's, the guest's and a follower's."""
    place, staff = desk.ids["desk.property"], by_staff(desk.ids["desk"])
    return [f"/rides/{order_id}/snapshot.json"] + [
        f"/t/{make_link(desk.services.db, NOON, place, order_id, kind, staff)}/snapshot.json"
        for kind in LinkKind
    ]


def requests_to_flask(desk: Desk) -> list[str]:
    """A list of the paths that the poll middleware passes on to Flask from now on."""
    paths: list[str] = []
    middleware = desk.app.wsgi_app
    flask = middleware.app  # type: ignore[attr-defined]

    def counted(environ: dict[str, str], start: object) -> object:
        paths.append(environ["PATH_INFO"])
        return flask(environ, start)

    middleware.app = counted  # type: ignore[attr-defined]
    return paths


def words_of(answer: TestResponse) -> set[str]:
    """The languages of an answer's words; none for English."""
    assert answer.status_code == 200
    return set(re.findall("⟨([^⟩]+)⟩", answer.text))


@pytest.mark.parametrize(
    "query", ["", "since=", "since=&ride=", "ride=", "only=bar", "rides", "guest", "follower"]
)
def test_no_reader_gets_the_words_of_another(desk: Desk, query: str) -> None:
    """Languages take turns, from the cache and from Flask; a 304 is for the same language only."""
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    known = dict(zip(["rides", "guest", "follower"], addresses(desk, order_id), strict=True))
    address, params = known.get(query, "/board.json"), query if query not in known else ""
    params = params.replace("ride=", f"ride={order_id}")
    browser, tags = desk.client(), {}
    for _time in range(3):
        for lang, expected in LANGUAGES.items():
            answer = browser.get(f"{address}?{'&'.join(filter(None, (params, lang)))}".rstrip("?"))
            assert words_of(answer) == expected, lang
            tags[lang] = answer.headers["ETag"]
    assert len(set(tags.values())) == len(LANGUAGES)
    for lang, expected in LANGUAGES.items():
        url = f"{address}?{'&'.join(filter(None, (params, lang)))}".rstrip("?")
        for seen, tag in tags.items():
            answer = browser.get(url, headers={"If-None-Match": tag})
            if seen == lang:
                assert answer.status_code == 304
            else:
                assert words_of(answer) == expected, (lang, seen)


def test_the_memory_answers_in_each_language(desk: Desk) -> None:
    """Flask answers the first poll of each address in each language, and the cache the others."""
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    browser, flask_requests = desk.client(), requests_to_flask(desk)
    urls = [f"{each}?{lang}" for each in addresses(desk, order_id) for lang in LANGUAGES]
    bodies = [{browser.get(url.rstrip("?")).data for _again in range(3)} for url in urls]
    assert len(flask_requests) == len(urls)
    assert [len(found) for found in bodies] == [1] * len(urls)
    assert len(set.union(*bodies)) == len(urls)


def test_the_cache_answers_in_each_language_that_a_board_is_unchanged(desk: Desk) -> None:
    """The same holds for the ride that is chosen on the board."""
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    desk.app.extensions[EXTENSION].monotonic = lambda: 100.0  # LOOK_S never passes
    browser, flask_requests = desk.client(), requests_to_flask(desk)
    for lang in ("lang=ar", "lang=de"):
        address = f"/board.json?ride={order_id}&{lang}"
        tag = browser.get(address).headers["ETag"]
        flask_requests.clear()
        again = browser.get(address, headers={"If-None-Match": tag})
        assert (again.status_code, flask_requests) == (304, []), lang


def test_the_answer_of_a_board_in_another_language_is_not_read_again(desk: Desk) -> None:
    """The top bar's facts and the list of rows are cached; the rows are read for their words."""
    desk.order("BOOKED", "CALL_DRIVER")
    desk.app.extensions[EXTENSION].monotonic = lambda: 100.0  # LOOK_S never passes
    browser, read = desk.client(), []
    browser.get("/board.json")

    def note(_c: object, _cursor: object, statement: str, *_rest: object) -> None:
        read.append(statement)

    event.listen(desk.services.db.engine, "before_cursor_execute", note)
    for lang in ("lang=ar", "lang=de"):
        assert words_of(browser.get(f"/board.json?{lang}")) == LANGUAGES[lang]
    event.remove(desk.services.db.engine, "before_cursor_execute", note)
    assert [each for each in read if "heartbeats" in each or "UNION" in each] == []
    assert sum("JOIN offers" in each for each in read) == 2


@pytest.mark.parametrize(
    "query",
    ["?lang=xx", "?lang=", "?lang=ar&lang=de", "?lang=ar&x=1", "?xlang=ar", "?x=1lang=ar"],
)
def test_an_address_that_is_not_a_pages_is_answered_by_flask(desk: Desk, query: str) -> None:
    """The answer is the same whether the cache is filled or not: the first language counts."""
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    browser = desk.client()
    for address in (*addresses(desk, order_id), "/board.json"):
        cache: PollCache = desk.app.extensions[EXTENSION]
        cache.look_again()
        first = browser.get(address + query).data
        for known in LANGUAGES:
            browser.get(f"{address}?{known}".rstrip("?"))
        assert browser.get(address + query).data == first
        mark = "⟨ar⟩".encode() if query.startswith("?lang=ar") else b""
        assert ("⟨".encode() in first) is bool(mark)


def test_a_language_of_the_browser_does_not_change_a_poll(desk: Desk) -> None:
    """The language is in the poll's address, so the header of a browser doesn't count."""
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    address = addresses(desk, order_id)[1]
    browser = Client(desk.app.wsgi_app, use_cookies=False)
    german, none = ({"Accept-Language": "de"}, {})
    found = {
        browser.get(address + "?lang=ar", headers=head).data for head in (german, none, german)
    }
    assert len(found) == 1
    assert "⟨ar⟩".encode() in found.pop()
