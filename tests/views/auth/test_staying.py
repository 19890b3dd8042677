"""How long a sign-in lasts: it goes on with a person's use, not with polls, for a week at most."""

from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from ridedash.store.models.people import SignIn, Staff
from ridedash.store.orders import Order
from ridedash.store.properties import find_staff
from ridedash.store.sign_ins import UNUSED_LASTS, WHOLE_LASTS
from ridedash.views.poll_cache.cache import EXTENSION, PollCache
from ridedash.views.web import kept_forms
from tests.views.ride_pages import NOON, PASSWORD, Desk, make_desk, token

pytestmark = pytest.mark.database

HOUR, SECOND = timedelta(hours=1), timedelta(seconds=1)
# what browsers send with a page that a person opens, with one that loads itself, with a script's
PRESSED = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-User": "?1", "Accept": "text/html"}
BY_ITSELF = {"Sec-Fetch-Mode": "navigate", "Accept": "text/html"}
SCRIPT = {"Sec-Fetch-Mode": "cors", "Accept": "application/json"}
PANE = {"Sec-Fetch-Mode": "cors", "Accept": "text/html", "X-Part": "beside"}
OLD_BROWSER = {"Accept": "text/html"}


def state(client: FlaskClient) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/sign-in.json", headers=SCRIPT).get_json()
    return found


def stay(client: FlaskClient) -> TestResponse:
    return client.post("/me/stay", headers={**SCRIPT, "X-CSRFToken": token(client)})


def opens(client: FlaskClient) -> bool:
    """Whether the board opens; as a page that loads itself, which lets nothing last on."""
    return client.get("/", headers=BY_ITSELF).status_code == 200


@pytest.mark.parametrize("headers", [PRESSED, OLD_BROWSER, {}])
def test_a_desk_whose_pages_are_opened_stays_signed_in(desk: Desk, headers: dict[str, str]) -> None:
    client = desk.client()
    for _ in range(4):
        desk.now += 11 * HOUR
        assert client.get("/", headers=headers).status_code == 200
    desk.now += UNUSED_LASTS
    assert client.get("/", headers=headers).status_code == 303


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/board.json", SCRIPT),
        ("/board.json?only=bar", SCRIPT),
        ("/sign-in.json", SCRIPT),
        ("/", BY_ITSELF),
        ("/history", PANE),
        ("/history", OLD_BROWSER | {"X-Part": "beside"}),
    ],
)
def test_what_pages_ask_by_themselves_is_no_use(
    desk: Desk, path: str, headers: dict[str, str]
) -> None:
    client = desk.client()
    for _ in range(11):
        desk.now += HOUR
        assert client.get(path, headers=headers).status_code == 200
    assert state(client)["left_s"] == 3600
    desk.now += HOUR + SECOND
    assert not opens(client)
    assert state(client)["who"] == ""


def test_a_form_that_a_person_sends_is_use(desk: Desk) -> None:
    client = desk.client()
    desk.now += 11 * HOUR
    form = {"csrf_token": token(client), "sound": "1"}
    assert client.post("/me/preferences", data=form, headers=PRESSED).status_code == 303
    assert state(client)["left_s"] == 12 * 3600


def test_reported_presses_let_the_sign_in_last_on(desk: Desk) -> None:
    client = desk.client()
    desk.now += 11 * HOUR
    answer = stay(client)
    assert answer.status_code == 200
    assert answer.get_json()["left_s"] == 12 * 3600
    assert state(client)["left_s"] == 12 * 3600
    assert client.post("/me/stay", headers=SCRIPT).status_code == 400, "it needs the CSRF token"


def test_no_use_goes_beyond_a_week(desk: Desk) -> None:
    client, end = desk.client(), NOON + WHOLE_LASTS
    while desk.now < end - 6 * HOUR:
        desk.now += 6 * HOUR
        assert stay(client).status_code == 200
    assert (state(client)["ends"], state(client)["left_s"]) == ("whole", 6 * 3600)
    desk.now = end - 9 * 60 * SECOND
    found = stay(client).get_json()
    assert found["left_s"] == 9 * 60
    assert found["warning"] == (
        "You will be signed out at 14:00: after a week everybody types their password again."
    )
    desk.now = end
    assert stay(client).status_code == 401
    assert not opens(client)


