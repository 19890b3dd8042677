"""Linking an account: PKCE, exchange, refresh, and one refresh at a time."""

import base64
import hashlib
import threading
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from ridedash.service.errors import (
    BadStatus,
    NoAnswer,
    RateLimited,
    Refused,
    Unauthorized,
    Unreadable,
)
from ridedash.service.oauth import OAuthClient, SingleFlight, Tokens, challenge_of, pkce_pair
from ridedash.service.transport.http import Http

SECRET = "canary-client-secret-1"
GIVEN = {
    "access_token": "access-1",
    "token_type": "Bearer",
    "refresh_token": "refresh-1",
    "expires_in": 3600,
}


def client(given, seen=None, authorize="https://rides.example/oauth/authorize"):
    def answer(request):
        if seen is not None:
            seen.append(request)
        if isinstance(given, Exception):
            raise given
        return given if isinstance(given, httpx.Response) else httpx.Response(200, json=given)

    http = Http(httpx.MockTransport(answer))
    return OAuthClient(
        http, authorize, "https://rides.example/oauth/token/", "ridedash", SECRET, "rides profile"
    )


def form(request):
    return {name: values[0] for name, values in parse_qs(request.content.decode()).items()}


def test_the_challenge_is_the_s256_of_a_fresh_verifier():
    verifier, challenge = pkce_pair()
    digest = hashlib.sha256(verifier.encode()).digest()
    assert challenge == base64.urlsafe_b64encode(digest).decode().rstrip("=")
    assert 43 <= len(verifier) <= 128
    assert pkce_pair()[0] != verifier


def test_the_challenge_is_that_of_the_example_in_rfc_7636():
    assert (
        challenge_of("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    )


@pytest.mark.parametrize(
    "address", ["https://rides.example/oauth/authorize", "https://rides.example/a?tenant=1"]
)
def test_the_authorize_address_carries_all_that_the_code_flow_needs(address):
    url = urlsplit(
        client(GIVEN, authorize=address).authorize_url(
            "st&te", "chal", "http://127.0.0.1:8000/back"
        )
    )
    query = {name: values[0] for name, values in parse_qs(url.query, strict_parsing=True).items()}
    query.pop("tenant", None)
    assert query == {
        "response_type": "code",
        "client_id": "ridedash",
        "redirect_uri": "http://127.0.0.1:8000/back",
        "state": "st&te",
        "code_challenge": "chal",
        "code_challenge_method": "S256",
        "scope": "rides profile",
    }


def test_a_code_is_exchanged_with_its_verifier():
    seen = []
    tokens = client(GIVEN, seen).exchange("code-1", "verifier-1", "http://127.0.0.1:8000/back")
    assert tokens == Tokens("access-1", "refresh-1", 3600)
    assert (seen[0].method, str(seen[0].url)) == ("POST", "https://rides.example/oauth/token/")
    assert form(seen[0]) == {
        "grant_type": "authorization_code",
        "code": "code-1",
        "code_verifier": "verifier-1",
        "redirect_uri": "http://127.0.0.1:8000/back",
        "client_id": "ridedash",
        "client_secret": SECRET,
    }


def test_a_refresh_sends_the_refresh_token_and_gives_the_rotated_one():
    seen = []
    assert (
        client(GIVEN | {"refresh_token": "refresh-2"}, seen).refresh("refresh-1").refresh_token
        == "refresh-2"
    )
    assert form(seen[0])["grant_type"] == "refresh_token"
    assert form(seen[0])["refresh_token"] == "refresh-1"


def test_a_refresh_without_a_new_refresh_token_keeps_the_old_one():
    assert client({"access_token": "a"}).refresh("refresh-1") == Tokens("a", "refresh-1", None)


def test_an_echoed_refresh_token_is_stored_whole():
    assert (
        client(GIVEN | {"refresh_token": "refresh-token-that-stays"})
        .refresh("refresh-token-that-stays")
        .refresh_token
        == "refresh-token-that-stays"
    )


@pytest.mark.parametrize(
    ("sent", "read"),
    [("3600", 3600), (3600.0, 3600), (0, None), (-1, None), ("soon", None), (None, None)],
)
def test_a_lifetime_is_seconds_or_unknown(sent, read):
    assert client(GIVEN | {"expires_in": sent}).refresh("r").expires_in_s == read


@pytest.mark.parametrize("status", [400, 401, 200])
def test_a_dead_grant_is_refused_by_its_oauth_code(status):
    given = httpx.Response(
        status, json={"error": "invalid_grant", "error_description": "Token was revoked"}
    )
    with pytest.raises(Refused) as caught:
        client(given).refresh("refresh-1")
    assert (caught.value.code, caught.value.message) == ("invalid_grant", "Token was revoked")


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (httpx.Response(500, text="<html>"), BadStatus),
        (httpx.Response(401), Unauthorized),
        (httpx.Response(429), RateLimited),
        (httpx.Response(429, json={"error": "slow_down"}), RateLimited),
        (httpx.Response(503, json={"error": "temporarily_unavailable"}), BadStatus),
        (httpx.Response(500, json={"error": "server_error"}), BadStatus),
        (httpx.Response(302, headers={"Location": "https://evil.example"}), BadStatus),
        (httpx.Response(200, text="<html>"), Unreadable),
        (httpx.Response(200, json=[]), Unreadable),
        (httpx.Response(200, json={"access_token": ""}), Unreadable),
        (httpx.Response(200, json={"access_token": "a b"}), Unreadable),
        (httpx.Response(200, json={"access_token": "a\r\nX: 1"}), Unreadable),
        (httpx.Response(200, json={"access_token": 7}), Unreadable),
        (httpx.Response(200, json={"access_token": "a", "token_type": "mac"}), Unreadable),
        (httpx.ReadTimeout("late"), NoAnswer),
    ],
)
def test_anything_else_is_an_error_of_the_tree(given, error):
    with pytest.raises(error) as caught:
        client(given).refresh("refresh-1")
    assert type(caught.value) is error


