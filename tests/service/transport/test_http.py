"""One bounded call, against real sockets that drip, flood, inflate, redirect or are not there."""

import gzip
import logging
import socket
import threading
import tracemalloc

import httpx
import pytest

from ridedash.service.errors import NoAnswer, Unreadable
from ridedash.service.transport.http import Answer, Http, Request, safe_address
from tests.service.servers import answer, drip, read_request, serving

TOKEN = "canary-user-token-9f3a"
APP_TOKEN = "canary-app-token-77b1"
LONG_S = 60.0  # an upper bound for an answer on a busy machine
SOON_S = 1.0  # a deadline that is missed: long enough to connect and to send on a busy machine


@pytest.fixture
def http():
    with Http() as made:
        yield made


def get(http, url, **more):
    return http.call(Request("GET", url, **{"connect_s": LONG_S, "total_s": LONG_S, **more}))


def failed(work):
    """The error of a call that ends without an answer.

    The kind of error shows whether the deadline ended the call, so no clock is read: each slow
    server here goes on for five seconds or more after the deadline, and then hangs up or answers,
    which is no timeout.
    """
    with pytest.raises(NoAnswer) as caught:
        work()
    return caught.value


def test_a_whole_answer_comes_back_with_its_status_headers_and_body(http):
    with serving(
        lambda line, stop: line.sendall(answer(b'{"a": 1.50}', "X-Kind: Yes", status="418 No"))
    ) as server:
        got = get(http, server.url + "/x", params={"q": "a b"}, headers={"X-Mine": "1"})
    assert (got.status, got.headers["x-kind"], str(got.json()["a"])) == (418, "Yes", "1.50")
    assert (
        server.requests[0].startswith(b"GET /x?q=a+b HTTP/1.1\r\n")
        or b"GET /x?q=a%20b " in server.requests[0]
    )
    assert b"accept-encoding: identity\r\n" in server.requests[0].lower()


def test_json_and_forms_are_sent_as_such(http):
    with serving(lambda line, stop: line.sendall(answer(b"{}")), keep=True) as server:
        http.call(Request("POST", server.url, LONG_S, json={"a": 1.5, "b": "é\ud800"}))
        http.call(Request("POST", server.url, LONG_S, form={"grant_type": "x y"}))
    assert b"application/json" in server.requests[0]
    assert server.requests[0].endswith(b'{"a":1.5,"b":"\\u00e9\\ud800"}')
    assert b"application/x-www-form-urlencoded" in server.requests[1]
    assert server.requests[1].endswith(b"grant_type=x+y")


def test_headers_that_drip_end_at_the_deadline(http):
    slow = b"HTTP/1.1 200 OK\r\n" + b"X-Filler: 1\r\n" * 80
    with serving(lambda line, stop: drip(line, stop, slow)) as server:
        error = failed(lambda: get(http, server.url, total_s=SOON_S))
    assert (error.sent, error.why) == (True, "ReadTimeout")


def test_a_body_that_drips_ends_at_the_deadline(http):
    def behave(line, stop):
        line.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        drip(line, stop, b"x" * 1000)

    with serving(behave) as server:
        error = failed(lambda: get(http, server.url, total_s=SOON_S))
    assert (error.sent, error.why) == (True, "ReadTimeout")


def test_informational_answers_without_end_end_at_the_deadline(http):
    with serving(
        lambda line, stop: drip(line, stop, b"HTTP/1.1 102 Processing\r\n\r\n" * 150, 0.005)
    ) as server:
        error = failed(lambda: get(http, server.url, total_s=SOON_S))
    assert (error.sent, error.why) == (True, "ReadTimeout")


def test_silence_ends_at_the_deadline(http):
    with serving(lambda line, stop: stop.wait(10) and None) as server:
        error = failed(lambda: get(http, server.url, total_s=SOON_S))
    assert (error.sent, error.why) == (True, "ReadTimeout")


def flood(line, stop):
    line.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    while not stop.is_set():
        line.sendall(chunk)


