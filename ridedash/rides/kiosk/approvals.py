"""Approvals: a booking at a kiosk waits until the desk approves it and says who pays, or declines.

The kiosk waits for three minutes. After a request that no one answered, kiosks with the rule
APPROVAL are closed for ten minutes, and say so at once to the next guest. Name and phone are stored
encrypted, and only while they are needed. The order is made from the approval: later requests of
the kiosk can't change it (docs/booking-protocol.md 1.9).
"""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import ColumnElement, and_, func, or_, select
from sqlalchemy.orm import Session

from ridedash.rides.kiosk.rules import (
    HOUR,
    ORDERS_AN_HOUR,
    KioskRefusal,
    KioskRefused,
    rule_now,
)
from ridedash.store import audit
from ridedash.store.actors import by_kiosk, by_staff
from ridedash.store.database.database import Database
from ridedash.store.encryption import DecryptionFailed, TokenVault
from ridedash.store.kiosk_desk import ASK_LASTS
from ridedash.store.models.kiosks import AskState, Kiosk, KioskAsk, WhoPays
from ridedash.store.models.orders import Offer

# how long kiosks are closed after a request that no one answered
AWAY_FOR: Final = timedelta(minutes=10)
# how long an approval can be used after the desk's answer: an old one orders nothing
USED_WITHIN: Final = timedelta(seconds=180)
# why there is no approval, as guests read it (wording/kiosk.py): REASONS are given by the desk, the
# others by the program
REASONS: Final = ("full", "ask", "not_guest")
PRICE: Final = "price"  # the price rose after the approval
LEFT: Final = "left"  # the guest has left


@dataclass(frozen=True)
class GuestRequest:
    """What a guest wants to book. It does not contain who pays."""

    name: str
    room: str | None
    phone: str | None
    seats: int | None


@dataclass(frozen=True)
class NewAsk:
    """A kiosk's request to the desk; `token` is the form token of the order to be made."""

    kiosk_id: int
    property_id: int
    visit_id: str
    token: str
    offer_id: int
    request: GuestRequest


@dataclass(frozen=True)
class AskAnswer:
    """The desk's answer. `reason` is one of REASONS if it declines."""

    ask_id: int
    property_id: int
    staff_id: int
    approved: bool
    house_pays: bool = False
    reason: str = ""


@dataclass(frozen=True)
class WaitingAsk:
    """A request for an approval that waits for the desk's answer, as the desk sees it."""

    id: int
    kiosk_id: int
    kiosk: str
    visit_id: str
    name: str
    room: str | None
    seats: int | None
    offer: Offer
    asked_at: datetime
    until: datetime


@dataclass(frozen=True)
class AskNow:
    """An approval as it is now.

    `offer_id` is the offer that may be ordered; `request` is None when it is deleted or can't be
    decrypted. `posted` is the offer that was shown when the desk got the request.
    """

    id: int
    state: AskState
    house_pays: bool
    reason: str
    offer_id: int
    request: GuestRequest | None
    posted: int | None = None


def ask(s: Session, vault: TokenVault, new: NewAsk, now: datetime) -> int:
    """Ask the desk for an approval. Returns its id. Raises KioskRefused above 30 in an hour.

    A visit has one waiting approval: an earlier one ends.
    """
    mine = KioskAsk.kiosk_id == new.kiosk_id, KioskAsk.asked_at > now - HOUR
    if (s.scalar(select(func.count(KioskAsk.id)).where(*mine)) or 0) >= ORDERS_AN_HOUR:
        raise KioskRefused(KioskRefusal.HOURLY)
    end_asks(s, new.kiosk_id, new.visit_id, now)
    row = KioskAsk(
        property_id=new.property_id,
        kiosk_id=new.kiosk_id,
        visit_id=new.visit_id,
        wish={"token": new.token, "posted": new.offer_id, "seats": new.request.seats},
        offer_id=new.offer_id,
        state=AskState.WAITING.value,
        house_pays=False,
        asked_at=now,
    )
    s.add(row)
    s.flush()
    personal = {"name": new.request.name, "room": new.request.room, "phone": new.request.phone}
    row.wish_enc = vault.encrypt(json.dumps(personal), "kiosk_asks", row.id, "wish_enc")
    facts = {"property_id": new.property_id, "offer": new.offer_id}
    audit.record(
        s, by_kiosk(new.kiosk_id), "kiosk.asked", f"kiosk_asks:{row.id}", "ok", now, **facts
    )
    return row.id


