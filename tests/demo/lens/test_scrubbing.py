"""Nothing secret is left of a request or an answer; all else stays as it was."""

import json

import pytest

from ridedash.demo.lens import scrubbing
from tests.demo.lens.exchanges import KEY, TOKEN


def test_of_the_tokens_their_kind_and_length_stay():
    sent = {"X-APP-TOKEN": KEY, "Authorization": f"Bearer {TOKEN}", "accept": "application/json"}
    assert scrubbing.headers(sent) == {
        "X-APP-TOKEN": "••••(32)",
        "Authorization": "Bearer ••••",
        "accept": "application/json",
    }
    got = {"set-cookie": f"sid={TOKEN}", "x-echo": f"heard {TOKEN}", "content-length": "12"}
    clean = scrubbing.headers(got, (KEY, TOKEN))
    assert clean == {
        "set-cookie": "••••",
        "x-echo": "heard [removed]",
        "content-length": "12",
    }


def test_json_stays_json_number_for_number():
    raw = b'{"b":1.50,"a":[1e3,-0.0,null,true],"b":"two","n":12345678901234567890}'
    assert scrubbing.body(raw) == raw.decode()


def test_a_start_code_is_gone_wherever_the_body_repeats_it():
    code = {"text": "Start code", "value": "4711"}
    body = {"otp": {"start_trip": code}, "message": "Say 4711 to the driver", "fare": 4711}
    clean = json.loads(scrubbing.body(json.dumps(body).encode()))
    assert clean == {
        "otp": {"start_trip": {"text": "Start code", "value": "••••"}},
        "message": "Say •••• to the driver",
        "fare": 4711,
    }
    assert json.loads(scrubbing.body(b'{"otp": 4711, "hotpot": 1}')) == {"otp": "••••", "hotpot": 1}


def test_words_beside_a_start_code_lose_what_looks_like_a_secret():
    code = {"text": "Call +91 90909 11727", "value": "4711"}
    body = {"otp": {"start_trip": code, "text": 4711}}
    assert json.loads(scrubbing.body(json.dumps(body).encode())) == {
        "otp": {"start_trip": {"text": "Call +91••••27", "value": "••••"}, "text": "••••"}
    }


def test_only_the_end_of_a_phone_number_is_shown():
    body = {"driver_number": "9000012345", "text": "Call +91 90909 11727", "phone": 9000012345}
    clean = json.loads(scrubbing.body(json.dumps(body).encode()))
    assert clean == {"driver_number": "••••45", "text": "Call +91••••27", "phone": "••••45"}


@pytest.mark.parametrize(
    "raw",
    [
        b"<h1>Bad gateway</h1> Authorization: Bearer " + TOKEN.encode() + b" otp: 4711-0000",
        b'{"otp": {"start_trip": {"value": "4711-0000',
        b'{"access_token": "' + TOKEN.encode() + b'"}',
        b"\xff\xfe otp=4711-0000 \x00",
        b"[" * 5000 + b'"otp: 4711-0000"',
        b'{"a":' * 300 + b'{"otp": "4711-0000"}' + b"}" * 300,
    ],
)
def test_what_is_no_proper_json_loses_its_secrets_too(raw):
    clean = scrubbing.body(raw, (KEY, TOKEN))
    assert TOKEN not in clean
    assert "4711" not in clean
    clean.encode()  # broken UTF-8 has become text


def test_a_huge_body_is_cut_and_a_secret_across_the_end_is_gone():
    raw = b"x" * (scrubbing.LONGEST - 5) + b" " + TOKEN.encode() + b"y" * 500_000
    clean = scrubbing.body(raw, (KEY, TOKEN))
    assert len(clean) == scrubbing.LONGEST
    assert TOKEN[:4] not in clean
