"""fare_id: a price for one trip, locked for some minutes.

It carries its own facts, sealed; nothing is stored.
"""

import base64
import binascii
import hashlib
import hmac
import json
from decimal import Decimal
from typing import Final, NamedTuple

from ridedash.geo import LatLng, distance_m

LIFETIME_S: Final = 300.0
SAME_PLACE_M: Final = 50.0
SEAL_BYTES: Final = 9


class LockedFare(NamedTuple):
    """What a fare_id stands for; `issued_at` in service seconds, `speed` that of the service's
    clock then.
    """

    category: str
    pickup: LatLng
    drop: LatLng
    total: Decimal
    issued_at: float
    speed: float = 1.0

    def expired(self, now: float, speed: float) -> bool:
        """Whether it is too old to book by.

        A fast clock doesn't hurry whoever reads the price: they get 300 s too.
        """
        # the clock may have been slowed since
        return now - self.issued_at > LIFETIME_S * max(speed, self.speed)

    def fits(self, category: str, pickup: LatLng, drop: LatLng) -> bool:
        """Whether it was given for this trip, give or take a few steps."""
        near = (
            distance_m(self.pickup, pickup) <= SAME_PLACE_M
            and distance_m(self.drop, drop) <= SAME_PLACE_M
        )
        return near and self.category == category


class FareSeal:
    """Makes and reads fare_ids under one key."""

    def __init__(self, secret: str) -> None:
        self._key = hashlib.sha256(secret.encode()).digest()

    def lock(self, fare: LockedFare) -> str:
        """The fare_id: URL-safe text."""
        points = [round(degrees, 5) for degrees in (*fare.pickup, *fare.drop)]
        facts = json.dumps(
            [fare.category, *points, str(fare.total), int(fare.issued_at), fare.speed],
            separators=(",", ":"),
        ).encode()
        return base64.urlsafe_b64encode(self._seal(facts) + facts).decode().rstrip("=")

    def read(self, fare_id: str) -> LockedFare | None:
        """What a fare_id locks, or None when it isn't one of ours."""
        try:
            raw = base64.urlsafe_b64decode(fare_id.encode("ascii") + b"=" * (-len(fare_id) % 4))
        except (ValueError, binascii.Error):
            return None
        seal, facts = raw[:SEAL_BYTES], raw[SEAL_BYTES:]
        if not hmac.compare_digest(seal, self._seal(facts)):
            return None
        category, a, b, c, d, total, issued_at, speed = json.loads(facts)
        return LockedFare(category, LatLng(a, b), LatLng(c, d), Decimal(total), issued_at, speed)

    def _seal(self, facts: bytes) -> bytes:
        return hmac.digest(self._key, facts, "sha256")[:SEAL_BYTES]
