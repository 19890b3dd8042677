"""Pure: how two answers of track_ride become one. A reduced field set never erases (booking-protocol.md 3)."""

from typing import Any, Final

from ridedash.service.fields import Fact
from ridedash.service.tracks import Snapshot
from ridedash.store.folding import squeezed

CAB_FIELDS: Final = (
    "driver_name",
    "driver_number",
    "driver_rating",
    "driver_image_url",
    "vehicle_type",
    "vehicle_number",
    "vehicle_color",
    "car_model",
    "position",
    "bearing",
    "speed",
    "share_ride_url",
    "eta",
    "distance",
)
FIELD_BY_FIELD: Final = ("price", "trip")  # an invoice's parts come with different states
NEVER_KEPT: Final = ("otp", "otp_text")


def joined(old: Snapshot, new: Snapshot, status: str | None, booking_id: str | None) -> Snapshot:
    """The old facts with what the new answer says put over them; the start code is left out."""
    update: dict[str, Any] = {name: value for name, value in vars(new).items() if value is not None and value != ()}
    for name in FIELD_BY_FIELD:
        update[name] = _over(getattr(old, name), getattr(new, name))
    if old.passengers:
        update["passengers"] = old.passengers
    update |= dict.fromkeys(NEVER_KEPT) | {"booking_status": status, "booking_id": booking_id}
    return old.model_copy(update=update)


def _over(old: Fact | None, new: Fact | None) -> Fact | None:
    if old is None or new is None or old == new:
        return new or old
    return old.model_copy(update={name: value for name, value in vars(new).items() if value is not None})


def without_cab(facts: Snapshot) -> Snapshot:
    """The facts without car, driver and where they are."""
    return facts.model_copy(update=dict.fromkeys(CAB_FIELDS))


def without_eta(facts: Snapshot) -> Snapshot:
    """The facts without the time and way that were left: they meant the pickup, and now mean the drop, or nothing."""
    return facts.model_copy(update={"eta": None, "distance": None})


def other_plate(old: Snapshot, new: Snapshot) -> bool:
    """Whether both name a plate and they are not the same one, spaces and case aside."""
    one, other = old.vehicle_number, new.vehicle_number
    return bool(one and other) and one != other and squeezed(one) != squeezed(other)
