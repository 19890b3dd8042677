"""The search: what finds a ride, the order of results, and the list below the search box."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from playwright.sync_api import Browser, expect
from werkzeug.test import TestResponse

from ridedash.extensions import limiter
from ridedash.store.orders import Order
from ridedash.store.search import find_orders
from tests.views.ride_pages import NOON, Desk, compact, make_desk, token, without_tokens
from tests.views.served import served_desk, violations

pytestmark = pytest.mark.database


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = make_desk(tmp_path)
    with made.app.app_context():
        limiter.reset()
    yield made
    made.close()


@pytest.fixture
def browser_at(desk: Desk) -> FlaskClient:
    return desk.client()


def ride(desk: Desk, status: str = "COMPLETED", plate: str | None = None, **facts: Any) -> int:
    over = {"ended_at": NOON, "next_poll_at": None} if status == "COMPLETED" else {}
    order_id = desk.order("BOOKED", status, ride=over | {"plate": plate}, **facts)
    if over:
        desk.add(lambda s: setattr(s.get(Order, order_id), "ended_as", status))
    return order_id


def found(desk: Desk, text: str, limit: int = 20) -> list[int]:
    with desk.services.db.read() as s:
        return find_orders(s, desk.ids["desk.property"], text, limit)


def address(client: FlaskClient, words: str) -> str:
    """The address to which the search box redirects."""
    answer = client.post("/search", data={"q": words, "csrf_token": token(client)})
    assert answer.status_code == 303
    return str(answer.location)


def listed(client: FlaskClient, words: str) -> TestResponse:
    return client.post("/search.json", data={"q": words, "csrf_token": token(client)})


@pytest.mark.parametrize("status", ["COMPLETED", "CALL_DRIVER"])
def test_a_ride_is_found_by_each_of_its_searchable_fields(desk: Desk, status: str) -> None:
    wanted = ride(
        desk, status, "KA05XY7788", guest="José García", room="PH-1", phone="+912227783300"
    )
    ride(desk, status, "MH12AB1234", guest="Guest Wren", room="204", phone="+912227780000")
    ride(
        desk,
        status,
        "KA05XY7788",
        guest="José García",
        room="PH-1",
        phone="+912227783300",
        prop="other",
    )
    with desk.services.db.read() as s:
        order = s.get(Order, wanted)
        assert order is not None
        numbers = [
            order.booking_id,
            order.booking_id.lower(),
            order.mtx,
            order.mtx[:17],
            f" {order.mtx.lower()} ",
        ]
    for text in (
        "ph-1",
        "garcia",
        "jos gar",
        "022 2778 3300",
        "+91 (0)22 2778-3300",
        "3300",
        "ka 05 xy-7788",
        "7788",
        "KA05",
        *numbers,
    ):
        assert found(desk, text) == [wanted], text


def test_open_rides_come_first_and_then_the_newest(desk: Desk) -> None:
    planned = desk.order("SCHEDULED")
    done = [ride(desk) for _ in range(3)]
    unknown = desk.order("UNKNOWN")
    over = ride(desk)
    live = ride(desk, "IN_PROGRESS")
    refused = desk.order("REJECTED")
    assert found(desk, "heron") == [live, unknown, planned, refused, over, *done[::-1]]
    assert found(desk, "heron", 4) == [live, unknown, planned, refused]


def test_a_room_is_found_by_its_beginning_only_while_the_ride_is_open(desk: Desk) -> None:
    ride(desk, room="412")
    live = ride(desk, "CALL_DRIVER", room="413")
    assert found(desk, "41") == [live]


def test_many_guests_of_one_name_do_not_hide_a_newest_ride(desk: Desk) -> None:
    made = [ride(desk, guest=f"Guest N{n}") for n in range(205)]
    assert found(desk, "guest") == made[:-21:-1]
    assert found(desk, "n7") == [made[n] for n in range(204, -1, -1) if str(n).startswith("7")][:20]


@pytest.mark.parametrize(
    "text", ["", "   ", "%", "_", "%%%", "\\", "zz", "0000", "''; --", "\U0010ffff" * 4, "-" * 80]
)
def test_a_text_without_a_match_finds_nothing(desk: Desk, text: str) -> None:
    ride(desk, plate="KA05XY7788", phone=None)
    assert found(desk, text) == []


def test_the_page_shows_results_and_the_searchable_fields(
    desk: Desk, browser_at: FlaskClient
) -> None:
    order_id = ride(desk, "CALL_DRIVER", "KA05XY7788", guest="<b>Guest</b> Heron")
    text = browser_at.get(address(browser_at, "heron")).text
    assert re.findall(r'cell-when[^"]*"><a href="/rides/(\d+)"', compact(text)) == [str(order_id)]
    assert "&lt;b&gt;Guest&lt;/b&gt; Heron" in text
    assert "Driver on the way" in text
    assert "KA 05 XY 7788" in text
    assert "Search by room, guest, phone" in browser_at.get(address(browser_at, "nobody")).text
    assert "What are you looking for?" in browser_at.get("/search").text
    assert browser_at.get(address(browser_at, "x" * 5000 + "\0")).status_code == 200
    assert address(browser_at, " \u202e ") == "/search"


def test_no_address_contains_the_search_text(desk: Desk, browser_at: FlaskClient) -> None:
    order_id = ride(desk, guest="José García", phone="+912227783300")
    for words in ("garcia", "022 2778 3300"):
        found_at = address(browser_at, words)
        assert re.fullmatch(r"/search\?q=[A-Za-z0-9]+\.[\w-]+\.[\w-]+", found_at)
        assert not {"garcia", "2778", "3300"} & set(re.findall(r"\w+", found_at))
        for _ in range(2):  # the user opens the address, and reloads it
            page = browser_at.get(found_at)
            assert f'href="/rides/{order_id}"' in page.text
            assert page.headers["Cache-Control"] == "no-store"
        assert f'value="{words}"' in page.text
        assert words not in re.findall(r"<title>(.*?)</title>", page.text)[0]
    assert browser_at.get("/search.json?q=garcia").status_code == 405


@pytest.mark.parametrize("written", ["heron", "k1.x.y", "..", "k1.%ff.%00", "é.é.é", "x" * 5000])
def test_an_address_encrypted_with_another_key_finds_nothing_and_shows_that(
    desk: Desk, browser_at: FlaskClient, written: str
) -> None:
    order_id = ride(desk)
    page = browser_at.get(f"/search?q={written}")
    assert page.status_code == 200
    assert "This address can&#39;t be read any more" in page.text
    assert f'href="/rides/{order_id}"' not in page.text


def test_an_address_is_valid_for_the_sign_in_that_made_it(
    desk: Desk, browser_at: FlaskClient
) -> None:
    ride(desk)
    found_at = address(browser_at, "heron")
    for other in (desk.client(), desk.client(name="other")):
        assert "This address can&#39;t be read any more" in other.get(found_at).text
    assert "This address can&#39;t be read any more" in browser_at.get(f"{found_at}A").text
    assert "heron" in browser_at.get(found_at).text


def test_a_form_of_an_older_sign_in_gets_the_advice_to_reload(
    desk: Desk, browser_at: FlaskClient
) -> None:
    for path in ("/search", "/search.json"):
        answer = browser_at.post(path, data={"q": "heron", "csrf_token": "of yesterday"})
        assert answer.status_code == 400
        assert "This page was open for too long" in answer.text


def test_the_list_is_short_and_shows_that_there_are_more(
    desk: Desk, browser_at: FlaskClient
) -> None:
    made = [ride(desk) for _ in range(10)]
    body = listed(browser_at, "heron").json
    assert body is not None
    assert ([each["id"] for each in body["rides"]], body["more"]) == (made[:1:-1], True)
    assert body["rides"][0] == {
        "id": made[-1],
        "guest": "Guest Heron",
        "room": "412",
        "car": "",
        "to": "Meridian Airport, Departures",
        "plate": "",
        "at": "Mon 4 May 13:59",
        "state": "Completed",
        "icon": "done",
        "tone": "quiet",
    }
    assert listed(browser_at, "nobody").json == {"rides": [], "more": False, "links": []}


def test_a_rides_secrets_are_not_in_the_list(desk: Desk, browser_at: FlaskClient) -> None:
    ride(desk, "CLIENT_LOCATED", otp="4821")
    text = listed(browser_at, "heron").text
    assert "4821" not in without_tokens(text)
    assert "12345" not in text  # the guest's phone


def test_a_car_of_a_group_says_which_it_is(desk: Desk, browser_at: FlaskClient) -> None:
    ids = [ride(desk) for _ in range(3)]
    desk.add(lambda s: s.query(Order).filter(Order.id.in_(ids)).update({"group_key": "G1"}))
    body = listed(browser_at, "heron").json
    assert body is not None
    assert [each["car"] for each in body["rides"]] == ["Car 3/3", "Car 2/3", "Car 1/3"]


def test_searches_are_rate_limited(desk: Desk, browser_at: FlaskClient) -> None:
    form = {"q": "x", "csrf_token": token(browser_at)}
    codes = {browser_at.post("/search.json", data=form).status_code for _ in range(240)}
    assert codes == {200}
    assert browser_at.get("/search").status_code == 429


@pytest.mark.browser
def test_the_box_lists_rides_while_the_user_types_and_keys_open_one(
    tmp_path: Path, browser: Browser
) -> None:
    with served_desk(tmp_path, browser) as served:
        wanted = ride(served.desk, "CALL_DRIVER", "KA05XY7788", guest="José García", room="PH-1")
        other = ride(served.desk, guest="Garcia Wren", room="9")
        page = served.staff(viewport={"width": 1280, "height": 800})
        seen: list[str] = []
        page.on("request", lambda request: seen.append(request.url))
        page.goto("/history")
        page.keyboard.press("/")
        box = page.get_by_role("combobox", name=re.compile("Search by room"))
        expect(box).to_be_focused()
        page.keyboard.type("garcia")
        options = page.get_by_role("listbox", name="Rides found").get_by_role("option")
        expect(options).to_have_count(4)  # two rides, and new ones for their guests
        expect(options.first).to_contain_text("José García · PH-1")
        page.keyboard.press("ArrowDown")
        expect(options.first).to_have_attribute("aria-selected", "true")
        assert violations(page) == []
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.wait_for_url(f"**/rides/{other}")
        page.get_by_role("combobox", name=re.compile("Search by room")).fill("xy 7788")
        expect(options).to_have_count(1)
        options.first.click()
        page.wait_for_url(f"**/rides/{wanted}")
        page.get_by_role("combobox", name=re.compile("Search by room")).fill("garcia")
        page.keyboard.press("Enter")
        page.wait_for_url("**/search?q=*")
        expect(page.locator(".rides-table tbody tr")).to_have_count(2)
        assert [url for url in seen if "garcia" in url.lower() or "7788" in url] == []


@pytest.mark.browser
def test_going_back_from_a_ride_shows_the_results_without_a_prompt(
    tmp_path: Path, browser: Browser
) -> None:
    with served_desk(tmp_path, browser) as served:
        wanted = ride(served.desk, guest="Guest Wren")
        ride(served.desk)
        page = served.staff(viewport={"width": 1280, "height": 800})
        page.goto("/")
        page.get_by_role("combobox", name=re.compile("Search by room")).fill("wren")
        page.keyboard.press("Enter")
        rows = page.locator(".rides-table tbody tr")
        expect(rows).to_have_count(1)
        page.locator(".cell-when a").click()
        page.wait_for_url(f"**/rides/{wanted}")
        page.go_back()
        expect(rows).to_have_count(1)
        page.reload()
        expect(rows).to_have_count(1)
        expect(page.get_by_role("combobox", name=re.compile("Search by room"))).to_have_value(
            "wren"
        )


@pytest.mark.browser
def test_the_list_of_an_older_sign_in_shows_a_message(tmp_path: Path, browser: Browser) -> None:
    with served_desk(tmp_path, browser) as served:
        page = served.staff(viewport={"width": 1280, "height": 800})
        page.goto("/history")
        page.locator("[data-search] [name=csrf_token]").evaluate(
            "field => { field.value = 'of yesterday'; }"
        )
        page.get_by_role("combobox", name=re.compile("Search by room")).fill("heron")
        expect(page.locator("[data-found]")).to_contain_text(
            "This page was open for too long. Nothing was changed."
        )
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="This page was open for too long")).to_be_visible()


@pytest.mark.browser
def test_the_list_closes_and_shows_empty_results_and_failures(
    tmp_path: Path, browser: Browser
) -> None:
    with served_desk(tmp_path, browser) as served:
        page = served.staff(viewport={"width": 390, "height": 844})
        page.goto("/history")
        box = page.get_by_role("combobox", name=re.compile("Search by room"))
        box.fill("nobody")
        listed = page.locator("[data-found]")
        expect(listed).to_have_text("No ride found")
        page.keyboard.press("Escape")
        expect(listed).to_be_hidden()
        expect(box).to_be_focused()
        page.context.set_offline(True)
        box.fill("heron")
        expect(listed).to_contain_text("Search does not answer")
        page.context.set_offline(False)
        assert violations(page) == []


@pytest.mark.browser
def test_the_menu_of_commands_opens_from_a_field_and_leads_to_pages(
    tmp_path: Path, browser: Browser
) -> None:
    with served_desk(tmp_path, browser) as served:
        page = served.staff(viewport={"width": 1280, "height": 800})
        page.goto("/")
        page.locator("#guest-find").press("Control+k")
        expect(page.locator("#search")).to_be_focused()
        options = page.locator("[data-found] [role=option]")
        expect(options.filter(has_text="Hand-over")).to_be_visible()
        assert violations(page, "color-contrast", "aria-allowed-role", "list") == []
        page.keyboard.type("hist")
        expect(options).to_have_text(["History"])
        page.keyboard.press("Enter")
        page.wait_for_url("**/history")


@pytest.mark.browser
def test_the_menu_of_commands_does_what_a_key_does(tmp_path: Path, browser: Browser) -> None:
    with served_desk(tmp_path, browser) as served:
        of_ride = ride(served.desk, "CALL_DRIVER")
        page = served.staff(viewport={"width": 1280, "height": 800})
        page.goto("/history")
        options = page.locator("[data-found] [role=option]")
        page.keyboard.press("Control+k")
        expect(options.filter(has_text="New ride")).to_have_count(1)  # by its key alone
        expect(options.filter(has_text="Change the drop")).to_have_count(0)  # no ride is open
        page.goto(f"/rides/{of_ride}")
        page.keyboard.press("Control+k")
        page.keyboard.type("change the drop")
        expect(options.filter(has_text="Change the drop").locator("kbd")).to_have_text("D")
        page.keyboard.press("Enter")
        expect(page.locator("[data-action=drop] :focus")).to_have_count(1)
        expect(page.locator("#search")).to_have_value("")


@pytest.mark.browser
def test_the_menu_of_commands_signs_out(tmp_path: Path, browser: Browser) -> None:
    with served_desk(tmp_path, browser) as served:
        page = served.staff(viewport={"width": 1280, "height": 800})
        page.goto("/history")
        page.keyboard.press("Control+k")
        options = page.locator("[data-found] [role=option]")
        expect(options.filter(has_text="Hand-over")).to_be_visible()
        expect(options.filter(has_text="Sign out")).to_have_count(0)  # only for who asks for it
        page.keyboard.type("sign out")
        expect(options).to_have_text(["Sign out"])
        page.keyboard.press("Enter")
        page.wait_for_url("**/sign-in**")


@pytest.mark.browser
def test_names_in_the_list_are_text_and_no_markup(tmp_path: Path, browser: Browser) -> None:
    with served_desk(tmp_path, browser) as served:
        name = "<img src=x onerror=alert(1)> Quill"
        ride(served.desk, guest=name)
        page = served.staff(viewport={"width": 1280, "height": 800})
        page.goto("/history")
        page.locator("#search").fill("quill")
        options = page.locator("[data-found] [role=option]")
        expect(options).to_have_count(2)  # the ride, and the guest
        for each in options.all():
            expect(each).to_contain_text(name)
        expect(page.locator("[data-found] img")).to_have_count(0)
