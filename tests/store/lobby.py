"""Two properties with a kiosk each, for tests of what kiosks store."""

from datetime import UTC, datetime
from typing import Any

from ridedash.store import kiosks
from ridedash.store.database.database import Database
from ridedash.store.models.kiosks import Kiosk, KioskKind, KioskVisit
from ridedash.store.properties import add_property, add_staff

NOON = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)


class Lobby:
    """The kiosks `lobby` (of the property `id`) and `theirs` (of the property `other`)."""

    def __init__(self, url: str) -> None:
        self.db = Database(url)
        with self.db.write() as s:
            self.id = add_property(s, "Grand Hotel", "UTC", NOON).id
            self.other = add_property(s, "Other Hotel", "UTC", NOON).id
            self.staff = add_staff(s, self.id, "Desk Otter", "hash", "concierge", NOON).id
            self.lobby = kiosks.new_device(s, self.id, KioskKind.KIOSK, "Lobby", NOON).id
            self.theirs = kiosks.new_device(s, self.other, KioskKind.KIOSK, "Theirs", NOON).id

    def add(self, *rows: Any) -> None:
        with self.db.write() as s:
            s.add_all(rows)

    def visit(self, name: str, began: datetime = NOON, **facts: Any) -> KioskVisit:
        """A visit of the kiosk `lobby`, unless `facts` name another kiosk."""
        given = {"kiosk_id": self.lobby, "property_id": self.id, "began_at": began, "aids": []}
        return KioskVisit(id=name, **{**given, **facts})

    def kiosk(self, name: str, **facts: Any) -> Kiosk:
        """A paired device of the property."""
        given = {"property_id": self.id, "kind": "kiosk", "made_at": NOON, "paired_by": self.staff}
        return Kiosk(name=name, **{**given, "token_hash": f"token of {name}", **facts})

    def read(self, name: str) -> KioskVisit:
        with self.db.read() as s:
            return s.get_one(KioskVisit, name)
