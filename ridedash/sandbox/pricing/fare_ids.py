"""fare_ids: each locks the price of one trip for some minutes.

A fare_id carries its own data with a signature; nothing is stored.
"""

import base64
import binascii
import hashlib
import hmac
import json
from decimal import Decimal
from typing import Final, NamedTuple

from ridedash.geo import LatLng, distance_m

LIFETIME_S: Final = 300.0  # of wall time, however fast the service's clock runs
SAME_PLACE_M: Final = 50.0  # a marker that is set again is never quite at the same place
SIGNATURE_BYTES: Final = 9  # 72 bits: enough for a sandbox, and short in a URL


class LockedFare(NamedTuple):
    """The content of a fare_id.

    `issued_at` is the service's time, in seconds since 1970.
    """

    category: str
    pickup: LatLng
    drop: LatLng
    total: Decimal
    issued_at: float

    def fits(self, category: str, pickup: LatLng, drop: LatLng) -> bool:
        """Whether the fare_id was issued for this trip; places may differ by SAME_PLACE_M."""
        near = (
            distance_m(self.pickup, pickup) <= SAME_PLACE_M
            and distance_m(self.drop, drop) <= SAME_PLACE_M
        )
        return near and self.category == category


class FareSigner:
    """Signs and verifies fare_ids with one key."""

    def __init__(self, secret: str) -> None:
        self._key = hashlib.sha256(secret.encode()).digest()

    def lock(self, fare: LockedFare) -> str:
        """The fare_id: URL-safe text."""
        points = [round(degrees, 5) for degrees in (*fare.pickup, *fare.drop)]
        facts = json.dumps(
            [fare.category, *points, str(fare.total), round(fare.issued_at, 3)],
            separators=(",", ":"),
        ).encode()
        return base64.urlsafe_b64encode(self._signature(facts) + facts).decode().rstrip("=")

    def read(self, fare_id: str) -> LockedFare | None:
        """The content of a fare_id, or None when it wasn't issued by this sandbox."""
        try:
            raw = base64.urlsafe_b64decode(fare_id.encode("ascii") + b"=" * (-len(fare_id) % 4))
        except (ValueError, binascii.Error):
            return None
        signature = raw[:SIGNATURE_BYTES]
        facts = raw[SIGNATURE_BYTES:]
        if not hmac.compare_digest(signature, self._signature(facts)):
            return None
        # fare_ids of an earlier version end with one more value
        category, a, b, c, d, total, issued_at, *_earlier = json.loads(facts)
        return LockedFare(category, LatLng(a, b), LatLng(c, d), Decimal(total), issued_at)

    def _signature(self, facts: bytes) -> bytes:
        return hmac.digest(self._key, facts, "sha256")[:SIGNATURE_BYTES]
