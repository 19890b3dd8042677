"""A browser that has signed in before has tries of its own: strangers can't shut the sign-in."""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from flask.testing import FlaskClient

from ridedash.store import properties, sign_in_tries
from ridedash.store.audit import AuditRow
from ridedash.store.models.people import Staff, Throttle
from tests.views.ride_pages import HASH, NOON, PASSWORD, Desk, token

pytestmark = pytest.mark.database

COOKIE = "ridedash_known"
HOUSE = "203.0.113.200"
TEN = [f"198.51.100.{n}" for n in range(10)]
ELEVEN = [f"2001:db8:0:{n:x}::{n:x}" for n in range(11)]  # /64 networks of one /56


def press(
    browser: FlaskClient, password: str = PASSWORD, name: str = "desk", address: str = HOUSE
) -> int:
    """One try to sign in; returns the status of the answer."""
    form = {"name": name, "password": password, "csrf_token": token(browser)}
    sent = browser.post("/sign-in", data=form, environ_overrides={"REMOTE_ADDR": address})
    return sent.status_code


def known(desk: Desk, name: str = "desk", address: str = HOUSE) -> FlaskClient:
    """A browser in which this person has signed in, and out again."""
    browser = desk.client(signed_in=False)
    assert press(browser, name=name, address=address) == 303
    assert browser.post("/sign-out", data={"csrf_token": token(browser)}).status_code == 303
    return browser


def staff_of(desk: Desk, *names: str) -> None:
    with desk.services.db.write() as s:
        for name in names:
            prop = desk.ids["desk.property"]
            properties.add_staff(s, prop, name, HASH, "concierge", NOON)


def guess(desk: Desk, addresses: list[str], count: int, names: Callable[[int], str]) -> Counter:  # type: ignore[type-arg]
    """`count` wrong tries of strangers, one address after the other."""
    stranger = desk.client(signed_in=False)
    return Counter(
        press(stranger, f"guess {n}", names(n), addresses[n % len(addresses)]) for n in range(count)
    )


def fill(desk: Desk, addresses: list[str], count: int, names: Callable[[int], str]) -> None:
    """The counts of `guess`, without its requests."""
    with desk.services.db.write() as s:
        for n in range(count):
            sign_in_tries.sign_in_allowed(s, names(n), addresses[n % len(addresses)], desk.now)


@pytest.mark.parametrize(
    ("addresses", "count", "aim"),
    [
        (TEN, 300, "names that no one has"),
        (TEN, 300, "names of the staff"),
        (ELEVEN, 319, "names that no one has"),
        ([HOUSE], 300, "names of the staff"),
    ],
    ids=["ten", "ten at the staff", "eleven", "the house's own"],
)
def test_wrong_tries_of_strangers_refuse_no_right_sign_in_of_a_known_browser(
    desk: Desk, addresses: list[str], count: int, aim: str
) -> None:
    people = [f"Desk {n}" for n in range(10)]
    staff_of(desk, *people)
    browsers = [(known(desk, who), who) for who in people]
    names = (lambda n: people[n % 10]) if aim == "names of the staff" else (lambda n: f"no {n}")
    codes = []
    for part in range(5):
        guess(desk, addresses, count // 5, names)
        codes += [press(*(browser, PASSWORD, who)) for browser, who in browsers]
        desk.now = NOON + timedelta(minutes=part)
    assert codes == [303] * 50


def test_one_name_is_guessed_no_faster_while_its_own_person_signs_in(desk: Desk) -> None:
    own, tried = known(desk), Counter()  # type: ignore[var-annotated]
    for minute in range(0, 60, 3):
        desk.now = NOON + timedelta(minutes=minute)
        tried += guess(desk, TEN, 6, lambda _n: "desk")
        assert press(own) == 303, f"minute {minute}"
    # 5 at once, then after 30 s, 1, 2, 4, 8 and 15 minutes: what a name has without known browsers
    assert 5 < tried[401] <= 12


def test_a_stolen_cookie_gives_no_more_guesses_than_a_name_has(desk: Desk) -> None:
    stolen = known(desk).get_cookie(COOKIE)
    assert stolen is not None
    thief, plain = desk.client(signed_in=False), desk.client(signed_in=False)
    thief.set_cookie(COOKIE, stolen.value)
    tried: Counter = Counter()  # type: ignore[type-arg]
    for n in range(24 * 6):
        desk.now = NOON + timedelta(minutes=10 * n)
        who, address = (thief, plain)[n % 2], f"198.51.{n % 250}.{n % 249}"
        tried[press(who, f"guess {n}", address=address)] += 1
        tried[press(thief, f"guess again {n}", address=address)] += 1
    assert 24 * 3 <= tried[401] <= 24 * 4 + 12, "four an hour, and those of the first minutes"
    assert press(thief, "guess", "Concierge other") == 401, "for no other name"


def test_a_known_browser_that_mistypes_waits_as_any_other(desk: Desk) -> None:
    own = known(desk)
    assert [press(own, f"wrong {n}") for n in range(5)] == [401] * 5
    assert press(own) == 429
    assert press(desk.client(signed_in=False)) == 429, "its tries count for the name too"
    desk.now = NOON + timedelta(seconds=31)
    assert press(own) == 303


@pytest.mark.parametrize("ended", ["password", "disabled", "role", "sign-outs", "old"])
def test_a_browser_is_known_until_the_persons_access_changes(desk: Desk, ended: str) -> None:
    own, other = known(desk), desk.client(signed_in=False)
    assert press(other) == 303
    if ended == "password":
        form = {"current": PASSWORD, "password": "quite another long one"}
        form |= {"repeated": form["password"], "csrf_token": token(other)}
        assert other.post("/me/password", data=form).status_code == 303
    elif ended == "sign-outs":
        other.post("/me/sign-outs", data={"csrf_token": token(other)})
    elif ended == "old":
        desk.now = NOON + timedelta(days=181)
    else:
        column, value = {"disabled": ("disabled_at", NOON), "role": ("role", "manager")}[ended]
        desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), column, value))
        desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), "disabled_at", None))
    fill(desk, TEN, 20, lambda _n: "desk")
    assert press(own) == 429
    if ended == "password":
        assert press(other, "quite another long one") == 303, "the one that changed it stays known"


