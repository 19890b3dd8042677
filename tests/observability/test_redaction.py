"""Redaction of logs: values that never appear, and text that stays readable."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ridedash.observability import redaction
from ridedash.observability.redaction import LONGEST_TEXT, Redactor, without_shapes

KEY = "partner-key/of+this house"


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("Authorization: Bearer abc.def-123", "Authorization: [removed] [removed]"),
        ("sent with Bearer abc.def-123=", "sent with Bearer [removed]"),
        ("X-APP-TOKEN: hello123, next", "X-APP-TOKEN: [removed], next"),
        (
            "[(b'X-APP-TOKEN', b'secret-1'), (b'Accept', b'x')]",
            "[(b'X-APP-TOKEN', b[removed]), (b'Accept', b'x')]",
        ),
        ('{"otp": "4821", "kind": "auto"}', '{"otp": [removed], "kind": "auto"}'),
        (
            '{"driver": {"phone_no": "5550123"}, "seq": 4}',
            '{"driver": {"phone_no": [removed]}, "seq": 4}',
        ),
        ('{"otp": {"start_trip": {"value": "0412"}}}', '{"otp": [removed]}'),
        ("otp=4821 and start code: 9931", "otp=[removed] and start code: [removed]"),
        ("call +91 98765 43245 now", "call +91••••45 now"),
        ("call +1 555 010 4477 or x+4420794600", "call +1••••77 or x+44••••00"),
        ("driver_number 9876543245 rang", "driver_number ••••45 rang"),
        ("at 12.9715987,77.594566", "at 12.97,77.59"),
        ("GET /t/abcdEFGH1234567890abcd done", "GET /t/abcd… done"),
        ("GET /k/abcdefghijklmnopqrstuv/car done", "GET /k/abcd…/car done"),
        ("at /invite/ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEF", "at /invite/ABCD…"),
        ("Set-Cookie: ridedash_sid=abc.def; Path=/", "Set-Cookie: [removed]"),
        ("went with ridedash_sid=abc.def; more", "went with ridedash_sid=[removed]; more"),
        ("it was __Host-kiosk=abc_def; Path=/", "it was __Host-kiosk=[removed]; Path=/"),
        ("password='a phrase of words' wrong", "password=[removed] wrong"),
        (
            "https://x.example/cb?code=1&refresh_token=qwerty",
            "https://x.example/cb?code=1&refresh_token=[removed]",
        ),
        ("postgresql+psycopg://desk:pw-1@db/rides", "postgresql+psycopg://desk:[removed]@db/rides"),
        ("sid q4Zx_7bK-Lw0aaTTbb99ccDDeeFF", "sid q4Zx…"),
        (f"key {KEY}.", "key [removed]."),
        ("key partner-key%2Fof%2Bthis%20house", "key [removed]"),
    ],
)
def test_secrets_people_and_exact_places_are_removed(text: str, redacted: str) -> None:
    assert Redactor([KEY])(text) == redacted


@pytest.mark.parametrize(
    "text",
    [
        "poll 12 of ride 100233 took 250 ms, seq 4",
        "order HTL-2026-ABCDEF0123 came to UNKNOWN",
        "products: no answer (ReadTimeout), sent",
        "GET /rides/<int:order_id>/snapshot.json 200",
        "2026-11-21T19:31:10Z release 3.11.2",
    ],
)
def test_harmless_values_are_not_changed(text: str) -> None:
    assert Redactor([KEY])(text) == text


def test_a_short_secret_is_not_searched_in_harmless_text() -> None:
    assert Redactor(["ride", ""])("a ride is a ride") == "a ride is a ride"


def test_a_hostile_text_is_cut_and_redacted_in_linear_time() -> None:
    for piece in (
        "otp",
        "Bearer ",
        "cookie=",
        "+9",
        "a-",
        "1.",
        '"token":"\\',
        "t/",
        "://:",
        '"otp":{',
    ):
        assert len(Redactor([KEY])(piece * 100_000)) <= 2 * LONGEST_TEXT


WORDS = st.sampled_from(
    [
        *('"', ":", "=", " ", "@", "://", "+91 98765 43245", "+", "Bearer ", "abc.def", "{", "\\"),
        *("tokEN", "secret", "password", "passwd", "authorisation", "otp", "start code", "phone"),
        *("driver_number", "Set-Cookie", "ridedash_sid=", "__Host-sid=", "token_keys", "4821"),
        *("ridedash_kiosk=", "__Host-door="),
    ]
)


@pytest.mark.parametrize("name", ["__Host-kiosk", "ridedash_door", "ridedash_sid"])
def test_the_cookie_of_a_device_is_removed_from_an_answer_without_any_other_secret(
    name: str,
) -> None:
    assert without_shapes(f"it was {name}=abc_def-123") == f"it was {name}=[removed]"


@settings(max_examples=40)
@given(st.lists(st.one_of(WORDS, st.text(max_size=4)), max_size=12))
def test_a_text_that_passes_the_quick_check_has_no_secret(words: list[str]) -> None:
    """The quick check may have too many texts searched in full, but never too few."""
    text = "".join(words)
    looked_at = text
    for shape, replacement in redaction._SECRETS:
        looked_at = shape.sub(replacement, looked_at)
    assert without_shapes(text) == looked_at
