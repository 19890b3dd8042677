"""Sign in and out: sessions are on the server, guessing is slow, `next` never leaves the site."""

import random
from datetime import timedelta
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from werkzeug.security import generate_password_hash

from ridedash.factory import create_app
from ridedash.secrets_file import demo_secrets
from ridedash.store import passwords
from ridedash.store.audit import AuditRow
from ridedash.store.models.people import SignIn, Staff, Throttle
from ridedash.views.web import current_user
from ridedash.views.web.permissions import OPEN, needs
from tests.databases import empty_database
from tests.views.ride_pages import NOON, PASSWORD, Desk, token, token_of_page

pytestmark = pytest.mark.database

HOST = "http://desk.test"


def try_in(desk: Desk, name: str = "desk", password: str = PASSWORD, target: str = "/") -> int:
    client = desk.client(signed_in=False)
    return client.post(
        "/sign-in",
        data={
            "name": name,
            "password": password,
            "next": target,
            "csrf_token": token_of_page(client, "/sign-in"),
        },
    ).status_code


def test_the_right_name_and_password_sign_in(desk: Desk) -> None:
    client = desk.client()
    assert client.get("/").status_code == 200
    assert try_in(desk, name="  DESK ") == 303


@pytest.mark.parametrize(("name", "password"), [("desk", "wrong"), ("nobody", PASSWORD)])
def test_an_unknown_name_and_a_wrong_password_get_the_same_answer(
    desk: Desk, name: str, password: str
) -> None:
    client = desk.client(signed_in=False)
    answer = client.post(
        "/sign-in",
        data={"name": name, "password": password, "csrf_token": token_of_page(client, "/sign-in")},
    )
    assert answer.status_code == 401
    assert "That name and password don&#39;t go together." in answer.text
    assert f'value="{name}"' in answer.text
    assert password not in answer.text.replace(f'value="{name}"', "")


def test_one_verification_runs_for_a_known_and_for_an_unknown_name(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []

    def counted(pwhash: str, password: str) -> bool:
        if password == "x":  # the page verifies the demo's own password once
            calls.append(pwhash)
        return False

    monkeypatch.setattr(passwords, "matches", counted)
    assert try_in(desk, "desk", "x") == 401
    assert try_in(desk, "nobody", "x") == 401
    assert len(calls) == 2
    assert all(call.startswith("scrypt:") for call in calls)


def test_a_disabled_member_of_staff_can_not_sign_in(desk: Desk) -> None:
    desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), "disabled_at", NOON))
    assert try_in(desk) == 401


def test_a_copied_cookie_is_invalid_after_sign_out(desk: Desk) -> None:
    client = desk.client()
    cookie = client.get_cookie("ridedash_sid")
    assert cookie is not None
    out = client.post("/sign-out", data={"csrf_token": token(client)})
    assert out.headers["Location"] == "/sign-in?out=1"
    assert out.headers["Clear-Site-Data"] == '"storage"', "a known browser keeps its cookie"
    thief = desk.client(signed_in=False)
    thief.set_cookie("ridedash_sid", cookie.value)
    assert thief.get("/").status_code == 303
    with desk.services.db.read() as s:
        assert s.query(SignIn).count() == 0


def test_each_sign_in_has_its_own_secret_which_is_not_in_the_database(desk: Desk) -> None:
    client = desk.client(signed_in=False)
    client.get("/sign-in")
    with client.session_transaction() as before:
        before["planted"] = "by somebody else"
        before["sid"] = "chosen-by-an-attacker"
    client.post(
        "/sign-in",
        data={
            "name": "desk",
            "password": PASSWORD,
            "csrf_token": token_of_page(client, "/sign-in"),
        },
    )
    with client.session_transaction() as after:
        sid = after["sid"]
        assert "planted" not in after
        assert set(after) <= {"sid", "csrf_token"}
    with desk.services.db.read() as s:
        hashes = [row.id_hash for row in s.query(SignIn)]
    assert len(hashes) == 1
    assert sid not in hashes
    assert sid != "chosen-by-an-attacker"


def test_a_sign_in_ends_after_twelve_hours(desk: Desk) -> None:
    client = desk.client()
    desk.now = NOON + timedelta(hours=12, seconds=1)
    assert client.get("/").status_code == 303


def test_guessing_is_rate_limited_even_with_the_right_password(desk: Desk) -> None:
    codes = [try_in(desk, password=f"guess {i}") for i in range(5)]
    assert codes == [401] * 5
    client = desk.client(signed_in=False)
    answer = client.post(
        "/sign-in",
        data={
            "name": "desk",
            "password": PASSWORD,
            "csrf_token": token_of_page(client, "/sign-in"),
        },
    )
    assert answer.status_code == 429
    assert int(answer.headers["Retry-After"]) > 0
    assert "Too many tries" in answer.text
    desk.now = NOON + timedelta(seconds=31)
    assert try_in(desk) == 303


