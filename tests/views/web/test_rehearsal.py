"""A live desk that uses our sandbox says on every page that no ride is real."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from ridedash.geo import LatLng
from ridedash.places import Place
from ridedash.rides.share_links import LinkKind, make_link
from ridedash.store.actors import by_staff
from ridedash.store.invitations import invite
from ridedash.store.models.people import Staff
from tests.test_config import LIVE
from tests.views.ride_pages import NOON, Desk, compact, make_desk

pytestmark = pytest.mark.database

BAND = '<aside class="demo-band" aria-label="Notice">Rehearsal: no real rides</aside>'
SANDBOX_KEY = "ridedash-sandbox-0f3a77c1"


def live_desk(folder: Path, key: str) -> Desk:
    """A live desk with this partner key; nothing listens at the address of its service."""
    settings = LIVE | {
        "RIDEDASH_SERVICE_URL": "http://127.0.0.1:9",
        "RIDEDASH_SERVICE_APP_TOKEN": key,
        "RIDEDASH_GEOCODER_URL": "http://127.0.0.1:9",
        "RIDEDASH_TRUSTED_HOSTS": "localhost",
    }
    made = make_desk(folder, **{name.removeprefix("RIDEDASH_"): v for name, v in settings.items()})
    with made.services.db.write() as s:
        staff = s.get(Staff, made.ids["desk"])
        staff.role = "admin"
    return made


@pytest.fixture
def rehearsal(tmp_path: Path) -> Iterator[Desk]:
    made = live_desk(tmp_path, SANDBOX_KEY)
    yield made
    made.close()


def tokens(desk: Desk, order_id: int) -> dict[str, list[str]]:
    """Tokens for the addresses that need one, by endpoint; the last one of each is unknown."""
    owner, staff = desk.ids["desk.property"], desk.ids["desk"]
    links = [
        make_link(desk.services.db, desk.now, owner, order_id, LinkKind(kind), by_staff(staff))
        for kind in ("rider", "follower")
    ]
    with desk.services.db.write() as s:
        _row, invitation = invite(s, owner, "concierge", "Somebody", staff, NOON)
    return {"guest.show": [*links, "x" * 22], "invitations.show": [invitation, "x" * 22]}


def addresses(desk: Desk) -> list[str]:
    """Every address that answers GET, with an order of this property, and some that don't exist."""
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    known = tokens(desk, order_id)
    found = ["/no-such-page", "/rides/999999"]
    for rule in desk.app.url_map.iter_rules():
        path = str(rule)
        if "GET" not in (rule.methods or ()) or rule.endpoint == "static":
            continue
        if "<token>" in path:
            found += [path.replace("<token>", each) for each in known.get(rule.endpoint, [])]
        else:
            found.append(path.replace("<int:order_id>", str(order_id)))
    return found


def pages(client: FlaskClient, found: list[str]) -> dict[str, str]:
    """The HTML pages among the answers, by path."""
    answers = {path: client.get(path) for path in found if "<" not in path}
    return {
        path: compact(answer.text)
        for path, answer in answers.items()
        if answer.mimetype == "text/html" and not answer.location and "<html" in answer.text
    }


def test_every_page_of_a_rehearsal_says_so(rehearsal: Desk) -> None:
    found = addresses(rehearsal)
    for signed_in in (True, False):
        shown = pages(rehearsal.client(signed_in=signed_in), found)
        assert len(shown) > (15 if signed_in else 4)
        for path, page in shown.items():
            assert page.count(BAND) == 1, path


def test_places_of_the_sandbox_have_no_attribution(tmp_path: Path) -> None:
    for key, credit in ((SANDBOX_KEY, ""), ("partner-key", "© OpenStreetMap contributors")):
        folder = tmp_path / key
        folder.mkdir()
        desk = live_desk(folder, key)
        found = Place("1", "Arcade", "mall", "Old Town", LatLng(-38.5, -128.0))
        desk.services.geocoder.search = lambda *_words, _found=found, **_more: [_found]
        assert desk.client().get("/places.json?q=arc").get_json()["credit"] == credit
        desk.close()


def test_with_a_real_partner_key_no_page_says_so(tmp_path: Path) -> None:
    desk = live_desk(tmp_path, "partner-key-for-this-test")
    shown = pages(desk.client(), addresses(desk))
    assert len(shown) > 15
    for path, page in shown.items():
        assert "demo-band" not in page, path
        assert "no real rides" not in page, path
    desk.close()
