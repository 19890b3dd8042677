"""Every element of a ride's pages has a row that says where it comes from, and the row is true."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ridedash.demo.lens.elements import ELEMENTS, SURFACES
from ridedash.extensions import limiter
from ridedash.store.models.people import Staff
from tests.demo.lens.answers import Play, Shown, changed, leaves, play
from tests.demo.lens.scenes import FIELDS, SCENES
from tests.views.ride_pages import Desk, make_desk

pytestmark = pytest.mark.database
ROOT = Path(__file__).parents[3]
FILES = {
    "ride": (
        *("rides/_ride.html", "rides/_panels.html", "rides/_to_guest.html"),
        *("rides/_known.html", "web/macros.html", "web/bill.html"),
    ),
    "board": ("board/_row.html", "board/_peek.html"),
    "link": ("guest/ride.html", "web/bill.html"),
    "card": ("rides/handouts/card.html",),
    "receipt": ("rides/handouts/receipt.html",),
}
BY_KEY = {element.key: element for element in ELEMENTS}
SOURCES = {
    key: {f"{source.operation} {source.pointer}" for source in element.sources}
    for key, element in BY_KEY.items()
}
# fields that would make it another ride, or move it on; `moved_on` changes the status
NOT_CHANGED = ("/status", "/booking_status", "/id", "/category")
STATUS = "track_ride /booking_status"


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    made = make_desk(tmp_path_factory.mktemp("elements"))
    made.app.config["WTF_CSRF_ENABLED"] = False
    made.add(lambda s: setattr(s.get(Staff, made.ids["desk"]), "role", "manager"))
    before, limiter.enabled = limiter.enabled, False
    yield made
    limiter.enabled = before
    made.close()


def named() -> set[str]:
    """The elements of all pages, as their templates and scripts name them."""
    found = set()
    for surface, files in FILES.items():
        for file in files:
            text = (ROOT / "templates" / file).read_text()
            names = re.findall(r'data-(?:slot|cell|from)="([\w.-]+)"', text)
            names += re.findall(r'english\(view\.\w+, "(\w+)"\)', text)
            found |= {f"{surface}:{name}" for name in names}
    script = (ROOT / "static" / "js" / "kiosk" / "ticket.js").read_text()
    found |= {f"ticket:{name}" for name in re.findall(r'\bfrom(?:\(|: )"(\w+)"', script)}
    found |= {"ticket:headline"}  # the ride's screen names it in a condition
    prices = (ROOT / "ridedash" / "views" / "rides" / "prices.py").read_text()
    lines = re.findall(r'\(\s*"(\w+)", (?:_\(|discount|label)', prices)
    found |= {f"{of}:line.{name}" for name in lines for of in ("ride", "link", "receipt")}
    receipt = (ROOT / "ridedash" / "views" / "rides" / "receipt.py").read_text()
    return found | {f"receipt:{name}" for name in re.findall(r'\("(\w+)", _\("', receipt)}


def test_every_element_has_a_row_and_no_row_is_without_an_element() -> None:
    assert named() == BY_KEY.keys()
    assert len(BY_KEY) == len(ELEMENTS)


def test_no_element_comes_from_nowhere() -> None:
    """Each element has fields of answers, or says why it is ours; and its surface is known."""
    for element in ELEMENTS:
        assert element.surface in SURFACES
        assert str(element.how), element.key
        assert element.sources or str(element.how).startswith("Ours: "), element.key


def differing(before: Shown, after: Shown) -> set[str]:
    return {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}


def fields_of(name: str) -> Iterator[tuple[str, str, str]]:
    """Each field that is changed in a scene: its name in the table, its operation, its pointer."""
    tried = set()
    for operation, answers in SCENES[name].bodies.items():
        for body in answers if operation == "track_ride" else [answers]:
            for pointer, value in leaves(body):
                field = f"{operation} {re.sub(r'/[0-9]+', '/*', pointer)}"
                known = value is None or pointer.endswith(NOT_CHANGED) or field in tried
                if known or not field.startswith(FIELDS[name]):
                    continue
                tried.add(field)
                yield field.replace("options /", "feedback_options /"), operation, pointer


@pytest.mark.sqlite_only  # about words on pages; test_pages.py reads such rows on both databases
def test_a_field_changes_the_elements_that_name_it_and_no_others(desk: Desk) -> None:
    """This holds on every page of the ride, and also for what stands outside of all elements."""
    seen: dict[str, set[str]] = {}
    for name, scene in SCENES.items():
        played = play(desk, scene)
        rows = played.rows(scene.bodies)
        before = played.show(rows)
        for field, operation, pointer in fields_of(name):
            others = played.rows(changed(scene.bodies, operation, pointer))
            if others == rows:
                continue
            for key in differing(before, played.show(others)):
                assert field in SOURCES.get(key, ()), f"{field} changes {key} in {name}"
                seen.setdefault(key, set()).add(field)
        for key in moved_on(played, before) & BY_KEY.keys():
            seen.setdefault(key, set()).add(STATUS)
    never = {key: SOURCES[key] - seen.get(key, set()) for key in BY_KEY}
    assert {key: fields for key, fields in never.items() if fields} == {}


def moved_on(played: Play, before: Shown) -> set[str]:
    """The elements that change when the last answer has another status, known or unknown."""
    bodies = played.scene.bodies
    found = set()
    known = ("CLIENT_LOCATED", "INVOICE", "IN_PROGRESS")
    for status in (*known, "HAILED") if bodies.get("track_ride") else ():
        *earlier, last = bodies["track_ride"]
        answers = bodies | {"track_ride": [*earlier, last | {"booking_status": status}]}
        found |= differing(before, played.show(played.rows(answers)))
    return found