def test_the_page_is_warned_in_the_last_ten_minutes_with_the_time_of_the_house(desk: Desk) -> None:
    client = desk.client()
    desk.now = NOON + 12 * HOUR - 601 * SECOND
    assert state(client)["warning"] == ""
    desk.now += SECOND
    found = state(client)
    assert (found["left_s"], found["ends"]) == (600, "unused")
    assert (
        found["warning"]
        == "You will be signed out at 02:00: nobody has used this desk for a while."
    )
    page = client.get("/history", headers=BY_ITSELF).text
    assert 'data-left="600"' in page
    assert found["warning"] in page
    assert stay(client).get_json()["warning"] == ""


def test_a_page_names_its_person_but_no_secret(desk: Desk) -> None:
    client, another = desk.client(), desk.client()
    mine, other = state(client), state(another)
    assert mine["who"] == other["who"]
    assert mine["sign_in"] != other["sign_in"]
    assert state(desk.client(name="other"))["who"] != mine["who"]
    with desk.services.db.read() as s:
        hashes = " ".join(row.id_hash for row in s.query(SignIn))
    with client.session_transaction() as session:
        assert mine["sign_in"] not in hashes + session["sid"]
    page = client.get("/", headers=BY_ITSELF).text
    assert f'data-who="{mine["who"]}"' in page
    assert f'data-sign-in="{mine["sign_in"]}"' in page


def test_without_a_sign_in_there_is_only_a_token_to_sign_in_with(desk: Desk) -> None:
    client = desk.client(signed_in=False)
    found = state(client)
    assert found.pop("csrf")
    assert found == {"who": "", "sign_in": "", "left_s": 0, "ends": "", "warning": ""}


def test_what_has_ended_is_not_brought_back(desk: Desk) -> None:
    client = desk.client()
    form = {"csrf_token": token(client)}
    cookie = client.get_cookie("ridedash_sid")
    assert cookie is not None
    assert client.post("/sign-out", data=form).status_code == 303
    thief = desk.client(signed_in=False)
    thief.set_cookie("ridedash_sid", cookie.value)
    assert stay(thief).status_code == 401
    disabled = desk.client()
    desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), "disabled_at", NOON))
    assert stay(disabled).status_code == 401
    with desk.services.db.read() as s:
        assert s.query(SignIn).count() == 0


def test_a_new_password_starts_no_new_week(desk: Desk) -> None:
    client = desk.client()
    desk.now += 9 * HOUR
    fresh = "four words of another kind 7"
    form = {"csrf_token": token(client), "current": PASSWORD, "password": fresh, "repeated": fresh}
    assert client.post("/me/password", data=form, headers=SCRIPT).status_code == 303
    assert state(client)["left_s"] == 3 * 3600
    with desk.services.db.read() as s:
        assert [row.created_at for row in s.query(SignIn)] == [NOON]


def in_place(
    client: FlaskClient, name: str = "desk", password: str = PASSWORD, **more: str
) -> TestResponse:
    form = {"name": name, "password": password, "csrf_token": state(client)["csrf"], **more}
    return client.post("/sign-in", data=form, headers=SCRIPT)


def test_a_script_signs_in_and_gets_the_state_with_a_token_that_is_good(desk: Desk) -> None:
    client = desk.client()
    before = state(client)
    desk.now += 12 * HOUR + SECOND
    found = in_place(client).get_json()
    assert found["who"] == before["who"]
    assert found["sign_in"] != before["sign_in"]
    assert found["left_s"] == 12 * 3600
    sent = client.post("/me/stay", headers={**SCRIPT, "X-CSRFToken": found["csrf"]})
    assert sent.status_code == 200


