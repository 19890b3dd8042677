"""The tracking page over HTTP: its contents, its polls, its permissions and its forms."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from ridedash.rides.accounts.tokens import NeedsReconnect
from ridedash.service.errors import NoAnswer, Refused, Unauthorized
from ridedash.service.types.bookings import DOCUMENT_OPTIONS, Done, FeedbackOptions
from ridedash.store.audit import AuditRow
from ridedash.store.encryption import TokenVault, new_key
from ridedash.store.models.orders import PathPoint
from ridedash.store.orders import Order
from tests.views.ride_pages import (
    ENDS,
    NOON,
    ORDER_STATES,
    SNAPSHOT_BYTES,
    STATUSES,
    Desk,
    compact,
    make_desk,
    snapshot_facts,
    token,
    without_tokens,
)

pytestmark = pytest.mark.database

CASES = [(kind, status) for kind, statuses in STATUSES.items() for status in [*statuses, *ENDS]]
MARKUP = (
    "<img src=x onerror=window.__x=1>${7*191}{{7*191}}{% raw "
    "%}</script><script>window.__x=1</script>"
)


class NoTokens:
    """No account has tokens, so the service is never called."""

    def bearer(self, _account_id: int) -> str:
        raise NeedsReconnect("house")


@pytest.fixture(scope="module")
def shared_desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    made = make_desk(tmp_path_factory.mktemp("desk"))
    made.services.tokens = NoTokens()
    yield made
    made.close()


@pytest.fixture
def desk(shared_desk: Desk) -> Desk:
    shared_desk.now = NOON
    return shared_desk


@pytest.fixture
def browser(desk: Desk) -> FlaskClient:
    return desk.client()


# the forms below a ride's address
ACTIONS = (
    *("abort", "cancel", "drop", "feedback", "withdraw", "again", "code", "reopen"),
    *("resolve", "resolve/booked", "resolve/not-booked", "stop-following", "acknowledge"),
)


def post(browser: FlaskClient, path: str, **form: Any) -> Any:
    return browser.post(path, data={"csrf_token": token(browser), **form})


@pytest.mark.parametrize(("kind", "status"), CASES)
def test_every_status_of_every_kind_has_a_page(
    desk: Desk, browser: FlaskClient, kind: str, status: str
) -> None:
    order_id = desk.order(
        "BOOKED", status, kind, otp="4821" if status == "CLIENT_LOCATED" else None
    )
    text = browser.get(f"/rides/{order_id}").text
    snapshot = browser.get(f"/rides/{order_id}/snapshot.json").json
    assert snapshot is not None
    assert f">{snapshot['headline']}<" in compact(text)
    assert "4821" not in without_tokens(text)


@pytest.mark.parametrize("state", ORDER_STATES)
def test_every_order_state_has_a_page(desk: Desk, browser: FlaskClient, state: str) -> None:
    answer = browser.get(f"/rides/{desk.order(state)}")
    assert answer.status_code == 200
    assert '<h2 id="headline"' in answer.text


def test_the_snapshot_is_304_until_something_shown_changes(
    desk: Desk, browser: FlaskClient
) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    first = browser.get(f"/rides/{order_id}/snapshot.json")
    again = browser.get(
        f"/rides/{order_id}/snapshot.json", headers={"If-None-Match": first.headers["ETag"]}
    )
    assert (first.status_code, again.status_code, again.data) == (200, 304, b"")
    for answer in (first, again):
        assert answer.headers["X-Seen-At"] == "2026-05-04T08:29:58.000Z"
        assert answer.headers["X-Server-Now"] == "2026-05-04T08:30:00.000Z"
        assert "no-cache" in answer.headers["Cache-Control"]
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
    from ridedash.store.orders import Order

    desk.add(lambda s: setattr(s.get(Order, order_id), "version", 4))
    assert (
        browser.get(
            f"/rides/{order_id}/snapshot.json", headers={"If-None-Match": first.headers["ETag"]}
        ).status_code
        == 200
    )


def test_the_driven_path_is_that_of_the_guests_cab_in_few_points(
    desk: Desk, browser: FlaskClient
) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER", ride={"swapped_at": NOON})

    def driven(s: Any) -> None:
        s.add(PathPoint(order_id=order_id, at=NOON - timedelta(seconds=10), lat=1.0, lng=2.0))
        for n in range(2_500):  # a zigzag, in which no straight line replaces points
            at = NOON + timedelta(seconds=10 * n)
            lat, lng = -38.5 + (n * n % 97) / 5_000, -128.0 + n / 10_000
            s.add(PathPoint(order_id=order_id, at=at, lat=lat, lng=lng))

    desk.add(driven)
    first = browser.get(f"/rides/{order_id}/path.json")
    path = first.get_json()["path"]
    assert 2 <= len(path) <= 200
    assert path[-1] == [round(-38.5 + (2_499 * 2_499 % 97) / 5_000, 5), -127.7501]
    assert [1.0, 2.0] not in path  # a point of the cab before the swap
    known = {"If-None-Match": first.headers["ETag"]}
    assert browser.get(f"/rides/{order_id}/path.json", headers=known).status_code == 304
    foreign = desk.order("BOOKED", "CALL_DRIVER", prop="other")
    assert browser.get(f"/rides/{foreign}/path.json").status_code == 404


@pytest.mark.parametrize(("kind", "status"), CASES)
def test_the_snapshot_stays_small_on_the_wire(
    desk: Desk, browser: FlaskClient, kind: str, status: str
) -> None:
    order_id = desk.order("BOOKED", status, kind)
    assert len(browser.get(f"/rides/{order_id}/snapshot.json").data) < SNAPSHOT_BYTES


def test_a_ride_of_another_property_gets_404(desk: Desk, browser: FlaskClient) -> None:
    foreign = desk.order("BOOKED", "CLIENT_LOCATED", prop="other", otp="4821")
    assert browser.get(f"/rides/{foreign}").status_code == 404
    assert browser.get(f"/rides/{foreign}/snapshot.json").status_code == 404
    fresh = token(browser)
    form = {"csrf_token": fresh, "rating": "5"}
    for action in ACTIONS:
        assert browser.post(f"/rides/{foreign}/{action}", data=form).status_code == 404, action
    for missing in ("999999", "9223372036854775808", "9" * 30):
        assert browser.get(f"/rides/{missing}").status_code == 404
        assert (
            browser.post(f"/rides/{missing}/abort", data={"csrf_token": fresh}).status_code == 404
        )


def test_nothing_is_shown_without_a_sign_in(desk: Desk) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    stranger = desk.client(signed_in=False)
    page, polled = (
        stranger.get(f"/rides/{order_id}"),
        stranger.get(f"/rides/{order_id}/snapshot.json"),
    )
    assert (page.status_code, page.headers["Location"]) == (
        303,
        f"/sign-in?next=%2Frides%2F{order_id}",
    )
    assert polled.status_code == 401
    assert polled.json is not None
    assert polled.json["error"] == "signed_out"


@pytest.mark.parametrize("action", ACTIONS)
def test_no_action_is_taken_without_the_forms_token(
    desk: Desk, browser: FlaskClient, action: str
) -> None:
    address = f"/rides/{desk.order('BOOKED', 'CALL_DRIVER')}/{action}"
    headers = {"Accept": "application/json"}
    assert browser.post(address).status_code == 400
    assert browser.post(address, json={}, headers=headers).status_code == 400


def test_the_start_code_is_shown_on_request_and_audited(desk: Desk, browser: FlaskClient) -> None:
    order_id = desk.order("BOOKED", "CLIENT_LOCATED", "share", otp="4821")
    headers = {"X-CSRFToken": token(browser), "Accept": "application/json"}
    assert browser.post(f"/rides/{order_id}/code", headers=headers).json == {
        "code": "4821",
        "seconds": 20,
    }
    assert "4821" in post(browser, f"/rides/{order_id}/code").text
    assert [row.what for row in audit(desk) if row.subject == f"orders:{order_id}"] == [
        "code_shown",
        "code_shown",
    ]


def test_no_code_is_shown_once_the_ride_has_begun(desk: Desk, browser: FlaskClient) -> None:
    order_id = desk.order("BOOKED", "IN_PROGRESS", "share", otp="4821")
    headers = {"X-CSRFToken": token(browser), "Accept": "application/json"}
    assert browser.post(f"/rides/{order_id}/code", headers=headers).status_code == 409
    assert post(browser, f"/rides/{order_id}/code").status_code == 303
    assert [row for row in audit(desk) if row.subject == f"orders:{order_id}"] == []


def test_a_start_code_with_a_missing_key_is_not_shown(desk: Desk, browser: FlaskClient) -> None:
    order_id = desk.order("BOOKED", "CLIENT_LOCATED", "share", otp="4821")
    headers = {"X-CSRFToken": token(browser), "Accept": "application/json"}
    desk.services.vault = TokenVault(f"k9:{new_key()}")
    assert browser.post(f"/rides/{order_id}/code", headers=headers).status_code == 409
    assert [row for row in audit(desk) if row.subject == f"orders:{order_id}"] == []


def audit(desk: Desk) -> list[AuditRow]:
    with desk.services.db.read() as s:
        return list(s.query(AuditRow).order_by(AuditRow.id))


def test_markup_in_every_field_is_shown_as_text(desk: Desk, browser: FlaskClient) -> None:
    words = (
        "driver_name",
        "driver_number",
        "vehicle_number",
        "vehicle_type",
        "vehicle_color",
        "car_model",
        "otp_text",
    )
    facts = snapshot_facts("share", "CLIENT_LOCATED", **dict.fromkeys(words, MARKUP))
    facts["route"] = [{"name": MARKUP, "state": "drop", "position": [-38.5, -128.0]}]
    order_id = desk.order(
        "BOOKED",
        "CLIENT_LOCATED",
        "share",
        guest=MARKUP,
        room=MARKUP[:32],
        note=MARKUP,
        pickup_name=MARKUP,
        drop_name=MARKUP,
        display_name=MARKUP,
        price_text=MARKUP,
        otp=MARKUP,
        ride={"facts": facts, "reported": MARKUP, "previous_plate": MARKUP, "swapped_at": NOON},
        attention=[MARKUP[:30]],
        actions=[("cancel", "refused", {"code": MARKUP, "text": MARKUP, "header": MARKUP})],
    )
    for path in (f"/rides/{order_id}", "/"):
        text = browser.get(path).text
        assert "<img src=x" not in text
        assert "</script><script>window" not in text
        assert "1337" not in without_tokens(text)
        assert "&lt;img src=x" in text


def test_a_hundred_kilobytes_of_text_are_cut_on_the_page(desk: Desk, browser: FlaskClient) -> None:
    facts = snapshot_facts("share", "CALL_DRIVER", driver_name="x" * 100_000)
    order_id = desk.order("BOOKED", "CALL_DRIVER", "share", ride={"facts": facts})
    assert browser.get(f"/rides/{order_id}").status_code == 200


@pytest.mark.parametrize(
    ("action", "form", "why"),
    [
        ("feedback", {"rating": "6"}, "Choose one to five stars."),
        ("feedback", {}, "Choose one to five stars."),
        ("feedback", {"rating": "2", "option-2": "x" * 301}, "Use 300 characters at most."),
        ("drop", {}, "Type a place, or click it on the map."),
        ("drop", {"lat": "nan", "lng": "0"}, "Type a place, or click it on the map."),
        ("drop", {"lat": "91", "lng": "0"}, "Type a place, or click it on the map."),
    ],
)
def test_an_invalid_form_shows_the_reason_and_stays_open(
    desk: Desk, browser: FlaskClient, action: str, form: dict[str, str], why: str
) -> None:
    order_id = desk.order("BOOKED", "COMPLETED" if action == "feedback" else "CALL_DRIVER")
    answer = post(browser, f"/rides/{order_id}/{action}", **form)
    assert answer.status_code == 422
    assert why in answer.text
    assert re.search(rf'data-action="{action}" open', compact(answer.text))


@pytest.mark.parametrize(
    ("outcome", "form", "why"),
    [
        ("booked", {"booking_id": " "}, "Type the booking number."),
        ("not-booked", {"reason": "x"}, "Say how you know"),
    ],
)
def test_an_unknown_outcome_is_closed_only_with_proof_or_a_reason(
    desk: Desk, browser: FlaskClient, outcome: str, form: dict[str, str], why: str
) -> None:
    answer = post(browser, f"/rides/{desk.order('UNKNOWN')}/resolve/{outcome}", **form)
    assert answer.status_code == 422
    assert why in answer.text


def test_book_again_goes_to_the_form_with_this_trip_and_is_audited(
    desk: Desk, browser: FlaskClient
) -> None:
    order_id = desk.order("REJECTED", code="INVALID_CITY")
    answer = post(browser, f"/rides/{order_id}/again")
    assert answer.status_code == 303
    assert answer.headers["Location"] == (
        f"/rides/new?again={order_id}&pickup_lat=-38.5&pickup_lng=-128.0"
        "&drop_lat=-38.48&drop_lng=-127.97&category=mini"
    )
    assert [row.what for row in audit(desk) if row.subject == f"orders:{order_id}"] == ["again"]


def test_the_policy_promises_no_minute_that_is_not_all_free(
    desk: Desk, browser: FlaskClient
) -> None:
    policy = {"charge": "30", "currency": "INR", "applies_after": {"seconds": 90}}
    text = browser.get(f"/rides/{desk.order('BOOKED', 'CALL_DRIVER', cancellation=policy)}").text
    assert "Free to cancel for 1 min after a driver accepts, then ₹30." in text


def test_the_policy_and_the_countdown_come_before_the_confirm_button(
    desk: Desk, browser: FlaskClient
) -> None:
    order_id = desk.order(
        "BOOKED", "CALL_DRIVER", ride={"allotted_at": NOON - timedelta(seconds=60)}
    )
    text = compact(browser.get(f"/rides/{order_id}").text)
    free, policy, button = (
        text.index(part)
        for part in ("Free to cancel for another 4:00", "then ₹30.", ">Cancel ride</button>")
    )
    assert free < policy < button


def test_an_unknown_outcome_offers_three_actions_and_a_text_without_the_guest(
    desk: Desk, browser: FlaskClient
) -> None:
    order_id = desk.order("UNKNOWN", guest="Guest Heron")
    desk.add(lambda s: setattr(s.get(Order, order_id), "evidence", "booking C1 <b>"))
    text = browser.get(f"/rides/{order_id}").text
    assert "It was booked" in text
    assert "It was not booked" in text
    support = re.split(r"data-support\s*>", text)[1].split("</pre>")[0]
    assert "merchant_txn_id: GMH-" in support
    assert "answer: booking C1 &lt;b&gt;" in support
    assert "Heron" not in support


def test_feedback_offers_the_documents_labels_when_the_service_fails(
    desk: Desk, browser: FlaskClient
) -> None:
    text = browser.get(f"/rides/{desk.order('BOOKED', 'COMPLETED')}").text
    assert text.count("Delayed Pick up") >= 4
    assert "On-time pickup" in text


def test_the_page_has_the_snapshot_as_data_and_no_foreign_script(
    desk: Desk, browser: FlaskClient
) -> None:
    answer = browser.get(f"/rides/{desk.order('BOOKED', 'CALL_DRIVER', 'share')}")
    data = json.loads(answer.text.split("data-points")[1].split(">", 1)[1].split("</script>")[0])
    assert data["snapshot"]["headline"] == "Driver on the way\u00a0· 4 min"
    nonce = re.search(r"'nonce-([\w-]+)'", answer.headers["Content-Security-Policy"])
    assert nonce is not None
    assert all(nonce.group(1) in tag for tag in re.findall(r"<script[^>]*>", answer.text))
    assert (
        re.search(
            r"\sstyle=|\son[a-z]+=",
            re.sub(r"<script.*?</script>", "", answer.text, flags=re.DOTALL),
        )
        is None
    )


@pytest.mark.parametrize(
    ("state", "status", "kind", "headline"),
    [
        ("BOOKED", "ALLOTMENT_FAILED", "point_to_point", "No driver found"),
        ("FAILED", "ALLOTMENT_FAILED", "share", "No shared ride was found"),
    ],
)
def test_a_ride_for_which_no_car_was_found_says_so_and_can_be_tried_again(
    desk: Desk, browser: FlaskClient, state: str, status: str, kind: str, headline: str
) -> None:
    order_id = desk.order(state, status, kind)
    page = browser.get(f"/rides/{order_id}").text
    assert headline in page.split('id="headline"')[1][:200]
    assert f"/rides/new?again={order_id}" in page


class Service:
    """A client with set answers, which records its calls."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.calls: list[tuple[Any, ...]] = []

    def _answer(self, *call: Any) -> Any:
        self.calls.append(call)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def abort_booking(self, booking_id: str, _token: str) -> Any:
        return self._answer("abort", booking_id)

    def cancel_booking(self, booking_id: str, reason: str, _token: str) -> Any:
        return self._answer("cancel", booking_id, reason)

    def update_drop_location(self, booking_id: str, drop: Any, _token: str) -> Any:
        return self._answer("drop", booking_id, tuple(drop))

    def submit_feedback(
        self, booking_id: str, rating: int, _token: str, feedback: Any = (), comments: Any = None
    ) -> Any:
        return self._answer("feedback", booking_id, rating, list(feedback), comments)

    def feedback_options(self, _category: str, _token: str, _sub: Any = None) -> Any:
        return DOCUMENT_OPTIONS


