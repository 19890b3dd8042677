"""Verifies passwords, a few at a time: scrypt takes 32 MB and a tenth of a second for each."""

import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Final

from ridedash.store import passwords
from ridedash.store.models.people import Staff

# known browsers and strangers have places of their own: a flood of guesses keeps no one waiting
KNOWN: Final = threading.BoundedSemaphore(2)
STRANGERS: Final = threading.BoundedSemaphore(2)
PLACE_WAIT_S: Final = 5  # how long a stranger's try waits for a place, and then has to wait
# how many such tries may wait at once: more would take the threads that answer everybody else
_QUEUE: Final = threading.BoundedSemaphore(4)


@contextmanager
def place(*, known: bool) -> Iterator[bool]:
    """A place to verify one password; False for a stranger's try when there is none in time."""
    if known:
        with KNOWN:
            yield True
    elif not _strangers_place():
        yield False
    else:
        try:
            yield True
        finally:
            STRANGERS.release()


def password_holds(staff: Staff | None, password: str) -> bool:
    """Whether the password is right. An unknown name takes as long as a known one.

    Call it in a `place`.
    """
    holds = passwords.matches(staff.password_hash if staff else _dummy_hash(), password)
    return holds and staff is not None


def fresh_hash(staff: Staff | None, password: str) -> str:
    """The hash to store instead of one that this password opens but that is outdated, else "".

    Call it in a `place`.
    """
    if staff is None or not passwords.is_outdated(staff.password_hash, password):
        return ""
    return passwords.hashed(password)


def _strangers_place() -> bool:
    if STRANGERS.acquire(blocking=False):
        return True
    if not _QUEUE.acquire(blocking=False):
        return False
    try:
        return STRANGERS.acquire(timeout=PLACE_WAIT_S)
    finally:
        _QUEUE.release()


@cache
def _dummy_hash() -> str:
    """A hash that no password matches, as costly as a real one."""
    return passwords.hashed(secrets.token_urlsafe(16))
