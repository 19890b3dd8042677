"""The table of booking-form fields: what it names exists, and a new field needs little else."""

import os
import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
from flask import Flask
from flask_babel import Babel

from ridedash.forms.booking import BookingForm
from ridedash.rides.orders.fields import (
    CHANGEABLE,
    FIELDS,
    BookingRequest,
    TextControl,
    body_values,
    control_of,
)
from ridedash.service.types.bookings import NewBooking
from ridedash.store.guests import GuestDetails
from ridedash.store.models.orders import Order
from tests.rides.desk_world import request_of

ROOT = Path(__file__).parents[3]
ADDED_BY_THE_SERVER = {"second_to", "property_id", "actor", "margin", "tz", "group", "reference"}
# Controls that are no fields of the table: parts of the pickup time, the ride to change, and such.
FORM_ONLY = {"when", "pickup_words", "pickup_date", "change", "version", "csrf_token"} | {
    *("back", "days", "dates", "onward", "for_flight"),
    "guest_phone2_as",  # `guest_phone_as` stands for both
    *("people", "bags", "flight_now"),  # neither stored nor sent: what fits, and a yes
    "pickup_which",  # which of two times that clocks show twice
}


def test_each_attribute_of_the_request_is_in_the_table_or_added_by_the_server() -> None:
    attributes = {each.name for each in fields(BookingRequest)}
    assert attributes == {each.name for each in FIELDS} | ADDED_BY_THE_SERVER


def test_the_form_has_a_control_for_each_field_of_the_table_and_no_other() -> None:
    app = Flask("fields")
    app.config.update(SECRET_KEY="a key for this test")
    Babel(app)
    with app.test_request_context():
        controls = {control.name for control in BookingForm()}
    assert controls - FORM_ONLY == {each.form for each in FIELDS}


def test_each_column_body_key_and_guest_fact_of_the_table_exists() -> None:
    columns = set(Order.__table__.columns.keys())
    assert {each.column for each in FIELDS if each.column} < columns
    assert {each.body for each in FIELDS if each.body} < set(NewBooking.model_fields)
    assert {each.guest for each in FIELDS if each.guest} == {
        each.name for each in fields(GuestDetails)
    }


def test_a_field_whose_change_is_described_is_stored_where_the_change_can_be_found() -> None:
    assert [each.name for each in CHANGEABLE if not each.column and not each.body] == []
    assert [each.name for each in FIELDS if each.refill and not each.column and not each.body] == []


@pytest.mark.parametrize(
    ("name", "control"),
    [("coupon_code", "coupon"), ("pickup_at", "pickup_time"), ("seats", "seats"), ("nothing", "")],
)
def test_a_refused_field_is_found_at_its_control(name: str, control: str) -> None:
    assert control_of(name) == control


FIELD = """    wing: str | None = field(
        default=None,
        metadata=_field(
            "wing",
            column="wing",
            change="wing",
            refill=frozenset({Refill.AGAIN, Refill.CHANGE}),
            control=TextControl(_("Wing"), longest=8, too_long=_("Keep it under 8 characters.")),
        ),
    )
"""
COLUMN = "    wing: Mapped[str | None] = mapped_column(ShortText(8))\n"
MIGRATION = '''"""The guest's wing."""

import sqlalchemy as sa
from alembic import op

revision = "9999"
down_revision = "{head}"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("orders", sa.Column("wing", sa.String(8)))
'''
INPUT = "    {{ field(form.wing, maxlength=8) }}\n"
TEST = '''"""A field added to the table is asked for, stored, filled in again and changed."""

from pathlib import Path

import pytest
from sqlalchemy import select

import ridedash
from ridedash.store.audit import AuditRow
from tests.views.booking.test_pages import Desk, desk, filled

__all__ = ["desk"]
pytestmark = pytest.mark.database
LATER = {"when": "later", "pickup_date": "2026-03-05", "pickup_time": "05:10"}


def test_the_added_field(desk: Desk) -> None:
    assert Path(ridedash.__file__).is_relative_to(Path.cwd())
    assert 'name="wing"' in desk.page()
    refused = desk.press(desk.form(), wing="AI 4567 B8")
    assert refused.status_code == 422
    assert "Keep it under 8 characters." in refused.text
    form = desk.form()
    first = desk.press(form, wing="AI 101", **LATER)
    order_id = int(first.headers["Location"].rsplit("/", 1)[1])
    assert [order.wing for order in desk.orders()] == ["AI 101"]
    assert desk.press(form, wing="AI 202", **LATER).status_code == 409, "other contents"
    assert 'value="AI 101"' in desk.page(again=str(order_id))
    assert 'value="AI 101"' not in desk.page(**{"return": str(order_id)})
    page = desk.page(change=str(order_id))
    assert 'value="AI 101"' in page
    changed = desk.press(filled(page) | {"wing": "AI 202"}, **LATER)
    assert changed.headers["Location"].endswith("said=change-done")
    assert [order.wing for order in desk.orders()] == ["AI 202"]
    with desk.app.extensions["ridedash"].db.read() as s:
        (row,) = s.scalars(select(AuditRow).where(AuditRow.what == "order.change"))
    assert row.facts["changed"] == ["wing"]
'''


