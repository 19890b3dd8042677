"""What the poll benches ask about: rides whose driver is on the way, and many people who are signed
in.
"""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from sqlalchemy import insert

from ridedash.store.models.people import SignIn
from tests.views.ride_pages import Desk, make_desk

BATCH: Final = 5_000


@dataclass(frozen=True)
class World:
    """A database on disk, the settings of a process that serves it, and its rides."""

    environ: dict[str, str]
    rides: list[int]
    desk: Desk

    def ask(self, folder: Path, sign_ins: int) -> Path:
        """A file of that many different questions: path, tab, cookie header; each cookie is another
        sign-in.
        """
        cookies = [
            cookie
            for start in range(0, sign_ins, BATCH)
            for cookie in self._sign_in(min(BATCH, sign_ins - start))
        ]
        lines = (
            f"/rides/{self.rides[n % len(self.rides)]}/snapshot.json\t{each}"
            for n, each in enumerate(cookies)
        )
        file = folder / f"ask-{sign_ins}.tsv"
        file.write_text("\n".join(lines) + "\n")
        return file

    def _sign_in(self, count: int) -> list[str]:
        """So many cookies, as signing in gives them."""
        sids = [secrets.token_urlsafe(32) for _ in range(count)]
        facts = {
            "property_id": self.desk.ids["desk.property"],
            "staff_id": self.desk.ids["desk"],
            "created_at": self.desk.now,
            "expires_at": self.desk.now + timedelta(hours=12),
        }
        with self.desk.services.db.write() as s:
            s.execute(
                insert(SignIn),
                [facts | {"id_hash": hashlib.sha256(sid.encode()).hexdigest()} for sid in sids],
            )
        app = self.desk.app
        signer = app.session_interface.get_signing_serializer(app)
        assert signer is not None
        return [
            f"ridedash_sid={signer.dumps({'sid': sid, 'csrf_token': secrets.token_hex(20)})}"
            for sid in sids
        ]


def make_world(folder: Path, rides: int, **settings: str) -> World:
    """A house with so many rides under way; nothing runs yet."""
    desk = make_desk(folder / "instance", **settings)
    desk.now = datetime.now(UTC)
    ids = [desk.order("BOOKED", "CALL_DRIVER", guest=f"Guest {n}") for n in range(rides)]
    environ = {
        "RIDEDASH_INSTANCE": str(folder / "instance"),
        "RIDEDASH_DATABASE_URL": desk.services.db.url,
        "BENCH_SECRET": desk.app.config["SECRET_KEY"],
        "BENCH_BODY": str(folder / "body.json"),
    }
    return World(environ, ids, desk)