def test_an_answer_without_end_is_unreadable_at_the_cap_and_costs_little_memory(http):
    with serving(flood) as server:
        tracemalloc.start()
        try:
            got = get(http, server.url)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert got.unread == "too long"
    with pytest.raises(Unreadable, match="too long"):
        got.json()
    assert peak < 8 << 20


def test_a_body_of_exactly_the_cap_is_read(http):
    with serving(lambda line, stop: line.sendall(answer(b"x" * 1000)), keep=True) as server:
        assert len(get(http, server.url, cap_bytes=1000).body) == 1000
        cut = get(http, server.url, cap_bytes=999)
    assert (cut.unread, len(cut.body)) == ("too long", 1000)


def test_a_bomb_is_not_inflated(http):
    bomb = gzip.compress(b"0" * (50 << 20))
    with serving(lambda line, stop: line.sendall(answer(bomb, "Content-Encoding: gzip"))) as server:
        tracemalloc.start()
        try:
            got = get(http, server.url)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert (got.unread, got.body) == ("in a content encoding", b"")
    assert peak < 4 << 20


@pytest.mark.parametrize("status", ["401 Unauthorized", "429 Too Many Requests"])
def test_status_and_headers_count_where_the_body_can_not_be_read(http, status):
    body = gzip.compress(b"{}")
    whole = answer(body, "Content-Encoding: gzip", "Retry-After: 7", status=status)
    with serving(lambda line, stop: line.sendall(whole)) as server:
        got = get(http, server.url)
    assert (got.status, got.headers["retry-after"]) == (int(status[:3]), "7")


def test_endless_headers_are_cut_off(http):
    def behave(line, stop):
        line.sendall(b"HTTP/1.1 200 OK\r\n")
        while not stop.is_set():
            line.sendall(b"X-Filler: " + b"y" * 1000 + b"\r\n")

    with serving(behave) as server, pytest.raises(NoAnswer) as caught:
        get(http, server.url)
    assert caught.value.sent


def test_a_redirect_is_an_answer_and_is_not_followed(http):
    with serving(
        lambda line, stop: line.sendall(answer(b"", "Location: /next", status="302 Found"))
    ) as server:
        assert get(http, server.url, headers={"X-APP-TOKEN": APP_TOKEN}).status == 302
        assert server.connections == 1


def test_a_cookie_of_one_call_is_not_sent_with_the_next(http):
    with serving(
        lambda line, stop: line.sendall(answer(b"{}", "Set-Cookie: who=me")), keep=True
    ) as server:
        get(http, server.url)
        get(http, server.url)
    assert b"cookie" not in server.requests[1].lower()