def test_of_a_thousand_guesses_few_are_ever_verified(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []
    monkeypatch.setattr(passwords, "matches", lambda _hash, password: tried.append(password))
    client = desk.client(signed_in=False)
    form = {"csrf_token": token_of_page(client, "/sign-in")}
    for i in range(200):
        client.post("/sign-in", data={"name": f"name {i % 7}", "password": f"guess {i}", **form})
    guesses = [each for each in tried if each.startswith("guess")]
    assert 0 < len(guesses) <= 40


def test_who_is_refused_unseen_fills_neither_the_tries_nor_the_audit_log(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passwords, "matches", lambda _hash, _password: False)
    client, other = desk.client(signed_in=False), desk.client(signed_in=False)
    form, code = {"csrf_token": token_of_page(client, "/sign-in")}, {"csrf_token": token(other)}

    def rows_after(count: int) -> tuple[int, int, int]:
        for n in range(count):
            name = f"name {count} {n}"
            client.post("/sign-in", data={"name": name, "password": "guess", **form})
            other.post("/kiosk/pair", data={"code": f"WRQNGC{n}", **code})
        with desk.services.db.read() as s:
            entries = s.query(AuditRow.result).all()
            results = [row.result for row in entries]
            return s.query(Throttle).count(), results.count("refused"), results.count("throttled")

    assert rows_after(30)[:2] == (32, 60)
    assert rows_after(25) == (32, 60, 6)


def test_no_form_is_accepted_without_its_token(desk: Desk) -> None:
    answer = desk.client(signed_in=False).post(
        "/sign-in", data={"name": "desk", "password": PASSWORD}
    )
    assert answer.status_code == 400
    assert "This page was no longer valid. Type your password again." in answer.text
    assert desk.client().post("/sign-out").status_code == 400


def test_of_two_tabs_that_opened_the_sign_in_page_at_once_each_signs_in(desk: Desk) -> None:
    """Neither tab had a cookie yet: the browser keeps the cookie of the page that came last."""
    browser, form = desk.client(signed_in=False), {"name": "desk", "password": PASSWORD}
    first = {**form, "csrf_token": token_of_page(browser, "/sign-in"), "next": "/history"}
    browser._cookies.clear()
    second = {**form, "csrf_token": token_of_page(browser, "/sign-in"), "next": "/history"}
    refused = browser.post("/sign-in", data=first)
    assert (refused.status_code, 'value="desk"' in refused.text) == (400, True)
    assert PASSWORD not in refused.text
    again = {**first, "csrf_token": refused.text.partition('csrf_token" value="')[2].split('"')[0]}
    assert browser.post("/sign-in", data=again).location == "/history"
    late = browser.post("/sign-in", data=second)
    assert (late.status_code, late.location) == (303, "/history"), "the other tab signed in"


def test_the_demo_shows_its_valid_password_and_no_other(desk: Desk, tmp_path: Path) -> None:
    text = desk.client(signed_in=False).get("/sign-in").text
    assert "Demo: no real rides" in text
    assert "data-demo-password" not in text, "this desk's own person has another password"
    own = generate_password_hash(demo_secrets(tmp_path)["staff_password"])
    desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), "password_hash", own))
    text = desk.client(signed_in=False).get("/sign-in").text
    assert "data-demo-password" in text
    assert demo_secrets(tmp_path)["staff_password"] in text


def test_a_demo_without_its_member_of_staff_shows_no_name_and_no_password(
    desk: Desk, tmp_path: Path
) -> None:
    desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), "sign_in_name", "somebody"))
    text = desk.client(signed_in=False).get("/sign-in").text
    assert "data-demo" not in text
    assert demo_secrets(tmp_path)["staff_password"] not in text


def test_the_sign_in_page_of_a_demo_works_before_its_tables_exist(tmp_path: Path) -> None:
    app = create_app(
        {
            "RIDEDASH_INSTANCE": str(tmp_path),
            "RIDEDASH_DATABASE_URL": empty_database(tmp_path / "new"),
        }
    )
    answer = app.test_client().get("/sign-in")
    app.extensions["ridedash"].db.close()
    assert answer.status_code == 200
    assert "data-demo" not in answer.text


@pytest.mark.parametrize("target", ["/rides/new?category=mini", "/rides/7", "/"])
def test_next_leads_back_to_a_page_of_ours(desk: Desk, target: str) -> None:
    with desk.app.test_request_context():
        assert current_user.safe_next(target) == target


HOSTILE = [
    "//evil.test",
    "/\\evil.test",
    "///evil.test",
    "/\t/evil.test",
    "https://evil.test",
    "javascript:alert(1)",
    "\\\\evil.test",
    "/%09/evil.test",
    "",
    None,
    "/nowhere-at-all",
    "/sign-out",
    "/rides/7/abort",
    "evil.test",
    "/rides/7#x",
    "/rides/7\r\nSet-Cookie: a=b",
    "/" + "a" * 600,
]


