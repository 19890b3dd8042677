"""Steps of a member of staff in any engine, by keys where the desk has keys."""

from typing import Final

from tests.engines.engine import SILENT, Engine
from tests.running import Running
from tests.views.hands import Hands

SIZE: Final = (1280, 900)
PHONE: Final = (390, 844)
FOCUSED_ROW: Final = """
return document.activeElement.closest(".row")?.textContent.includes(arguments[0]) ?? false;
"""
# the state of the list below the field Drop
DROPS: Final = """
const list = document.querySelector("#drop-list");
if (list.hidden) return "taken";
return list.querySelector("[data-index]") ? "offered" : "none";
"""


def sign_in(engine: Engine, desk: Running | Hands) -> None:
    # what the page before still asks for, maybe of another port, would change the cookie
    engine.go(f"{desk.url}{SILENT}")
    engine.forget()
    engine.go(f"{desk.url}/sign-in")
    # WebKit gives this field the focus when it first draws the page: do not type before
    engine.until("return document.activeElement.id === 'name';")
    engine.fill("#name", desk.name)
    engine.fill("#password", desk.password)
    engine.press("Enter")
    engine.at("/")


def type_drop(engine: Engine, words: str = "airport") -> None:
    """Type into the field Drop and take the first suggestion; returns when the button has a car."""
    engine.type(words)
    engine.shows("#drop-list [role=option]")
    while (drops := engine.run(DROPS)) != "taken":
        if drops == "none":  # a busy machine answered too late: ask again
            engine.press("Escape")
            engine.press("ArrowDown")
            engine.shows("#drop-list [role=option]")
        engine.press("Enter")  # if the answer has not come yet, its first place is taken
        engine.until(f"return (() => {{ {DROPS} }})() !== 'offered';")
    engine.shows("[data-book-go]:enabled", "₹")


def book(engine: Engine, guest: str) -> None:
    """Book a ride in the board's form without the mouse."""
    engine.press("n")
    engine.until("return document.activeElement.id === 'guest-find';")
    engine.type(guest)
    tab_to(engine, "drop")
    type_drop(engine)
    engine.press("Control+Enter")
    engine.shows(".row[data-id]", guest)  # a row with an id: its ride was ordered
    # until the form has its answer, keys wait for it
    engine.until("return document.activeElement.id === 'guest-find';")


def tab_to(engine: Engine, name: str, most: int = 20) -> None:
    """Press Tab until the field with this id has the focus."""
    for _ in range(most):
        if engine.run("return document.activeElement.id;") == name:
            return
        engine.press("Tab")
    raise AssertionError(f"{engine.name}: {most} times Tab did not lead to #{name}")


def step_to(engine: Engine, guest: str, most: int = 20) -> None:
    """Press J until the row of this guest has the focus."""
    for _ in range(most):
        engine.press("j")
        if engine.run(FOCUSED_ROW, guest):
            return
    raise AssertionError(f"{engine.name}: {most} times J did not lead to {guest}")