class Tokens:
    """Any account can be used."""

    def bearer(self, _account_id: int) -> str:
        return "token"


@pytest.fixture
def talking(tmp_path: Path) -> Iterator[Desk]:
    made = make_desk(tmp_path)
    made.services.tokens = Tokens()
    yield made
    made.close()


class RefusedOnce(Service):
    """Refuses the first token of a request for the labels of feedback."""

    def feedback_options(self, _category: str, token: str, _sub: Any = None) -> Any:
        if token == "token":
            raise Unauthorized(401)
        return FeedbackOptions(options={1: ("Loud music",)})


class Renewed(Tokens):
    def refreshed(self, _account_id: int, stale: str) -> str:
        return f"fresh for {stale}"


def test_the_labels_of_feedback_are_the_services_also_after_a_token_has_ended(
    talking: Desk,
) -> None:
    """Without them the page would offer the document's labels, which the service may not know."""
    talking.services.client, talking.services.tokens = RefusedOnce(Done()), Renewed()
    order_id = talking.order("BOOKED", "COMPLETED", ride={"next_poll_at": None})
    page = talking.client().get(f"/rides/{order_id}").text
    assert "Loud music" in page
    assert "Unsafe Driving" not in page


ACTIONS_SENT: list[tuple[str, str, dict[str, Any], tuple[Any, ...], str]] = [
    ("abort", "ALLOTMENT_PENDING", {}, ("abort", "CRN000001"), "Search stopped."),
    (
        "cancel",
        "CALL_DRIVER",
        {"reason": "Wait is too long"},
        ("cancel", "CRN000001", "Wait is too long"),
        "Ride cancelled.",
    ),
    (
        "drop",
        "IN_PROGRESS",
        {"lat": "-38.49", "lng": "-127.98", "name": "Museum"},
        ("drop", "CRN000001", (-38.49, -127.98)),
        "Museum",
    ),
    (
        "feedback",
        "COMPLETED",
        {
            "rating": "2",
            "option-2": ["Car Quality"],
            "option-5": ["Value for Money"],
            "comments": "Dusty",
        },
        ("feedback", "CRN000001", 2, ["Car Quality"], "Dusty"),
        "Feedback sent.",
    ),
]


