"""JSON is read strictly, and anything that is wrong with it raises the same error."""

import json
from contextlib import suppress
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridedash.service.errors import Unreadable
from ridedash.service.transport.http import Answer
from ridedash.service.transport.strict_json import NotJsonError, loads


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html></html>",
        b'{"a":',
        b"{'a': 1}",
        b'{"a": NaN}',
        b"[Infinity]",
        b"[-Infinity]",
        b"[" * 5000,
        b'{"a":' * 5000,
        b"[" * 5000 + b"]" * 5000,
        b'{"a": ' + b"7" * 5000 + b"}",
        b"[0." + b"7" * 5000 + b"]",
        b"[" + b"7" * 101 + b"]",
        b"[0." + b"7" * 99 + b"]",
        b"[" * 21 + b"]" * 21,
        b"[1e" + b"9" * 50 + b"]",
        '{"a": 1}'.encode("utf-16"),
        '{"a": 1}'.encode("utf-32-le"),
        b'{"a": "\xff"}',
        b'{"status": "SUCCESS", "status": "FAILURE"}',
        b'{"a": {"b": 1, "b": 2}}',
        b"{} {}",
    ],
    ids=lambda body: repr(body[:24]),
)
def test_what_is_no_strict_json_is_unreadable(body):
    with pytest.raises(NotJsonError):
        loads(body)
    with pytest.raises(Unreadable):
        Answer(200, {}, body).json()


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        (b'{"a": 1, "a": 1}', {"a": 1}),
        (b'["\\ud800"]', ["\ud800"]),
        (b'["a\nb"]', ["a\nb"]),
        (b"[" + b"7" * 100 + b"]", [int("7" * 100)]),
        (b"[0." + b"7" * 98 + b"]", [Decimal("0." + "7" * 98)]),
        (b"[" + b'[{"a": []}],' * 40 + b"0]", [[{"a": []}]] * 40 + [0]),
        (b"[" * 20 + b"]" * 20, json.loads("[" * 20 + "]" * 20)),
        (b'["' + b"[" * 5000 + b'"]', ["[" * 5000]),
        (b"[1.10, 1e400, -0.5]", [Decimal("1.10"), Decimal("1e400"), Decimal("-0.5")]),
    ],
    ids=lambda part: repr(part)[:24],
)
def test_odd_but_sound_json_is_read(body, value):
    assert loads(body) == value


@pytest.mark.parametrize("unit", ['"', '\\"', "[]", '{"', "\\", '"\\'])
def test_a_body_as_long_as_the_cap_is_refused_to_its_end(unit):
    """A reader that backtracks would take hours for some of the repeated units."""
    body = ('"' + unit * ((1 << 20) // len(unit))).encode()
    with pytest.raises(NotJsonError):
        loads(body)


@given(st.binary(max_size=300))
def test_no_bytes_raise_anything_else(body):
    with suppress(NotJsonError):
        loads(body)


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(values)
def test_what_json_writes_is_read_back(value):
    assert loads(json.dumps(value).encode()) == value
