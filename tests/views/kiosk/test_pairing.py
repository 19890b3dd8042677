"""A browser becomes a device by a code; staff use its panel with a PIN, without signing in."""

from datetime import timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select

from ridedash.store import kiosks
from ridedash.store.audit import AuditRow
from ridedash.store.models.kiosks import Kiosk
from tests.views.kiosk.devices import PIN, code_of, new_device, pair, row_of
from tests.views.ride_pages import Desk, token

pytestmark = pytest.mark.database


def try_code(desk: Desk, browser: FlaskClient, code: str) -> int:
    form = {"csrf_token": token(browser), "code": code}
    return browser.post("/kiosk/pair", data=form).status_code


def panel_action(browser: FlaskClient, name: str, pin: str = PIN, **more: str) -> Any:
    form = {"csrf_token": token(browser), "pin": pin, "deed": name, **more}
    return browser.post("/kiosk/pair", data=form).json


def recorded(desk: Desk) -> list[tuple[str, str, str]]:
    with desk.services.db.read() as s:
        rows = s.scalars(select(AuditRow).where(AuditRow.what.startswith("kiosk.")))
        return [(row.who, row.what, row.result) for row in rows]


def with_pin(desk: Desk) -> tuple[FlaskClient, int]:
    browser, kiosk_id = pair(desk)
    desk.add(lambda s: kiosks.set_pin(s.get_one(Kiosk, kiosk_id), PIN))
    return browser, kiosk_id


def test_the_cookie_is_for_400_days_and_for_this_site_alone(desk: Desk) -> None:
    browser = desk.client(signed_in=False)
    form = {"csrf_token": token(browser)}
    form["code"] = code_of(desk, new_device(desk))
    answer = browser.post("/kiosk/pair", data=form)
    [cookie] = [each for each in answer.headers.getlist("Set-Cookie") if "kiosk=" in each]
    assert cookie.startswith("ridedash_kiosk=")
    for part in ("HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=34560000"):
        assert part in cookie.split("; ")
    assert "Domain" not in cookie
    assert "Secure" not in cookie, "a demo has no TLS"


def test_a_code_pairs_one_browser_once_and_the_audit_log_says_so(desk: Desk) -> None:
    one, other, kiosk_id = desk.client(False), desk.client(False), new_device(desk)
    code = code_of(desk, kiosk_id)
    assert "That code pairs no screen" in one.post("/kiosk/pair", data=_form(one, "WRQNGC2D")).text
    assert try_code(desk, one, code) == 303
    assert try_code(desk, other, code) == 422
    assert (one.get("/kiosk").status_code, other.get("/kiosk").status_code) == (200, 303)
    assert recorded(desk) == [
        ("visitor", "kiosk.paired", "refused"),
        (f"kiosk:{kiosk_id}", "kiosk.paired", "ok"),
        ("visitor", "kiosk.paired", "refused"),
    ]


def test_codes_and_pins_are_read_in_the_letters_and_digits_of_any_keyboard(desk: Desk) -> None:
    browser, kiosk_id = desk.client(False), new_device(desk)
    code = code_of(desk, kiosk_id)
    wide = {n: n + 0xFEE0 for n in range(0x21, 0x7F)}
    assert try_code(desk, browser, f"{code[:4]}-{code[4:]}".lower().translate(wide)) == 303
    desk.add(lambda s: kiosks.set_pin(s.get_one(Kiosk, kiosk_id), PIN))
    for zero in "٠۰०０":
        typed = PIN.translate({48 + n: ord(zero) + n for n in range(10)})
        assert panel_action(browser, "open", typed) == {"state": "ok"}, zero


def _form(browser: FlaskClient, code: str) -> dict[str, str]:
    return {"csrf_token": token(browser), "code": code}


def test_guessing_codes_is_stopped_even_for_the_right_one(desk: Desk) -> None:
    browser, code = desk.client(False), code_of(desk, new_device(desk))
    assert {try_code(desk, browser, f"WRQNG{n:03}") for n in range(30)} == {422}
    assert try_code(desk, browser, code) == 429
    desk.now += timedelta(minutes=10)
    assert try_code(desk, browser, code_of(desk, new_device(desk))) == 303