def test_the_environments_proxy_is_ignored(http, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    with Http() as made, serving(lambda line, stop: line.sendall(answer(b"{}"))) as server:
        assert get(made, server.url).status == 200


def test_a_truncated_body_is_no_answer(http):
    with serving(
        lambda line, stop: line.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"st')
    ) as server:
        error = failed(lambda: get(http, server.url))
    assert error.sent


@pytest.mark.parametrize(
    "garbage", [b"", b"\x00\x01\x02\r\n\r\n", b"HTTP/1.1 banana\r\n\r\n", b"<html>"]
)
def test_an_answer_that_is_not_http_is_no_answer_to_a_sent_request(http, garbage):
    with serving(lambda line, stop: line.sendall(garbage)) as server:
        error = failed(lambda: get(http, server.url))
    assert error.sent


# ---------------------------------------------------------------- what was sent


def test_a_refused_connection_proves_that_nothing_was_sent(http):
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    error = failed(lambda: get(http, f"http://127.0.0.1:{port}"))
    assert (error.sent, error.why) == (False, "ConnectError")


def test_a_name_that_does_not_resolve_proves_that_nothing_was_sent(http):
    error = failed(lambda: get(http, "https://no-such-host.invalid", total_s=5))
    assert not error.sent


def test_a_full_backlog_times_out_in_connecting_with_nothing_sent(http):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        waiting = []
        for _ in range(8):  # fill the queue of connections that are not accepted
            line = socket.socket()
            line.setblocking(False)
            line.connect_ex(listener.getsockname())
            waiting.append(line)
        try:
            error = failed(
                lambda: get(
                    http, f"http://127.0.0.1:{listener.getsockname()[1]}", connect_s=0.3, total_s=5
                )
            )
        finally:
            for line in waiting:
                line.close()
    assert (error.sent, error.why) == (False, "ConnectTimeout")


def test_a_failed_tls_handshake_proves_that_nothing_was_sent(http):
    with serving(
        lambda line, stop: line.sendall(b"not tls at all\r\n"), read_first=False
    ) as server:
        error = failed(lambda: get(http, f"https://127.0.0.1:{server.port}"))
    assert not error.sent


def test_a_tls_handshake_that_drips_ends_with_the_time_for_connecting(http):
    with serving(
        lambda line, stop: drip(line, stop, b"\x16\x03\x03\x40\x00" + b"\x02" * 1000),
        read_first=False,
    ) as server:
        error = failed(
            lambda: get(http, f"https://127.0.0.1:{server.port}", connect_s=0.3, total_s=5)
        )
    assert (error.sent, error.why) == (False, "ConnectTimeout")


@pytest.mark.parametrize(
    "headers",
    [{"Authorization": "Bearer a\r\nX: 1"}, {"Authorization": "Bearer é"}, {"bad name": "x"}],
)
def test_a_request_that_cannot_be_built_is_not_sent(http, headers):
    with serving(lambda line, stop: line.sendall(answer(b"{}"))) as server:
        error = failed(lambda: get(http, server.url, headers=headers))
        assert not error.sent
        assert server.requests == []


def test_a_number_that_json_does_not_know_is_not_sent(http):
    with pytest.raises(NoAnswer) as caught:
        http.call(Request("POST", "http://127.0.0.1:1", 1, json={"lat": float("nan")}))
    assert not caught.value.sent


def test_a_server_that_hangs_up_after_reading_leaves_the_outcome_open(http):
    with serving(lambda line, stop: None) as server:
        error = failed(lambda: http.call(Request("POST", server.url, LONG_S, json={}, fresh=True)))
    assert error.sent


@pytest.mark.parametrize(
    ("raised", "sent"),
    [
        (httpx.ConnectError, False),
        (httpx.ConnectTimeout, False),
        (httpx.PoolTimeout, False),
        (httpx.ReadTimeout, True),
        (httpx.WriteError, True),
        (httpx.RemoteProtocolError, True),
        (RuntimeError, True),
    ],
)
def test_a_handed_in_transport_is_judged_by_its_error(raised, sent):
    def fail(request):
        raise raised("boom")

    with Http(httpx.MockTransport(fail)) as fake:
        error = failed(lambda: get(fake, "https://service.example"))
    assert error.sent is sent


def test_the_evidence_of_a_body_above_the_cap_holds_no_token(http):
    echo = f"{TOKEN} ".encode() * 1000
    with serving(lambda line, stop: line.sendall(answer(echo))) as server:
        got = get(http, server.url, cap_bytes=100, secrets=(TOKEN,))
    assert got.unread
    assert TOKEN.encode() not in got.body


# ---------------------------------------------------------------- connections


def test_a_connection_is_reused_by_the_next_call_but_not_kept_by_a_fresh_one(http):
    with serving(lambda line, stop: line.sendall(answer(b"{}")), keep=True) as server:
        get(http, server.url)
        get(http, server.url)
        assert server.connections == 1
        get(http, server.url, fresh=True)
        get(http, server.url, fresh=True)
        assert server.connections == 3
    assert b"connection: close" in server.requests[2].lower()


def test_each_call_on_a_reused_connection_has_its_own_deadline(http):
    turns = iter([0.0, 0.0, 10.0])

    def behave(line, stop):
        if not stop.wait(next(turns)):
            line.sendall(answer(b"{}"))

    with serving(behave, keep=True) as server:
        get(http, server.url)
        get(http, server.url)
        error = failed(lambda: get(http, server.url, total_s=SOON_S))
        assert server.connections == 1
    assert error.why == "ReadTimeout"


def test_many_threads_share_one_http(http):
    with serving(lambda line, stop: line.sendall(answer(b'{"a":1}')), keep=True) as server:
        got = []
        threads = [
            threading.Thread(target=lambda: got.append(get(http, server.url).json()))
            for _ in range(20)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert got == [{"a": 1}] * 20
        http.close()


# ---------------------------------------------------------------- secrets


def test_no_token_is_in_any_log_error_or_repr(http, caplog):
    caplog.set_level(logging.DEBUG)
    headers = {"Authorization": f"Bearer {TOKEN}", "X-APP-TOKEN": APP_TOKEN}
    echo = f'{{"status":"FAILURE","text":"your token {TOKEN} and {APP_TOKEN}"}}'.encode()
    secrets = (TOKEN, APP_TOKEN)
    with serving(lambda line, stop: line.sendall(answer(echo))) as server:
        got = get(http, server.url, headers=headers, secrets=secrets)
    errors = [failed(lambda: get(http, "http://127.0.0.1:1", headers=headers))]
    errors.append(
        failed(
            lambda: get(http, "http://127.0.0.1:1", headers={"Authorization": f"Bearer {TOKEN}é"})
        )
    )
    seen = caplog.text + repr(got) + str(got.json()) + got.evidence + "".join(map(repr, errors))
    for secret in secrets:
        assert secret not in seen
    assert all(error.__cause__ is None and error.__context__ is None for error in errors)


def test_a_dripping_token_endpoint_is_read_whole_when_it_is_quick_enough(http):
    def behave(line, stop):
        drip(line, stop, answer(b'{"ok":true}'), 0.0005)

    with serving(behave) as server:
        assert get(http, server.url).json() == {"ok": True}


@pytest.mark.parametrize(
    "url", ["https://rides.example/api", "http://127.0.0.1:8001", "http://localhost:1"]
)
def test_an_address_may_be_https_or_on_this_machine(url):
    assert safe_address(url) == url


@pytest.mark.parametrize(
    "url",
    [
        "http://rides.example",
        "ftp://127.0.0.1",
        "https://",
        "rides.example",
        "https://a:b@rides.example",
        "https://r/#x",
    ],
)
def test_any_other_address_is_refused(url):
    with pytest.raises(ValueError):
        safe_address(url)


def test_the_request_reader_of_these_tests_reads_bodies():
    left, right = socket.socketpair()
    with left, right:
        left.sendall(b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\nab")
        assert read_request(right).endswith(b"ab")


def test_close_closes_the_transport_that_was_given():
    class Given(httpx.MockTransport):
        closed = False

        def close(self):
            self.closed = True

    given = Given(lambda _request: httpx.Response(200))
    Http(given).close()
    assert given.closed


def test_only_the_usual_certificates_and_those_of_the_settings_are_trusted(tmp_path, monkeypatch):
    of_the_environment = tmp_path / "ca.pem"
    of_the_environment.write_text("no certificate")
    monkeypatch.setenv("SSL_CERT_FILE", str(of_the_environment))
    with Http() as http:
        assert http._tls.cert_store_stats()["x509_ca"] > 0


def test_what_a_call_sends_is_in_no_text_of_it():
    request = Request(
        "POST",
        "https://rides.example/v1/x",
        5.0,
        headers={"authorization": "Bearer hidden-1"},
        params={"token": "hidden-2"},
        json={"token": "hidden-3"},
        form={"token": "hidden-4"},
        secrets=("hidden-5",),
    )
    assert "hidden" not in repr(request)
    assert "hidden" not in repr(Answer(200, {"set-cookie": "hidden-6"}, b"hidden-7"))
