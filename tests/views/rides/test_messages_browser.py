"""The message beside a guest's link: its SMS, WhatsApp and mail addresses hold the typed text."""

from pathlib import Path
from urllib.parse import unquote

import pytest
from playwright.sync_api import Browser, expect

from ridedash.store.audit import AuditRow
from tests.views.rides.test_messages import HOSTILE
from tests.views.served import served_desk, violations

pytestmark = [pytest.mark.browser, pytest.mark.database]


def test_the_links_of_a_message_follow_what_is_typed_and_a_press_is_recorded(
    tmp_path: Path, browser: Browser
) -> None:
    with served_desk(tmp_path, browser) as served:
        order_id = served.desk.order("BOOKED", "CALL_DRIVER")
        page = served.staff()
        page.goto(f"/rides/{order_id}")
        box = page.locator("[data-message]")
        expect(box).to_be_hidden()
        page.get_by_role("button", name="Copy link").click()
        field = box.get_by_label("Send it to the guest")
        expect(box.get_by_role("link", name="SMS")).to_be_visible()
        assert page.locator("#out-link").input_value() in field.input_value()
        assert violations(page) == []
        typed = HOSTILE.replace("\r\n", "\n")
        field.fill(typed)
        ends = {"SMS": "\n", "WhatsApp": "\n", "Mail": "\r\n"}
        for name, end in ends.items():
            address = box.get_by_role("link", name=name).get_attribute("href") or ""
            begin, body = address.split("text=" if name == "WhatsApp" else "body=")
            assert not set(body) & set("&#+ '\"<>\n")
            assert unquote(body) == typed.replace("\n", end)
            assert begin in (
                "sms:+910000012345?&",
                "https://wa.me/910000012345?",
                "mailto:?subject=Your%20ride%20%C2%B7%20Grand%20Meridian%20Hotel&",
            )
        with page.expect_response("**/messages") as answered:
            box.get_by_role("button", name="Copy message").click()
        assert answered.value.status == 204
        expect(page.locator("[data-links-said]")).to_contain_text("Prepared")
        with served.desk.services.db.read() as s:
            rows = s.query(AuditRow).filter_by(what="message.prepared").all()
            assert [row.facts for row in rows] == [{"how": "copy"}]
