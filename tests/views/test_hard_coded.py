"""No page, in any of its states, has words that can't be translated."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from ridedash.extensions import limiter
from ridedash.face.kiosk_look import TYPEFACES
from ridedash.places import SandboxPlaces
from ridedash.rides.share_links import RideOver
from ridedash.service.client import RideClient
from ridedash.service.transport.http import Http
from ridedash.store import properties
from ridedash.wording.attention import _ITEMS
from tests import pseudo
from tests.views.fake_service import FakeService
from tests.views.ride_pages import ENDS, HASH, NOON, ORDER_STATES, STATUSES, Desk, make_desk
from tests.views.ride_pages import token as csrf_token
from tests.views.served import Served
from tests.views.spoken import foreign_words
from tests.views.test_axe import ADDRESSES, FILES, routes
from tests.views.test_english_bytes import LEADING
from tests.views.web.test_permissions import address, rows_of
from tests.views.web.test_permissions import routes as all_routes

pytestmark = pytest.mark.database
SERVICE = "http://127.0.0.1:9"
TRIP = {"pickup": "Lobby", "pickup_lat": "-38.5", "pickup_lng": "-128", "drop": "Airport"}
TRIP |= {"drop_lat": "-38.55", "drop_lng": "-128.06", "show": "1"}
ATTENTION = tuple(_ITEMS)
# names in the rows of these tests, which some pages show outside of <bdi>
NAMES = frozenset(
    {
        "Lobby",
        "Asia/Kolkata",
        "Grand Meridian Hotel",
        "Other House",
        "Concierge desk",
        "Concierge other",
    }
    | {"Guest Heron", "Desk Wren", "House account", "boss", "LH 760"}
    | {"Another account", "guests.csv", "Call the spa", "Colleague", "Gate 2", "Somebody", "Spa"}
    | {"HAR", "curl"}  # formats in which a demo hands out its calls
    | {f"{each.name} ({each.package})" for each in TYPEFACES.values()}
)
# names of keys, and the label of a kiosk's key for Latin letters
KEYS = frozenset({"Aa", "Backspace", "End", "Enter", "Escape", "Help", "Home", "Pause", "Tab"})
KEYS |= {"Booked", "Planned", "Group"}  # parts of which a script composes names of patterns
# forms that end the sign-in of these tests, or empty the demo
NOT_PRESSED = {"/sign-out", "/me/sign-outs", "/me/password", "/demo/reset"}
# for guests with a link, invited staff and paired devices
NOT_THERE = {"door.press", "guest.start", "invitations.accept"}
NOT_THERE |= {"own_phone.say", "own_phone.take"}
NOT_THERE |= {"history_views.delete"}  # the view of these tests is a colleague's
NOT_THERE |= {f"kiosk_orders.{name}" for name in ("cancel", "order", "ride")}
NOT_THERE |= {f"kiosk_visit.{name}" for name in ("ask_help", "cars", "end")} | {"kiosk.beat"}
SHOWN = re.compile(
    r"""(?:\.(?:textContent|innerText|ariaLabel|title|placeholder|alt)\s*=
    |setAttribute\(\s*["'](?:aria-label|title|placeholder|alt)["'],
    |setText\([^,]+,)\s*["'`]([^"'`]+)""",
    re.VERBOSE,
)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("desk")
    made, http = make_desk(folder), Http(FakeService().transport())
    made.services.client = RideClient(http, SERVICE, "the key")
    made.services.geocoder = SandboxPlaces(http, SERVICE)
    home = made.ids["desk.property"]
    made.add(lambda s: properties.add_staff(s, home, "boss", HASH, "admin", NOON))
    pseudo.speak(made.app, pseudo.XA, folder)
    yield made
    http.close()
    made.close()


def hard_coded(
    client: FlaskClient, path: str, what: object, status: int = 200, **query: Any
) -> list[str]:
    with client.application.app_context():
        limiter.reset()
    answer = client.get(path, query_string=query)
    assert answer.status_code == (303 if path in LEADING else status), (what, answer.status)
    if path in LEADING:
        return []
    assert answer.mimetype == "text/html", what
    return [f"{what} · {each}" for each in foreign_words(answer.text, NAMES)]


def links(desk: Desk, order_id: int) -> dict[str, str]:
    served = Served(desk, "", None)  # type: ignore[arg-type]
    try:
        return {kind: served.link(order_id, kind) for kind in ("rider", "follower")}
    except RideOver:  # such a ride has no links
        return {}


def test_no_page_of_any_route_has_hard_coded_words(desk: Desk) -> None:
    client, served = desk.client(name="boss"), Served(desk, "", None)  # type: ignore[arg-type]
    order_id, found = desk.order("BOOKED", "COMPLETED"), []
    pages = routes(desk)
    for endpoint in sorted(pages.keys() - FILES - {"auth.sign_in"}):
        path = pages[endpoint].replace("<int:order_id>", str(order_id))
        if endpoint in ADDRESSES:
            path = ADDRESSES[endpoint](served, order_id)
        found += hard_coded(client, path, endpoint)
    found += hard_coded(client, "/rides/new", "cars", **TRIP)
    found += hard_coded(client, "/rides/new", "again", again=order_id)
    for path in ("/nothing-here", "/rides/999999", "/t/nothing"):
        found += hard_coded(client, path, path, 404)
    found += hard_coded(desk.client(signed_in=False), "/sign-in", "sign-in")
    found += hard_coded(desk.client(), "/admin/staff", "refused", 403)
    assert found == []


@pytest.mark.parametrize("kind", list(STATUSES))
def test_no_state_of_a_ride_has_hard_coded_words(desk: Desk, kind: str) -> None:
    client, stranger, found = desk.client(name="boss"), desk.client(signed_in=False), []
    for status in (*STATUSES[kind], *ENDS):
        order_id = desk.order("BOOKED", status, kind, otp="4821", attention=ATTENTION)
        ride = f"/rides/{order_id}"
        pages = {name: f"{ride}/{name}" for name in ("card", "receipt")} | {"ride": ride}
        for name, path in pages.items():
            found += hard_coded(client, path, (kind, status, name))
        for name, path in links(desk, order_id).items():
            found += hard_coded(stranger, path, (kind, status, name))
    assert found == []


def test_no_state_of_an_order_has_hard_coded_words(desk: Desk) -> None:
    client, stranger, found = desk.client(name="boss"), desk.client(signed_in=False), []
    for state in ORDER_STATES:
        order_id = desk.order(state, attention=ATTENTION)
        found += hard_coded(client, f"/rides/{order_id}", state)
        for name, path in links(desk, order_id).items():
            found += hard_coded(stranger, path, (state, name))
    found += hard_coded(client, "/", "the list")
    found += hard_coded(client, "/handover", "hand-over")
    found += hard_coded(client, "/history", "history")
    assert found == []


def test_refusals_of_forms_have_no_hard_coded_words(desk: Desk) -> None:
    stranger, client, found = desk.client(signed_in=False), desk.client(name="boss"), []
    wrong = {"name": "desk", "password": "wrong", "csrf_token": csrf_token(stranger)}
    found += foreign_words(stranger.post("/sign-in", data=wrong).text, NAMES)
    given, refused, missing = {"csrf_token": csrf_token(client)}, set(), set()
    for method, rule in all_routes(desk.app):
        if method != "POST" or rule.rule in NOT_PRESSED:
            continue
        # a form before may have removed the rows that it was given
        path = address(rule, rows_of(desk, "desk") if rule.arguments else {})
        with desk.app.app_context():
            limiter.reset()
        answer = client.post(path, data=given)
        assert answer.status_code not in (401, 429, 500), path
        if answer.status_code == 404:
            missing.add(rule.endpoint)
        elif answer.mimetype == "text/html" and answer.status_code >= 400:
            found += [f"{path} · {each}" for each in foreign_words(answer.text, NAMES)]
            refused.add(rule.endpoint)
    assert found == []
    assert missing == NOT_THERE
    assert len(refused) > 35


def own_words(script: str) -> list[str]:
    """Words that a script may contain for users: sentences, capitalised words, and texts that it
    shows. Comments and words for developers are left out.
    """
    code = re.sub(r"/\*.*?\*/|(?<![:\"'`])//[^\n]*", "", script, flags=re.DOTALL)
    lines = [line for line in code.splitlines() if not re.search(r"\bError\(|console\.", line)]
    found = []
    for line in lines:
        found += re.findall(r"[\"'`]([A-Z][a-z]+,? [a-z]+[^\"'`]*)", line)
        found += set(re.findall(r"[\"'`]([A-Z][a-z]+)[\"'`]", line)) - KEYS
        shown = (re.sub(r"\$\{[^}]*\}", "", each) for each in SHOWN.findall(line))
        found += [each for each in shown if any(map(str.isalpha, each))]
    return found


def test_scripts_say_nothing_of_their_own() -> None:
    """Their words come from the server, in data attributes and answers."""
    found = []
    for path in sorted((Path(__file__).parents[2] / "static/js").rglob("*.js")):
        found += [f"{path.name}: {each}" for each in own_words(path.read_text())]
    assert found == []


@pytest.mark.parametrize(
    ("script", "words_found"),
    [
        ('say("No car found");', ["No car found"]),
        ('button.textContent = "Book";', ["Book", "Book"]),
        ("note.textContent = `${n} min`;", [" min"]),
        ('node.setAttribute("aria-label", "close");', ["close"]),
        ("setText(note, 'गाड़ी');", ["गाड़ी"]),
        ('if (event.key === "Escape") close(); // Leave it', []),
        ("price.textContent = `${low}–${high}`;", []),
    ],
)
def test_a_word_of_a_script_is_found(script: str, words_found: list[str]) -> None:
    assert own_words(script) == words_found
