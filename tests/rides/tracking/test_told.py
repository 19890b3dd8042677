"""Whether an open page of a guest tells them something new of their car."""

import pytest

from ridedash.rides.tracking.told import TO_TELL, is_news
from ridedash.store.models.orders import Attention


@pytest.mark.parametrize("name", TO_TELL)
def test_an_open_item_that_the_guest_has_to_be_told_is_news_also_without_a_plate(name: str) -> None:
    assert is_news([], [Attention(name="late"), Attention(name=name)], None)


def test_other_items_are_no_news_and_neither_is_a_ride_without_any() -> None:
    assert not is_news([], [Attention(name="late")], None)
    assert not is_news([], [], None)
