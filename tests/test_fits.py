"""What fits into cars: when a party is too large, how many cars it needs, and the words for it."""

from collections.abc import Iterator

import pytest
from flask import Flask
from flask_babel import Babel

from ridedash.fits import Capacity, Party, cars_for, packed, too_few
from ridedash.wording.fits import capacity_words, too_small


@pytest.fixture(autouse=True)
def app_context() -> Iterator[None]:
    app = Flask("fits")
    Babel(app)
    with app.test_request_context():
        yield


FOUR = Capacity(4, 2)


@pytest.mark.parametrize(
    ("capacity", "party", "cars", "said"),
    [
        (FOUR, Party(), 1, ""),
        (FOUR, Party(4, 2), 1, ""),
        (FOUR, Party(6), 1, "Fits 4 people, not 6 · 2 cars needed"),
        (FOUR, Party(6), 2, ""),
        (FOUR, Party(9), 2, "Fits 4 people, not 9 · 3 cars needed"),
        (FOUR, Party(2, 5), 1, "Fits 2 bags, not 5 · 3 cars needed"),
        (
            FOUR,
            Party(6, 5),
            1,
            "Fits 4 people, not 6 · Fits 2 bags, not 5 · 3 cars needed",
        ),
        (FOUR, Party(0, 0), 1, ""),
        (Capacity(1, 0), Party(1, 1), 1, "No bags fit"),
        (Capacity(1, 0), Party(2, 0), 1, "Fits 1 person, not 2 · 2 cars needed"),
        (Capacity(1, 0), Party(2, 1), 2, "No bags fit"),
        (Capacity(1, 1), Party(1, 2), 1, "Fits 1 bag, not 2 · 2 cars needed"),
        (Capacity(None, 2), Party(24, 2), 1, ""),
        (Capacity(4, None), Party(4, 24), 1, ""),
        (Capacity(4, None), Party(5, 24), 1, "Fits 4 people, not 5 · 2 cars needed"),
        (Capacity(), Party(24, 24), 1, ""),
    ],
)
def test_a_car_that_is_too_small_says_so_and_how_many_are_needed(
    capacity: Capacity, party: Party, cars: int, said: str
) -> None:
    assert too_small(capacity, party, cars) == said
    assert bool(too_few(capacity, party, cars)) is bool(said)


def test_no_number_of_cars_but_the_named_one_is_needed() -> None:
    """The named number is enough, and one car fewer is not, for every size and party."""
    sides = (None, 0, 1, 2, 3, 4, 6)
    for persons in (None, *sides[2:]):
        for bags in sides:
            for party in (Party(p, b) for p in (None, *range(1, 13)) for b in (None, *range(9))):
                capacity = Capacity(persons, bags)
                needed = cars_for(capacity, party)
                if needed is None:
                    assert not too_few(capacity, party) or bags == 0
                    continue
                assert too_few(capacity, party, needed) == ()
                assert needed == 1 or too_few(capacity, party, needed - 1)


@pytest.mark.parametrize(
    ("seats", "people", "cars", "said"),
    [
        (1, 1, 1, ""),
        (2, 2, 1, ""),
        (1, 2, 1, "Fits 1 person, not 2"),  # more seats would do: no second car is needed
        (1, 6, 1, "Fits 2 people, not 6 · 3 cars needed"),
        (2, 6, 3, ""),
        (1, 6, 3, "Fits 1 person, not 6"),
    ],
)
def test_a_shared_ride_has_the_seats_that_are_chosen(
    seats: int, people: int, cars: int, said: str
) -> None:
    assert too_small(Capacity(2), Party(people), cars, seats) == said


@pytest.mark.parametrize(
    ("capacity", "said"),
    [
        (Capacity(), ""),
        (Capacity(4), "Up to 4 people"),
        (Capacity(1), "Up to 1 person"),
        (Capacity(4, 2), "Up to 4 people · 2 bags"),
        (Capacity(2, 0), "Up to 2 people · no bags"),
        (Capacity(None, 1), "1 bag"),
    ],
)
def test_an_unknown_number_says_nothing(capacity: Capacity, said: str) -> None:
    assert capacity_words(capacity) == said


@pytest.mark.parametrize(
    ("sizes", "fit", "cars"),
    [
        ([], 4, []),
        ([4], 4, [0]),
        ([2, 2, 2], 4, [0, 0, 1]),
        ([3, 3, 2], 4, [0, 1, 2]),
        ([3, 3, 1, 1], 4, [0, 1, 0, 1]),
        ([1] * 5, 1, [0, 1, 2, 3, 4]),
    ],
)
def test_guests_are_put_into_the_first_car_with_room(
    sizes: list[int], fit: int, cars: list[int]
) -> None:
    assert packed(sizes, fit) == cars
    loads = [sum(s for s, c in zip(sizes, cars, strict=True) if c == each) for each in set(cars)]
    assert all(load <= fit for load in loads)
