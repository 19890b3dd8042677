"""Security of every route: CSRF, headers, cookies, hosts, and GETs that change nothing."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import inspect, text
from werkzeug.security import generate_password_hash

from ridedash.extensions import limiter
from ridedash.factory import create_app
from ridedash.store import properties
from ridedash.views.web.permissions import OPEN, needs
from tests.views.ride_pages import HASH, NOON, make_desk
from tests.views.served import Served
from tests.views.test_axe import ADDRESSES
from tests.views.web.test_permissions import address, routes, rows_of

PASSWORD = "a phrase for this test"
# redirects, pages of devices that are not paired here, and addresses that need a query or a file
UNREAD = {"accounts.callback", "admin.home", "auth.sign_in", "door.rows", "door.show", "kiosk.show"}
UNREAD |= {"drop_price.show", "drop_price.way_back", "faces.file", "guest.snapshot"}
UNREAD |= {"history_views.refused_again", "kiosk_visit.places", "lookups.products"}
UNREAD |= {"own_phone.show", "static"}
# tables that reading a page may write
WRITES = {
    "insights.show": {"insight_spans"},  # figures of days that have passed, stored for later
    "demo_stage.newest": {"links", "audit"},  # the link that the phone of a demo opens by itself
}


@pytest.fixture
def app(tmp_path: Path, database: str) -> Iterator[Flask]:
    environ = {"RIDEDASH_INSTANCE": str(tmp_path), "RIDEDASH_DATABASE_URL": database}
    made = create_app(environ | {"RIDEDASH_SERVICE_URL": "http://127.0.0.1:9"})
    services = made.extensions["ridedash"]
    now = services.clock()
    with services.db.write() as s:
        prop = properties.add_property(s, "Hotel A", "UTC", now)
        properties.add_staff(
            s,
            prop.id,
            "desk",
            generate_password_hash(PASSWORD),
            "concierge",
            now,
        )
    yield made
    services.db.close()


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


def sign_in(client: FlaskClient) -> None:
    token = csrf(client.get("/sign-in").text)
    answer = client.post(
        "/sign-in", data={"name": "desk", "password": PASSWORD, "csrf_token": token}
    )
    assert answer.status_code == 303


def csrf(page: str) -> str:
    found = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', page)
    assert found
    return found.group(1)


def filled(rule: str) -> str:
    return re.sub(r"<[^>]+>", "x1", re.sub(r"<int:[^>]+>", "1", rule))


def rules(app: Flask, method: str) -> list[str]:
    found = sorted(str(rule) for rule in app.url_map.iter_rules() if method in (rule.methods or ()))
    assert found
    return found


def test_every_unsafe_route_refuses_a_request_without_a_csrf_token(
    app: Flask, client: FlaskClient
) -> None:
    sign_in(client)
    for rule in rules(app, "POST"):
        for content_type in ("application/x-www-form-urlencoded", "application/json", "text/plain"):
            answer = client.post(filled(rule), data="x=1", content_type=content_type)
            # a guest's link has no session: a press there needs a key of the page instead
            by_link = ("/t/<token>", "/k/<token>", "/k/<token>/<step>")
            wanted = 404 if rule in by_link else 400
            assert answer.status_code == wanted, rule


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_every_unsafe_route_refuses_another_site_whatever_its_token(
    app: Flask, client: FlaskClient, site: str
) -> None:
    sign_in(client)
    token = csrf(client.get("/me").text)
    for rule in rules(app, "POST"):
        answer = client.post(
            filled(rule), data={"csrf_token": token}, headers={"Sec-Fetch-Site": site}
        )
        assert answer.status_code == 403, rule
        assert "That came from another address" in answer.text, rule


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_a_form_of_our_own_pages_is_taken(client: FlaskClient, site: str) -> None:
    token = csrf(client.get("/sign-in").text)
    form = {"name": "desk", "password": PASSWORD, "csrf_token": token}
    answer = client.post("/sign-in", data=form, headers={"Sec-Fetch-Site": site})
    assert answer.status_code == 303


def test_a_page_of_another_site_may_lead_here(client: FlaskClient) -> None:
    answer = client.get("/sign-in", headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 200


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "multipart/form-data"])
def test_a_form_of_more_than_a_hundred_fields_is_refused(client: FlaskClient, kind: str) -> None:
    token = csrf(client.get("/sign-in").text)
    form = {"name": "desk", "password": PASSWORD, "csrf_token": token}
    more = {f"x{n}": "1" for n in range(98)}
    assert client.post("/sign-in", data=form | more, content_type=kind).status_code == 413
    more.popitem()
    assert client.post("/sign-in", data=form | more, content_type=kind).status_code == 303


def test_a_proxy_that_drops_the_port_of_the_host_is_named_on_the_page_and_in_the_log(
    tmp_path: Path, database: str, caplog: pytest.LogCaptureFixture
) -> None:
    from tests.test_config import LIVE

    here = {"RIDEDASH_INSTANCE": str(tmp_path), "RIDEDASH_DATABASE_URL": database}
    app = create_app(
        LIVE
        | here
        | {
            "RIDEDASH_PUBLIC_URL": "https://desk.hotel.example:8443",
            "RIDEDASH_TRUSTED_PROXIES": "1",
        }
    )
    client = app.test_client()
    behind = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "desk.hotel.example"}
    of_page = {"Referer": "https://desk.hotel.example:8443/sign-in"}
    token = csrf(client.get("/sign-in", headers=behind, base_url="https://desk.hotel.example").text)
    answer = client.post(
        "/sign-in",
        data={"name": "desk", "password": PASSWORD, "csrf_token": token},
        headers=behind | of_page,
        base_url="https://desk.hotel.example",
    )
    assert answer.status_code == 400
    assert "That came from another address" in answer.text
    (message,) = [line for line in caplog.messages if "a form was refused" in line]
    assert "The referrer does not match the host." in message
    assert "port included" in message
    app.extensions["ridedash"].db.close()


def test_no_route_takes_put_patch_or_delete(app: Flask) -> None:
    methods = {method for rule in app.url_map.iter_rules() for method in rule.methods or ()}
    assert methods <= {"GET", "HEAD", "OPTIONS", "POST"}


def test_every_answer_carries_the_headers(app: Flask, client: FlaskClient) -> None:
    answers = [client.get(filled(rule)) for rule in rules(app, "GET")]
    answers += [
        client.get("/no/such/page"),
        client.delete("/"),
        client.post("/sign-in"),
    ]
    assert {answer.status_code for answer in answers} >= {200, 303, 400, 404, 405}
    with client.get("/static/css/shared/base.css") as sheet:
        answers.append(sheet)
    for answer in answers:
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe-inline" not in policy
        assert "unsafe-eval" not in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] in ("same-origin", "no-referrer")


def test_two_pages_have_two_nonces(client: FlaskClient) -> None:
    seen = {
        re.findall(r"'nonce-([^']+)'", client.get("/sign-in").headers["Content-Security-Policy"])[0]
        for _ in range(5)
    }
    assert len(seen) == 5


def test_all_pages_but_the_public_ones_need_a_sign_in(app: Flask, client: FlaskClient) -> None:
    public = {
        "/sign-in",
        "/sign-in.json",
        "/healthz",
        "/readyz",
        "/static/<path:filename>",
        "/face/<name>",
    }
    public |= {"/metrics"}  # for this machine only, which includes the test client
    public |= {"/invite/<token>"}  # for anyone with the link
    public |= {"/kiosk/pair"}  # for anyone with a code
    # for anyone with the link; 404 without it
    public |= {"/t/<token>", "/t/<token>/snapshot.json", "/k/<token>", "/k/<token>/<step>"}
    for rule in rules(app, "GET"):
        answer = client.get(filled(rule))
        if rule in public:
            assert answer.status_code in (200, 404, 503), rule
        elif rule in ("/kiosk", "/door"):
            assert answer.headers["Location"] == "/kiosk/pair"
        elif re.match("/(kiosk|door)(/|$)", rule):  # for paired devices
            assert answer.status_code == 404, rule
        elif rule.endswith(".json"):
            assert answer.status_code == 401, rule
        else:
            assert answer.status_code == 303, rule
            assert answer.headers["Location"].startswith("/sign-in"), rule


@pytest.mark.database
def test_reading_pages_changes_nothing_in_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = make_desk(tmp_path)
    home = desk.ids["desk.property"]
    desk.add(lambda s: properties.add_staff(s, home, "boss", HASH, "admin", NOON))
    monkeypatch.setattr(limiter, "enabled", False)
    rows, client, unread = rows_of(desk, "desk"), desk.client(name="boss"), set()
    served = Served(desk, "", None)  # type: ignore[arg-type]
    for rule in (rule for method, rule in routes(desk.app) if method == "GET"):
        if rule.endpoint == "booking.new":
            # it makes a form token and may store offers: rows that no ride depends on
            continue
        path = address(rule, rows)
        if rule.endpoint in ADDRESSES:
            path = ADDRESSES[rule.endpoint](served, rows["order_id"])
        before = contents(desk.app)
        statuses = {client.get(path).status_code for _again in range(2)}
        after = contents(desk.app)
        changed = {name for name in after if after[name] != before[name]}
        assert changed <= WRITES.get(rule.endpoint, set()), path
        if statuses != {200}:
            unread.add(rule.endpoint)
    desk.close()
    assert unread == UNREAD


def contents(app: Flask) -> dict[str, list[str]]:
    """The rows of each table."""
    services = app.extensions["ridedash"]
    with services.db.read() as s:
        names = inspect(s.connection()).get_table_names()
        return {name: sorted(map(repr, s.execute(text(f"SELECT * FROM {name}")))) for name in names}


@pytest.mark.parametrize("number", [0, 2**31, 2**63, 10**40])
def test_an_unknown_row_number_gets_404(app: Flask, client: FlaskClient, number: int) -> None:
    sign_in(client)
    with app.extensions["ridedash"].db.write() as s:
        s.execute(text("UPDATE staff SET role = 'admin'"))
    token = csrf(client.get("/").text)
    for method in ("GET", "POST"):
        for rule in rules(app, method):
            if "<int:" not in rule:
                continue
            address = re.sub(r"<int:[^>]+>", str(number), rule)
            answer = client.open(
                address, method=method, data={"csrf_token": token} if method == "POST" else None
            )
            assert answer.status_code == 404, (method, address)


def test_the_cookie_is_http_only_lax_and_invalid_after_sign_out(client: FlaskClient) -> None:
    sign_in(client)
    cookie = client.get_cookie("ridedash_sid")
    assert cookie is not None
    assert cookie.http_only
    assert cookie.same_site == "Lax"
    assert client.get("/").status_code == 200
    stolen = cookie.value
    client.post("/sign-out", data={"csrf_token": csrf(client.get("/").text)})
    client.set_cookie("ridedash_sid", stolen)
    assert client.get("/").status_code == 303


def test_another_host_name_is_refused(client: FlaskClient) -> None:
    assert client.get("/sign-in", base_url="http://evil.example").status_code == 400
    assert client.get("/sign-in", base_url="http://127.0.0.1:8000").status_code == 200


def test_forwarded_headers_are_used_only_when_a_proxy_is_configured(tmp_path: Path) -> None:
    for proxies, seen in (("0", "127.0.0.1"), ("1", "198.51.100.6")):
        app = create_app({"RIDEDASH_INSTANCE": str(tmp_path), "RIDEDASH_TRUSTED_PROXIES": proxies})
        from flask import request

        app.add_url_rule("/who", view_func=needs(OPEN)(lambda: str(request.remote_addr)))
        assert (
            app.test_client().get("/who", headers={"X-Forwarded-For": "198.51.100.6"}).text == seen
        )
        app.extensions["ridedash"].db.close()


def test_live_mode_sends_secure_cookies_and_hsts(tmp_path: Path) -> None:
    from tests.test_config import LIVE

    app = create_app(
        LIVE | {"RIDEDASH_INSTANCE": str(tmp_path), "RIDEDASH_TRUSTED_HOSTS": "localhost"}
    )
    answer = app.test_client().get("/healthz", base_url="https://localhost")
    assert answer.headers["Strict-Transport-Security"] == "max-age=31536000; includeSubDomains"
    assert app.config["SESSION_COOKIE_NAME"] == "__Host-sid"
    assert app.config["SESSION_COOKIE_SECURE"] is True
    app.extensions["ridedash"].db.close()


def test_a_body_over_the_limit_is_refused(client: FlaskClient) -> None:
    assert client.post("/sign-in", data=b"x" * 300_000, content_type="text/plain").status_code in (
        400,
        413,
    )


@pytest.mark.parametrize(
    ("page", "most"),
    [
        ("booking.series.preview", "300 per 1 minute"),
        ("lists.pages.read", "60 per 1 hour"),
        ("rides.pages.path", "240 per 1 minute"),
        ("insights.pages.show", "60 per 1 minute"),
        ("insights.csv_export.export", "20 per 1 hour"),
    ],
)
def test_what_costs_queries_has_a_limit_of_its_own(page: str, most: str) -> None:
    """See docs/security.md 5."""
    name = f"ridedash.views.{page}.{page.rsplit('.', 1)[1]}"
    limits = limiter.limit_manager.decorated_limits(name)
    assert [str(each.limit) for each in limits] == [most]
