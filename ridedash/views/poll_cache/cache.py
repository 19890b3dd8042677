"""The cache of one web process for polls: answers that can be sent again, and who may see them.

While polls arrive, one of their threads asks the database every quarter of a second which orders
changed and which sign-ins and links ended. An entry expires when time alone changes its words, and
after half a minute at most. While the database can't be asked, nothing stored is used. With
`RIDEDASH_POLL_LAYER=off` there is no cache: each poll reads the database (docs/performance.md).
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Generic, NamedTuple, TypeVar

from flask import current_app, request

from ridedash.observability.exceptions import reason
from ridedash.store.database.database import Database
from ridedash.store.poll_marks import Revision, revisions
from ridedash.store.sign_ins import SignInFacts, ended_secrets
from ridedash.views.web.current_user import KNOWN_SIGN_IN

LOOK_S: Final = 0.25  # changes are read from the database at most this often
BEHIND_S: Final = 1.0  # how old the last reading may be while another thread reads again
FRESH_S: Final = 30.0  # longest life of an entry, because names change without a new revision
LATE_S: Final = 1.0  # how long an expired entry may be used while one thread makes the next one
KNOWN_S: Final = 600.0  # how long a viewer is known without being verified again
OVERLAP_S: Final = 60.0  # how far back ended secrets are read again, as a margin
MAX_VIEWERS: Final = 200_000  # each takes 1,100 bytes with usual browsers, 1,600 at most
MAX_ENTRIES: Final = 20_000  # more than all rides, links and boards that are looked at at once
MAX_CREDENTIAL: Final = 1_000  # characters
NEVER: Final = float("-inf")  # before any instant: nothing was read yet
EXTENSION: Final = "ridedash.polls"  # the key of an app's cache in app.extensions
LINKS: Final = "/t/"  # below it are the links to rides
OFFERED: Final = "ridedash.poll"  # the list in the environ where `offer` leaves its arguments

log = logging.getLogger(__name__)
T = TypeVar("T")
Audience = tuple[int, str]  # of staff: property and role; of guests: order and kind of link
Credential = tuple[str, ...]  # of staff: cookie header, host; of guests: path, client address, host
Head = list[tuple[str, str]]


class Key(NamedTuple):
    """The page that an entry is for: its address, its audience, its language.

    For a link to a ride, `page` is always LINKS: the audience decides what the link shows.
    """

    page: str
    audience: Audience
    locale: str


EntryKey = tuple[str, Audience, str | None]  # a Key, or a plain tuple that equals one


class Viewer(NamedTuple):
    """Who sent a credential: the hash of a sign-in or link, and until when it counts as verified.

    `sign_in` has the facts that Flask read; Flask gets them back with the viewer's next request.
    """

    secret: str
    audience: Audience
    until: float
    sign_in: SignInFacts | None = None


class StoredAnswer(NamedTuple):
    """An HTTP answer that can be sent again. If `body` is None, it can only be sent as a 304."""

    tag: str
    head: Head
    head_304: Head
    body: bytes | None


@dataclass(eq=False, slots=True)
class CacheEntry(Generic[T]):
    """A value made from the database, and the end of its validity.

    Time alone changes the value after `serves_s` seconds; with 0 it is not stored. An entry with a
    revision ends earlier if its order gets a newer revision. The middleware fills in `answer`.
    """

    value: T
    revision: Revision | None
    serves_s: float
    until: float = NEVER
    answer: StoredAnswer | None = None


def polls() -> "PollCache | None":
    """The cache of the app that handles this request; None when it is switched off."""
    found: PollCache | None = current_app.extensions.get(EXTENSION)
    return found


def offer(key: Key, entry: CacheEntry[Any], secret: str, until: datetime) -> None:
    """Let the middleware send this answer again, until `until`, to the same sign-in or link."""
    known = request.environ.get(KNOWN_SIGN_IN)
    request.environ.get(OFFERED, []).append((key, entry, secret, until, known))


class PollCache:
    """Entries and viewers, shared by threads. `monotonic()` is the time in seconds.

    `turned` returns when the service's clock was last turned: older entries show wrong times.
    """

    def __init__(
        self,
        db: Database,
        monotonic: Callable[[], float] = time.monotonic,
        turned: Callable[[], datetime | None] = lambda: None,
    ) -> None:
        self._db = db
        self.monotonic = monotonic
        self._turned = turned
        self._turned_at = turned()
        self._lock = threading.Lock()
        self._looking = threading.Lock()
        self.looked_at = NEVER
        self.writes = 0  # requests of this process that may have written
        self._failed = False
        self.viewers: dict[Credential, Viewer] = {}
        self.entries: dict[EntryKey, CacheEntry[Any]] = {}
        self.ended: dict[str, float] = {}  # secrets that ended early, and when that was read
        self._numbers = deque([(NEVER, 0)])  # (when, the highest number of an ended secret by then)
        self._making: dict[EntryKey, threading.Event] = {}

    def admit(self, credential: Credential, viewer: Viewer) -> None:
        """Remember a viewer whose credential Flask has just verified."""
        if not credential[0] or sum(map(len, credential)) > MAX_CREDENTIAL:
            return
        with self._lock:
            self.viewers.pop(credential, None)  # to the end: the first one is the oldest
            if len(self.viewers) >= MAX_VIEWERS:
                del self.viewers[next(iter(self.viewers))]
            self.viewers[credential] = viewer

    def valid(self, key: EntryKey) -> CacheEntry[Any] | None:
        """The entry of a key, if it still agrees with the database."""
        found = self.entries.get(key)
        if found is None or not self.in_touch() or self.entries.get(key) is not found:
            return None
        late = self.monotonic() - found.until
        if late < 0 or (late < LATE_S and key in self._making):
            return found
        return None

    def share(self, key: Key, make: Callable[[T | None], CacheEntry[T]]) -> CacheEntry[T]:
        """The valid entry of a key; if there is none, one thread makes it.

        Other threads wait for at most LATE_S, then make it too. `make` gets the previous value, if
        that is still stored. Its exceptions go to the caller.
        """
        if (found := self.valid(key)) is not None:
            return found
        with self._lock:
            other = self._making.get(key)
            done = self._making[key] = other or threading.Event()
        if other is not None:
            other.wait(LATE_S)
            if (found := self.valid(key)) is not None:
                return found
        began = self.monotonic()
        writes = self.writes
        before = self.entries.get(key)
        turned_at = self._turned()
        try:
            made = make(before.value if before else None)
            whole = (made.revision or writes == self.writes) and turned_at == self._turned()
            if made.serves_s > 0 and whole:
                made.until = began + min(FRESH_S, made.serves_s)
                with self._lock:
                    if len(self.entries) < MAX_ENTRIES or key in self.entries:
                        self.entries[key] = made
                    # a write of this process came meanwhile, so `made` may be older than the write
                    if writes != self.writes:
                        self.looked_at = NEVER
            return made
        finally:
            if other is None:
                with self._lock:
                    del self._making[key]
                done.set()

    def look_again(self) -> None:
        """Compare with the database before the next answer: this process may have written to it."""
        with self._lock:
            self.writes += 1
            self.looked_at = NEVER
            for entry in self.entries.values():
                if entry.revision is None:  # the comparison would not find its changes
                    entry.until = min(entry.until, self.monotonic() - LATE_S)

    def forget(self) -> None:
        """Drop every entry: the service's clock was turned, or new rows may get the same ids."""
        with self._lock:
            for entry in self.entries.values():
                entry.until = NEVER
            self.entries = {}
            self.writes += 1
            self.looked_at = NEVER

    def in_touch(self) -> bool:
        """Whether the cache has just been compared with the database; does so if it is due."""
        if self.monotonic() - self.looked_at < LOOK_S:
            return True
        if self._looking.acquire(blocking=False):
            try:
                self._look()
                self._failed = False
            except Exception as error:  # each request then reads the database by itself
                if not self._failed:
                    log.warning("stored polls can't be checked in the database: %s", reason(error))
                self._failed = True
                return False
            finally:
                self._looking.release()
        return self.monotonic() - self.looked_at < BEHIND_S

    def _look(self) -> None:
        if (turned_at := self._turned()) != self._turned_at:
            self._turned_at = turned_at
            self.forget()
        began = self.monotonic()
        writes = self.writes
        with self._lock:
            fresh = ((k, each) for k, each in self.entries.items() if began < each.until + FRESH_S)
            self.entries = dict(fresh)
            order_ids = {each.revision.order_id for each in self.entries.values() if each.revision}
        with self._db.read() as s:
            ended = ended_secrets(s, self._numbers[0][1])
            found = revisions(s, order_ids) if order_ids else set()
        self._note_ended(ended, began)
        with self._lock:
            for key, each in list(self.entries.items()):
                if each.revision and each.revision not in found:
                    self.entries.pop(key).until = NEVER
            self.looked_at = began if writes == self.writes else NEVER

    def _note_ended(self, ended: list[tuple[int, str]], at: float) -> None:
        for number, secret in ended:
            self.ended.setdefault(secret, at)
            if number > self._numbers[-1][1]:
                self._numbers.append((at, number))
        while len(self._numbers) > 1 and self._numbers[1][0] < at - OVERLAP_S:
            self._numbers.popleft()
        while self.ended and next(iter(self.ended.values())) < at - KNOWN_S - OVERLAP_S:
            del self.ended[next(iter(self.ended))]
