"""The OAuth server: authorize with a choice of user, code with PKCE, tokens, refresh, revoke."""

import base64
import hashlib
from urllib.parse import parse_qs, urlsplit

import pytest

CALLBACK = "http://127.0.0.1:8000/accounts/callback"
VERIFIER = "v" * 43
CHALLENGE = (
    base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
)
PARAMETERS = {
    "response_type": "code",
    "client_id": "ridedash",
    "redirect_uri": CALLBACK,
    "state": "st&te",
    "scope": "rides",
    "code_challenge": CHALLENGE,
    "code_challenge_method": "S256",
}
CLIENT = {"client_id": "ridedash", "client_secret": "client-secret"}


def redirect_query(answer):
    """The query of the redirect to the partner."""
    assert answer.status_code == 303
    assert answer.location.startswith(CALLBACK + "?")
    return {name: values[0] for name, values in parse_qs(urlsplit(answer.location).query).items()}


def code_of(desk, user="house"):
    return redirect_query(
        desk.web.post("/oauth/authorize", data=PARAMETERS | {"user": user, "decision": "allow"})
    )["code"]


def exchange(desk, granted, **change):
    form = {
        "grant_type": "authorization_code",
        "code": granted,
        "redirect_uri": CALLBACK,
        "code_verifier": VERIFIER,
    }
    return desk.web.post("/oauth/token", data=form | CLIENT | change)


def refresh(desk, token):
    return desk.web.post(
        "/oauth/token", data=CLIENT | {"grant_type": "refresh_token", "refresh_token": token}
    )


def accepted(desk, access):
    path, key = "/v1.5/bookings/feedback/options", {"X-APP-TOKEN": "partner-key"}
    answer = desk.web.get(
        path, query_string={"category": "mini"}, headers=key | {"Authorization": f"Bearer {access}"}
    )
    return answer.status_code == 200


def test_the_page_offers_every_user_and_loads_nothing_external(desk):
    page = desk.web.get("/oauth/authorize", query_string=PARAMETERS)
    assert page.status_code == 200
    assert page.mimetype == "text/html"
    for label in ("House account", "Account with an outstanding due", "Banned account"):
        assert label in page.text
    assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]
    assert "form-action 'self' http://127.0.0.1:8000;" in page.headers["Content-Security-Policy"]
    assert "Set-Cookie" not in page.headers


def test_request_parameters_are_escaped_on_the_page(desk):
    page = desk.web.get(
        "/oauth/authorize", query_string=PARAMETERS | {"state": '"><script>alert(1)</script>'}
    )
    assert "<script>" not in page.text


def test_allowing_gives_a_code_and_the_state_and_the_code_gives_tokens_that_work(desk):
    assert (
        redirect_query(
            desk.web.post(
                "/oauth/authorize", data=PARAMETERS | {"user": "house", "decision": "allow"}
            )
        )["state"]
        == "st&te"
    )
    answer = exchange(desk, code_of(desk))
    assert set(answer.json) == {
        "access_token",
        "token_type",
        "expires_in",
        "refresh_token",
        "scope",
    }
    assert answer.json["token_type"] == "Bearer"
    assert answer.headers["Cache-Control"] == "no-store"
    assert accepted(desk, answer.json["access_token"])
    assert not accepted(desk, answer.json["refresh_token"])


def test_the_chosen_user_is_the_one_who_books(desk):
    desk.headers |= {
        "Authorization": f"Bearer {exchange(desk, code_of(desk, 'banned')).json['access_token']}"
    }
    assert desk.create("suv")["code"] == "BANNED USER"


def test_denying_redirects_with_access_denied(desk):
    answer = redirect_query(
        desk.web.post("/oauth/authorize", data=PARAMETERS | {"user": "house", "decision": "deny"})
    )
    assert answer == {"error": "access_denied", "state": "st&te"}


