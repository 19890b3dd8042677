"""Stories of the demo, played to their ends by a running program with its sandbox and worker."""

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest

from ridedash.demo.lens.operations import NUMBERS
from ridedash.demo.stories import STORIES
from ridedash.sandbox.city.city import cities
from tests.demo import sameness
from tests.demo.presenter import OVER, PRICES, Presenter
from tests.running import running


@pytest.fixture(scope="module")
def presenter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Presenter]:
    with running(tmp_path_factory.mktemp("stories"), stumbles=True) as demo:
        found = Presenter(demo)
        yield found
        found.http.close()


def assert_ends_well(moment: dict[str, Any]) -> None:
    assert moment["state"] == "ended", moment["why"]
    assert [words for words, holds in moment["lines"] if not holds] == []
    assert moment["lines"]


@pytest.mark.parametrize("story", [each for each in STORIES if each not in ("down", "five")])
def test_a_story_that_is_stepped_ends_as_it_says(presenter: Presenter, story: str) -> None:
    assert_ends_well(presenter.play(story, speed=0))
    assert presenter.calls()
    assert presenter.orphans(story) == []  # each call is tied to its ride


def test_the_end_card_counts_what_ledger_and_lens_have(presenter: Presenter) -> None:
    moment = presenter.play("five", speed=0)
    assert_ends_well(moment)
    numbers = {words: number for number, words in moment["card"]["numbers"]}
    booked = presenter.bookings()
    calls = presenter.calls()
    used = {each["operation"] for each in calls} & NUMBERS.keys()
    # the options of feedback are asked for by a page alone, and none is open here
    assert used == NUMBERS.keys() - {"feedback_options"}
    assert numbers["operations used"] == f"{len(used)} / {len(NUMBERS)}"
    assert numbers["bookings at the ride company"] == str(len(booked))
    assert numbers["made twice"] == "0"
    assert numbers["calls"] == str(sum(each["same"] for each in calls))
    assert len(moment["card"]["sentences"]) == 3
    waiting = f"{len(booked)} rides: {len(booked) - 3} need nobody, 3 need you."
    assert moment["card"]["sentences"][-1] == moment["told"] == waiting


def test_a_story_that_is_played_ends_as_it_says(presenter: Presenter) -> None:
    """The story's first driver stays for 40 s, which is less than a second at this speed."""
    assert_ends_well(presenter.play("driver_cancels", speed=60))


def test_a_story_has_the_same_cast_and_the_same_facts_each_time(presenter: Presenter) -> None:
    """With two plays of two seeds; bench.stories does more."""
    plays: list[tuple[object, str]] = []
    for seed in (2, 2, 3):
        assert_ends_well(presenter.play("swap", speed=0, seed=seed))
        assert presenter.calls()  # reads all calls that were recorded so far
        plays.append((sameness.cast(presenter.demo), sameness.fingerprint(presenter.demo)))
    first, again, other = plays
    assert again == first
    assert other[0] != first[0]
    assert other[1] != first[1]


def test_a_story_that_breaks_calls_can_be_played_for_one_partner_after_another(
    presenter: Presenter,
) -> None:
    """Reset forgets the calls without an answer: five in a row would open the breaker."""
    for seed in range(1, 7):
        moment = presenter.begin("unknown", seed)
        while moment["step"] < 2:
            moment = presenter.step(moment, 0)
            assert moment["state"] not in OVER, moment["why"]


