"""The guest's card with a link as a QR code and the start code on request; links from the page."""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from xml.etree import ElementTree

import pytest
import segno
from flask.testing import FlaskClient
from flask_login import login_user
from hypothesis import given
from hypothesis import strategies as st

from ridedash.extensions import limiter
from ridedash.geo import LatLng
from ridedash.rides.share_links import LinkKind, make_link
from ridedash.service_time import REAL
from ridedash.store.actors import by_staff
from ridedash.store.audit import AuditRow
from ridedash.store.models.desk import CostCentre
from ridedash.store.models.people import Staff
from ridedash.store.orders import Order, order_page, orders_by_ids
from ridedash.store.properties import add_staff
from ridedash.views.rides.handouts import LinkState, guest_links, link_state, reveal
from ridedash.views.rides.print_assets import qr_code, still_map, way_map
from ridedash.views.rides.view_model import ride_view
from ridedash.views.web.current_user import SignedIn
from tests.views.ride_pages import (
    ENDS,
    HASH,
    NOON,
    ORDER_STATES,
    STATUSES,
    Desk,
    make_desk,
    token,
    without_tokens,
)

pytestmark = pytest.mark.database

CODE = "4821"
CASES = [(kind, status) for kind, statuses in STATUSES.items() for status in [*statuses, *ENDS]]


@pytest.fixture(scope="module")
def shared_desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    made = make_desk(tmp_path_factory.mktemp("desk"), PUBLIC_URL="https://rides.example.test")
    yield made
    made.close()


@pytest.fixture
def desk(shared_desk: Desk) -> Desk:
    shared_desk.now = NOON
    with shared_desk.app.app_context():
        limiter.reset()
    return shared_desk


@pytest.fixture
def browser(desk: Desk) -> FlaskClient:
    return desk.client()


def press(
    browser: FlaskClient, order_id: int, path: str, accept: str = "text/html", **form: Any
) -> Any:
    form["csrf_token"] = token(browser)
    return browser.post(f"/rides/{order_id}/{path}", data=form, headers={"Accept": accept})


def address(text: str) -> str:
    found = re.search(r'data-link readonly value="([^"]+)"', text)
    return found.group(1) if found else ""


def opens(desk: Desk, url: str) -> bool:
    return (
        desk.client(signed_in=False).get(url.removeprefix("https://rides.example.test")).status_code
        == 200
    )


def audited(desk: Desk, order_id: int) -> list[str]:
    with desk.services.db.read() as s:
        return [
            row.what for row in s.query(AuditRow).filter(AuditRow.subject == f"orders:{order_id}")
        ]


@pytest.mark.parametrize(("kind", "status"), CASES)
def test_every_status_has_a_card(desk: Desk, browser: FlaskClient, kind: str, status: str) -> None:
    order_id = desk.order("BOOKED", status, kind, otp=CODE)
    answer = press(browser, order_id, "card")
    assert answer.status_code == 200
    assert "Grand Meridian Hotel, main door" in answer.text
    assert ("KA 01 AB 1234" in answer.text) == (status in STATUSES["share"][1:])
    assert CODE not in without_tokens(answer.text)


@pytest.mark.parametrize("state", ORDER_STATES)
def test_every_order_state_has_a_card(desk: Desk, browser: FlaskClient, state: str) -> None:
    order_id = desk.order(state)
    answer = press(browser, order_id, "card")
    nothing = state in ("REJECTED", "NOT_SENT", "CLOSED_NOT_BOOKED", "FAILED")
    assert answer.status_code == 200
    assert bool(address(answer.text)) != nothing
    assert ("Nothing was booked" in answer.text) == nothing


def test_reading_the_card_makes_no_link(desk: Desk, browser: FlaskClient) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    text = browser.get(f"/rides/{order_id}/card").text
    assert "sheet-qr" not in text.split("<article")[1]
    assert "Make the guest" in text
    assert audited(desk, order_id) == []


def test_the_card_has_a_valid_link_that_is_printed_below_the_code(
    desk: Desk, browser: FlaskClient
) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    text = press(browser, order_id, "card").text
    url = address(text)
    assert re.fullmatch(r"https://rides\.example\.test/t/[\w-]{22}", url)
    assert opens(desk, url)
    assert re.search(rf'sheet-short[^"]*">{re.escape(url.removeprefix("https://"))}<', text)
    assert audited(desk, order_id) == ["link.made"]


