"""Between a ride's row and the value that merge() works on; the start code is sealed on the way in."""

from typing import Any

from sqlalchemy import Row

from ridedash.rides.merging import RideState
from ridedash.service.tracks import Snapshot
from ridedash.store.crypto import Sealed, TokenVault
from ridedash.store.folding import squeezed
from ridedash.store.order_tables import Ride
from ridedash.wire import Kind

_SAME = (
    "booking_id",
    "txn_id",
    "status",
    "reported",
    "back_status",
    "previous_plate",
    "swapped_at",
    "retried",
    "allotted_at",
    "ended_at",
    "position_at",
    "seen_at",
    "merged_seq",
)


def facts_of(ride: Ride) -> Snapshot:
    """The merged facts of a ride, without its start code."""
    return Snapshot.model_validate(ride.facts)


def otp_of(ride: Ride | Row[Any], vault: TokenVault) -> str | None:
    """The start code; None when there is none now, or its key is gone."""
    if ride.otp_enc is None:
        return None
    try:
        return vault.decrypt(ride.otp_enc, "rides", ride.id, "otp")
    except Sealed:
        return None


def state_of(ride: Ride, vault: TokenVault) -> RideState:
    """A row as a value."""
    same = {name: getattr(ride, name) for name in _SAME}
    return RideState(kind=Kind(ride.kind), facts=facts_of(ride), otp=otp_of(ride, vault), **same)


def state_as_claimed(row: Row[Any], vault: TokenVault) -> RideState:
    """A claimed row as a value; its facts are still JSON text."""
    same = {name: getattr(row, name) for name in _SAME}
    otp = None if row.otp_enc is None else otp_of(row, vault)
    return RideState(kind=Kind(row.kind), facts=Snapshot.model_validate_json(row.facts), otp=otp, **same)


def write_state(ride: Ride, state: RideState, vault: TokenVault) -> None:
    """A value into its row. A code that did not change keeps its ciphertext; one that is gone is wiped."""
    if state.otp is None:
        ride.otp_enc = None
    elif otp_of(ride, vault) != state.otp:
        ride.otp_enc = vault.encrypt(state.otp, "rides", ride.id, "otp")
    facts = state.facts.model_dump(mode="json", exclude_none=True)
    if facts != ride.facts:
        ride.facts = facts
        ride.plate = squeezed(state.facts.vehicle_number) or None
    for name in _SAME:
        setattr(ride, name, getattr(state, name))