@pytest.mark.parametrize(("action", "status", "form", "call", "message"), ACTIONS_SENT)
def test_an_action_is_called_once_and_its_success_is_shown(
    talking: Desk,
    action: str,
    status: str,
    form: dict[str, Any],
    call: tuple[Any, ...],
    message: str,
) -> None:
    talking.services.client = service = Service(Done())
    browser = talking.client()
    order_id = talking.order("BOOKED", status)
    answer = post(browser, f"/rides/{order_id}/{action}", **form)
    assert answer.status_code == 303
    assert message in browser.get(answer.headers["Location"]).text
    assert service.calls == [call]


@pytest.mark.parametrize(
    ("action", "status", "form", "refused", "message"),
    [
        (
            "abort",
            "ALLOTMENT_PENDING",
            {},
            Refused("BOOKING_ALLOTED", message="no"),
            "Too late to stop: a driver accepted",
        ),
        (
            "cancel",
            "CALL_DRIVER",
            {},
            Refused(reason="CANCELLATION_NOT_ALLOWED", header="Sorry", text="Not this ride"),
            "Not this ride",
        ),
        (
            "drop",
            "CALL_DRIVER",
            ACTIONS_SENT[2][2],
            Refused(header="Invalid Drop Location", text="x"),
            "Drop not changed: the ride company does not take that place",
        ),
        (
            "drop",
            "CALL_DRIVER",
            ACTIONS_SENT[2][2],
            Refused(header="Oops!", text="x"),
            "Drop not changed: the ride company refused",
        ),
    ],
)
def test_a_refusal_is_shown_in_our_words_and_the_ride_is_unchanged(
    talking: Desk, action: str, status: str, form: dict[str, Any], refused: Refused, message: str
) -> None:
    talking.services.client = Service(refused)
    browser = talking.client()
    order_id = talking.order("BOOKED", status)
    text = browser.get(
        post(browser, f"/rides/{order_id}/{action}", **form).headers["Location"]
    ).text
    assert message in text
    assert "Meridian Airport, Departures" in text


