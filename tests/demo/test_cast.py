"""The demo's guests are birds with names and rooms of their own, and their places are in the city.

Each element that a story points at is on the screen that the story shows.
"""

import re
from pathlib import Path

from ridedash.demo.cast import CAST
from ridedash.demo.stories import STORIES
from ridedash.demo.stories.model import Surface
from ridedash.sandbox.city.city import cities
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
    on_phone = [step.point for step in steps if step.show is Surface.PHONE]
    assert on_phone
    for point in on_phone:
        name = re.fullmatch(r"\[data-slot='(.+)'\]", point)
        assert name
        assert f'data-slot="{name[1]}"' in words, point