@pytest.mark.parametrize("target", HOSTILE)
def test_any_other_next_leads_to_the_board(desk: Desk, target: str | None) -> None:
    with desk.app.test_request_context():
        assert current_user.safe_next(target) == "/"


def test_no_combination_of_special_characters_in_next_leaves_the_site(desk: Desk) -> None:
    """Checked by the rules of browsers: a backslash is a slash; tabs and line breaks vanish, and so
    do spaces at the ends.
    """
    chance = random.Random(7)
    pieces = [
        "/",
        "\\",
        "//",
        "evil.test",
        "@",
        ":",
        "\t",
        "\n",
        "\r",
        " ",
        "%2f",
        "%5c",
        ".",
        "..",
        "?",
        "#",
        "rides",
        "new",
        "javascript:",
        "\x00",
        "é",
    ]
    with desk.app.test_request_context():
        for _ in range(20_000):
            text = "".join(chance.choices(pieces, k=chance.randint(1, 6)))
            target = current_user.safe_next(text)
            seen = (
                target.strip()
                .replace("\t", "")
                .replace("\n", "")
                .replace("\r", "")
                .replace("\\", "/")
            )
            assert urlsplit(urljoin(HOST + "/sign-in", seen)).netloc == "desk.test", text


def test_a_signed_in_user_skips_the_form(desk: Desk) -> None:
    answer = desk.client().get("/sign-in?next=/rides/new")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/rides/new")


def test_error_pages_show_what_to_do_and_a_reference(desk: Desk) -> None:
    client = desk.client()
    missing = client.get("/nowhere")
    assert missing.status_code == 404
    assert "There is nothing here" in missing.text
    assert "Reference" in missing.text
    wrong = client.get("/sign-out")
    assert wrong.status_code == 405
    assert "POST" in wrong.headers["Allow"]
    large = client.post("/sign-in", data={"name": "x" * 300_000})
    assert large.status_code == 413
    as_json = client.get("/nowhere.json")
    assert as_json.json is not None
    assert set(as_json.json) == {"error", "message", "reference"}


def test_the_error_page_of_an_unreachable_database_does_not_query_it(
    desk: Desk, tmp_path: Path
) -> None:
    from ridedash.store.database.database import Database

    client, there = desk.client(), desk.services.db
    desk.services.db = away = Database(f"sqlite:///{tmp_path}/no/such/folder/desk.sqlite")
    answer = client.get("/")
    desk.services.db = there
    away.close()
    assert answer.status_code == 503
    assert answer.headers["Retry-After"] == "5"
    assert "won&#39;t book" in answer.text


def test_a_database_without_tables_gets_a_page_with_the_command_to_run(desk: Desk) -> None:
    from ridedash.store.database.database import Base

    client = desk.client()
    Base.metadata.drop_all(desk.services.db.engine)
    answer = client.get("/")
    assert (answer.status_code, "ridedash db upgrade" in answer.text) == (503, True)


def test_an_unexpected_exception_shows_no_details(desk: Desk) -> None:
    def broken() -> str:
        raise RuntimeError("secret detail")

    desk.app.add_url_rule("/broken", "broken", needs(OPEN)(broken))
    desk.app.config["PROPAGATE_EXCEPTIONS"] = False
    answer = desk.client().get("/broken")
    assert answer.status_code == 500
    assert "secret detail" not in answer.text
    assert "Reference" in answer.text


OLD = "Jose\u0301 plante ４ choux"  # as an earlier release stored it
NEW = "Jos\u00e9 plante 4 choux"


def test_an_old_hash_opens_as_it_was_typed_and_is_made_anew(desk: Desk) -> None:
    old = generate_password_hash(OLD, method="scrypt:128:8:1")
    desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), "password_hash", old))
    held = desk.client()  # signed in elsewhere: a new form of the same password ends nothing
    assert try_in(desk, password=OLD + "!") == 401
    assert try_in(desk, password=OLD) == 303
    with desk.services.db.read() as s:
        fresh = s.get_one(Staff, desk.ids["desk"]).password_hash
    assert fresh != old
    assert try_in(desk, password=NEW) == 303
    assert try_in(desk, password=OLD) == 303
    assert held.get("/").status_code == 200
    with desk.services.db.read() as s:
        assert s.get_one(Staff, desk.ids["desk"]).password_hash == fresh


def test_a_new_password_may_be_repeated_on_another_keyboard(desk: Desk) -> None:
    client = desk.client()
    form = {"current": PASSWORD, "password": OLD, "repeated": NEW, "csrf_token": token(client)}
    assert client.post("/me/password", data=form).status_code == 303
    assert try_in(desk, password=NEW) == 303