def insert_before(path: Path, line: str, text: str) -> None:
    before, found, after = path.read_text().partition(line)
    assert found, f"{path.name} has no line {line!r} any more"
    path.write_text(before + text + found + after)


def test_a_field_is_added_by_the_table_the_template_and_a_migration_alone(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    skipped = shutil.ignore_patterns("__pycache__")
    for name in ("ridedash", "templates", "tests"):
        shutil.copytree(ROOT / name, copy / name, ignore=skipped)
    (copy / "static").symlink_to(ROOT / "static")
    shutil.copy(ROOT / "pyproject.toml", copy)
    models = copy / "ridedash/store/models/orders.py"
    versions = copy / "ridedash/store/migrations/versions"
    head = max(path.name for path in versions.glob("0*.py"))[:4]

    insert_before(copy / "ridedash/rides/orders/fields.py", "    seats: int | None = field(", FIELD)
    insert_before(
        copy / "templates/booking/_more.html", "    {{\n      field(\n        form.coupon,", INPUT
    )
    insert_before(models, "    form_token: Mapped", COLUMN)
    (versions / "9999_wing.py").write_text(MIGRATION.format(head=head))

    (copy / "tests/views/booking/test_wing.py").write_text(TEST)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
    ours = ("PYTEST", "RIDEDASH")
    environ = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    run = subprocess.run(
        [*command, "tests/views/booking/test_wing.py"],
        cwd=copy,
        env=environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-1000:]
    assert "1 passed" in run.stdout


def test_what_a_text_field_refuses_is_what_its_message_says() -> None:
    limited = [
        each.control
        for each in FIELDS
        if isinstance(each.control, TextControl) and each.control.longest
    ]
    assert limited
    for control in limited:
        assert f" {control.longest} characters" in control.too_long


def test_an_empty_control_stands_for_the_value_of_a_request_that_names_none() -> None:
    defaults = {each.name: each.default for each in FIELDS}
    given = {name: value for name, value in defaults.items() if value not in (None, ())}
    flags = {"flight_lands": False, "override_guard": False, "phone_as_typed": False}
    assert given == {"cars": 1, **flags}
    assert {name for name, value in defaults.items() if value == ()} == {"series"}


def test_the_note_for_the_desk_alone_has_more_than_one_line() -> None:
    controls = {each.name: each.control for each in FIELDS}
    several = [
        n for n, each in controls.items() if isinstance(each, TextControl) and each.multiline
    ]
    assert several == ["note"]


def test_the_service_is_sent_what_was_typed_and_nothing_of_an_empty_control() -> None:
    typed = body_values(request_of(coupon="RIDE50", payment="cash", seats=2))
    assert typed == {"coupon_code": "RIDE50", "payment_instrument_type": "cash", "seats": 2}
    empty = body_values(request_of(coupon="", payment=""))
    assert empty == {"coupon_code": None, "payment_instrument_type": None, "seats": None}