def test_a_new_card_or_link_ends_the_earlier_ones_only_on_request(
    desk: Desk, browser: FlaskClient
) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    urls = [address(press(browser, order_id, path).text) for path in ("card", "links/rider")]
    follower = address(press(browser, order_id, "links/follower").text)
    assert all(opens(desk, url) for url in (*urls, follower))
    assert "The guest has 2 links, the last since 14:00" in browser.get(f"/rides/{order_id}").text
    assert "New link, end the earlier ones" in browser.get(f"/rides/{order_id}/card").text
    for path in ("card", "links/rider"):
        urls.append(address(press(browser, order_id, path, replace="1").text))
        assert [opens(desk, url) for url in urls] == [False] * (len(urls) - 1) + [True]
    assert opens(desk, follower)


def test_a_guest_has_at_most_five_links_and_a_press_replaces_them(
    desk: Desk, browser: FlaskClient
) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    made = [press(browser, order_id, "links/rider", accept="application/json") for _ in range(6)]
    assert [answer.status_code for answer in made] == [200] * 5 + [409]
    assert (made[3].json["state"]["may_rider"], made[4].json["state"]["may_rider"]) == (True, False)
    assert made[5].json["message"] == "The guest has 5 links already. End the links first."
    card = press(browser, order_id, "card").text
    assert "sheet-qr" not in card.split("<article")[1]
    assert "The guest has as many links as a ride may have." in card
    assert all(opens(desk, answer.json["url"]) for answer in made[:5])
    only = address(press(browser, order_id, "card", replace="1").text)
    assert [opens(desk, answer.json["url"]) for answer in made[:5]] == [False] * 5
    assert opens(desk, only)


def test_a_link_that_shows_the_start_code_counts_and_is_recorded_like_showing_it(
    desk: Desk, browser: FlaskClient
) -> None:
    order_id = desk.order("BOOKED", "CLIENT_LOCATED", otp=CODE)
    requests = [("code", {}), ("links/rider", {"replace": "1"}), ("card", {"replace": "1"})]
    came = [
        press(browser, order_id, path, accept="application/json", **form).status_code
        for path, form in requests * 4
    ]
    assert came == [200] * 10 + [429] * 2
    assert audited(desk, order_id).count("code_shown") == 10
    assert shown_by(desk, order_id) == {"page": 4, "link": 6}
    follower = press(browser, order_id, "links/follower", accept="application/json")
    assert follower.status_code == 200
    other = desk.order("BOOKED", "CALL_DRIVER", otp=None)
    assert press(browser, other, "links/rider").status_code == 200


def test_reading_the_code_by_ones_own_link_leaves_a_record_and_the_guests_link_open(
    desk: Desk, browser: FlaskClient
) -> None:
    order_id = desk.order("BOOKED", "CLIENT_LOCATED", otp=CODE)
    guests = press(browser, order_id, "links/rider", accept="application/json").json["url"]
    stranger = desk.client(signed_in=False)
    for _ in range(4):
        url = press(browser, order_id, "links/rider", accept="application/json").json["url"]
        path = url.removeprefix("https://rides.example.test")
        assert CODE in stranger.get(f"{path}/snapshot.json").text
    assert opens(desk, guests)
    assert Counter(audited(desk, order_id)) == {"link.made": 5, "code_shown": 5}


def shown_by(desk: Desk, order_id: int) -> dict[str, int]:
    """How often the code was shown, by the ways that the audit log names."""
    with desk.services.db.read() as s:
        rows = s.query(AuditRow).filter_by(subject=f"orders:{order_id}", what="code_shown")
        return dict(Counter(row.facts["by"] for row in rows))


def test_the_start_code_is_printed_on_request_and_audited_and_on_the_same_link(
    desk: Desk, browser: FlaskClient
) -> None:
    order_id = desk.order("BOOKED", "CLIENT_LOCATED", otp=CODE)
    first = press(browser, order_id, "card").text
    assert CODE not in without_tokens(first)
    url = address(first)
    again = press(browser, order_id, "card", code="1", token=url.rsplit("/", 1)[1]).text
    assert CODE in again.split("<article")[1]
    assert address(again) == url
    assert audited(desk, order_id) == ["link.made", "code_shown", "code_shown"]
    assert shown_by(desk, order_id) == {"link": 1, "card": 1}


def test_without_a_start_code_nothing_is_printed_or_recorded(
    desk: Desk, browser: FlaskClient
) -> None:
    order_id = desk.order("BOOKED", "IN_PROGRESS", otp=CODE)
    text = press(browser, order_id, "card", code="1").text
    assert CODE not in without_tokens(text)
    assert audited(desk, order_id) == ["link.made"]


