"""Settings of kiosks and door displays: the list with the health of each, and their forms."""

from datetime import UTC
from typing import Final

from flask import Blueprint, abort, redirect, render_template, request
from sqlalchemy.orm import Session

from ridedash.extensions import services
from ridedash.rides.kiosk.health import skew_s
from ridedash.rides.kiosk.needs import needs_of
from ridedash.store.accounts import accounts_of
from ridedash.store.kiosk_desk import Visits, hints_of, visits_of
from ridedash.store.kiosks import device_of, devices_of, new_device
from ridedash.store.models.kiosks import Kiosk, KioskKind, WhoPays
from ridedash.store.models.people import Property
from ridedash.views.admin.kiosk_form import (
    KioskForm,
    blank_form,
    day_names,
    read_form,
    read_position,
    stored_form,
)
from ridedash.views.admin.kiosk_health import health_of
from ridedash.views.admin.property import Answer, message_for, record
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.formatting import day_time, zone
from ridedash.views.web.permissions import MANAGE, needs
from ridedash.views.web.responses import locale
from ridedash.wording import gettext as _
from ridedash.wording.languages import LANGUAGES

bp = Blueprint("admin_kiosks", __name__, url_prefix="/admin/kiosks")
MOST: Final = 40  # devices of one property


@bp.get("")
@needs(MANAGE)
def show() -> str:
    """The devices of the property with their health."""
    now = services().clock()
    property_id = current_staff().property_id
    with services().db.read() as s:
        rows = devices_of(s, property_id)
        home = s.get_one(Property, property_id)
        visits = _visits_today(s, rows)
        health = [health_of(row, visits.get(row.id), now, needs_of(s, row, home)) for row in rows]
    return render_template(
        "admin/kiosks.html",
        devices=list(zip(rows, health, strict=True)),
        kinds=kind_names(),
        rules=rule_names(),
        opens_here=services().settings.demo,
        message=message_for(_messages()),
        tab="kiosks",
    )


@bp.get("/new")
@needs(MANAGE)
def form() -> str:
    """The form for a new device."""
    return _form_page(blank_form(request.args.get("kind", "")))


@bp.post("")
@needs(MANAGE)
def add() -> Answer:
    """Add a device. It is paired on its own page."""
    if request.form.get("kind") not in set(KioskKind):
        abort(400)  # a kind that the form does not offer
    read = _read()
    with services().db.write() as s:
        property_id = current_staff().property_id
        if len(devices_of(s, property_id)) >= MOST:
            read.wrong["name"] = _("There are forty devices already. Revoke one first.")
        if not read.wrong:
            kind = KioskKind(read.typed["kind"])
            name = read.valid["name"]
            row = new_device(s, property_id, kind, name, services().clock())
            _set(row, read)
            record(s, "kiosk.added", f"kiosks:{row.id}", kind=row.kind, rule=row.rule)
            return redirect(f"/admin/kiosks/{row.id}?said=added", code=303)
    return _form_page(read), 422


@bp.get("/<int:kiosk_id>")
@needs(MANAGE)
def one(kiosk_id: int) -> str:
    """A device: its health, its pairing and its settings."""
    return device_page(kiosk_id)


@bp.post("/<int:kiosk_id>")
@needs(MANAGE)
def change(kiosk_id: int) -> Answer:
    """Store the typed settings of a device, or show which of them are not valid."""
    with services().db.read() as s:
        mine(s, kiosk_id)
    read = _read()
    if read.wrong:
        return device_page(kiosk_id, form=read), 422
    with services().db.write() as s:
        row = mine(s, kiosk_id)
        changed = _set(row, read)
        if changed:
            record(s, "kiosk.changed", f"kiosks:{row.id}", changed=changed)
    return redirect(f"/admin/kiosks/{kiosk_id}?said=saved", code=303)


def mine(s: Session, kiosk_id: int) -> Kiosk:
    """A device of the property that is shown; 404 for any other and for a revoked one."""
    row = device_of(s, current_staff().property_id, kiosk_id)
    if row is None or row.revoked_at is not None:
        abort(404)
    return row