def test_a_script_hears_why_it_can_not_sign_in(desk: Desk) -> None:
    client = desk.client(signed_in=False)
    wrong = in_place(client, password="not this one")
    assert wrong.status_code == 401
    assert wrong.get_json() == {"message": "That name and password don't go together."}
    assert in_place(client, password="").get_json() == {
        "message": "Type your name and your password."
    }
    for _ in range(5):
        wrong = in_place(client, password="not this one")
    assert wrong.status_code == 429
    assert int(wrong.headers["Retry-After"]) > 0
    assert wrong.get_json()["message"].startswith("Too many tries.")
    no_token = client.post("/sign-in", data={"name": "desk", "password": "x"}, headers=SCRIPT)
    assert no_token.status_code == 400
    assert no_token.get_json()["message"]


def test_signing_in_again_ends_the_sign_in_before(desk: Desk) -> None:
    client = desk.client()
    cookie = client.get_cookie("ridedash_sid")
    assert cookie is not None
    assert in_place(client).status_code == 200
    copied = desk.client(signed_in=False)
    copied.set_cookie("ridedash_sid", cookie.value)
    assert not opens(copied)
    assert opens(client)


# ---- forms that were sent after the end ----

TYPED = {
    "guest_name": "Guest Heron",
    "guest_room": "412",
    "guest_note": "two cases & a cello",
    "pickup": "Harbour Gate",
    "drop": "Pier Nine",
    "form_token": "a-token-of-this-form-1234",
}


