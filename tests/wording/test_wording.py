"""Every state, code and outcome has words for both audiences as in docs/wording.md 3."""

import re

import pytest

from ridedash import wording
from ridedash.wire import Kind
from ridedash.wording import Audience
from ridedash.wording.attention import attention_words

STATUSES = [
    "ALLOTMENT_PENDING",
    "PENDING",
    "ALLOTMENT_RETRYING",
    "SOFT_ALLOCATED",
    "CALL_DRIVER",
    "CLIENT_LOCATED",
    "INVOICE",
    "IN_PROGRESS",
    "COMPLETED",
    "ALLOTMENT_FAILED",
    "BOOKING_CANCELLED",
]
ORDER_STATES = [
    "SCHEDULED",
    "WAITING",
    "READY",
    "SENDING",
    "BOOKED",
    "MATCHING",
    "REJECTED",
    "NOT_SENT",
    "UNKNOWN",
    "CLOSED_NOT_BOOKED",
    "FAILED",
]
CREATE_CODES = [
    "INVALID_CAR_CATEGORY",
    "INVALID_CITY",
    "SAME_PICKUP_DROP",
    "BANNED USER",
    "OUTSTANDING_DUE",
    "PAYMENT_PENDING",
    "SVC_CREDIT_DUE",
    "INVALID_DROP_LOCATION",
    "NO_CABS_AVAILABLE",
    "INVALID_CITY_CAR_CATEGORY",
    "invalid_partner_key",
    "rate_limit",
    "FARE_EXPIRED",
    "SHARE_NONE",
    "NOT_SENT",
    "EXPIRED",
    "ACCOUNT",
    "WITHDRAWN",
    "NO_CONNECTION",
    "RECONNECT",
    "RATE_LIMITED",
    "KEY_MISSING",
    "NOT_BUILT",
    "NO_JOURNAL",
    "NO_DB",
    "SOMETHING_NEW",
    None,
]
RIDE_CODES = [
    "BOOKING_ALLOTED",
    "CANCELLATION_NOT_ALLOWED",
    "Invalid Drop Location",
    "Oops!",
    "BOOKING_ALREADY_CANCELLED",
    "RIDE_IN_PROGRESS",
    "BOOKING_ALREADY_COMPLETED",
    "NO_BOOKING",
    "BUSY",
    "RIDE_ENDED",
    "ALREADY_GIVEN",
    "SOMETHING_NEW",
    None,
]
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
@pytest.mark.parametrize("status", STATUSES)
def test_every_status_has_words_for_both_audiences(
    status: str, kind: Kind, audience: Audience, facts: dict[str, str]
) -> None:
    words = wording.status_words(status, kind, audience, facts)
    assert words.headline
    assert words.tone in TONES
    assert not NEVER.search(words.headline + words.detail)


@pytest.mark.parametrize("facts", [FACTS, {}], ids=["all known", "nothing known"])
@pytest.mark.parametrize("audience", list(Audience))
@pytest.mark.parametrize("state", ORDER_STATES)
def test_every_order_state_has_words_for_both_audiences(
    state: str, audience: Audience, facts: dict[str, str]
) -> None:
    words = wording.order_words(state, audience, facts)
    assert words.headline
    assert words.detail
    assert not NEVER.search(words.headline + words.detail)


@pytest.mark.parametrize(
    ("codes", "ordering"), [(CREATE_CODES, True), (RIDE_CODES, False)], ids=["create", "ride"]
)
def test_every_code_has_what_why_and_what_next(codes: list[str | None], ordering: bool) -> None:
    for code in codes:
        words = wording.refusal(
            code,
            Audience.STAFF,
            message="text of the service",
            ordering=ordering,
            fee="₹30",
            drop="Airport",
        )
        assert words.headline, code
        assert words.why, code
        assert words.next_step, code
        assert not NEVER.search(words.headline + words.why + words.next_step), code


@pytest.mark.parametrize("code", [*CREATE_CODES, *RIDE_CODES])
def test_guests_get_one_sentence_and_nothing_of_accounts(code: str | None) -> None:
    words = wording.refusal(
        code, Audience.GUEST, message="You are BANNED", ordering=code not in RIDE_CODES
    )
    assert words.headline
    assert words.quote == words.why == words.next_step == ""
    assert not ACCOUNT_WORDS.search(words.headline)


def test_codes_are_compared_however_they_are_spelled() -> None:
    assert wording.refusal("banned_user", Audience.STAFF) == wording.refusal(
        "BANNED USER", Audience.STAFF
    )


def test_words_differ_between_codes_that_ask_for_different_steps() -> None:
    steps = {
        code: wording.refusal(code, Audience.STAFF).headline
        for code in CREATE_CODES[:12]
        if code != "INVALID_CITY_CAR_CATEGORY"
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


@pytest.mark.parametrize(
    "name",
    [
        "release",
        "ordered",
        "withdraw",
        "abort",
        "cancel",
        "arm",
        "drop",
        "feedback",
        "again",
        "resolve",
        "reopen",
    ],
)
def test_every_action_has_a_button_and_every_outcome_a_sentence(name: str) -> None:
    words = wording.action_words(name)
    assert words.label
    assert words.about
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


@pytest.mark.parametrize(
    "note", ["no_booking_id", "armed", "too_late", "too_early", "on_trip", "ended", "given"]
)
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


@pytest.mark.parametrize(
    "name",
    [
        "no_driver",
        "not_known",
        "too_old",
        "poison",
        "unknown_status",
        "car_swapped",
        "driver_lost",
        "after_end",
        "other_booking",
        "contradiction",
        "unknown",
        "late_double",
    ],
)
def test_every_attention_item_has_its_own_words(name: str) -> None:
    assert attention_words(name, "CALL_DRIVER")[0] != "Somebody should look at this ride"