def test_an_unclear_answer_is_shown_as_sent_and_not_confirmed(talking: Desk) -> None:
    talking.services.client = Service(NoAnswer("cut", sent=True))
    browser = talking.client()
    order_id = talking.order("BOOKED", "CALL_DRIVER")
    text = browser.get(post(browser, f"/rides/{order_id}/cancel").headers["Location"]).text
    assert "Asked to cancel, not confirmed yet" in text


def test_a_shared_ride_without_a_number_can_be_armed_and_disarmed(talking: Desk) -> None:
    talking.services.client = service = Service(Done())
    browser = talking.client()
    order_id = talking.order("MATCHING", "ALLOTMENT_PENDING", "share", txn_id="T1")
    armed = browser.get(
        post(browser, f"/rides/{order_id}/cancel", what="arm").headers["Location"]
    ).text
    assert "It will be cancelled as soon as it is matched." in armed
    assert "Don't cancel after all" in armed
    back = browser.get(
        post(browser, f"/rides/{order_id}/cancel", what="disarm").headers["Location"]
    ).text
    assert "Taken back: it will not be cancelled." in back
    assert service.calls == []


def test_an_order_that_is_not_sent_yet_can_be_withdrawn(talking: Desk) -> None:
    browser = talking.client()
    order_id = talking.order("READY")
    text = browser.get(post(browser, f"/rides/{order_id}/withdraw").headers["Location"]).text
    assert "Cancelled before it was booked" in text
    assert "Not booked" not in text
    assert 'class="card state tone-quiet"' in text
    assert 'class="alert tone-quiet"' in text