def test_prices_that_were_requested_in_vain_are_no_orphans(
    presenter: Presenter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The step asks for prices again, and only the answered request leads to a ride."""
    operation, why = PRICES
    call = {"operation": operation, "why": why, "order": None, "status": 200, "ms": 7}
    calls = [call | {"failed": True}, call | {"failed": False}]
    monkeypatch.setattr(presenter, "calls", lambda: calls)
    assert presenter.orphans("swap") == [f"products, 200, 7 ms: {why}"]


def test_an_outage_is_seen_and_so_is_its_end(presenter: Presenter) -> None:
    moment = presenter.begin("down")
    ended = False
    while moment["state"] not in OVER:
        moment = presenter.step(moment, speed=0)
        if "nothing is heard" in moment["say"] and not ended:
            presenter.press("/demo/fault", fault="up")  # else it lasts for a minute
            ended = True
    assert_ends_well(moment)


def test_what_the_kiosk_of_the_stage_has_done_is_not_done_again(presenter: Presenter) -> None:
    def at_kiosk(path: str, **form: object) -> dict[str, Any]:
        answer = presenter.press(f"/kiosk/{path}", lang="ar", visit=hand["visit"], **form)
        found: dict[str, Any] = answer.json()
        return found

    moment = presenter.begin("alone")
    hand = presenter.step(moment, 0, kiosk="1")["hand"]
    assert (hand["screen"], hand["do"], hand["language"]) == ("kiosk", "book", "ar")
    lobby = one(presenter, "SELECT id FROM kiosks WHERE name = 'Lobby'")
    presenter.press(f"/admin/kiosks/{lobby}/here")
    drop = next(each for each in cities()[0].places if each.name == hand["drop"]).position
    place = {"drop_lat": drop.lat, "drop_lng": drop.lng, "drop_name": hand["drop"]}
    cars = at_kiosk("cars", **place)["cars"]
    offer = next(each["offer"] for each in cars if each["name"].lower() == hand["car"])
    press = {"offer": offer, "name": hand["name"], "form_token": hand["form_token"]}
    at_kiosk("order", **press)
    while moment["step"] < 3:
        moment = presenter.step(moment, 0)
    assert len(presenter.bookings()) == 1
    typed = presenter.step(moment, 0, kiosk="1")["hand"]
    hand = hand | typed
    assert at_kiosk("ride", number=typed["number"], pin=typed["pin"])["state"] == "wrong"
    while moment["state"] not in OVER:
        moment = presenter.step(moment, 0)
    assert_ends_well(moment)
    assert one(presenter, "SELECT tries FROM tickets") == 1
    presenter.step(presenter.begin("alone"), 0)  # without a kiosk the guest has a ticket too
    assert one(presenter, "SELECT screen FROM kiosk_visits") == "booked"


def test_a_ride_that_ends_otherwise_ends_the_story_at_once_and_it_says_why(
    presenter: Presenter,
) -> None:
    moment = presenter.begin("receipt")
    presenter.press("/demo/scenario", scenario="no_cab")
    while moment["state"] not in OVER:
        moment = presenter.step(moment, speed=0)
    assert moment["state"] == "failed"
    assert moment["why"].startswith("Kestrel: No driver")


def test_a_press_that_the_desks_form_refuses_ends_the_story_with_its_words(
    presenter: Presenter,
) -> None:
    moment = presenter.begin("receipt")
    words = "This guest has a ride from here already."
    moment = presenter.step(moment, 0, refused=words)  # no screen books, so the server does
    assert moment["state"] != "failed"
    moment = presenter.begin("receipt", seed=2)
    assert presenter.step(moment, 0, desk="1")["hand"]["do"] == "book"
    moment = presenter.step(moment, 0, desk="1", refused=words)
    assert (moment["state"], moment["why"]) == ("failed", words.rstrip("."))
    assert presenter.bookings() == []


def one(presenter: Presenter, query: str) -> object:
    """The one value of a query, such as the wrong PINs of the ride that was booked at the kiosk."""
    with closing(sqlite3.connect(presenter.demo.instance / "ridedash.db")) as database:
        [[found]] = database.execute(query).fetchall()
    return found


def test_the_desk_of_the_stage_gets_its_request_and_the_prices_stand_side_by_side(
    presenter: Presenter,
) -> None:
    moment = presenter.begin("rush_hour")
    assert moment["hand"] == "desk"
    hand = presenter.step(moment, 0, desk="1")["hand"]
    wanted = {"screen": "desk", "do": "ask", "drop": "Meridian Airport", "car": "mini"}
    assert hand == wanted
    while moment["step"] < 3:
        moment = presenter.step(moment, 0)
    before, after = moment["told"].split("; ")
    assert before.startswith("17:55 · Mini: ₹")
    assert after.startswith("18:20 · Mini: ₹")
    assert "Many people want cars now" in after
    while moment["step"] < moment["of"]:
        moment = presenter.step(moment, 0)
    last = "The ride is booked at the price that was read out."
    assert (moment["state"], moment["say"], moment["lines"]) == ("todo", last, [])
    assert_ends_well(presenter.step(moment, 0))  # the list comes only after that sentence


def test_the_comment_stays_until_the_next_step(presenter: Presenter) -> None:
    moment = presenter.begin("unknown")
    assert (moment["say"], moment["taken"]) == ("", 0)
    first = moment["next"]
    moment = presenter.step(moment, 0)
    assert (moment["say"], moment["taken"], moment["step"]) == (first, 1, 1)
    while moment["step"] < 4:
        moment = presenter.step(moment, 0)
    arrival, comment = moment["next"], moment["say"]
    moment = presenter.step(moment, 0)
    assert moment["state"] == "waiting"
    assert (moment["say"], moment["next"]) == (comment, arrival)  # the driver has not arrived yet


def test_a_step_that_is_pressed_by_many_at_once_books_once(presenter: Presenter) -> None:
    begun = moment = presenter.begin("receipt")
    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(lambda _: presenter.step(begun, 0), range(6)))
    assert {each["step"] for each in together} <= {0, 1}  # late answers may come after step 0
    while moment["step"] == 0:
        moment = presenter.step(moment, 0)
    assert len(presenter.bookings()) == 1
    again = presenter.step(begun, 0)  # as from a page that still shows step 0
    assert again["step"] == moment["step"]
    assert len(presenter.bookings()) == 1


def test_a_story_that_is_left_or_reset_takes_no_step_more(presenter: Presenter) -> None:
    moment = presenter.begin("receipt")
    # a script gets JSON instead of a page
    left = presenter.press(f"/demo/runs/{moment['run']}/drop")
    assert left.json()["state"] == "dropped"
    assert presenter.step(moment, 0)["state"] == "dropped"
    moment = presenter.begin("receipt")
    for _ in range(2):  # the second press comes from a page that still shows the first step
        skipped = presenter.press(f"/demo/runs/{moment['run']}/skip", step=0)
        assert skipped.json()["step"] == 1
    presenter.press("/demo/reset")
    assert presenter.at(moment["run"])["state"] == "dropped"
    assert presenter.bookings() == []


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/demo/stories/<b>/start", {}),
        ("/demo/stories/receipt/start", {"seed": "0"}),
        ("/demo/stories/receipt/start", {"seed": "1e5"}),
        ("/demo/stories/receipt/start", {"seed": "9" * 30}),
        ("/demo/runs/nobody/step", {"step": "0"}),
        ("/demo/runs/%2e%2e/step", {"step": "0"}),
    ],
)
def test_what_is_no_story_and_no_seed_begins_nothing(
    presenter: Presenter, path: str, fields: dict[str, str]
) -> None:
    assert presenter.press(path, **fields).status_code in (400, 404)


def test_an_address_names_a_story_that_waits_to_be_begun(presenter: Presenter) -> None:
    page = presenter.http.get("/demo?story=unknown&seed=7").text
    assert "not rehearsed" in page
    assert 'value="7"' in page
    assert "not rehearsed" not in presenter.http.get("/demo?story=<b>&seed=7").text