def test_printed_and_shown_codes_count_together(desk: Desk, browser: FlaskClient) -> None:
    order_id = desk.order("BOOKED", "CLIENT_LOCATED", otp=CODE)
    shown = [
        press(browser, order_id, "code", accept="application/json").status_code for _ in range(6)
    ]
    printed = [press(browser, order_id, "card", code="1").status_code for _ in range(5)]
    assert shown + printed == [200] * 10 + [429]


def test_each_member_of_staff_may_show_as_many_codes_behind_one_address(
    desk: Desk, browser: FlaskClient
) -> None:
    order_id = desk.order("BOOKED", "CLIENT_LOCATED", otp=CODE)
    with desk.services.db.write() as s:
        add_staff(s, desk.ids["desk.property"], "colleague", HASH, "concierge", NOON)
    colleague = desk.client(name="colleague")
    came = [
        press(client, order_id, "code", accept="application/json").status_code
        for client in [browser] * 11 + [colleague] * 11
    ]
    assert came == ([200] * 10 + [429]) * 2


def test_a_link_of_another_ride_or_of_a_follower_is_not_accepted(
    desk: Desk, browser: FlaskClient
) -> None:
    order_id, other = desk.order("BOOKED", "CALL_DRIVER"), desk.order("BOOKED", "CALL_DRIVER")
    foreign = address(press(browser, other, "card").text)
    follower = press(browser, order_id, "links/follower", accept="application/json").json["url"]
    for url in (foreign, follower):
        made = address(press(browser, order_id, "card", token=url.rsplit("/", 1)[1]).text)
        assert made not in ("", url)
        assert opens(desk, url)


def test_five_may_follow_and_a_sixth_is_refused_with_a_message(
    desk: Desk, browser: FlaskClient
) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    made = [press(browser, order_id, "links/follower", accept="application/json") for _ in range(6)]
    assert [answer.status_code for answer in made] == [200] * 5 + [409]
    assert made[4].json["state"]["may_follow"] is False
    assert "5 people follow this ride already" in made[5].json["message"]
    assert "5 people follow" in press(browser, order_id, "links/follower").text
    assert all(opens(desk, answer.json["url"]) for answer in made[:5])


def test_ending_the_links_closes_them_all_and_is_recorded(desk: Desk, browser: FlaskClient) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    urls = [
        press(browser, order_id, f"links/{kind}", "application/json").json["url"]
        for kind in ("rider", "follower")
    ]
    state = press(browser, order_id, "links/end", accept="application/json").json["state"]
    assert state == {
        "words": "",
        "any": False,
        "rider": False,
        "ride": True,
        "may_rider": True,
        "may_follow": True,
    }
    assert not any(opens(desk, url) for url in urls)
    assert audited(desk, order_id) == ["link.made", "link.made", "link.ended", "link.ended"]


def test_without_scripts_a_link_is_shown_to_be_copied_and_ending_leads_back(
    desk: Desk, browser: FlaskClient
) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    assert opens(desk, address(press(browser, order_id, "links/rider").text))
    answer = press(browser, order_id, "links/end")
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/rides/{order_id}#out")


def test_no_link_is_made_a_day_after_the_end(desk: Desk, browser: FlaskClient) -> None:
    order_id = desk.order(
        "BOOKED", "COMPLETED", ride={"ended_at": NOON - timedelta(hours=25), "next_poll_at": None}
    )
    assert not address(press(browser, order_id, "card").text)
    answer = press(browser, order_id, "links/rider", accept="application/json")
    assert (answer.status_code, answer.json["message"]) == (
        409,
        "The ride is over: its links have ended.",
    )
    assert audited(desk, order_id) == []


def test_the_card_and_the_links_of_another_property_get_404(
    desk: Desk, browser: FlaskClient
) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER", prop="other")
    form = {"csrf_token": token(browser), "what": "rider"}
    ride = f"/rides/{order_id}"
    answers = [browser.get(f"{ride}/{name}") for name in ("card", "receipt")]
    for name in ("card", "links", "links/rider", "links/follower", "links/end"):
        answers.append(browser.post(f"{ride}/{name}", data=form))
    assert [answer.status_code for answer in answers] == [404] * 7
    assert audited(desk, order_id) == []


def test_the_rides_page_lists_the_valid_links(desk: Desk, browser: FlaskClient) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    before = browser.get(f"/rides/{order_id}").text
    assert re.search(r'data-link-use="end"[^>]*hidden', before)
    for kind in ("rider", "follower"):
        press(browser, order_id, f"links/{kind}")
    after = browser.get(f"/rides/{order_id}").text
    assert "The guest has a link since 14:00 · 1 of 5 followers" in after
    assert not re.search(r'data-link-use="end"[^>]*hidden', after)


