"""The data of the poll benches: rides whose driver is on the way, and many signed-in people."""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path
from typing import Final

from sqlalchemy import insert, update

from ridedash.store.models.desk import Link
from ridedash.store.models.orders import Ride
from ridedash.store.models.people import SignIn
from tests.views.ride_pages import Desk, make_desk

BATCH: Final = 5_000


@dataclass(frozen=True)
class World:
    """A database on disk, the settings of a process that serves it, and its rides."""

    environ: dict[str, str]
    rides: list[int]
    desk: Desk

    def ask(self, folder: Path, viewers: int, page: str = "ride") -> Path:
        """A file of that many polls, each of another viewer: path, cookie header, known ETag.

        The fields are separated by tabs. `page` is ride (of staff), link (of a guest) or board.
        """
        file = folder / f"ask-{page}-{viewers}.tsv"
        with file.open("w") as out:
            for start in range(0, viewers, BATCH):
                for path, cookie, tag in getattr(self, f"_{page}")(
                    start, min(BATCH, viewers - start)
                ):
                    out.write(f"{path}\t{cookie}\t{tag}\n")
        return file

    def body(self, page: str = "ride") -> bytes:
        """The full answer to a poll of such a page."""
        client = self.desk.client(signed_in=page != "link")
        path, _cookie, _tag = next(getattr(self, f"_{page}")(0, 1))
        answer = client.get(path)
        if answer.status_code != HTTPStatus.OK:
            raise RuntimeError(f"{path} answered {answer.status_code}")
        return bytes(answer.data)

    def record_seen(self) -> None:
        """Record, as a worker does, that the service has just answered polls of all rides.

        Without such a record, pages soon say how old their facts are, and boards after a minute.
        """
        with self.desk.services.db.write() as s:
            s.execute(update(Ride).values(seen_at=datetime.now(UTC)))

    def _ride(self, start: int, count: int) -> Iterator[tuple[str, str, str]]:
        for n, cookie in enumerate(self._sign_in(count), start):
            yield f"/rides/{self.rides[n % len(self.rides)]}/snapshot.json", cookie, ""

    def _link(self, start: int, count: int) -> Iterator[tuple[str, str, str]]:
        tokens = [secrets.token_urlsafe(16) for _ in range(count)]
        facts = {
            "property_id": self.desk.ids["desk.property"],
            "kind": "follower",
            "made_at": self.desk.now,
        }
        with self.desk.services.db.write() as s:
            s.execute(
                insert(Link),
                [
                    facts
                    | {
                        "order_id": self.rides[n % len(self.rides)],
                        "token_hash": sha256(token.encode()).hexdigest(),
                    }
                    for n, token in enumerate(tokens, start)
                ],
            )
        client, tags = self.desk.client(signed_in=False), {}
        for n, token in enumerate(tokens, start):
            path, ride = f"/t/{token}/snapshot.json", n % len(self.rides)
            if ride not in tags:
                tags[ride] = client.get(path).headers["ETag"]
            yield path, "", tags[ride]

    def _board(self, _start: int, count: int) -> Iterator[tuple[str, str, str]]:
        first = self.desk.client().get("/board.json")
        known = "".join(row["rev"] for row in (first.json or {})["rows"])
        path = f"/board.json?since={(first.json or {})['v']}~{known}"
        yield from ((path, cookie, first.headers["ETag"]) for cookie in self._sign_in(count))

    def _sign_in(self, count: int) -> list[str]:
        """Cookies as signing in gives them."""
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
                [facts | {"id_hash": sha256(sid.encode()).hexdigest()} for sid in sids],
            )
        app = self.desk.app
        signer = app.session_interface.get_signing_serializer(app)
        assert signer is not None
        return [
            f"ridedash_sid={signer.dumps({'sid': sid, 'csrf_token': secrets.token_hex(20)})}"
            for sid in sids
        ]


def make_world(folder: Path, rides: int, **settings: str) -> World:
    """A property with that many live rides; no process runs yet."""
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
