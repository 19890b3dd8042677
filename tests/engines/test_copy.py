"""A link is copied by a press in Firefox and in WebKit, and pasted again."""

from tests.engines import steps
from tests.engines.engine import Engine
from tests.running import Running

LINK = "return document.querySelector('[data-link]').value;"
PASTED = "return document.querySelector('#search').value;"


def test_a_press_beside_a_link_copies_it(engine: Engine, desk: Running) -> None:
    guest = f"Guest Dunlin {engine.name}"
    steps.sign_in(engine, desk)
    steps.book(engine, guest)
    engine.press("Escape")
    steps.step_to(engine, guest)
    engine.press("Enter")
    engine.click("[data-detail] [data-link-use=follower]")
    link = engine.until(LINK)
    engine.shows("[data-links-said]", "For family or friends")
    engine.click("[data-link-row] [data-copy]", "Copy")
    engine.shows("[data-link-row] [data-copy]", "Copied")
    engine.click("#search")
    engine.press("Control+v")
    assert engine.run(PASTED) == link
