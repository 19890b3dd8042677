"""What a process remembers of the boards that are watched. Without the memory of polls it remembers nothing."""

import threading
from typing import Final

from ridedash.ext import Services
from ridedash.views.board_state import SAME_S, Board, House, board_of

MAX_HOUSES: Final = 1_000


class BoardMemory:
    """Of one process; shared by its threads. A deed of this process is seen by the next poll."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._houses: dict[tuple[int, str], House] = {}

    def board(self, s: Services, property_id: int, locale: str, *, told: bool) -> Board:
        """A property's board, made at most twice a second for all who watch it."""
        if s.polls is None:
            return _made(s, property_id, locale, told, House())
        house = self._house(property_id, locale)
        with house.lock:
            moment, deeds = s.polls.moment(), s.polls.deeds
            lately = moment - house.made_at < SAME_S and house.deeds == deeds and house.told == told
            if house.board is None or not lately:
                house.board = _made(s, property_id, locale, told, house)
                house.made_at, house.deeds, house.told = moment, deeds, told
            return house.board

    def _house(self, property_id: int, locale: str) -> House:
        with self._lock:
            if len(self._houses) >= MAX_HOUSES:
                self._houses.clear()
            return self._houses.setdefault((property_id, locale), House())


def _made(s: Services, property_id: int, locale: str, told: bool, house: House) -> Board:
    with s.db.read() as db:
        return board_of(db, property_id, s.clock(), s.settings.pace, locale, told, house)
