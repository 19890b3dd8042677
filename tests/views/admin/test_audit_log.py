"""The audit log: filtered by day, person and action, of one property only, and never changed."""

import ast
import csv
import io
import json
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from ridedash.store import audit
from ridedash.store.audit import AuditRow
from ridedash.store.models.lists import ListState
from ridedash.store.models.people import Staff
from ridedash.views.admin.audit_log import ACTIONS, actions
from tests.views.ride_pages import NOON, Desk, compact, make_desk, token

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
    text = desk.client().get("/admin/audit?machine=1").text
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

    assert rides("") == {"21"}  # the other entry is of the worker, not of a person
    assert rides("machine=1") == rides("who=worker") | {"21"} == {"21", "22"}
    assert rides("day=2026-05-04") == {"21"}
    assert rides("day=2026-05-05&machine=1") == {"22"}
    assert rides(f"who={me}") == {"21"}
    assert rides("what=order.move") == {"22"}
    assert rides("day=2199-12-31&machine=1") == set()
    for nonsense in ("0001-01-01", "9998-12-31", "9999-12-31", "2026-02-30", "soon"):
        assert rides(f"day={nonsense}&before=x&machine=1") == {"21", "22"}
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
    # the arguments: session, who, what
    named = set(re.findall(r'audit\.record\(\s*\w+,\s*f?"[^"]*",\s*"([a-z_.]+)"', written))
    named |= set(re.findall(r'audit\.record\(\s*\w+, who, "([a-z_.]+)"', written))
    for call in (r'(?<![._])record\(s, "([a-z_.]+)",', r'_record\(\w+, "([a-z_.]+)",'):
        named |= set(re.findall(call, written))
    with desk.app.test_request_context():
        assert len(named) > 15
        assert sorted(named - set(actions())) == []


def shown_code(desk: Desk, order_id: int, at: str = "ok") -> None:
    who, prop = f"staff:{desk.ids['desk']}", desk.ids["desk.property"]
    facts = {"property_id": prop, "left": 9, "note": "=1+1"}
    desk.add(
        lambda s: audit.record(s, who, "code_shown", f"orders:{order_id}", at, desk.now, **facts)
    )


def test_an_entry_names_the_guest_of_its_ride_and_leads_to_all_about_it(desk: Desk) -> None:
    ours, other = desk.order("BOOKED", "CALL_DRIVER"), desk.order("BOOKED", guest="Guest Wren")
    theirs = desk.order("BOOKED", prop="other", guest="Guest Teal")
    for order_id in (ours, other, theirs):
        shown_code(desk, order_id)
    client = desk.client()
    text = client.get("/admin/audit").text
    assert "412 · Guest Heron" in text
    assert "Guest Teal" not in text  # an entry shows nothing of another property's order
    assert f'href="/admin/audit?ride={ours}"' in text
    text = client.get(f"/admin/audit?ride={ours}").text
    assert "All about one ride:" in text
    assert f"/rides/{ours}" in text
    assert f"/rides/{other}" not in text
    assert f'href="/admin/audit?ride={ours}"' in client.get(f"/rides/{ours}").text
    for odd in ("x", "0", "-1", "9" * 30):
        assert client.get(f"/admin/audit?ride={odd}").status_code == 200


def test_entries_of_ridedash_itself_are_collapsed_between_those_of_people(desk: Desk) -> None:
    prop, me = desk.ids["desk.property"], f"staff:{desk.ids['desk']}"
    steps = [
        (me, "order.place", "ok"),
        ("worker", "order.move", "READY"),
        ("worker", "order.move", "BOOKED"),
        (me, "code_shown", "ok"),
        ("worker", "ride.alarm", "car_swapped"),
    ]
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    with desk.services.db.write() as s:
        for n, (who, what, result) in enumerate(steps):
            at = NOON + timedelta(seconds=n)
            audit.record(s, who, what, f"orders:{order_id}", result, at, property_id=prop)
    client = desk.client()

    def folded(query: str) -> list[tuple[str, int]]:
        """The title of each fold, and the number of its steps."""
        text = compact(client.get(f"/admin/audit?{query}").text)
        folds = re.findall(r"<details[^>]*><summary>(.*?)</summary>(.*?)</details>", text)
        return [(re.sub("<[^>]*>", "", title), rest.count("<li>")) for title, rest in folds]

    assert (
        folded(f"ride={order_id}")
        == folded("machine=1")
        == [
            ("1 step of ridedash", 1),
            ("2 steps of ridedash", 2),
        ]
    )
    for query in ("", "who=worker", "what=order.move"):  # none of the worker's steps, or only these
        assert folded(query) == [], query
    assert f'href="/admin/audit?who={me}"' in client.get(f"/admin/audit?ride={order_id}").text