def test_an_address_that_would_leak_the_secret_is_refused():
    with pytest.raises(ValueError):
        OAuthClient(
            Http(httpx.MockTransport(lambda request: None)),
            "https://r",
            "http://rides.example/t",
            "i",
            "s",
            "",
        )


def test_no_secret_is_in_a_repr_or_an_error():
    made = client(httpx.Response(500, json={"echo": SECRET, "access_token": "leaked-token"}))
    with pytest.raises(BadStatus) as caught:
        made.exchange("code-canary", "verifier-canary", "https://back")
    seen = (
        repr(made)
        + repr(caught.value)
        + repr(vars(caught.value))
        + repr(Tokens("access-1", "refresh-1"))
    )
    for secret in (
        SECRET,
        "leaked-token",
        "code-canary",
        "verifier-canary",
        "access-1",
        "refresh-1",
    ):
        assert secret not in seen


# ---------------------------------------------------------------- one at a time


def at_once(count, work):
    """Run work in many threads that start together. Returns their results and errors."""
    gate, results = threading.Barrier(count), []

    def run():
        gate.wait(60)
        try:
            results.append(work())
        except Exception as error:
            results.append(error)

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return results


class CountedKey:
    """A key that counts the threads that look it up, which they do inside the flight's lock."""

    def __init__(self, count):
        self.count, self.threads, self.everybody = count, set(), threading.Event()

    def __hash__(self):
        self.threads.add(threading.get_ident())
        if len(self.threads) == self.count:
            self.everybody.set()
        return 1


def test_ten_threads_make_one_refresh():
    flight, seen, key = SingleFlight(), [], CountedKey(10)

    def answer(request):
        assert key.everybody.wait(60)  # the answer comes when all ten have sent their requests
        seen.append(request)
        return httpx.Response(200, json=GIVEN)

    made = OAuthClient(
        Http(httpx.MockTransport(answer)), "https://r/a", "https://r/t", "i", "s", ""
    )
    results = at_once(10, lambda: flight.do(key, lambda: made.refresh("refresh-1")))
    assert results == [Tokens("access-1", "refresh-1", 3600)] * 10
    assert len(seen) == 1


def test_an_error_is_raised_in_every_thread_and_the_next_call_works_again():
    flight, calls, key = SingleFlight(), [], CountedKey(5)

    def fail():
        assert key.everybody.wait(60)
        calls.append(1)
        raise Refused("invalid_grant")

    results = at_once(5, lambda: flight.do(key, fail))
    assert [type(result) for result in results] == [Refused] * 5
    assert len(calls) == 1
    assert flight.do(key, lambda: "works") == "works"


def test_different_accounts_do_not_wait_for_each_other():
    flight, inside = SingleFlight(), threading.Barrier(2)
    keys = iter(["account-1", "account-2"])
    results = at_once(2, lambda: flight.do(next(keys), lambda: inside.wait(60) is not None))
    assert results == [True, True]


def test_a_finished_flight_is_forgotten():
    flight = SingleFlight()
    assert [flight.do("k", lambda n=n: n) for n in range(3)] == [0, 1, 2]
