"""The demo's guests are birds with names and rooms of their own, and their places are in the city.

Each element that a story points at is on the screen that the story shows.
"""

import re
from pathlib import Path

from ridedash.demo.cast import CAST
from ridedash.demo.stories import STORIES
from ridedash.demo.stories.model import Reached, StageScreen
from ridedash.sandbox.city.city import cities
from ridedash.wire import COMPLETED
from ridedash.wording.languages import LANGUAGES


def test_no_two_guests_share_a_name_or_a_room() -> None:
    assert len({guest.name for guest in CAST}) == len(CAST) == 40
    assert len({guest.room for guest in CAST}) == len(CAST)


def test_each_guest_speaks_a_language_of_ours_and_asks_for_a_place_of_the_city() -> None:
    places = {place.name for place in cities()[0].places}
    assert {guest.place for guest in CAST} <= places
    assert {guest.language for guest in CAST} == set(LANGUAGES)


def test_the_phone_of_the_stage_has_what_a_story_points_at() -> None:
    templates = Path(__file__).parents[2] / "templates" / "guest"
    words = "".join(path.read_text() for path in templates.glob("*.html"))
    steps = [step for story in STORIES.values() for step in story.steps if step.point]
    on_phone = [step.point for step in steps if step.show is StageScreen.PHONE]
    assert on_phone
    for point in on_phone:
        named = re.fullmatch(r"\[(data-(?:slot|show))='(.+)'\]", point)
        assert named
        assert f'{named[1]}="{named[2]}"' in words, point


def test_the_start_code_is_pointed_at_where_the_guest_reads_it() -> None:
    steps = [step for step in STORIES["receipt"].steps if "start code" in step.say]
    assert [(step.show, step.point) for step in steps] == [
        (StageScreen.PHONE, "[data-show='code']")
    ]


def test_no_story_mentions_a_ride_in_progress_once_it_waits_for_its_end() -> None:
    steps = [step for story in STORIES.values() for step in story.steps]
    ends = [str(step.say) for step in steps if step.until == Reached(COMPLETED)]
    assert len(ends) > 3
    assert [sentence for sentence in ends if re.search("on the way|goes on", sentence)] == []