class Hidden(HTMLParser):
    """The hidden fields of a page by their names, and the names and values of its buttons."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.fields: dict[str, str] = {}
        self.buttons: dict[str, str] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if tag == "input" and found.get("type") == "hidden":
            self.fields[found.get("name", "")] = found.get("value", "")
        if tag == "button" and "name" in found:
            self.buttons[found["name"]] = found.get("value", "")


def of_form(client: FlaskClient) -> dict[str, str]:
    """The hidden fields of the booking form, as a page of this sign-in has them."""
    fields = Hidden(client.get("/rides/new", headers=BY_ITSELF).text).fields
    return {name: fields[name] for name in ("csrf_token", "page_of")}


def press_book(client: FlaskClient, fields: dict[str, str], **more: str) -> TestResponse:
    return client.post("/rides/new", data={**TYPED, **fields, **more}, headers=PRESSED)


@pytest.mark.parametrize("how", ["unused", "signed out"])
def test_a_booking_sent_after_the_end_comes_back_to_the_same_person(desk: Desk, how: str) -> None:
    client = desk.client()
    fields = of_form(client)
    if how == "unused":
        desk.now += 12 * HOUR + SECOND
    else:
        client.post("/sign-out", data={"csrf_token": fields["csrf_token"]})
    asked = press_book(client, fields)
    assert asked.status_code == 401
    assert "Sign in as the same person" in asked.text
    assert "Guest Heron" not in asked.text
    sealed = Hidden(asked.text).fields
    back = client.post("/sign-in", data={**sealed, "name": "desk", "password": PASSWORD})
    assert back.status_code == 200
    found = Hidden(back.text)
    assert {name: found.fields[name] for name in TYPED} == TYPED
    assert found.buttons == {"show": "1"}
    form = client.post("/rides/new", data={**found.fields, **found.buttons}, headers=PRESSED)
    assert form.status_code == 200
    assert 'value="Guest Heron"' in form.text
    assert "two cases &amp; a cello" in form.text
    with desk.services.db.read() as s:
        assert s.query(Order).count() == 0, "signing in orders nothing"


def test_what_was_typed_survives_a_wrong_password(desk: Desk) -> None:
    client = desk.client()
    fields = of_form(client)
    desk.now += 12 * HOUR + SECOND
    sealed = Hidden(press_book(client, fields).text).fields
    wrong = client.post("/sign-in", data={**sealed, "name": "desk", "password": "wrong"})
    assert wrong.status_code == 401
    again = Hidden(wrong.text).fields
    back = client.post("/sign-in", data={**again, "name": "desk", "password": PASSWORD})
    assert "two cases" in back.text


def test_another_person_never_gets_it(desk: Desk) -> None:
    client = desk.client()
    fields = of_form(client)
    desk.now += 12 * HOUR + SECOND
    sealed = Hidden(press_book(client, fields).text).fields
    other = client.post("/sign-in", data={**sealed, "name": "other", "password": PASSWORD})
    assert (other.status_code, other.headers["Location"]) == (303, "/rides/new")
    assert "Heron" not in client.get("/rides/new").text


def test_it_is_kept_for_an_hour(desk: Desk) -> None:
    client = desk.client()
    fields = of_form(client)
    desk.now += 12 * HOUR + SECOND
    sealed = Hidden(press_book(client, fields).text).fields
    desk.now += kept_forms.KEPT_FOR + SECOND
    late = client.post("/sign-in", data={**sealed, "name": "desk", "password": PASSWORD})
    assert (late.status_code, late.headers["Location"]) == (303, "/rides/new")


def test_nothing_is_kept_of_a_form_that_is_no_ones_or_too_long(desk: Desk) -> None:
    client = desk.client()
    fields = of_form(client)
    desk.now += 12 * HOUR + SECOND
    forged = {**fields, "page_of": fields["page_of"][:-2] + "xx"}
    for sent in (forged, {"csrf_token": fields["csrf_token"]}):
        assert press_book(client, sent).headers["Location"] == "/sign-in?next=%2Frides%2Fnew"
    long = press_book(client, fields, guest_note="x" * 60_000)
    assert long.headers["Location"] == "/sign-in?next=%2Frides%2Fnew"
    sealed = Hidden(press_book(client, fields).text).fields
    for broken in ("", "k1.a.b", "x" * 90_000, sealed["kept"][:-4] + "AAAA"):
        form = {**sealed, "kept": broken, "name": "desk", "password": PASSWORD}
        assert client.post("/sign-in", data=form).status_code == 303
        client.post("/sign-out", data={"csrf_token": token(client)})
        sealed["csrf_token"] = state(client)["csrf"]


def test_of_a_form_that_could_be_sent_from_elsewhere_nothing_is_kept(desk: Desk) -> None:
    client = desk.client()
    fields = of_form(client)
    desk.now += 12 * HOUR + SECOND
    sent = client.post(
        "/rides/new", data={**TYPED, **fields}, headers={"Sec-Fetch-Site": "cross-site"}
    )
    assert sent.status_code == 403
    assert "kept" not in Hidden(sent.text).fields


# ---- polls from the cache ----


def test_a_cached_poll_says_nothing_of_a_sign_in_and_ends_with_it(tmp_path: Path) -> None:
    made = make_desk(tmp_path, POLL_LAYER="on")
    try:
        first, second = made.client(), made.client()
        made.now += 2 * HOUR
        third = made.client()
        answers = [each.get("/board.json", headers=SCRIPT) for each in (first, second, third)]
        assert len({each.data for each in answers}) == 1
        for each in answers:
            seen = f"{dict(each.headers)}{each.text}"
            assert "left_s" not in seen
            assert state(first)["sign_in"] not in seen
        assert [state(each)["left_s"] for each in (first, third)] == [10 * 3600, 12 * 3600]
        made.now += 9 * HOUR
        assert stay(second).status_code == 200
        made.now += 2 * HOUR
        cache: PollCache = made.app.extensions[EXTENSION]
        cache.forget()
        cache.viewers.clear()  # as ten minutes after they were verified
        codes = [each.get("/board.json", headers=SCRIPT).status_code for each in (first, second)]
        assert codes == [401, 200]
    finally:
        made.close()


def test_a_kiosk_a_link_and_the_door_have_no_sign_in_to_last_on(desk: Desk) -> None:
    client = desk.client(signed_in=False)
    for path in ("/kiosk", "/door", "/t/unknown", "/sign-in"):
        client.get(path, headers=PRESSED)
    with desk.services.db.read() as s:
        assert s.query(SignIn).count() == 0
        assert find_staff(s, "desk") is not None
