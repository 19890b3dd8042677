"""The figures of a run: counted from the sandbox's ledger, our database and the lens."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

from babel.numbers import format_decimal
from sqlalchemy import func, select

from ridedash.demo.lens.operations import NUMBERS
from ridedash.demo.lens.recording import Lens
from ridedash.demo.lens.store import RecordedCall
from ridedash.demo.sandbox_control import LedgerEntry
from ridedash.demo.stories.runs import StoryRun
from ridedash.demo.stories.seen import CheckedLine
from ridedash.extensions import services
from ridedash.store.models.orders import Order
from ridedash.views.board.state import Shown, board_of, marks_of
from ridedash.views.web.responses import locale
from ridedash.wording import gettext as _

MOST_CALLS: Final = 5_000  # as many as the lens stores


@dataclass(frozen=True)
class BoardCount:
    """How many rides there are, and how many of them need somebody."""

    rides: int
    needs: int

    @property
    def words(self) -> str:
        """Both numbers for the audience."""
        return _(
            "%(rides)d rides: %(nobody)d need nobody, %(needs)d need you.",
            rides=self.rides,
            nobody=self.rides - self.needs,
            needs=self.needs,
        )


def overview_of(run: StoryRun) -> BoardCount:
    """What the board shows of the property's rides now."""
    s = services()
    mine = run.property_id
    now = s.clock()
    with s.db.read() as db:
        rides = db.scalar(select(func.count()).where(Order.property_id == mine)) or 0
        shown = Shown(mine, now, s.time(), locale(), paused=False)
        board = board_of(db, shown, marks_of(db, mine, now), None)
    return BoardCount(rides, board.needs)


def card(run: StoryRun, ledger: list[LedgerEntry], checked: list[CheckedLine]) -> dict[str, Any]:
    """The end card: {"numbers": [[number, words]], "sentences": [text], "checks": text}."""
    with services().db.read() as db:
        calls = Lens(db, run.property_id).calls(limit=MOST_CALLS)
    used = {each.operation for each in calls} & NUMBERS.keys()
    doubled = sum(n - 1 for n in Counter(each.mtx for each in ledger).values())
    board = overview_of(run)
    holds = sum(each.holds for each in checked)
    return {
        "numbers": [
            [f"{len(used)} / {len(NUMBERS)}", _("operations used")],
            [_number(len(ledger)), _("bookings at the ride company")],
            [_number(doubled), _("made twice")],
            [_number(sum(each.same for each in calls)), _("calls")],
            [_slowest(calls), _("slowest answer")],
        ],
        "sentences": [
            _(
                "Every fact on these screens came from %(used)d operations of your interface.",
                used=len(used),
            ),
            _outcome(calls, doubled),
            board.words,
        ],
        "checks": _("%(n)d of %(all)d checks of this run hold.", n=holds, all=len(checked)),
    }


def _outcome(calls: list[RecordedCall], doubled: int) -> str:
    """What came of the lost answers: as a rule no booking was made twice."""
    if doubled:
        return _("%(n)d bookings were made twice.", n=doubled)
    lost = sum(each.failed and each.operation == "create" for each in calls)
    return _("%(n)d answers were lost or came too late, and no guest got two cars.", n=lost)


def _slowest(calls: list[RecordedCall]) -> str:
    """The longest time of a call that was answered."""
    answered = [each.ms for each in calls if each.status is not None]
    return _("%(ms)s ms", ms=_number(round(max(answered, default=0))))


def _number(number: int) -> str:
    return format_decimal(number, locale=locale())