def ask_of(
    s: Session, vault: TokenVault, key: tuple[int, str, int], now: datetime
) -> AskNow | None:
    """The approval for a kiosk's order token and the offer that its page posts.

    None if none was requested in the last hour. `key` is (kiosk id, order token, offer id).
    """
    kiosk_id, token, offer_id = key
    rows = s.scalars(
        select(KioskAsk)
        .where(KioskAsk.kiosk_id == kiosk_id, KioskAsk.asked_at > now - HOUR)
        .order_by(KioskAsk.id.desc())
    )
    for row in rows:
        if row.wish.get("token") != token:
            continue
        if offer_id in (row.wish.get("posted"), row.offer_id):
            return _now(row, vault, now)
    return None


def answer_ask(db: Database, now: datetime, answer: AskAnswer) -> bool:
    """Store the desk's answer, once.

    False when the approval waits no longer, or is another property's. Raises ValueError if the desk
    declines without one of REASONS.
    """
    if not answer.approved and answer.reason not in REASONS:
        raise ValueError("say why not")
    with db.write() as s:
        row = s.get(KioskAsk, answer.ask_id, with_for_update=True)
        if row is None or row.property_id != answer.property_id:
            return False
        if row.state != AskState.WAITING or now >= row.asked_at + ASK_LASTS:
            return False
        if answer.approved:
            row.state = AskState.APPROVED.value
            row.house_pays = answer.house_pays
            row.reason = None
        else:
            row.state = AskState.DECLINED.value
            row.house_pays = False
            row.reason = answer.reason
            row.wish_enc = None
        row.answered_by = answer.staff_id
        row.answered_at = now
        facts = {"house_pays": row.house_pays, "property_id": row.property_id}
        subject = f"kiosk_asks:{row.id}"
        audit.record(
            s, by_staff(answer.staff_id), "kiosk.answered", subject, row.state, now, **facts
        )
        return True


def waiting_asks(
    s: Session, vault: TokenVault, property_id: int, now: datetime
) -> list[WaitingAsk]:
    """The approvals that wait for the desk's answer, the longest waiting first."""
    rows = s.execute(
        select(KioskAsk, Kiosk.name, Offer)
        .join(Kiosk, Kiosk.id == KioskAsk.kiosk_id)
        .join(Offer, Offer.id == KioskAsk.offer_id)
        .where(
            KioskAsk.property_id == property_id,
            KioskAsk.state == AskState.WAITING.value,
            KioskAsk.asked_at > now - ASK_LASTS,
        )
        .order_by(KioskAsk.asked_at, KioskAsk.id)
    )
    found = []
    for row, kiosk, offer in rows:
        request = _decrypt_request(row, vault)
        if request is not None:
            found.append(
                WaitingAsk(
                    row.id,
                    row.kiosk_id,
                    kiosk,
                    row.visit_id,
                    request.name,
                    request.room,
                    request.seats,
                    offer,
                    row.asked_at,
                    row.asked_at + ASK_LASTS,
                )
            )
    return found


def use_ask(s: Session, ask_id: int, order_id: int) -> None:
    """Record the order of an approval, in the order's transaction, and delete the guest's name."""
    row = s.get_one(KioskAsk, ask_id, with_for_update=True, populate_existing=True)
    row.order_id = order_id
    row.wish_enc = None


def may_use(
    s: Session, ask_id: int, key: tuple[int, str, int], now: datetime, *, hold: bool = False
) -> AskNow | None:
    """The approval, without its request, if it may order this now; otherwise None.

    `key` is (kiosk id, order token, offer id). `hold` locks it, in a write session.
    """
    row = s.get(KioskAsk, ask_id, with_for_update=hold or None, populate_existing=True)
    if row is None or row.state != AskState.APPROVED or row.order_id is not None:
        return None
    late = row.answered_at is None or now > row.answered_at + USED_WITHIN
    if late or (row.kiosk_id, row.wish.get("token"), row.offer_id) != key:
        return None
    return AskNow(row.id, AskState.APPROVED, row.house_pays, "", row.offer_id, None)


def reprice(s: Session, ask_id: int, offer_id: int, *, same: bool, now: datetime) -> None:
    """Replace the offer of an approved car by a fresh one. `same`: at the same price.

    At another price the approval ends if the house was to pay, because it approved the old price; a
    guest who pays the driver decides alone.
    """
    row = s.get_one(KioskAsk, ask_id, with_for_update=True, populate_existing=True)
    if row.state != AskState.APPROVED or row.order_id is not None:
        return
    if same or not row.house_pays:
        row.offer_id = offer_id
    else:
        _end(row, PRICE, now)


