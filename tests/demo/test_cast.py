"""The guests of the demo are birds that are known apart, and their places are in the city."""

from ridedash.demo.cast import CAST
from ridedash.sandbox.city.city import cities
from ridedash.wording.languages import LANGUAGES


def test_no_two_guests_share_a_name_or_a_room() -> None:
    assert len({guest.name for guest in CAST}) == len(CAST) == 40
    assert len({guest.room for guest in CAST}) == len(CAST)


def test_each_guest_speaks_a_language_of_ours_and_asks_for_a_place_of_the_city() -> None:
    places = {place.name for place in cities()[0].places}
    assert {guest.place for guest in CAST} <= places
    assert {guest.language for guest in CAST} == set(LANGUAGES)