def test_a_planned_ride_that_was_cancelled_can_be_restored_for_ten_seconds(talking: Desk) -> None:
    browser = talking.client()
    order_id = talking.order("SCHEDULED")
    pickup = talking.now + timedelta(hours=3)
    talking.add(lambda s: s.query(Order).update({"pickup_at": pickup}))
    post(browser, f"/rides/{order_id}/withdraw")
    shown = browser.get(f"/rides/{order_id}/snapshot.json").json
    assert shown["tone"] == "quiet"
    assert shown["undo"] == {"act": "restore", "until": "2026-05-04T08:30:10.000Z"}
    talking.now += timedelta(seconds=10)
    assert "undo" not in browser.get(f"/rides/{order_id}/snapshot.json").json
    text = browser.get(post(browser, f"/rides/{order_id}/restore").headers["Location"]).text
    assert "Planned again, as it was." in text
    assert "Planned for" in text


@pytest.mark.parametrize(
    ("state", "status", "facts", "act"),
    [
        ("READY", None, {}, "withdraw"),
        ("SCHEDULED", None, {}, "withdraw"),
        ("SENDING", None, {}, None),
        ("BOOKED", "ALLOTMENT_PENDING", {}, "abort"),
        ("BOOKED", "ALLOTMENT_PENDING", {"txn": True}, None),
        ("BOOKED", "CALL_DRIVER", {}, None),
        ("UNKNOWN", None, {}, None),
    ],
)
def test_a_new_order_can_be_taken_back_for_twenty_seconds_until_a_driver_comes(
    desk: Desk, browser: FlaskClient, state: str, status: str | None, facts: Any, act: str | None
) -> None:
    """Without a number, and once a driver comes, no press can take it back."""
    order_id = desk.order(state, status, age_s=1, **facts)
    shown = browser.get(f"/rides/{order_id}/snapshot.json").json
    assert shown.get("undo") == (act and {"act": act, "until": "2026-05-04T08:30:19.000Z"})
    desk.now += timedelta(seconds=19)
    assert "undo" not in browser.get(f"/rides/{order_id}/snapshot.json").json


