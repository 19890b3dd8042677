"""The actors of actions: how they are stored, read back and put into words."""

import pytest

from ridedash.store.actors import (
    CLI,
    WORKER,
    Actor,
    ActorKind,
    actor_of,
    by_guest,
    by_kiosk,
    by_staff,
)
from ridedash.wording.actions import ACTOR_WORDS, actor_words


@pytest.mark.parametrize(
    ("actor", "written"),
    [
        (by_staff(3), "staff:3"),
        (by_guest(17), "guest:17"),
        (Actor(ActorKind.KIOSK, 2), "kiosk:2"),
        (WORKER, "worker"),
        (CLI, "cli"),
    ],
)
def test_an_actor_is_read_back_as_it_was_written(actor: Actor, written: str) -> None:
    assert str(actor) == written
    assert actor_of(written) == actor


@pytest.mark.parametrize("text", [None, "", "somebody:3", "staff:x", "staff:\u0663", "staff:-1"])
def test_anything_else_is_no_actor(text: str | None) -> None:
    assert actor_of(text) is None


def test_only_staff_have_the_id_of_a_member_of_staff() -> None:
    assert by_staff(3).staff_id == 3
    assert by_guest(3).staff_id is None
    assert WORKER.staff_id is None


def test_only_a_kiosk_has_the_id_of_a_kiosk() -> None:
    assert [by_kiosk(3).kiosk_id, by_staff(3).kiosk_id, WORKER.kiosk_id] == [3, None, None]


def test_every_kind_of_actor_has_words_and_staff_their_names() -> None:
    assert set(ACTOR_WORDS) == set(ActorKind)
    assert actor_words("staff:3", {3: "Wren"}) == "Wren"
    assert actor_words("staff:4", {3: "Wren"}) == "Somebody else"
    assert actor_words("guest:3", {3: "Wren"}) == "The guest"
    assert actor_words("worker", {}) == "ridedash itself"
    assert actor_words("an old word", {}) == "an old word"