def test_a_desk_where_many_sign_in_one_after_the_other_knows_all_of_them(desk: Desk) -> None:
    people = [f"Desk {n}" for n in range(22)]
    staff_of(desk, *people)
    shared = desk.client(signed_in=False)
    assert [press(shared, name=who) for who in people] == [303] * 22
    cookie = shared.get_cookie(COOKIE)
    assert cookie is not None
    assert len(cookie.value) < 2000
    fill(desk, TEN, 300, lambda n: people[n % 22])
    assert [press(shared, name=who) for who in people[-20:]] == [303] * 20


@pytest.mark.parametrize("cookie", ["", "x", "W10.abc", "a.b.c", "é" * 50, "A" * 3500])
def test_a_made_up_cookie_is_no_known_browser(desk: Desk, cookie: str) -> None:
    fill(desk, TEN, 20, lambda _n: "desk")
    browser = desk.client(signed_in=False)
    browser.set_cookie(COOKIE, cookie)
    assert press(browser) == 429


def test_the_cookie_is_kept_from_scripts_and_other_sites(desk: Desk) -> None:
    browser = desk.client(signed_in=False)
    form = {"name": "desk", "password": PASSWORD, "csrf_token": token(browser)}
    given = browser.post("/sign-in", data=form).headers.getlist("Set-Cookie")
    [cookie] = [each for each in given if each.startswith(f"{COOKIE}=")]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert f"Max-Age={180 * 86_400}" in cookie
    assert PASSWORD not in cookie


def test_signing_out_leaves_the_browser_known_and_ends_the_session(desk: Desk) -> None:
    browser = desk.client(signed_in=False)
    press(browser)
    out = browser.post("/sign-out", data={"csrf_token": token(browser)})
    assert out.headers["Clear-Site-Data"] == '"storage"'
    assert browser.get_cookie("ridedash_sid") is None
    assert browser.get_cookie(COOKIE) is not None


def test_an_attack_on_a_name_does_not_stop_its_person_from_a_new_password(desk: Desk) -> None:
    own = desk.client()  # signed in, in a browser without the cookie
    fill(desk, TEN, 40, lambda _n: "desk")
    form = {"current": PASSWORD, "password": "quite another long one", "csrf_token": token(own)}
    answer = own.post("/me/password", data=form | {"repeated": form["password"]})
    assert answer.status_code == 303
    wrong = form | {"current": "wrong", "csrf_token": token(own)}
    assert [own.post("/me/password", data=wrong).status_code for _ in range(6)] == [422] * 5 + [429]


def test_an_unknown_browser_gets_in_during_an_attack_on_other_names(desk: Desk) -> None:
    fill(desk, TEN, 300, lambda n: f"no {n}")
    fill(desk, ELEVEN, 319, lambda n: f"none {n}")
    assert press(desk.client(signed_in=False)) == 303
    assert press(desk.client(signed_in=False), address="2001:db8:1::1") == 303


def test_pairing_a_screen_is_not_stopped_by_strangers_elsewhere(desk: Desk) -> None:
    stranger = desk.client(signed_in=False)
    with desk.services.db.write() as s:
        waits = [
            sign_in_tries.code_allowed(s, f"198.51.100.{n % 20}", desk.now) for n in range(400)
        ]
    assert waits.count(0.0) == 400
    form = {"code": "WRQNGCDE", "csrf_token": token(stranger)}
    at = {"REMOTE_ADDR": HOUSE}
    assert stranger.post("/kiosk/pair", data=form, environ_overrides=at).status_code == 422


def test_strangers_fill_neither_the_table_of_tries_nor_the_audit_log(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ridedash.store.sign_in_tries.MOST_COUNTS", 100)
    guess(desk, ["198.51.100.1"], 6, lambda _n: "desk")
    fill(desk, [f"198.51.{n}.1" for n in range(250)], 250, lambda n: f"no {n}")
    guess(desk, [f"198.51.{n}.2" for n in range(70)], 70, lambda n: f"none {n}")
    with desk.services.db.read() as s:
        assert s.query(Throttle).count() <= 110
        notes = s.query(AuditRow).filter_by(what="sign_in", result="refused").count()
        assert notes == 5 + 60
    assert press(desk.client(signed_in=False)) == 429, "a name that waits is not forgotten for it"


@pytest.fixture
def crowded(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Strangers take every place at which passwords of unknown browsers are verified."""
    from ridedash.views.auth import verifying

    monkeypatch.setattr(verifying, "PLACE_WAIT_S", 0)
    taken = 0
    while verifying.STRANGERS.acquire(blocking=False):
        taken += 1
    yield
    for _ in range(taken):
        verifying.STRANGERS.release()


def test_a_flood_of_verifications_keeps_no_known_browser_waiting(
    desk: Desk, request: pytest.FixtureRequest
) -> None:
    own = known(desk)
    request.getfixturevalue("crowded")
    assert press(own) == 303
    with desk.services.db.read() as s:
        before = s.query(Throttle).count()
    assert press(desk.client(signed_in=False)) == 429
    with desk.services.db.read() as s:
        assert s.query(Throttle).count() == before, "it was not counted"
