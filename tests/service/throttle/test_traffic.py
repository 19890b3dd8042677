"""Which calls may start, and when: breaker, limiter, 429s and retry budget, on a fake clock."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridedash.service.errors import Throttled
from ridedash.service.throttle.traffic import Priority, Result, Traffic


class Desk:
    """Traffic with its own clock, which moves on when a call waits."""

    def __init__(self, rate=45, chance=1.0):
        self.now, self.pauses = 1000.0, []
        self.traffic = Traffic(
            rate, monotonic=lambda: self.now, pause=self.pause, chance=lambda: chance
        )

    def pause(self, seconds):
        self.pauses.append(seconds)
        self.now += seconds

    def call(self, result=Result.ANSWERED, priority=Priority.REST, wait=None, took=0.0):
        permit = self.traffic.enter(priority)
        self.now += took
        self.traffic.settle(permit, result, wait)

    def fail(self, times, priority=Priority.REST):
        for _ in range(times):
            self.call(Result.FAILED, priority)

    def throttled(self, priority=Priority.REST):
        """Why a call is throttled now, and for how long."""
        with pytest.raises(Throttled) as caught:
            self.traffic.enter(priority)
        assert not caught.value.sent
        return caught.value.why, pytest.approx(caught.value.wait_s, abs=1e-6)


# ---- the breaker


def test_five_failures_in_a_row_open_the_breaker_and_four_do_not():
    desk = Desk(math.inf)
    desk.fail(4)
    desk.call()
    desk.fail(4)
    assert not desk.traffic.is_open(write=False)
    desk.fail(1)
    assert desk.traffic.is_open(write=False)
    assert desk.throttled() == ("silent", 5)


def test_expired_entries_keep_no_one_from_calling(caplog):
    caplog.set_level("INFO")
    desk = Desk(math.inf)
    desk.fail(5)
    desk.traffic.forget()
    assert not desk.traffic.is_open(write=False)
    assert desk.traffic.silent_s() is None
    desk.call()
    closed = "the breaker of read calls is closed: the service answers again"
    assert [each.getMessage() for each in caplog.records][1:] == [closed], "writes never stopped"


def test_half_of_twenty_calls_in_thirty_seconds_open_it_and_older_ones_do_not_count():
    desk = Desk(math.inf)
    for _ in range(9):
        desk.fail(1)
        desk.call()
    desk.fail(1)  # nineteen calls, ten failed
    assert not desk.traffic.is_open(write=False)
    desk.now += 31
    desk.fail(1)
    desk.call()
    assert not desk.traffic.is_open(write=False)
    for _ in range(9):
        desk.fail(1)
        desk.call()
    assert not desk.traffic.is_open(write=False)
    desk.fail(1)
    assert desk.traffic.is_open(write=False)


def test_a_probe_goes_after_five_seconds_then_after_ten_twenty_and_thirty_and_one_at_a_time():
    desk = Desk(math.inf, chance=0.0)
    desk.fail(5)
    for wait in (5, 10, 20, 30, 30):
        assert (desk.throttled(), desk.traffic.capacity()) == (("silent", wait), 0)
        desk.now += wait
        assert desk.traffic.capacity() == 1
        probe = desk.traffic.enter(Priority.REST)
        assert (desk.traffic.capacity(), desk.throttled()[0]) == (0, "silent")
        desk.traffic.settle(probe, Result.FAILED)
    desk.now += 30
    desk.call()
    assert not desk.traffic.is_open(write=False)
    assert desk.traffic.capacity() > 1


def test_the_waits_between_probes_are_up_to_a_fifth_shorter_by_chance():
    desk = Desk(math.inf, chance=1.0)
    desk.fail(5)
    desk.now += 5
    desk.fail(1)
    assert desk.throttled() == ("silent", 8)


def test_a_probe_without_an_answer_for_ten_seconds_lets_another_go():
    desk = Desk(math.inf)
    desk.fail(5, Priority.WRITE)
    desk.now += 5
    desk.traffic.enter(Priority.WRITE)  # a create may wait a minute
    assert desk.throttled(Priority.WRITE) == ("silent", 10)
    desk.now += 10
    desk.call(priority=Priority.WRITE)
    assert not desk.traffic.is_open(write=True)


def test_a_probe_that_never_became_a_call_says_nothing_and_another_may_go_at_once():
    desk = Desk(math.inf)
    desk.fail(5)
    desk.now += 5
    desk.call(Result.VOID)
    assert (desk.traffic.is_open(write=False), desk.traffic.capacity()) == (True, 1)


def test_the_log_has_a_line_for_each_change_of_a_breaker_and_none_for_a_call(caplog):
    caplog.set_level("INFO")
    desk = Desk(math.inf)
    desk.call()
    desk.fail(5)
    desk.throttled()
    desk.now += 5
    desk.fail(1)
    desk.now += 10
    desk.call()
    desk.call()
    probe = ("INFO", "the breaker of read calls is half-open: this call is the probe")
    assert [(each.levelname, each.getMessage()) for each in caplog.records] == [
        ("WARNING", "the breaker of read calls is open: the service gives no answers"),
        probe,
        probe,
        ("INFO", "the breaker of read calls is closed: the service answers again"),
    ]


def test_writes_and_reads_have_a_breaker_each():
    desk = Desk(math.inf)
    desk.fail(5)
    desk.call(priority=Priority.WRITE)
    desk.fail(5, Priority.WRITE)
    assert desk.traffic.is_open(write=True)
    other = Desk(math.inf)
    other.fail(5, Priority.WRITE)
    assert (other.traffic.is_open(write=True), other.traffic.is_open(write=False)) == (True, False)
    other.call(priority=Priority.PAGE)


def test_the_result_of_an_earlier_call_is_ignored_after_the_breaker_has_closed():
    desk = Desk(math.inf)
    slow = [desk.traffic.enter(Priority.REST) for _ in range(9)]
    for each in slow[:5]:
        desk.traffic.settle(each, Result.FAILED)
    desk.now += 5
    desk.call()
    for each in slow[5:]:
        desk.traffic.settle(each, Result.FAILED)
    desk.fail(1)
    assert not desk.traffic.is_open(write=False)


def test_a_service_that_flaps_closes_it_at_most_once_in_eleven_seconds():
    desk = Desk(math.inf)
    desk.fail(5)
    desk.now += 5
    desk.call()
    desk.now += 1
    desk.fail(5)
    assert desk.throttled() == ("silent", 10)


def test_waiting_for_a_permit_never_means_waiting_for_the_breaker():
    desk = Desk(math.inf)
    desk.fail(5, Priority.WRITE)
    with pytest.raises(Throttled):
        desk.traffic.enter(Priority.WRITE, 60)
    assert desk.pauses == []


# ---- since when the service is silent


def test_the_service_is_silent_since_the_first_of_two_failures_until_any_answer():
    desk = Desk(math.inf)
    desk.fail(1)
    assert desk.traffic.silent_since is None
    desk.now += 3
    desk.fail(1, Priority.WRITE)
    assert (desk.traffic.silent_since, desk.traffic.silent_s()) == (1000, 3)
    desk.call()
    assert (desk.traffic.silent_since, desk.traffic.silent_s()) == (None, None)


def test_it_is_silent_while_the_breaker_of_reads_is_open_and_not_after_two_idle_minutes():
    desk = Desk(math.inf)
    desk.fail(2)
    desk.now += 121
    assert desk.traffic.silent_since is None
    for _ in range(10):
        desk.fail(1)
        desk.call()
    desk.fail(1)
    desk.call(priority=Priority.WRITE)
    assert desk.traffic.is_open(write=False)
    assert desk.traffic.silent_since == desk.now


def test_a_silent_service_is_unasked_since_its_last_failure():
    desk = Desk(math.inf)
    desk.fail(1)
    desk.now += 9
    assert desk.traffic.unasked_s() == 0, "one failure is no silence"
    desk.fail(1)
    desk.now += 9
    assert desk.traffic.unasked_s() == 9
    desk.call()
    assert desk.traffic.unasked_s() == 0


def test_a_service_that_is_not_called_is_not_reported_silent_for_ever():
    desk = Desk(math.inf)
    desk.fail(5)
    desk.now += 120
    assert desk.traffic.silent_since == 1000
    desk.now += 1
    assert desk.traffic.is_open(write=False)
    assert desk.traffic.silent_since is None, "a guest may ask: that is the probe"
    desk.fail(1)
    assert desk.traffic.silent_since == 1000
    desk.now += 121
    desk.call()
    assert not desk.traffic.is_open(write=False)


# ---- since when the service refuses the partner's key


def test_the_key_is_refused_since_the_first_of_two_refusals_until_an_answer():
    desk = Desk(math.inf)
    desk.call(Result.KEY_REFUSED)
    assert desk.traffic.key_refused_s() is None, "one may be a mistake of theirs"
    desk.now += 3
    desk.call(Result.KEY_REFUSED, Priority.WRITE)
    assert desk.traffic.key_refused_s() == 3
    desk.now += 3600
    desk.fail(1)
    desk.call(Result.LIMITED, wait=1.0)
    assert desk.traffic.key_refused_s() == 3603, "neither silence nor a 429 accepts a key"
    desk.now += 1
    desk.call()
    assert desk.traffic.key_refused_s() is None


def test_a_refused_key_is_an_answer_and_stops_no_call():
    desk = Desk(math.inf)
    for _ in range(30):
        desk.call(Result.KEY_REFUSED)
    assert not desk.traffic.is_open(write=False)
    assert desk.traffic.silent_s() is None


# ---- 429


@pytest.mark.parametrize("wait", [1.0, 7.0, 300.0])
def test_a_429_stops_every_call_for_exactly_its_retry_after(wait):
    desk = Desk(45)
    desk.call(Result.LIMITED, wait=wait)
    assert desk.traffic.throttled_s() == wait
    assert desk.throttled(Priority.WRITE)[0] == "limited"
    desk.now += wait - 0.001
    assert (desk.traffic.capacity(), desk.traffic.wait_s(Priority.WRITE)) == (
        0,
        pytest.approx(0.001 + 1 / 45),
    )
    desk.now += 0.001
    assert (desk.traffic.capacity(), desk.traffic.throttled_s()) == (
        0,
        0,
    )  # the bucket begins empty


def test_after_a_429_calls_start_by_priority():
    desk = Desk(45)
    desk.call(Result.LIMITED, wait=10.0)
    waits = [
        desk.traffic.wait_s(priority)
        for priority in (Priority.WRITE, Priority.PAGE, Priority.WAITING)
    ]
    assert waits == pytest.approx([10 + n / 45 for n in (1, 1 + 20.25 / 4, 1 + 20.25 * 0.375)])
    desk.now += 10 + 9.5 / 45
    assert (desk.traffic.capacity(Priority.WAITING), desk.traffic.capacity()) == (1, 0)
    desk.now += 2 / 45
    assert desk.traffic.capacity() == 1


def test_a_429_without_retry_after_stops_calls_for_a_second_doubling_to_thirty():
    desk = Desk(math.inf)
    waits = []
    for _ in range(7):
        desk.call(Result.LIMITED)
        waits.append(desk.traffic.throttled_s())
        desk.now += waits[-1]
    assert waits == [1, 2, 4, 8, 16, 30, 30]
    desk.call()
    desk.call(Result.LIMITED)
    assert desk.traffic.throttled_s() == 1


def test_429s_of_concurrent_calls_count_as_one():
    desk = Desk(math.inf)
    together = [desk.traffic.enter(Priority.REST) for _ in range(8)]
    desk.now += 0.2
    for each in together:
        desk.traffic.settle(each, Result.LIMITED)
    assert desk.traffic.throttled_s() == 1
    desk.now += 1
    desk.call(Result.LIMITED)
    assert desk.traffic.throttled_s() == 2


def test_a_good_answer_ends_the_row_of_429s_if_its_call_began_with_the_last_or_later():
    for began_before, waits in ((True, 4), (False, 1)):
        desk = Desk(math.inf)
        desk.call(Result.LIMITED)
        desk.now += 2
        early = desk.traffic.enter(Priority.REST)
        desk.now += began_before
        desk.call(Result.LIMITED)
        desk.traffic.settle(early, Result.ANSWERED)
        desk.now += 9
        desk.call(Result.LIMITED)
        assert desk.traffic.throttled_s() == waits


def test_a_call_is_refused_up_to_the_instant_at_which_a_probe_is_due():
    desk = Desk(math.inf)
    desk.fail(5)
    desk.now += 4.5
    assert desk.throttled() == (Throttled.SILENT, 0.5)
    assert desk.traffic.wait_s(Priority.REST) == 0.5
    assert desk.traffic.capacity() == 0


def test_a_shorter_hold_does_not_cut_a_longer_one_short():
    desk = Desk(math.inf)
    both = [desk.traffic.enter(Priority.REST) for _ in range(2)]
    desk.traffic.settle(both[0], Result.LIMITED, 60)
    desk.traffic.settle(both[1], Result.LIMITED, 2)
    assert desk.traffic.throttled_s() == 60


def test_a_429_is_an_answer_to_the_breaker():
    desk = Desk(math.inf)
    for _ in range(30):
        desk.call(Result.LIMITED, wait=1.0)
        desk.now += 1
    assert not desk.traffic.is_open(write=False)
    assert desk.traffic.silent_since is None


# ---- the limiter


def test_polls_never_wait_and_leave_a_reserve():
    desk = Desk(45)
    assert (desk.traffic.capacity(), desk.traffic.capacity(Priority.WAITING)) == (10, 12)
    for _ in range(10):
        desk.call()
    assert desk.traffic.capacity() == 0
    desk.call(priority=Priority.PAGE)
    desk.call(priority=Priority.WRITE)
    assert desk.pauses == []


def test_a_write_waits_briefly_for_a_permit_and_is_refused_when_it_would_be_longer():
    desk = Desk(10)
    for _ in range(4):
        desk.call(priority=Priority.WRITE)
    assert desk.traffic.enter(Priority.WRITE, 2.0).started == desk.now
    for _ in range(2):
        desk.traffic.enter(Priority.WRITE, 2.0)
    assert sum(desk.pauses) == pytest.approx(0.25)
    desk.now += 1
    desk.call(Result.LIMITED, Priority.WRITE, 60.0)
    before = list(desk.pauses)
    with pytest.raises(Throttled) as caught:
        desk.traffic.enter(Priority.WRITE, 2.0)
    assert (caught.value.why, desk.pauses) == ("limited", before)


def test_while_a_page_waits_no_poll_goes_before_it():
    desk, seen = Desk(10), []
    for _ in range(3):
        desk.call(priority=Priority.WRITE)

    def pause(seconds):
        desk.now += seconds + 0.05  # late, so that a poll might have had room
        seen.append(desk.traffic.capacity(Priority.WAITING))

    desk.traffic._pause = pause
    desk.traffic.enter(Priority.PAGE, 2.0)
    assert seen == [0]


def test_a_call_that_comes_while_others_of_its_priority_wait_is_served_after_them():
    desk, seen = Desk(10), []
    for _ in range(3):
        desk.call(priority=Priority.WRITE)

    def pause(seconds):
        seen.append(desk.traffic.wait_s(Priority.PAGE) - seconds)
        desk.now += seconds
        seen.append(desk.throttled(Priority.PAGE))

    desk.traffic._pause = pause
    assert desk.traffic.enter(Priority.PAGE, 2.0).started == desk.now
    assert seen == [pytest.approx(0.1), ("limited", 0.1)]


def test_among_many_polls_for_waiting_guests_the_rest_gets_every_fourth_permit_and_at_most_half():
    desk, polls = Desk(45), []
    for _ in range(450):
        desk.now += 0.1
        while desk.traffic.capacity(Priority.WAITING):
            priority = Priority.REST if desk.traffic.capacity() else Priority.WAITING
            desk.call(priority=priority)
            polls.append(priority)
    assert len(polls) / 5 <= polls.count(Priority.REST) <= len(polls) / 2


def peak(starts):
    """The most calls in any second."""
    return max((sum(t <= other < t + 1 - 1e-9 for other in starts) for t in starts), default=0)


steps = st.lists(
    st.tuples(st.sampled_from(Priority), st.floats(0, 0.7), st.sampled_from(Result)), max_size=120
)


@given(st.integers(1, 60), steps)
def test_in_no_second_are_more_calls_started_than_the_rate(rate, steps):
    desk, starts = Desk(rate), []
    for priority, gap, result in steps:
        desk.now += gap
        for _ in range(5):
            try:
                permit = desk.traffic.enter(priority, 0.2)
            except Throttled:
                break
            starts.append(permit.started)
            desk.traffic.settle(permit, result)
    assert peak(starts) <= rate


@given(st.integers(4, 60), st.lists(st.floats(0, 0.5), min_size=1, max_size=60), st.integers(1, 40))
def test_polls_however_many_never_make_a_person_wait(rate, gaps, greed):
    desk = Desk(rate)
    for gap in gaps:
        desk.now += gap
        for _ in range(min(greed, desk.traffic.capacity(Priority.WAITING))):
            desk.call(priority=Priority.WAITING)
        for _ in range(greed):
            try:
                desk.call()
            except Throttled:
                break
        if not desk.traffic.wait_s(Priority.PAGE):
            desk.call(priority=Priority.PAGE)
        assert desk.traffic.wait_s(Priority.WRITE) == 0


def test_a_rate_of_less_than_one_is_refused():
    with pytest.raises(ValueError, match="a second"):
        Traffic(0.5)


# ---- repeats


@given(st.integers(0, 300))
def test_repeats_are_at_most_a_tenth_of_the_calls_and_two_more(calls):
    desk, repeats = Desk(math.inf), 0
    for _ in range(calls):
        desk.call()
        repeats += desk.traffic.may_repeat()
    assert repeats <= calls / 10 + 2
    assert repeats >= min(calls, 2)


def test_every_ten_calls_allow_one_more_repeat():
    desk = Desk(math.inf)
    assert [desk.traffic.may_repeat() for _ in range(3)] == [True, True, False]
    for _ in range(10):
        desk.call()
    assert [desk.traffic.may_repeat() for _ in range(2)] == [True, False]


def test_after_three_polls_for_waiting_guests_another_gets_one_permit():
    desk = Desk(45)

    def room():
        """How many other polls may start when the bucket is full."""
        desk.now += 60
        return desk.traffic.capacity(Priority.REST)

    usual = room()
    for _ in range(2):
        desk.call(priority=Priority.WAITING)
    assert room() == usual
    desk.call(priority=Priority.WAITING)
    assert room() == desk.traffic.capacity(Priority.WAITING) > usual
    desk.call(priority=Priority.REST)
    assert room() == usual
