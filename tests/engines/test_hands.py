"""What staff open in Firefox and in WebKit, by mouse and by key, and where the next letters go."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.engines import steps
from tests.engines.engine import Engine
from tests.views.hands import EACH, Hands, hands_on, walk, walk_kiosk

VALUES: Final = """
return ["guest_room", "guest_phone", "drop"].map((id) => document.getElementById(id).value);
"""
pytestmark = pytest.mark.database


@pytest.fixture
def hands(tmp_path: Path) -> Iterator[Hands]:
    with hands_on(tmp_path) as made:
        yield made


def test_letters_go_into_what_was_opened_and_nowhere_else(started: Engine, hands: Hands) -> None:
    started.resize(*steps.SIZE)
    steps.sign_in(started, hands)
    faults = {page: walk(started, hands, page) for page in dict.fromkeys(e.page for e in EACH)}
    started.forget()
    assert {page: each for page, each in faults.items() if each} == {}


def test_tab_leads_from_an_open_list_to_the_next_field(started: Engine, hands: Hands) -> None:
    started.resize(*steps.SIZE)
    steps.sign_in(started, hands)
    started.fill("#guest-find", "Heron")
    started.shows("#guest-find-list [role=option]")
    for words in ("507", "98200 77881"):
        started.press("Tab")
        started.type(words)
    assert started.run(VALUES) == ["507", "98200 77881", ""]
    started.forget()


def test_letters_go_into_the_chosen_field_of_a_kiosk(started: Engine, hands: Hands) -> None:
    started.resize(*steps.SIZE)
    assert walk_kiosk(started, hands) == {"name": "R5dx", "phone": "9820"}
    started.forget()
