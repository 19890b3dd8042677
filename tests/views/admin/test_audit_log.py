"""The audit log: filtered by day, person and action, of one's own property, and never changed."""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from ridedash.store import audit
from ridedash.store.models.people import Staff
from ridedash.views.admin.audit_log import actions
from tests.views.ride_pages import NOON, Desk, make_desk

pytestmark = pytest.mark.database

PACKAGE = Path(__file__).parents[3] / "ridedash"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = make_desk(tmp_path)
    made.add(lambda s: setattr(s.get(Staff, made.ids["desk"]), "role", "manager"))
    yield made
    made.close()


def test_only_the_own_property_is_shown_and_unknown_sign_ins_to_admins_alone(
    desk: Desk,
) -> None:
    with desk.services.db.write() as s:
        for prop, subject in (("desk", "orders:11"), ("other", "orders:12")):
            audit.record(
                s,
                "worker",
                "ride.alarm",
                subject,
                "x",
                NOON,
                property_id=desk.ids[f"{prop}.property"],
            )
        audit.record(s, "visitor", "sign_in", "staff:?", "refused", NOON)
    text = desk.client().get("/admin/audit").text
    assert "/rides/11" in text
    assert "/rides/12" not in text
    assert "Nobody signed in</bdi>" not in text
    desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), "role", "admin"))
    assert "Nobody signed in</bdi>" in desk.client().get("/admin/audit").text


def test_day_person_and_action_filter_and_a_day_is_the_propertys(desk: Desk) -> None:
    prop, me = desk.ids["desk.property"], f"staff:{desk.ids['desk']}"
    late = NOON.replace(hour=18, minute=29)  # 23:59 in Kolkata
    with desk.services.db.write() as s:
        audit.record(s, me, "code_shown", "orders:21", "ok", late, property_id=prop)
        audit.record(
            s,
            "worker",
            "order.move",
            "orders:22",
            "BOOKED",
            late + timedelta(minutes=1),
            property_id=prop,
        )
    client = desk.client()

    def rides(query: str) -> set[str]:
        return set(re.findall(r"/rides/(2\d)", client.get("/admin/audit?" + query).text))

    assert rides("") == {"21", "22"}
    assert rides("day=2026-05-04") == {"21"}
    assert rides("day=2026-05-05") == {"22"}
    assert rides(f"who={me}") == {"21"}
    assert rides("what=order.move") == {"22"}
    assert rides("day=9998-12-31") == set()
    assert rides("day=9999-12-31&before=x") == {"21", "22"}
    assert "Nothing was recorded that fits" in client.get("/admin/audit?what=no.such.action").text


def test_a_long_audit_log_has_pages(desk: Desk) -> None:
    with desk.services.db.write() as s:
        for n in range(150):
            audit.record(
                s,
                "worker",
                "order.move",
                f"orders:{1000 + n}",
                "x",
                NOON,
                property_id=desk.ids["desk.property"],
            )
    client = desk.client()
    first = client.get("/admin/audit?what=order.move").text
    older = re.search(r'href="(/admin/audit\?[^"]*before=\d+)"', first)
    assert older
    second = client.get(older.group(1).replace("&amp;", "&")).text
    numbers = [re.findall(r'href="/rides/(\d+)"', page) for page in (first, second)]
    assert (len(numbers[0]), len(numbers[1])) == (100, 50)
    assert set(numbers[0]).isdisjoint(numbers[1])
    assert "before=" not in second


def test_wrong_passwords_are_in_the_audit_log_under_the_tried_name(desk: Desk) -> None:
    from tests.views.ride_pages import token

    stranger = desk.client(signed_in=False)
    stranger.post(
        "/sign-in", data={"name": "desk", "password": "wrong", "csrf_token": token(stranger)}
    )
    text = desk.client().get("/admin/audit?who=visitor").text
    assert "Refused" in text
    assert "Concierge desk" in text


def test_no_code_changes_the_audit_log_and_only_retention_deletes() -> None:
    changes = r"(?:update|delete)\(\s*(?:audit\.)?AuditRow|(?:UPDATE|DELETE FROM) audit\b"
    found = {path.name for path in PACKAGE.rglob("*.py") if re.search(changes, path.read_text())}
    assert found == {"retention.py"}


def test_each_kind_of_action_has_its_words(desk: Desk) -> None:
    written = "\n".join(path.read_text() for path in PACKAGE.rglob("*.py"))
    # session, who, what
    named = set(re.findall(r'audit\.record\(\s*\w+,\s*f?"[^"]*",\s*"([a-z_.]+)"', written))
    named |= set(re.findall(r'audit\.record\(\s*\w+, who, "([a-z_.]+)"', written))
    for call in (r'(?<![._])record\(s, "([a-z_.]+)",', r'_record\(\w+, "([a-z_.]+)",'):
        named |= set(re.findall(call, written))
    with desk.app.test_request_context():
        assert len(named) > 15
        assert sorted(named - set(actions())) == []
