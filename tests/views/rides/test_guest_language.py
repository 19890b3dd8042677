"""What staff show and hand out is in the guest's language; all other words are in the desk's."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from ridedash.extensions import limiter
from ridedash.store.models.people import Guest, Staff
from ridedash.store.orders import Order
from tests.marked_words import marked_words
from tests.views.ride_pages import Desk, compact, make_desk, token

pytestmark = pytest.mark.database


@pytest.fixture(scope="module")
def shared_desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    made = make_desk(tmp_path_factory.mktemp("desk"))
    yield made
    made.close()


@pytest.fixture
def desk(shared_desk: Desk) -> Iterator[Desk]:
    with shared_desk.app.app_context():
        limiter.reset()
    staff_read(shared_desk, None)
    with marked_words(shared_desk.app, ["ar", "de"]):
        yield shared_desk


def staff_read(desk: Desk, code: str | None) -> None:
    with desk.services.db.write() as s:
        s.get_one(Staff, desk.ids["desk"]).language = code


def ride(desk: Desk, language: str | None, status: str = "CLIENT_LOCATED", **facts: Any) -> int:
    order_id = desk.order("BOOKED", status, **facts)
    with desk.services.db.write() as s:
        s.get_one(Guest, s.get_one(Order, order_id).guest_id).language = language
    return order_id


def languages(text: str) -> set[str]:
    return set(re.findall("⟨([^⟩]+)⟩", text))


def test_the_card_is_in_the_guests_language_with_the_desks_beside_it(desk: Desk) -> None:
    staff_read(desk, "de")
    page = compact(desk.client().get(f"/rides/{ride(desk, 'ar')}/card").text)
    card = page.split('<article class="paper sheet column"')[1].split("</article>")[0]
    assert 'lang="ar" dir="rtl"' in card
    assert '<span class="sheet-theirs">⟨ar⟩Meet at</span>' in card
    assert '<span class="sheet-ours"><bdi lang="de" dir="ltr">⟨de⟩Meet at</bdi></span>' in card
    assert languages(page.split("<article")[0]) == {"de"}


def test_each_card_of_a_group_is_in_its_guests_language_with_the_desks_beside_it(
    desk: Desk,
) -> None:
    ids = [ride(desk, code, "ALLOTMENT_PENDING") for code in ("ar", "de")]
    with desk.services.db.write() as s:
        s.query(Order).filter(Order.id.in_(ids)).update({"group_key": f"G-{ids[0]}"})
    staff_read(desk, "de")
    page = compact(desk.client().get(f"/groups/{ids[0]}/cards").text)
    other, same = page.split('<article class="mini column"')[1:]
    assert other.lstrip().startswith('lang="ar" dir="rtl"')
    for text in ("Meet at", "Your car is named soon."):
        assert f'<span class="sheet-theirs">⟨ar⟩{text}</span>' in other
        assert f'<bdi lang="de" dir="ltr">⟨de⟩{text}</bdi>' in other
    assert "⟨ar⟩Car " in other
    assert same.lstrip().startswith('lang="de" dir="ltr"')
    same = re.sub(r'(?s)<p class="mini-pays">.*?</p>', "", same)  # critical: English beneath
    assert "sheet-ours" not in same
    assert languages(same.split("</article>")[0]) == {"de"}
    assert languages(page.split("<article")[0]) == {"de"}


def test_a_card_in_one_language_says_everything_once(desk: Desk) -> None:
    for code in (None, "en", "bn"):
        card = desk.client().get(f"/rides/{ride(desk, code)}/card").text
        assert "sheet-ours" not in card
        assert languages(card) == set()
    staff_read(desk, "ar")
    card = desk.client().get(f"/rides/{ride(desk, 'ar')}/card").text
    assert card.count("sheet-ours") == card.count('lang="en" dir="ltr">You pay the driver') == 1
    assert languages(card) == {"ar"}


def test_the_receipt_is_the_guests_and_its_bar_the_desks(desk: Desk) -> None:
    page = desk.client().get(f"/rides/{ride(desk, 'ar', 'COMPLETED')}/receipt").text
    bar, bill = page.split("<article\n", 1) if "<article\n" in page else page.split("<article", 1)
    assert languages(bar.split("<main")[1]) == set()
    assert 'lang="ar"' in bill
    for text in ("Not a tax invoice.", "Guest", "Ride receipt"):
        assert f"⟨ar⟩{text}" in bill


def test_the_desk_sees_what_the_guest_reads_and_shows_it(desk: Desk) -> None:
    order_id = ride(desk, "ar", otp="4821")
    browser = desk.client()
    page = compact(browser.get(f"/rides/{order_id}").text)
    assert re.search(r'Guest reads\s*<bdi\s+lang="ar"\s*>العربية</bdi>', page)
    assert page.count("data-show-guest") == 1  # one button, in whatever language the guest reads
    shown = page.split('<dialog class="to-guest"')[1].split("</dialog>")[0]
    assert 'lang="ar" dir="rtl"' in shown
    assert re.findall(r'data-slot="guest\.(\w+)"[^>]*>(⟨ar⟩)', shown)
    body = browser.get(f"/rides/{order_id}/snapshot.json").json or {}
    assert languages(body["guest"]["headline"] + body["guest"]["code_label"]) == {"ar"}
    assert languages(str(body | {"guest": ""})) == set()


def test_a_language_that_only_staff_see_is_marked_as_such(desk: Desk) -> None:
    page = compact(desk.client().get(f"/rides/{ride(desk, 'bn')}").text)
    in_their_language = r"Speaks\s*<bdi\s*>বাংলা</bdi>; the guest"
    page_in = r"s page is in\s*<bdi\s+lang=.en.\s*>English</bdi>"
    assert re.search(f"{in_their_language}.{{1,5}}{page_in}", page)


@pytest.mark.parametrize("code", [None, "en"])
def test_nothing_is_shown_about_a_language_that_all_read(desk: Desk, code: str | None) -> None:
    assert "ride-reads" not in desk.client().get(f"/rides/{ride(desk, code)}").text


def test_a_message_is_in_the_guests_language_and_staff_read_what_it_says(desk: Desk) -> None:
    browser, order_id = desk.client(), ride(desk, "ar")
    form = {"csrf_token": token(browser)}
    answer = browser.post(f"/rides/{order_id}/links/rider", data=form)
    text = answer.text.split("<textarea")[1].split("</textarea>")[0]
    assert 'lang="ar"' in text
    assert languages(text) == {"ar"}
    meaning = answer.text.split("message-meaning")[1].split("</div>")[0]
    assert "/t/" in meaning
    assert languages(meaning) == set()
    head = {"Accept": "application/json"}
    message = (browser.post(f"/rides/{order_id}/links/rider", data=form, headers=head).json or {})[
        "message"
    ]
    assert (message["tag"], languages(message["text"]), languages(message["meaning"])) == (
        "ar",
        {"ar"},
        set(),
    )


def test_the_form_separates_the_languages_that_the_guests_page_can_be_in(desk: Desk) -> None:
    page = compact(desk.client().get("/rides/new").text).replace("&#39;", "'")
    groups = dict(re.findall(r'<optgroup label="([^"]+)">(.*?)</optgroup>', page))
    names = {label: re.findall(r'value="(\w+)"', rows) for label, rows in groups.items()}
    assert names["Guest's page"] == ["en", "ar", "de"]
    rest = names["Told to staff; the guest's page is in English"]
    assert {"bn", "ja", "pt"} <= set(rest)
    assert "ar" not in rest