NOT_REGISTERED = "The application asks to return to an address that is not registered for it."


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"client_id": "other"}, "This application is not known here."),
        ({"redirect_uri": "https://evil.example/"}, NOT_REGISTERED),
        ({"redirect_uri": ""}, NOT_REGISTERED),
    ],
)
def test_an_unknown_client_or_redirect_gets_an_error_page_and_no_redirect(desk, change, why):
    for answer in (
        desk.web.get("/oauth/authorize", query_string=PARAMETERS | change),
        desk.web.post(
            "/oauth/authorize", data=PARAMETERS | change | {"user": "house", "decision": "allow"}
        ),
    ):
        assert answer.status_code == 400
        assert why in answer.text
        assert "Location" not in answer.headers


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"code_challenge": ""}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
    ],
)
def test_pkce_with_s256_is_required(desk, change, error):
    assert (
        redirect_query(desk.web.get("/oauth/authorize", query_string=PARAMETERS | change))["error"]
        == error
    )


@pytest.mark.parametrize(
    "change",
    [{"code": "invented"}, {"code_verifier": "w" * 43}, {"redirect_uri": "http://127.0.0.1:8000/"}],
)
def test_a_code_is_bound_to_its_verifier_and_redirect(desk, change):
    answer = exchange(desk, code_of(desk), **change)
    assert (answer.status_code, answer.json) == (400, {"error": "invalid_grant"})


def test_a_code_expires_after_two_minutes(desk):
    code = code_of(desk)
    desk.clock.advance(121)
    assert exchange(desk, code).json == {"error": "invalid_grant"}


def test_a_code_used_twice_revokes_its_tokens(desk):
    code = code_of(desk)
    access = exchange(desk, code).json["access_token"]
    assert exchange(desk, code).json == {"error": "invalid_grant"}
    assert not accepted(desk, access)


def test_the_client_must_authenticate_in_the_form_or_by_basic(desk):
    assert exchange(desk, code_of(desk), client_secret="wrong").json == {"error": "invalid_client"}
    assert exchange(desk, code_of(desk), client_secret="wrong").status_code == 401
    form = {
        "grant_type": "authorization_code",
        "code": code_of(desk),
        "redirect_uri": CALLBACK,
        "code_verifier": VERIFIER,
    }
    assert (
        desk.web.post("/oauth/token", data=form, auth=("ridedash", "client-secret")).status_code
        == 200
    )


def test_an_access_token_expires_and_a_refresh_gives_new_ones(desk):
    first = exchange(desk, code_of(desk)).json
    desk.clock.advance(first["expires_in"] + 1)
    assert not accepted(desk, first["access_token"])
    second = refresh(desk, first["refresh_token"]).json
    assert accepted(desk, second["access_token"])
    assert second["refresh_token"] != first["refresh_token"]


def test_a_refresh_token_used_twice_revokes_the_whole_family(desk):
    first = exchange(desk, code_of(desk)).json
    second = refresh(desk, first["refresh_token"]).json
    assert refresh(desk, first["refresh_token"]).json == {"error": "invalid_grant"}
    assert not accepted(desk, second["access_token"])
    assert refresh(desk, second["refresh_token"]).status_code == 400


def test_revoking_one_token_revokes_those_issued_with_it(desk):
    tokens = exchange(desk, code_of(desk)).json
    assert (
        desk.web.post("/oauth/revoke", data=CLIENT | {"token": tokens["refresh_token"]}).status_code
        == 200
    )
    assert not accepted(desk, tokens["access_token"])
    assert desk.web.post("/oauth/revoke", data=CLIENT | {"token": "unknown"}).status_code == 200
    assert desk.web.post("/oauth/revoke", data={"token": "unknown"}).status_code == 401


def test_other_grant_types_are_refused(desk):
    answer = desk.web.post("/oauth/token", data=CLIENT | {"grant_type": "password"})
    assert answer.json == {"error": "unsupported_grant_type"}


def test_no_token_is_stored_in_plain_text(desk):
    tokens = exchange(desk, code_of(desk)).json
    desk.close()
    stored = b"".join(path.read_bytes() for path in desk.database.parent.iterdir())
    for token in (
        tokens["access_token"],
        tokens["refresh_token"],
        desk.headers["Authorization"].split()[1],
    ):
        assert token.encode() not in stored