def desk_is_away(s: Session, property_id: int, now: datetime) -> bool:
    """Whether the desk gave no answer to the latest request of the last 13 minutes.

    These are ASK_LASTS and AWAY_FOR. Requests whose guest still waits, or has left early, don't
    count.
    """
    waited = or_(KioskAsk.answered_by.is_not(None), KioskAsk.asked_at <= now - ASK_LASTS)
    left = and_(KioskAsk.reason.is_not(None), KioskAsk.answered_by.is_(None))
    newest = (
        select(KioskAsk.answered_by)
        .where(KioskAsk.property_id == property_id, KioskAsk.asked_at > now - ASK_LASTS - AWAY_FOR)
        .where(waited, ~left)
        .order_by(KioskAsk.asked_at.desc(), KioskAsk.id.desc())
        .limit(1)
    )
    found = s.execute(newest).first()
    return found is not None and found[0] is None


def waits_in_vain(s: Session, kiosk: Kiosk, now: datetime) -> bool:
    """Whether a guest at this kiosk would wait in vain, because the desk gives no answers."""
    if rule_now(kiosk, now) is not WhoPays.APPROVAL:
        return False
    return desk_is_away(s, kiosk.property_id, now)


def end_asks(s: Session, kiosk_id: int, visit_id: str, now: datetime) -> None:
    """End the approvals of a visit that led to no order, with the reason LEFT.

    If the guest waited to the end, there is no reason: the desk did not answer.
    """
    query = select(KioskAsk).where(
        KioskAsk.kiosk_id == kiosk_id,
        KioskAsk.visit_id == visit_id,
        KioskAsk.order_id.is_(None),
        KioskAsk.state.in_((AskState.WAITING.value, AskState.APPROVED.value)),
    )
    for row in s.scalars(query.with_for_update()):
        in_vain = row.state == AskState.WAITING and now >= row.asked_at + ASK_LASTS
        _end(row, "" if in_vain else LEFT, now)


def has_late(s: Session, now: datetime) -> bool:
    """Whether an approval has waited too long, for the desk or for its guest."""
    return s.scalars(select(KioskAsk.id).where(_is_late(now)).limit(1)).first() is not None


def expire_asks(s: Session, now: datetime) -> int:
    """Expire approvals that waited too long, or that no one used in time. Returns how many."""
    late = select(KioskAsk).where(_is_late(now)).with_for_update(skip_locked=True)
    rows = s.scalars(late).all()
    for row in rows:
        _end(row, "", now)
    return len(rows)


def _is_late(now: datetime) -> ColumnElement[bool]:
    """The condition for approvals that no one can answer or use any more; their names must go."""
    waiting = and_(KioskAsk.state == AskState.WAITING.value, KioskAsk.asked_at <= now - ASK_LASTS)
    unused = and_(
        KioskAsk.state == AskState.APPROVED.value,
        KioskAsk.order_id.is_(None),
        KioskAsk.answered_at < now - USED_WITHIN,
    )
    return or_(waiting, unused)


def _end(row: KioskAsk, reason: str, now: datetime) -> None:
    row.state = AskState.EXPIRED.value
    row.reason = reason or None
    row.wish_enc = None
    row.answered_at = row.answered_at or now


def _now(row: KioskAsk, vault: TokenVault, now: datetime) -> AskNow:
    state = AskState(row.state)
    if state is AskState.WAITING and now >= row.asked_at + ASK_LASTS:
        state = AskState.EXPIRED
    return AskNow(
        row.id,
        state,
        row.house_pays,
        row.reason or "",
        row.offer_id,
        _decrypt_request(row, vault),
        row.wish.get("posted"),
    )


def _decrypt_request(row: KioskAsk, vault: TokenVault) -> GuestRequest | None:
    """The decrypted request; None when it is deleted, or its key is missing."""
    if row.wish_enc is None:
        return None
    try:
        personal = json.loads(vault.decrypt(row.wish_enc, "kiosk_asks", row.id, "wish_enc"))
    except (DecryptionFailed, ValueError):
        return None
    return GuestRequest(
        personal.get("name", ""), personal.get("room"), personal.get("phone"), row.wish.get("seats")
    )