def test_the_qr_code_is_as_segnos_with_a_quiet_zone_of_four_modules() -> None:
    text = "https://rides.example.test/t/" + "x" * 22
    drawn, made = qr_code(text), segno.make_qr(text, error="m", boost_error=False)
    dark = set()
    for x, y, width in re.findall(r"M(\d+) (\d+)h(\d+)v1h-\3z", drawn.path):
        dark |= {(int(x) + i, int(y)) for i in range(int(width))}
    expected = {
        (x + 4, y + 4)
        for y, row in enumerate(made.matrix)
        for x, module in enumerate(row)
        if module
    }
    assert dark == expected
    assert (drawn.size, made.error, made.version) == (len(made.matrix) + 8, "M", 4)


def test_the_map_of_the_card_covers_its_frame_around_the_place() -> None:
    made = still_map("/tiles/{z}/{x}/{y}.svg", LatLng(0.0, 0.0), 3, 420, 250)
    assert {tile.href for tile in made.tiles} == {
        f"/tiles/3/{x}/{y}.svg" for x in (3, 4) for y in (3, 4)
    }
    corner = next(tile for tile in made.tiles if tile.href == "/tiles/3/4/4.svg")
    assert (corner.x, corner.y) == (210, 125)
    edge = still_map("/{z}/{x}/{y}", LatLng(89.9, 179.99), 3, 420, 250)
    assert {tile.href.split("/")[3] for tile in edge.tiles} == {"0"}
    assert {tile.href.split("/")[2] for tile in edge.tiles} == {"0", "7"}


PLACES = st.builds(
    LatLng, st.floats(-84, 84, allow_nan=False), st.floats(-179.9, 179.9, allow_nan=False)
)


@given(PLACES, PLACES)
def test_the_map_of_a_way_has_both_ends_inside_its_rim_and_is_as_large_as_possible(
    start: LatLng, end: LatLng
) -> None:
    made = way_map("/{z}/{x}/{y}", start, end, (420, 300), 48)
    zoom = int(made.still.tiles[0].href.split("/")[1])
    ends = (made.start, made.end)
    if zoom:
        assert all(47 <= x <= 373 and 47 <= y <= 253 for x, y in ends)
    across, down = (abs(one - other) for one, other in zip(*ends, strict=True))
    assert zoom == 16 or across * 2 > 420 - 2 * 48 or down * 2 > 300 - 2 * 48


def test_the_way_from_south_west_to_north_east_goes_up_and_to_the_right() -> None:
    made = way_map("/{z}/{x}/{y}", LatLng(12.9, 77.5), LatLng(13.2, 77.7), (420, 300), 48)
    assert made.start[0] < made.end[0]
    assert made.start[1] > made.end[1]


def test_the_card_shows_the_street_of_the_pickup_as_large_as_its_frame(
    desk: Desk, browser: FlaskClient
) -> None:
    sheet = browser.get(f"/rides/{desk.order('BOOKED', 'CALL_DRIVER')}/card").text
    assert 'viewBox="0 0 420 250"' in sheet
    images = re.findall(r'<image\s+href="([^"]+)"', sheet)
    assert images
    assert all("/17/" in each for each in images), "a width of 400 m at the equator"


def test_foreign_text_is_escaped_on_the_card(desk: Desk, browser: FlaskClient) -> None:
    markup = "<img src=x onerror=1>{{7*191}}</svg><script>1</script>"
    order_id = desk.order(
        "BOOKED", "CALL_DRIVER", guest=markup, pickup_name=markup, room=markup[:30]
    )
    sheet = press(browser, order_id, "card").text.split("<article")[1].split("</article>")[0]
    assert "1337" not in without_tokens(sheet)
    assert {
        element.tag for element in ElementTree.fromstring(f"<article{sheet}</article>").iter()
    } <= {
        "article",
        "header",
        "span",
        "bdi",
        "p",
        "section",
        "svg",
        "image",
        "g",
        "path",
        "div",
    }


def state_of(desk: Desk, order_id: int) -> LinkState:
    with desk.services.db.read() as s:
        page = order_page(s, desk.ids["desk.property"], order_id)
    assert page is not None
    with desk.app.test_request_context("/"):
        return link_state(page, desk.services)


