"""What a process remembers between polls: whose cookie it saw, and the ready answer of each ride
that is watched.

Nothing is believed for long. The database is asked every quarter of a second, by one thread for
all, which orders moved and which sign-ins ended; an answer is made anew when time alone changes its
words, and after half a minute. When the database can't be asked nothing is remembered at all, and
each request is on its own.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, NamedTuple

from ridedash.observability.exceptions import reason
from ridedash.store.database.database import Database
from ridedash.store.poll_marks import Mark, marks
from ridedash.store.sign_ins import SignInFacts, ended_sign_ins

LOOK_S: Final = 0.25  # how often the database is asked
BEHIND_S: Final = 1.0  # how old its answer may be while another thread asks anew
# how long an answer serves at most: a house, a guest or an account may get another name
FRESH_S: Final = 30.0
LATE_S: Final = 1.0  # and beyond that while its successor is being made
KNOWN_S: Final = 600.0  # how long a cookie is known without being verified again
# ended sign-ins are read again for so long: a smaller number may be committed later
OVERLAP_S: Final = 60.0
MAX_SIGN_INS: Final = 200_000  # some 700 bytes each
MAX_ANSWERS: Final = 20_000
MAX_COOKIE: Final = 2_000
NEVER: Final = float("-inf")
log = logging.getLogger(__name__)


class Key(NamedTuple):
    """Who sees the same answer: those who ask for one order, of one property, in one role and
    language.
    """

    order_id: int
    property_id: int
    role: str
    locale: str


@dataclass(eq=False, slots=True)
class Viewer:
    """Whoever sent a cookie; `until` is when it is believed no longer, by the memory's own time."""

    known: SignInFacts
    sign_in: str
    house: tuple[int, str]  # property and role: one object for all who share both
    until: float


@dataclass(eq=False, slots=True)
class Ready:
    """An answer that can be sent as it is.

    `facts` are the headers that the view gives it. Every header, `head` and `head_304`, is filled
    in by the layer.
    """

    mark: Mark
    body: bytes
    etag: str
    seen_at: str
    turns_in_s: float = FRESH_S  # when time alone changes its words
    until: float = 0.0
    head: list[tuple[str, str]] | None = None
    head_304: list[tuple[str, str]] | None = None
    tag: str = field(init=False)  # the ETag as a header says it
    facts: list[tuple[str, str]] = field(init=False)

    def __post_init__(self) -> None:
        self.tag = f'"{self.etag}"'
        self.facts = [
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(self.body))),
            ("ETag", self.tag),
            ("Cache-Control", "private, no-cache"),
            ("Vary", "Cookie"),
            *([("X-Seen-At", self.seen_at)] if self.seen_at else []),
        ]