def test_a_ride_that_was_booked_long_ago_is_not_shown_as_ready_to_be_sent(desk: Desk) -> None:
    prop, me = desk.ids["desk.property"], f"staff:{desk.ids['desk']}"
    subject = f"orders:{desk.order('BOOKED', 'COMPLETED')}"
    with desk.services.db.write() as s:
        audit.record(s, me, "order.place", subject, "READY", NOON, property_id=prop)
    text = desk.client().get("/admin/audit").text
    assert "Booked a ride" in text
    assert "Ready to be sent" not in text


BAND = "Demo: no real rides"


def test_the_export_has_the_entries_of_the_page_and_names_no_guest(desk: Desk) -> None:
    ours, other = desk.order("BOOKED", "CALL_DRIVER"), desk.order("BOOKED", guest="Guest Wren")
    for order_id in (ours, other, ours):
        shown_code(desk, order_id)
    client = desk.client()
    form = {"csrf_token": token(client)}
    answer = client.post(f"/admin/audit/export.csv?ride={ours}", data=form)
    assert answer.mimetype == "text/csv"
    first, *rows = csv.reader(io.StringIO(answer.text.lstrip("\ufeff")))
    assert first == ["at", "who", "what", "result", "ride", "reference", "details", BAND]
    assert len(rows) == 2
    assert rows[0][:5] == [
        "2026-05-04T14:00:00+05:30",
        "Concierge desk",
        "Showed a start code",
        "ok",
        str(ours),
    ]
    assert rows[0][5].startswith("GMH-")
    assert json.loads(rows[0][6]) == {"left": 9, "note": "=1+1"}
    assert "Guest" not in answer.text
    assert "Exported the audit log" in client.get("/admin/audit").text
    everything = client.post("/admin/audit/export.csv", data=form).text
    assert f",{other}," in everything


def test_the_entry_of_an_export_holds_what_was_read_and_no_more(desk: Desk) -> None:
    client = desk.client()
    form = {"csrf_token": token(client)}
    query = f"ride=7&who={'x' * 5000}&day=yesterday&more={'y' * 5000}"
    assert client.post(f"/admin/audit/export.csv?{query}", data=form).status_code == 200
    with desk.services.db.read() as s:
        facts = s.query(AuditRow).filter_by(what="audit.exported").one().facts
    assert facts["query"] == {"ride": "7", "who": "x" * 80, "machine": "1"}


def test_more_entries_than_a_batch_are_all_exported(desk: Desk) -> None:
    for n in range(1203):
        shown_code(desk, 5000 + n)
    client = desk.client()
    answer = client.post("/admin/audit/export.csv", data={"csrf_token": token(client)})
    numbers = [row[4] for row in csv.reader(io.StringIO(answer.text))][1:]
    assert [each for each in numbers if each] == [str(6202 - n) for n in range(1203)]


def test_every_result_that_is_written_is_shown_in_words(desk: Desk) -> None:
    shown = {
        "SENDING": "Being sent",
        "WAITING": "Waiting for the guest",
        "held": "Held until somebody decides",
        "done": "Done",
        "not_now": "Not possible now",
        "car_swapped": "Another car",
        "BOOKED to SENDING": "from “Booked” to “Being sent”",
        "BOOKED after REJECTED": "“Booked”, after “Refused by the ride company”",
    }
    prop = desk.ids["desk.property"]
    with desk.services.db.write() as s:
        for result in shown:
            audit.record(s, "worker", "order.place", "orders:31", result, NOON, property_id=prop)
    text = desk.client().get("/admin/audit?what=order.place").text
    for result, words in shown.items():
        assert words in text, result
    assert "car swapped" not in text
    assert "booked to sending" not in text


@pytest.mark.parametrize("state", ListState)
def test_the_state_of_a_guest_list_is_no_result_in_english(desk: Desk, state: ListState) -> None:
    home = desk.ids["desk.property"]
    with desk.services.db.write() as s:
        audit.record(
            s, "worker", "list.delete", "guest_lists:31", state.value, NOON, property_id=home
        )
    text = desk.client().get("/admin/audit?what=list.delete").text
    assert "Deleted a guest list" in text
    assert f'<span class="secondary">{state.value.lower()}</span>' not in text


def test_every_action_that_is_recorded_by_its_name_has_words() -> None:
    """An action without words is listed by its key, and the filter does not offer it."""
    recorded = {
        node.args[2].value
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) == "audit.record"
        and isinstance(node.args[2], ast.Constant)
    }
    assert len(recorded) > 20
    assert recorded - ACTIONS.keys() == set()
