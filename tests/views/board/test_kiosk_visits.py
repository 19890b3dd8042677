"""Both sides of a kiosk of one property: what a guest does, and what the desk sees and answers."""

from typing import Any

import pytest

from tests.views.kiosk.lobby import Lobby, desk, lobby

__all__ = ["desk", "lobby"]
pytestmark = pytest.mark.database
JSON = {"Accept": "application/json"}


def board(lobby: Lobby) -> dict[str, Any]:
    answer = lobby.desk.client.get("/board.json")
    assert answer.status_code == 200
    return dict(answer.get_json())


def calls(lobby: Lobby) -> list[dict[str, Any]]:
    return list(board(lobby)["bar"].get("calls", []))


def press(lobby: Lobby, call: dict[str, Any], **form: str) -> None:
    """Press at the desk, without a token: the fixture `lobby` switches the CSRF check off."""
    answer = lobby.desk.client.post(call["address"], data=form, headers=JSON)
    assert answer.get_json() == {"ok": True}


def heartbeat(lobby: Lobby, screen: str = "start") -> dict[str, Any]:
    return lobby.post("beat", screen=screen, release="1")


def test_a_guest_who_asks_for_help_reads_that_staff_are_coming(lobby: Lobby) -> None:
    assert lobby.post("help", screen="car") == {"state": "asked"}
    assert heartbeat(lobby, "car")["help"] == "asked"
    (call,) = calls(lobby)
    assert call["title"] == "Lobby: a guest asks for help"
    press(lobby, call)
    assert calls(lobby) == []
    assert heartbeat(lobby, "car")["help"] == "coming"


def test_what_the_desk_approves_is_booked_on_the_house_account_and_tagged(lobby: Lobby) -> None:
    lobby.set(rule="approval")
    offer = lobby.offer()
    assert lobby.order(offer=offer)["state"] == "asking"
    (call,) = calls(lobby)
    assert call["title"] == "Lobby: Ana wants to go to Airport"
    assert call["detail"].startswith("Mini · ")
    press(lobby, call, answer="house")
    assert lobby.order(offer=offer)["state"] == "sending"
    (order,) = lobby.orders()
    assert (order.payment, order.staff_id) == (None, None)
    (row,) = board(lobby)["rows"]
    assert row["kiosk"] == "Kiosk Lobby · K1 · house pays · unverified"
    assert calls(lobby) == []


def test_what_the_desk_declines_is_not_booked(lobby: Lobby) -> None:
    lobby.set(rule="approval")
    offer = lobby.offer()
    lobby.order(offer=offer)
    (call,) = calls(lobby)
    press(lobby, call, answer="decline", reason="full")
    answer = lobby.order(offer=offer)
    assert answer["state"] == "declined"
    assert answer["words"]["headline"] == "Our desk can't book this ride now."
    assert lobby.orders() == []


def test_a_code_from_the_board_books_once(lobby: Lobby) -> None:
    lobby.set(rule="code")
    made = lobby.desk.client.post("/kiosk-codes", data={"house_pays": "on"}, headers=JSON)
    code, offer = made.get_json()["code"], lobby.offer()
    assert lobby.order(offer=offer)["state"] == "needs_code"
    assert lobby.order(offer=offer, code=code)["state"] == "sending"
    assert [each.payment for each in lobby.orders()] == [None]
    lobby.next_guest()
    assert lobby.order(name="Bo", code=code)["state"] == "wrong_code"
    assert len(lobby.orders()) == 1


def test_a_tablet_that_is_handed_over_speaks_the_guests_language_once(lobby: Lobby) -> None:
    lobby.set(attended=True, seen_at=lobby.desk.now)
    address = f"/kiosk-devices/{lobby.id}/hand"
    press(lobby, {"address": address}, language="zh_Hans")
    assert heartbeat(lobby)["hand"] == {"language": "zh-Hans"}
    assert heartbeat(lobby)["hand"] is None