def test_a_wrong_pin_is_reported_and_five_close_the_panel_and_all_attempts_are_audited(
    desk: Desk,
) -> None:
    browser, kiosk_id = with_pin(desk)
    assert panel_action(browser, "open") == {"state": "ok"}
    assert [panel_action(browser, "open", "000000")["state"] for _ in range(5)] == ["wrong"] * 4 + [
        "blocked"
    ]
    assert panel_action(browser, "out_of_order") == {"state": "blocked", "wait_s": 900}
    assert not row_of(desk, kiosk_id).out_of_order
    desk.now += timedelta(minutes=15)
    assert panel_action(browser, "out_of_order") == {"state": "ok"}
    assert row_of(desk, kiosk_id).out_of_order
    assert panel_action(browser, "in_order") == {"state": "ok"}
    assert not row_of(desk, kiosk_id).out_of_order
    who = f"kiosk:{kiosk_id}"
    assert recorded(desk)[1:] == [
        (who, "kiosk.panel", "ok"),
        *[(who, "kiosk.panel", "refused")] * 4,
        *[(who, "kiosk.panel", "throttled")] * 2,
        (who, "kiosk.out_of_order", "ok"),
        (who, "kiosk.in_order", "ok"),
    ]


def test_a_kiosk_without_a_pin_has_no_panel(desk: Desk) -> None:
    browser, _ = pair(desk)
    for pin in ("", "000000", PIN):
        assert panel_action(browser, "open", pin)["state"] == "wrong"


TABLET = {"width_px": "1280", "height_px": "800"}  # of 10.1 inches at 0.1695 mm a pixel


@pytest.mark.parametrize(
    ("mm", "edge", "stored"),
    [
        ("0.24800", "700", (0.248, 700)),
        ("0.36900", "", (0.369, None)),
        ("0.16950", "100", (0.1695, 100)),
        ("0.16950", "1100", (0.1695, 1100)),
    ],
)
def test_a_screen_is_measured(desk: Desk, mm: str, edge: str, stored: tuple[float, int]) -> None:
    browser, kiosk_id = with_pin(desk)
    answer = panel_action(browser, "calibrate", mm_per_px=mm, bottom_mm=edge, **TABLET)
    row = row_of(desk, kiosk_id)
    assert answer == {"state": "ok"}
    assert (row.mm_per_px, row.bottom_mm) == stored


HEIGHTS = {"problem": "height", "least": 100, "most": 1100}
CARD = {"problem": "card"}


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"bottom_mm": "0"}, HEIGHTS),
        ({"bottom_mm": "99"}, HEIGHTS),
        ({"bottom_mm": "1101"}, HEIGHTS),
        ({"bottom_mm": "-1"}, HEIGHTS),
        ({"bottom_mm": "9" * 400}, HEIGHTS),
        ({"mm_per_px": "nan"}, CARD),
        ({"mm_per_px": "1e-1"}, CARD),
        ({"mm_per_px": "0.00000"}, CARD),
        ({"mm_per_px": "9.00000"}, CARD),
        ({"mm_per_px": "-0.24800"}, CARD),
        ({"width_px": "0"}, CARD),
        ({"height_px": ""}, CARD),
        (
            {"mm_per_px": "0.13440"},
            {"problem": "small", "wide": 172, "high": 108, "long": 215, "short": 134},
        ),
    ],
)
def test_no_size_is_stored_that_a_screen_for_guests_can_not_have(
    desk: Desk, given: dict[str, str], why: dict[str, object]
) -> None:
    browser, kiosk_id = with_pin(desk)
    measured = {"mm_per_px": "0.16950", "bottom_mm": "700"} | TABLET | given
    assert panel_action(browser, "calibrate", **measured) == {"state": "unfit"} | why
    row = row_of(desk, kiosk_id)
    assert (row.mm_per_px, row.bottom_mm) == (None, None)


def test_a_kiosk_that_is_unpaired_in_its_panel_is_a_browser_again(desk: Desk) -> None:
    browser, _ = with_pin(desk)
    assert panel_action(browser, "unpair") == {"state": "ok"}
    assert browser.get_cookie("ridedash_kiosk") is None
    assert browser.get("/kiosk").status_code == 303
    assert browser.get("/sign-in").status_code == 200


def test_the_panel_is_for_a_kiosk_alone_and_knows_its_actions(desk: Desk) -> None:
    stranger, manager = desk.client(False), desk.client()
    form = {"pin": PIN, "deed": "open"}
    for browser in (stranger, manager):
        data = form | {"csrf_token": token(browser)}
        assert browser.post("/kiosk/pair", data=data).status_code == 404
    kiosk, _ = with_pin(desk)
    assert panel_action(kiosk, "format the disk") == {"state": "invalid"}


def test_a_program_that_tries_pins_all_the_time_does_not_fill_the_audit_log(desk: Desk) -> None:
    browser, _ = with_pin(desk)
    form = {"csrf_token": token(browser), "pin": "000000", "deed": "open"}
    answers = [browser.post("/kiosk/pair", data=form).json for _ in range(60)]
    assert [each["state"] for each in answers[:5]] == ["wrong"] * 4 + ["blocked"]
    assert {each["state"] for each in answers[5:]} == {"blocked"}
    assert len(recorded(desk)) == 31