def test_no_undo_is_offered_for_what_was_sent_to_the_service(
    desk: Desk, browser: FlaskClient
) -> None:
    """Instead, the fee is shown before the press."""
    cancelled = desk.order("BOOKED", "CALL_DRIVER", actions=[("cancel", "done", {})])
    assert "undo" not in browser.get(f"/rides/{cancelled}/snapshot.json").get_json()
    assert (
        browser.get(f"/rides/{desk.order('BOOKED', 'CALL_DRIVER')}").text.count('class="fee"') == 1
    )


def test_an_unknown_outcome_is_closed_with_a_reason_and_reopened(talking: Desk) -> None:
    browser = talking.client()
    order_id = talking.order("UNKNOWN")
    closed = browser.get(
        post(browser, f"/rides/{order_id}/resolve/not-booked", reason="Support says so").headers[
            "Location"
        ]
    ).text
    assert "Closed as not booked" in closed
    opened = browser.get(post(browser, f"/rides/{order_id}/reopen").headers["Location"]).text
    assert "We don&#39;t know if this ride was booked" in opened


def test_an_acknowledged_item_disappears(talking: Desk) -> None:
    browser = talking.client()
    order_id = talking.order("BOOKED", "CALL_DRIVER", late_double=True, attention=["late_double"])
    assert "Two rides may exist" in browser.get(f"/rides/{order_id}").text
    post(browser, f"/rides/{order_id}/acknowledge", item="late_double")
    assert "Two rides may exist" not in browser.get(f"/rides/{order_id}").text


