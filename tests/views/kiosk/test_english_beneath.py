"""Critical sentences of a kiosk have English too, until a person has read their translation."""

import json
import re
from typing import Any

import pytest

from tests.marked_words import GUESTS_ONLY, READ, marked_words
from tests.views.kiosk.lobby import Lobby, desk, lobby

__all__ = ["desk", "lobby"]
pytestmark = pytest.mark.database
CASH = "You pay the driver in cash."
NOT_HERE = "This car can't be booked now."
NOTHING = "Nothing was booked."


def document(lobby: Lobby) -> dict[str, Any]:
    found = re.findall(r"data-kiosk>(.*?)</script>", lobby.client.get("/kiosk").text, re.DOTALL)
    return dict(json.loads(found[0]))


def test_answers_and_the_document_contain_it_for_unreviewed_languages(
    lobby: Lobby,
) -> None:
    with marked_words(lobby.desk.app, ["de"], GUESTS_ONLY):
        cars = lobby.cars(lang="de")
        assert cars["cars"][0]["pays"] == f"⟨de⟩{CASH}"
        assert cars["english"][f"⟨de⟩{CASH}"] == CASH
        fees = [text for text in cars["english"].values() if text.startswith("Free to cancel for")]
        assert len(fees) == len({car["fee"] for car in cars["cars"]} & cars["english"].keys()) > 0
        assert all(re.fullmatch(r"Free to cancel for \d+ min, then ₹\d+\.", each) for each in fees)
        refused = lobby.post("order", lang="de", offer="", form_token=lobby.token)
        assert refused["english"] == {f"⟨de⟩{each}": each for each in (NOT_HERE, NOTHING)}
        words = document(lobby)
        assert words["english"][words["words"]["de"]["unknown"]] == words["words"]["en"]["unknown"]
        assert "english" not in lobby.post("order", lang="en", offer="", form_token=lobby.token)
    with marked_words(lobby.desk.app, ["de"], READ):
        assert "english" not in lobby.cars(lang="de")
        assert document(lobby)["english"] == {}