def _set(row: Kiosk, read: KioskForm) -> list[str]:
    """Store the values of a valid form.

    Returns the names of the changed fields; the kind never changes.
    """
    changed = sorted(name for name, value in read.valid.items() if getattr(row, name) != value)
    for name in changed:
        setattr(row, name, read.valid[name])
    return changed


def device_page(
    kiosk_id: int,
    *,
    form: KioskForm | None = None,
    hint: KioskForm | None = None,
    code: str = "",
    wrong: dict[str, str] | None = None,
) -> str:
    """The page of one device. `code`: a pairing code, which is shown this once."""
    now = services().clock()
    property_id = current_staff().property_id
    with services().db.read() as s:
        row = mine(s, kiosk_id)
        prop = s.get_one(Property, property_id)
        visits = _visits_today(s, [row]).get(row.id)
        needs = needs_of(s, row, prop)
        hints = [each for each in hints_of(s, property_id) if each.kiosk_id in (None, row.id)]
        accounts = {each.id: each.label for each in accounts_of(s, property_id)}
    tz = zone(prop.timezone)
    skew = skew_s(row)
    found = form or stored_form(row)
    hint = hint or KioskForm({})
    problems = found.wrong | hint.wrong | (wrong or {})
    return render_template(
        "admin/kiosk.html",
        device=row,
        health=health_of(row, visits, now, needs),
        skew=None if skew is None else round(skew),
        paired_at=day_time(row.paired_at, now, tz, locale()),
        code=code,
        code_until=day_time(row.pairing_until, now, tz, locale()),
        form=found,
        hints=hints,
        hint=hint,
        wrong=problems,
        message=message_for(_messages(), problems or code),
        opens_here=services().settings.demo,
        tab="kiosks",
        **_lists(accounts),
    )


def _read() -> KioskForm:
    property_id = current_staff().property_id
    with services().db.read() as s:
        country = s.get_one(Property, property_id).country
        accounts = {each.id: each.label for each in accounts_of(s, property_id)}
    read = read_form(request.form, country, accounts)
    # without a pickup point of its own, the device has the property's
    read_position(read, request.form, "position", services().geocoder)
    return read


def _form_page(form: KioskForm) -> str:
    with services().db.read() as s:
        accounts = {each.id: each.label for each in accounts_of(s, current_staff().property_id)}
    return render_template(
        "admin/kiosk_new.html", form=form, wrong=form.wrong, tab="kiosks", **_lists(accounts)
    )


def _visits_today(s: Session, rows: list[Kiosk]) -> dict[int, Visits]:
    prop = s.get_one(Property, current_staff().property_id)
    here = services().clock().astimezone(zone(prop.timezone))
    since = here.replace(hour=0, minute=0, second=0, microsecond=0).astimezone(UTC)
    return visits_of(s, [row.id for row in rows], since)


def _lists(accounts: dict[int, str]) -> dict[str, object]:
    """The choices of the form."""
    return {
        "kinds": kind_names(),
        "rules": rule_names(),
        "shown": shown_names(),
        "accounts": [(str(number), label) for number, label in accounts.items()],
        "languages": list(LANGUAGES.values()),
        "days": day_names(),
    }


def _messages() -> dict[str, str]:
    return {
        "added": _("Added. Pair the device now: make a code, and type it there."),
        "saved": _("Saved."),
        "pin": _("The staff PIN is set. Tell it only to those who look after the device."),
        "revoked": _("Revoked. That device shows nothing any more."),
        "hint": _("Saved: guests at this kiosk read it."),
        "removed": _("Taken off the list."),
    }


def kind_names() -> dict[str, str]:
    """The kinds of devices in words."""
    return {KioskKind.KIOSK.value: _("Guest kiosk"), KioskKind.DOOR.value: _("Door display")}


def rule_names() -> dict[str, str]:
    """The rules on who decides that the property pays, in words."""
    return {
        WhoPays.DRIVER.value: _("Guests pay the driver"),
        WhoPays.CODE.value: _("The house may pay, with a code from the desk"),
        WhoPays.APPROVAL.value: _("The desk approves each booking"),
    }


def shown_names() -> dict[str, str]:
    """The ways in which a door display may name a ride, in words."""
    return {
        "number": _("The ride number"),
        "room": _("The room"),
        "initials": _("The guest's initials"),
    }