def test_up_to_five_links_of_each_kind_may_be_made_while_there_is_a_ride(desk: Desk) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    assert state_of(desk, order_id) == LinkState("", False, False, True, True, True)
    where, who = desk.ids["desk.property"], by_staff(desk.ids["desk"])
    for kind, words, may in (
        ("rider", "The guest has 5 links, the last since 14:00", (False, True)),
        (
            "follower",
            "The guest has 5 links, the last since 14:00 · 5 of 5 followers",
            (False,) * 2,
        ),
    ):
        for number in range(5):
            make_link(desk.services.db, NOON, where, order_id, LinkKind(kind), who)
            found = state_of(desk, order_id)
            assert (found.may_rider, found.may_follow) == (may if number == 4 else last_of(kind))
        assert (found.words, found.any, found.rider, found.ride) == (words, True, True, True)
    failed = state_of(desk, desk.order("REJECTED"))
    assert (failed.ride, failed.may_rider, failed.may_follow) == (False, False, False)


def last_of(kind: str) -> tuple[bool, bool]:
    """Whether links for riders and for followers may be made before there are five of a kind."""
    return (kind == "rider", True)


def test_the_one_address_of_an_earlier_release_leads_to_each_button(
    desk: Desk, browser: FlaskClient
) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    for what in ("rider", "follower", "end"):
        answer = press(browser, order_id, "links", what=what)
        assert (answer.status_code, answer.headers["Location"]) == (
            307,
            f"/rides/{order_id}/links/{what}",
        )
    assert press(browser, order_id, "links", what="other").status_code == 400
    assert press(browser, order_id, "links").status_code == 400
    assert audited(desk, order_id) == []


def test_a_sixth_link_of_a_guest_is_refused_and_their_card_has_none(
    desk: Desk, browser: FlaskClient
) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    for _ in range(5):
        assert press(browser, order_id, "links/rider", "application/json").status_code == 200
    answer = press(browser, order_id, "links/rider")
    assert answer.status_code == 409
    assert "The guest has 5 links already. End the links first." in answer.text
    assert not address(press(browser, order_id, "card").text)
    assert audited(desk, order_id) == ["link.made"] * 5


def test_links_for_a_whole_group_are_made_for_those_who_may_have_one(desk: Desk) -> None:
    orders = [desk.order("BOOKED", "CLIENT_LOCATED", otp=CODE), desk.order("REJECTED")]
    full = desk.order("BOOKED", "CALL_DRIVER")
    where, who = desk.ids["desk.property"], by_staff(desk.ids["desk"])
    for _ in range(5):
        make_link(desk.services.db, NOON, where, full, LinkKind.RIDER, who)
    with desk.services.db.read() as s:
        pages = orders_by_ids(s, where, [*orders, full])
        staff = s.get_one(Staff, desk.ids["desk"])
    person = SignedIn(staff.id, where, staff.name, staff.role, None, None)
    with desk.app.test_request_context("/", method="POST"):
        login_user(person)
        found = guest_links(pages)
        assert found.keys() == {orders[0]}
        assert opens(desk, found[orders[0]])
    assert audited(desk, orders[0]) == ["link.made", "code_shown"]
    assert audited(desk, full) == ["link.made"] * 5


def test_a_code_that_is_not_there_is_not_revealed(desk: Desk) -> None:
    shown = desk.order("BOOKED", "CLIENT_LOCATED", otp=CODE)
    others = [desk.order("READY"), desk.order("BOOKED", "CLIENT_LOCATED")]
    with desk.services.db.read() as s:
        pages = orders_by_ids(s, desk.ids["desk.property"], [shown, *others])
        staff = s.get_one(Staff, desk.ids["desk"])
    person = SignedIn(staff.id, staff.property_id, staff.name, staff.role, None, None)
    with desk.app.test_request_context("/"):
        login_user(person)
        codes = [reveal(page, ride_view(page, desk.now, REAL, "en")) for page in pages]
    assert codes == [CODE, "", ""]
    with desk.services.db.read() as s:
        [entry] = s.query(AuditRow).filter_by(subject=f"orders:{shown}", what="code_shown")
    assert (entry.who, entry.facts) == (f"staff:{staff.id}", {"by": "page"})


def test_a_cost_centre_of_another_property_is_on_no_receipt(
    desk: Desk, browser: FlaskClient
) -> None:
    order_id = desk.order("BOOKED", "COMPLETED")
    for prop, shown in (("other", False), ("desk", True)):
        with desk.services.db.write() as s:
            centre = CostCentre(
                property_id=desk.ids[f"{prop}.property"], name=f"Banquets {prop}", closed_at=None
            )
            s.add(centre)
            s.flush()
            s.get_one(Order, order_id).cost_centre_id = centre.id
        text = browser.get(f"/rides/{order_id}/receipt").text
        assert (f"Banquets {prop}" in text) is shown