@pytest.mark.parametrize("item", ["not_known", "too_old"])
def test_polling_of_a_lost_or_endless_ride_can_be_stopped(talking: Desk, item: str) -> None:
    browser = talking.client()
    order_id = talking.order("BOOKED", "IN_PROGRESS", attention=[item])
    assert "Stop following" in shown(browser.get(f"/rides/{order_id}").text)
    page = browser.get(post(browser, f"/rides/{order_id}/stop-following").headers["Location"]).text
    assert "This ride is followed no longer." in page
    assert "Followed no longer, since 14:00" in page
    assert "Stop following" not in shown(page)
    snapshot = browser.get(f"/rides/{order_id}/snapshot.json").json
    assert (snapshot["stop"], snapshot["booking_status"]) == (True, "IN_PROGRESS")
    assert [notice["name"] for notice in snapshot["notices"]] == ["stopped_following"]
    again = browser.get(post(browser, f"/rides/{order_id}/stop-following").headers["Location"]).text
    assert "Not possible any more" in again


def test_polling_of_a_normal_ride_can_not_be_stopped(talking: Desk) -> None:
    order_id = talking.order("BOOKED", "CALL_DRIVER", attention=["no_driver"])
    page = shown(talking.client().get(f"/rides/{order_id}").text)
    assert "Seen" in page
    assert "Stop following" not in page


def shown(page: str) -> str:
    """A page without its hidden buttons and without the template of notices that scripts use."""
    page = re.sub(r"<template.*?</template>", "", page, flags=re.DOTALL)
    return re.sub(r"<button[^>]*\bhidden\b.*?</button>", "", page, flags=re.DOTALL)


@pytest.mark.parametrize(
    "code",
    ["x", "cancel-<b>", "cancel-done-x-y", "nope-done", "cancel-not_now-EVIL", "-", "a-b-c-d-e"],
)
def test_messages_in_the_address_are_limited_to_ours(talking: Desk, code: str) -> None:
    order_id = talking.order("BOOKED", "CALL_DRIVER")
    text = talking.client().get(f"/rides/{order_id}", query_string={"said": code}).text
    assert "EVIL" not in text
    assert "<b>" not in text


def test_a_ride_of_a_demos_past_counts_no_time_while_that_is_made(desk: Desk) -> None:
    """While a demo makes its past, a ride of a past day is briefly under way."""
    order_id, browser = desk.order("BOOKED", "CLIENT_LOCATED"), desk.client()
    counted = browser.get(f"/rides/{order_id}/snapshot.json").json
    assert counted["timer"]["text"].startswith("waiting")
    desk.services.past_until = desk.now + timedelta(days=1)
    assert "timer" not in browser.get(f"/rides/{order_id}/snapshot.json").json
    assert counted["timer"]["text"] not in browser.get(f"/rides/{order_id}").text
    desk.services.past_until = None
    assert browser.get(f"/rides/{order_id}/snapshot.json").json == counted
