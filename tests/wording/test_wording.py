"""Every state, code and outcome has words for both audiences as in docs/wording.md 3."""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ridedash import wire, wording
from ridedash.rides.kiosk.rules import LIMITS
from ridedash.rides.state import codes
from ridedash.rides.tracking.policy import ALARMS
from ridedash.store.models.orders import OrderState
from ridedash.wire import Kind
from ridedash.wording import Audience
from ridedash.wording.actions import _ACTIONS, _DONE, _NOTES
from ridedash.wording.attention import _ITEMS, _KIOSK_LIMITS, attention_words
from ridedash.wording.codes import _CREATE, _RIDE

ROOT = Path(__file__).parents[2]

CODES = [(code, True) for code in (*_CREATE, "SOMETHING_NEW", None)]
CODES += [(code, False) for code in (*_RIDE, "SOMETHING_NEW", None)]
FACTS = {
    "driver": "Driver Cedar",
    "eta": "4 min",
    "left": "about 4 min left",
    "left_line": "About 4 min left",
    "pickup": "Lobby",
    "drop": "Airport",
    "fare": "₹240",
    "payable": "₹186",
    "fee": "₹30",
    "who": "our desk",
    "booking_id": "CRN1",
    "asked": "14:01:07",
    "next_try": "14:02:30",
    "ends": "14:05:00",
    "closed": "14:06",
    "due": "05:10",
    "order_at": "04:50",
}
TONES = {"quiet", "info", "ok", "warn", "bad", "unknown"}
NEVER = re.compile(r"oops|error|invalid|[{}\[\]]|[A-Z]{2,}_[A-Z]", re.IGNORECASE)
ACCOUNT_WORDS = re.compile(r"banned|blocked|owes|due|credit|account|unpaid", re.IGNORECASE)


@pytest.mark.parametrize("facts", [FACTS, {}], ids=["all known", "nothing known"])
@pytest.mark.parametrize("audience", list(Audience))
@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("status", sorted(wire.KNOWN_STATUSES))
def test_every_status_has_words_for_both_audiences(
    status: str, kind: Kind, audience: Audience, facts: dict[str, str]
) -> None:
    words = wording.status_words(status, kind, audience, facts)
    assert words.headline
    assert words != wording.status_words("NEVER_SEEN", kind, audience, facts)
    assert words.tone in TONES
    assert not NEVER.search(words.headline + words.detail)


@pytest.mark.parametrize("facts", [FACTS, {}], ids=["all known", "nothing known"])
@pytest.mark.parametrize("audience", list(Audience))
@pytest.mark.parametrize("state", list(OrderState))
def test_every_order_state_has_words_for_both_audiences(
    state: str, audience: Audience, facts: dict[str, str]
) -> None:
    words = wording.order_words(state, audience, facts)
    assert words.headline
    assert words.detail
    assert not NEVER.search(words.headline + words.detail)


@pytest.mark.parametrize(("code", "ordering"), CODES)
def test_every_code_has_what_why_and_what_next(code: str | None, ordering: bool) -> None:
    words = wording.refusal(
        code,
        Audience.STAFF,
        message="text of the service",
        ordering=ordering,
        fee="₹30",
        drop="Airport",
    )
    assert words.headline
    assert words.why
    assert words.next_step
    assert not NEVER.search(words.headline + words.why + words.next_step)


@pytest.mark.parametrize(("code", "ordering"), CODES)
def test_guests_get_one_sentence_and_nothing_of_accounts(code: str | None, ordering: bool) -> None:
    words = wording.refusal(code, Audience.GUEST, message="You are BANNED", ordering=ordering)
    assert words.headline
    assert words.quote == words.why == words.next_step == ""
    assert not ACCOUNT_WORDS.search(words.headline)


def test_every_code_with_which_an_order_ends_has_words() -> None:
    ours = {value for name, value in vars(codes).items() if name.isupper()}
    # with these an order is UNKNOWN, which has words of its own
    unknown = {codes.NO_ANSWER, codes.RESTORED, codes.UNCLEAR, codes.CONTRADICTION}
    assert unknown < ours
    assert (ours - unknown | wire.CREATE_CODES) - _CREATE.keys() == set()


def test_codes_are_compared_however_they_are_spelled() -> None:
    assert wording.refusal("banned_user", Audience.STAFF) == wording.refusal(
        "BANNED USER", Audience.STAFF
    )


def test_words_differ_between_codes_that_ask_for_different_steps() -> None:
    steps = {
        code: wording.refusal(code, Audience.STAFF).headline
        for code in wire.CREATE_CODES - {wire.INVALID_CITY_CAR_CATEGORY}
    }
    assert len(set(steps.values())) == len(steps)


def test_an_unlisted_code_is_quoted_with_the_services_own_message() -> None:
    words = wording.refusal("NEVER_SEEN", Audience.STAFF, message="Try on Tuesday")
    assert (words.headline, words.quote) == ("Not booked", "Try on Tuesday")


@pytest.mark.parametrize("message", [None, "", "BOOKING_FAILED"])
def test_an_unlisted_code_without_words_of_its_own_is_quoted_itself(message: str | None) -> None:
    assert wording.refusal("NEVER_SEEN", Audience.STAFF, message=message).quote == "NEVER_SEEN"


def test_the_invoice_status_has_other_words_for_an_auto() -> None:
    assert (
        wording.status_words("INVOICE", Kind.SHARE, Audience.STAFF, FACTS).headline
        == "Driver is here, fare set: ₹240"
    )
    assert (
        wording.status_words("INVOICE", Kind.AUTO, Audience.STAFF, FACTS).headline
        == "Ride over, bill ready: ₹186"
    )