class PollMemory:
    """Of one process; shared by its threads. `moment()` is its monotonic time in seconds."""

    def __init__(self, db: Database, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._db, self.moment = db, monotonic
        self._lock, self._looking = threading.Lock(), threading.Lock()
        self.looked_at = NEVER
        self.deeds = 0  # done in this process
        self._failed = False
        self.viewers: dict[str, Viewer] = {}  # by cookie header
        # sign-ins that ended before their time, and when that was read
        self.ended: dict[str, float] = {}
        self._houses: dict[tuple[int, str], tuple[int, str]] = {}
        # highest number read, by time
        self._numbers: deque[tuple[float, int]] = deque([(NEVER, 0)])
        self._ready: dict[Key, Ready] = {}
        self._making: dict[Key, threading.Event] = {}

    def who(self, cookie: str | None) -> Viewer | None:
        """Whose cookie header this is, if it was seen lately and its sign-in neither expired nor
        ended.
        """
        found = self.viewers.get(cookie) if cookie else None
        if (
            found is None
            or not self.in_touch()
            or found.until <= self.moment()
            or found.sign_in in self.ended
        ):
            return None
        return found

    def remember(self, cookie: str | None, known: SignInFacts, now: datetime) -> None:
        """A cookie header that was just found to carry this sign-in."""
        if not cookie or len(cookie) > MAX_COOKIE:
            return
        holds_s = min(KNOWN_S, (known.expires_at - now).total_seconds())
        with self._lock:
            house = self._houses.setdefault(
                (known.property_id, known.role), (known.property_id, known.role)
            )
            self.viewers.pop(cookie, None)  # it goes to the end: the first one is the oldest
            if len(self.viewers) >= MAX_SIGN_INS:
                del self.viewers[next(iter(self.viewers))]
            self.viewers[cookie] = Viewer(known, known.sign_in, house, self.moment() + holds_s)

    def ready(self, key: Key) -> Ready | None:
        """The answer, if it still says what is so."""
        found = self._ready.get(key)
        if found is None or not self.in_touch() or self._ready.get(key) is not found:
            return None
        late = self.moment() - found.until
        return found if late < 0 or (late < LATE_S and key in self._making) else None

    @contextmanager
    def making(self, key: Key) -> Iterator[Ready | None]:
        """The answer; None when it is for the caller to make and keep.

        Others wait for it meanwhile.
        """
        found = self.ready(key)
        if found is not None:
            yield found
            return
        done, mine = self._begin(key)
        if not mine:
            done.wait(LATE_S)
            yield self.ready(key)
            return
        try:
            yield None
        finally:
            with self._lock:
                del self._making[key]
            done.set()

    def keep(self, key: Key, made: Ready, began: float) -> Ready:
        """An answer made from what was read after `began` (`self.moment()`)."""
        made.until = began + min(FRESH_S, made.turns_in_s)
        with self._lock:
            if len(self._ready) < MAX_ANSWERS or key in self._ready:
                self._ready[key] = made
        return made

    def look_again(self) -> None:
        """Ask the database before the next answer: something was done in this process."""
        self.deeds += 1
        self.looked_at = NEVER

    def _begin(self, key: Key) -> tuple[threading.Event, bool]:
        """What says that the answer is made, and whether the caller is to make it."""
        with self._lock:
            other = self._making.get(key)
            if other is not None:
                return other, False
            done = self._making[key] = threading.Event()
            return done, True

    def in_touch(self) -> bool:
        """Whether what is remembered was compared with the database a moment ago."""
        if self.moment() - self.looked_at < LOOK_S:
            return True
        if self._looking.acquire(blocking=False):
            try:
                self._look()
                self._failed = False
            # whatever the database says: each request then asks it on its own
            except Exception as error:
                if not self._failed:
                    log.warning(
                        "remembered polls can't be compared with the database: %s", reason(error)
                    )
                self._failed = True
                return False
            finally:
                self._looking.release()
        return self.moment() - self.looked_at < BEHIND_S

    def _look(self) -> None:
        began, deeds = self.moment(), self.deeds
        with self._lock:
            self._ready = {
                key: each for key, each in self._ready.items() if began < each.until + LATE_S
            }
            watched = {key.order_id for key in self._ready}
        with self._db.read() as s:
            ended = ended_sign_ins(s, self._numbers[0][1])
            found = marks(s, list(watched)) if watched else {}
        with self._lock:
            for key in [key for key in self._ready if key.order_id in watched]:
                if found.get(key.order_id) != self._ready[key].mark:
                    self._ready.pop(key).until = NEVER
        self._note_ended(ended, began)
        self.looked_at = began if deeds == self.deeds else NEVER

    def _note_ended(self, ended: list[tuple[int, str]], at: float) -> None:
        for _, sign_in in ended:
            self.ended.setdefault(sign_in, at)
        highest = max((number for number, _ in ended), default=0)
        if highest > self._numbers[-1][1]:
            self._numbers.append((at, highest))
        while len(self._numbers) > 1 and self._numbers[1][0] < at - OVERLAP_S:
            self._numbers.popleft()
        while self.ended and next(iter(self.ended.values())) < at - KNOWN_S - OVERLAP_S:
            del self.ended[next(iter(self.ended))]
