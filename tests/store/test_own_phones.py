"""Links for guests' own phones: opened by one browser, within ten minutes, for one ride."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from sqlalchemy import select

from ridedash.store import own_phones
from ridedash.store.encryption import secret_hash
from ridedash.store.models.kiosks import OwnPhone
from tests.locks import locked
from tests.store.lobby import NOON, Lobby

pytestmark = pytest.mark.database
MILLISECOND = timedelta(milliseconds=1)
MINUTE = timedelta(minutes=1)
SESSION = "s" * 32
LATER = NOON + 9 * MINUTE


@pytest.fixture
def lobby(database: str) -> Iterator[Lobby]:
    made = Lobby(database)
    yield made
    made.db.close()


def test_a_new_link_ends_the_unopened_ones_of_its_visit(lobby: Lobby) -> None:
    with lobby.db.write() as s:

        def link(visit: str, kiosk: int = lobby.lobby) -> str:
            return own_phones.make_link(s, kiosk, lobby.id, visit, NOON)

        opened = link("a")
        assert not own_phones.is_opened(s, lobby.lobby, "a")
        assert own_phones.open_link(s, opened, SESSION, NOON)
        assert own_phones.is_opened(s, lobby.lobby, "a")
        assert not own_phones.is_opened(s, lobby.lobby, "b")
        assert not own_phones.is_opened(s, lobby.theirs, "a")
        ended, other, theirs = link("a"), link("b"), link("a", lobby.theirs)
        last = link("a")
        hashes = set(s.scalars(select(OwnPhone.token_hash)))
        assert hashes == {secret_hash(each) for each in (opened, other, theirs, last)}
        assert ended not in hashes
        row = s.get_one(OwnPhone, secret_hash(last))
        assert (row.kiosk_id, row.property_id, row.visit_id) == (lobby.lobby, lobby.id, "a")
        assert (row.made_at, row.expires_at) == (NOON, NOON + 10 * MINUTE)
        assert len(last) == 22, "128 bits"


def test_a_link_is_opened_once_within_ten_minutes(lobby: Lobby) -> None:
    with lobby.db.write() as s:
        token = own_phones.make_link(s, lobby.lobby, lobby.id, "a", NOON)
        assert not own_phones.open_link(s, "another", SESSION, NOON)
        assert not own_phones.open_link(s, token, SESSION, NOON + 10 * MINUTE)
        last = NOON + 10 * MINUTE - MILLISECOND
        assert own_phones.can_be_opened(s, token, last) is not None
        assert own_phones.can_be_opened(s, token, NOON + 10 * MINUTE) is None
        assert own_phones.can_be_opened(s, "another", NOON) is None
        with locked(s) as tables:
            assert own_phones.open_link(s, token, SESSION, last)
        assert tables == {"kiosk_phones"}
        assert len(own_phones.new_session()) == 32, "192 bits"
        assert own_phones.open_link(s, token, SESSION, LATER), "the same page, pressed again"
        assert not own_phones.open_link(s, token, "z" * 32, LATER)
        assert own_phones.can_be_opened(s, token, LATER) is None


def test_the_browser_that_opened_it_has_twenty_minutes_and_comes_back_for_a_day(
    lobby: Lobby,
) -> None:
    with lobby.db.write() as s:
        token = own_phones.make_link(s, lobby.lobby, lobby.id, "a", NOON)
        assert own_phones.phone_of(s, token, "", NOON) is None, "no one has opened it"
        session = own_phones.new_session()
        assert own_phones.open_link(s, token, session, LATER)
        row = s.get_one(OwnPhone, secret_hash(token))
        end = LATER + 20 * MINUTE
        assert own_phones.phone_of(s, token, session, end - MILLISECOND) is row
        assert own_phones.phone_of(s, token, session, end) is None
        assert own_phones.phone_of(s, token, "another", LATER) is None
        assert own_phones.phone_of(s, "another", session, LATER) is None
        with locked(s) as tables:
            own_phones.use_up(s, token, LATER)
        assert tables == {"kiosk_phones"}
        own_phones.use_up(s, token, end)
        assert row.used_at == LATER, "the first ride counts"
        own_phones.use_up(s, "another", LATER)
        day = LATER + timedelta(days=1)
        assert own_phones.phone_of(s, token, session, day - MILLISECOND) is row
        assert own_phones.phone_of(s, token, session, day) is None