@pytest.mark.parametrize("audience", list(Audience))
@pytest.mark.parametrize("amount", ["₹186", ""])
@pytest.mark.parametrize("payment", ["svc_money", None])
def test_no_words_about_the_wallet_ask_to_pay_the_driver(
    payment: str | None, amount: str, audience: Audience
) -> None:
    words = wording.payment_words(audience, payment, amount)
    assert "wallet, not to the driver" in words
    assert not NEVER.search(words)
    assert "Cash" not in wording.payment_name(payment)


@pytest.mark.parametrize("audience", list(Audience))
@pytest.mark.parametrize(("amount", "words"), [("₹186", "₹186 in cash"), ("", "meter shows")])
def test_cash_goes_to_the_driver(audience: Audience, amount: str, words: str) -> None:
    assert words in wording.payment_words(audience, "cash", amount)


@pytest.mark.parametrize("audience", list(Audience))
@pytest.mark.parametrize("amount", ["₹186", ""])
def test_a_payment_that_is_not_known_is_neither_cash_nor_wallet(
    audience: Audience, amount: str
) -> None:
    words = wording.payment_words(audience, wording.PAYMENT_NOT_KNOWN, amount)
    assert "how this ride is paid" in words or "We don't know if ₹186" in words
    assert not NEVER.search(words)
    assert "Paid from" not in words
    assert "wallet" not in wording.payment_name(wording.PAYMENT_NOT_KNOWN)


def test_unknown_has_the_words_of_the_protocol() -> None:
    words = wording.order_words("UNKNOWN", Audience.STAFF, FACTS)
    assert words.headline == "We don't know if this ride was booked"
    assert words.detail == "Asked 14:01:07, no clear answer. Do not book again yet."
    assert words.tone == "unknown"


@pytest.mark.parametrize("name", list(_ACTIONS))
def test_every_action_has_a_button_and_every_outcome_a_sentence(name: str) -> None:
    words = wording.action_words(name)
    assert words.label
    assert words.about
    assert name in _DONE or name == "again", "that one opens the form"
    for outcome in ("done", "armed", "refused", "unconfirmed", "unanswered", "not_now", "not_sent"):
        outcome_words = wording.outcome_words(
            name, outcome, code="BOOKING_ALLOTED", text="no", fee="₹30", drop="Airport"
        )
        assert outcome_words.headline
        assert not NEVER.search(outcome_words.headline + outcome_words.detail)


@pytest.mark.parametrize("name", ["abort", "cancel", "drop", "feedback"])
@pytest.mark.parametrize("code", ["invalid_partner_key", "rate_limit"])
def test_an_action_that_is_refused_for_our_key_or_pace_says_nothing_of_booking(
    name: str, code: str
) -> None:
    words = wording.outcome_words(name, "refused", code=code, text="Refused")
    assert not re.search(r"book|order", f"{words.headline} {words.detail}", re.IGNORECASE)


@pytest.mark.parametrize("note", list(_NOTES))
def test_every_reason_for_a_button_that_is_off_has_words(note: str) -> None:
    assert wording.note_words(note) not in ("", note)


def test_too_late_to_stop_offers_the_cancel_with_its_fee() -> None:
    words = wording.refusal("BOOKING_ALLOTED", Audience.STAFF, ordering=False, fee="₹30")
    assert words.headline == "Too late to stop: a driver accepted"
    assert words.next_step == "Cancel the ride instead (₹30 may apply)."


@pytest.mark.parametrize("odd", ["{fee}", "[x]", "${7*191}", "{{7*191}}", "%s %(n)d", "<b>"])
def test_a_fact_is_always_text(odd: str) -> None:
    assert (
        wording.say("[Meet {driver} ]at {pickup}", {"driver": odd, "pickup": odd, "fee": "no"})
        == f"Meet {odd} at {odd}"
    )


def test_a_name_written_from_right_to_left_does_not_reverse_the_sentence() -> None:
    assert wording.say("Meet at {pickup}.", {"pickup": "فندق"}) == "Meet at \u2068فندق\u2069."


def test_attention_items_have_words_even_unknown_ones() -> None:
    assert attention_words("never_heard_of", "because")[1] == "because"
    assert attention_words("never_heard_of", None) == ("Somebody should look at this ride", "")


def test_a_contradiction_names_the_booking_to_ask_about() -> None:
    assert "booking C1" in attention_words("contradiction", "C1")[1]
    for code in ("CONTRADICTION", "UNCLEAR", None):  # the answer named none
        assert attention_words("contradiction", code)[1] == "Check with the ride company's support."


def raised() -> Iterator[str]:
    """The names of the attention items that the program raises, read from its code."""
    yield from ALARMS  # events of a poll
    # the position of the name in a call; each of these variables has a name of another call
    position, passed_on = {"raise_attention": 2, "AttentionItem": 0}, ("item.name", "event.name")
    for path in (ROOT / "ridedash").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func).rpartition(".")[2]
            if called not in position or (at := position[called]) >= len(node.args):
                continue
            name = ast.unparse(node.args[at])
            if name not in passed_on:
                module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
                yield eval(name, vars(importlib.import_module(module)))


def test_every_attention_item_has_its_own_words() -> None:
    assert set(raised()) <= set(_ITEMS)
    assert {str(why) for why in LIMITS} == set(_KIOSK_LIMITS)
    for name in _ITEMS:
        title, line = attention_words(name, "RECONNECT")
        assert title
        assert line
        assert not NEVER.search(title + line), name
