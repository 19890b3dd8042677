"""Settings of kiosks: list and health, form, pairing, PIN, revoking, ways to pickup points."""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from ridedash.store import kiosks
from ridedash.store.accounts import accounts_of
from ridedash.store.audit import AuditRow
from ridedash.store.models.kiosks import Kiosk, KioskKind, KioskVisit, PickupHint
from ridedash.store.models.people import Property, Staff
from tests.views.admin.test_property import post
from tests.views.kiosk.devices import give_pickup
from tests.views.ride_pages import NOON, Desk, make_desk

pytestmark = pytest.mark.database

FORM = {
    "kind": "kiosk",
    "name": "Lobby",
    "place": "Beside the lifts",
    "rule": "driver",
    "languages": ["en", "hi", "ar"],
    "default_language": "hi",
    "shows": "number",
}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = make_desk(tmp_path)
    made.add(lambda s: setattr(s.get(Staff, made.ids["desk"]), "role", "manager"))
    give_pickup(made)
    yield made
    made.close()


def add_kiosk(desk: Desk, who: str = "desk", **facts: Any) -> int:
    """Add a paired kiosk to a property; its last heartbeat is of now."""
    with desk.services.db.write() as s:
        kind, name = KioskKind(facts.pop("kind", "kiosk")), facts.pop("name", "Lobby")
        row = kiosks.new_device(s, desk.ids[f"{who}.property"], kind, name, NOON)
        kiosks.begin(row, NOON)
        row.seen_at, row.paired_by = desk.now, desk.ids["desk"]
        for column, value in facts.items():
            setattr(row, column, value)
        return int(row.id)


def stored(desk: Desk, kiosk_id: int) -> Kiosk:
    with desk.services.db.read() as s:
        row = s.get_one(Kiosk, kiosk_id)
        s.expunge(row)
        return row


def recorded(desk: Desk) -> list[tuple[str, str]]:
    with desk.services.db.read() as s:
        rows = s.scalars(select(AuditRow).where(AuditRow.what.startswith("kiosk.")))
        return [(row.what, row.who) for row in rows]


def only(desk: Desk) -> int:
    with desk.services.db.read() as s:
        return int(s.scalars(select(Kiosk.id)).one())


def test_a_kiosk_is_added_with_its_rule_hours_and_languages_and_recorded(desk: Desk) -> None:
    client = desk.client()
    assert "No kiosk yet" in client.get("/admin/kiosks").text
    hours = {"timed": "1", "mon_from": "06:00", "mon_to": "23:00"}
    answer = post(
        client, "/admin/kiosks", **FORM, **hours, idle_s="60", most_waiting="5", attended="1"
    )
    row = stored(desk, only(desk))
    assert answer.headers["Location"] == f"/admin/kiosks/{row.id}?said=added"
    assert (row.kind, row.name, row.place, row.rule) == (
        "kiosk",
        "Lobby",
        "Beside the lifts",
        "driver",
    )
    assert (row.languages, row.default_language) == (["en", "hi", "ar"], "hi")
    assert row.most_waiting == 5
    assert (row.hours, row.idle_s, row.attended) == ({"mon": [["06:00", "23:00"]]}, 60, True)
    assert recorded(desk) == [("kiosk.added", f"staff:{desk.ids['desk']}")]
    page = client.get(f"/admin/kiosks/{row.id}").text
    assert "Not paired yet" in page
    assert 'value="06:00"' in page


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ({"name": ""}, "Type a name"),
        ({"rule": "house"}, "Choose one from the list"),
        ({"account_id": "999"}, "Choose one from the list"),
        ({"languages": []}, "Choose one to eight languages"),
        ({"default_language": "de"}, "Choose one of the languages above"),
        ({"idle_s": "5"}, "Type seconds from 20 to 600"),
        ({"most_waiting": "31"}, "Type a number from 1 to 30"),
        ({"desk_phone": "12"}, "phone"),
        ({"timed": "1", "mon_from": "23:00", "mon_to": "23:00"}, "Type when it opens"),
        ({"timed": "1"}, "Type the times of one day at least"),
        ({"position": "12.9"}, "Choose one place"),
    ],
)
def test_a_wrong_field_is_named_and_nothing_is_lost(
    desk: Desk, typed: dict[str, Any], words: str
) -> None:
    desk.services.geocoder.search = lambda *_: []
    kiosk_id, client = add_kiosk(desk), desk.client()
    for address in ("/admin/kiosks", f"/admin/kiosks/{kiosk_id}"):
        answer = post(client, address, **(FORM | {"place": "Beside the lifts"} | typed))
        assert answer.status_code == 422, address
        assert words in answer.text, address
        assert "Beside the lifts" in answer.text, address
    assert stored(desk, only(desk)).place is None


def test_a_device_of_no_known_kind_is_not_added(desk: Desk) -> None:
    assert post(desk.client(), "/admin/kiosks", **(FORM | {"kind": "lift"})).status_code == 400


def test_a_pairing_code_is_shown_once_and_pairs_for_ten_minutes(desk: Desk) -> None:
    kiosk_id, client = add_kiosk(desk), desk.client()
    page = post(client, f"/admin/kiosks/{kiosk_id}/pair").text
    code = re.split(r'kiosk-code[^"]*" translate="no">', page)[1].split("</p>")[0].replace(" ", "")
    assert len(code) == 8
    assert code not in client.get(f"/admin/kiosks/{kiosk_id}").text.replace(" ", "")
    late = NOON + timedelta(minutes=11)
    with desk.services.db.write() as s:
        assert kiosks.pair(s, code, late) is None
        found = kiosks.pair(s, code.lower(), NOON)
        assert found is not None
        assert found[0].id == kiosk_id
    assert recorded(desk) == [("kiosk.pairing", f"staff:{desk.ids['desk']}")]


def test_a_staff_pin_is_six_digits_that_are_hard_to_guess_and_stored_as_a_hash(
    desk: Desk,
) -> None:
    kiosk_id, client = add_kiosk(desk), desk.client()
    for weak in ("12345", "abcdef", "000000", "123456", "１２３４５６"):
        assert post(client, f"/admin/kiosks/{kiosk_id}/pin", pin=weak).status_code == 422, weak
    assert stored(desk, kiosk_id).pin_hash is None
    assert post(client, f"/admin/kiosks/{kiosk_id}/pin", pin="４８２１９３").status_code == 303
    row = stored(desk, kiosk_id)
    assert row.pin_hash is not None
    assert "482193" not in row.pin_hash
    kiosks.verify_pin(row, "482193", NOON)


def test_a_device_goes_out_of_order_and_back_and_is_revoked_for_good(desk: Desk) -> None:
    kiosk_id, client = add_kiosk(desk), desk.client()
    address = f"/admin/kiosks/{kiosk_id}"
    post(client, f"{address}/out-of-order", what="out")
    assert stored(desk, kiosk_id).out_of_order
    assert "Out of order" in client.get("/admin/kiosks").text
    post(client, f"{address}/out-of-order", what="in")
    assert not stored(desk, kiosk_id).out_of_order
    assert post(client, f"{address}/revoke").headers["Location"] == "/admin/kiosks?said=revoked"
    row = stored(desk, kiosk_id)
    assert (row.token_hash, row.revoked_at) == (None, desk.now)
    assert client.get(address).status_code == 404
    assert post(client, f"{address}/pair").status_code == 404
    assert "Lobby" not in client.get("/admin/kiosks").text
    names = [what for what, _who in recorded(desk)]
    assert names == ["kiosk.out_of_order", "kiosk.in_order", "kiosk.revoked"]
    assert "Lobby" in client.get("/admin/audit").text  # the audit log still names the kiosk


def test_the_list_says_how_each_device_is(desk: Desk) -> None:
    client = desk.client()
    health = {"voices": ["en", "de"], "fonts": ["en", "hi", "ar"], "skew_s": 95}
    kiosk_id = add_kiosk(
        desk, health=health, languages=["en", "hi", "ar"], release="1.0", mm_per_px=0.248
    )
    add_kiosk(desk, name="Entrance", kind="door", seen_at=NOON - timedelta(minutes=4))
    visit(desk, kiosk_id, "1", order_id=1, seconds=40, language="hi", how="done")
    visit(desk, kiosk_id, "2", seconds=90, screen="car", how="left", help_at=NOON, language="ar")
    visit(desk, kiosk_id, "3", began_at=NOON - timedelta(days=1))
    page = client.get("/admin/kiosks").text
    assert page.count("Alive") == 1
    assert page.count("Silent") == 1
    assert "2 visits today · 1 booked · 1 asked for help · typically 90 s" in page
    assert "Its clock is wrong by 95 s" in page
    mute = page.split("read aloud in:")[1].split("<")[0]
    assert "हिन्दी" in mute
    assert "العربية" in mute
    assert "English" not in mute
    assert "no staff PIN" in page
    one = client.get(f"/admin/kiosks/{kiosk_id}").text
    assert "Which car? 1" in one
    assert "Which car? العربية 1" in one
    assert "हिन्दी" in one
    assert "95 s ahead" in one


def test_where_guests_left_and_asked_for_help_is_named_in_words(desk: Desk) -> None:
    kiosk_id, client = add_kiosk(desk), desk.client()
    for screen in ("find", "meet", "people", "sorry", "code", "place"):
        visit(desk, kiosk_id, screen, screen=screen, how="left")
    visit(desk, kiosk_id, "unshown", screen="unshown", order_id=1, help_at=NOON, language="hi")
    one = client.get(f"/admin/kiosks/{kiosk_id}").text
    left = "Code from our desk 1 · Find your ride 1 · Pickup point 1 · How many people? 1"
    assert f"{left} · Another place 1 · Not booked 1" in one
    assert "Ticket not shown हिन्दी 1" in one
    desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), "language", "de"))
    one = client.get(f"/admin/kiosks/{kiosk_id}").text
    assert "Ihre Fahrt finden 1 · Abholpunkt 1 · Wie viele Personen? 1" in one


def visit(desk: Desk, kiosk_id: int, key: str, **facts: Any) -> None:
    row = KioskVisit(id=f"visit-{key}", kiosk_id=kiosk_id, property_id=desk.ids["desk.property"])
    for column, value in ({"began_at": NOON, "ended_at": NOON} | facts).items():
        setattr(row, column, value)
    desk.add(lambda s: s.add(row))


def test_the_directions_to_a_pickup_point_are_added_replaced_and_removed(desk: Desk) -> None:
    kiosk_id, client = add_kiosk(desk, languages=["en", "hi"]), desk.client()
    address = f"/admin/kiosks/{kiosk_id}/hints"
    typed = {"point": "Gate 2", "metres": "40", "minutes": "1", "steps": "no"}
    words = {"words_en": "Past the fountain", "words_hi": "फव्वारे के पास"}
    assert post(client, address, **typed, **words).status_code == 303
    assert post(client, address, **typed, words_en="Left of the fountain").status_code == 303
    with desk.services.db.read() as s:
        row = s.scalars(select(PickupHint)).one()
    assert (row.kiosk_id, row.point, row.metres, row.minutes) == (kiosk_id, "Gate 2", 40, 1)
    assert (row.steps, row.words) == (False, {"en": "Left of the fountain"})
    page = client.get(f"/admin/kiosks/{kiosk_id}").text
    assert "Left of the fountain" in page
    assert "no steps" in page
    assert post(client, f"/admin/pickup-hints/{row.id}/remove").status_code == 303
    with desk.services.db.read() as s:
        assert s.scalars(select(PickupHint)).first() is None


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ({"point": ""}, "Type the point"),
        ({"words_en": "", "words_hi": "वहाँ"}, "Type it in English too"),
        ({"words_en": ""}, "Type the way in words"),
        ({"metres": "-4"}, "Type a whole number up to"),
        ({"steps": "perhaps"}, "Choose one from the list"),
    ],
)
def test_empty_directions_are_refused_with_a_message(
    desk: Desk, typed: dict[str, str], words: str
) -> None:
    kiosk_id = add_kiosk(desk, languages=["en", "hi"])
    given = {"point": "Gate 2", "words_en": "Past the fountain"} | typed
    answer = post(desk.client(), f"/admin/kiosks/{kiosk_id}/hints", **given)
    assert answer.status_code == 422
    assert words in answer.text


def test_a_kiosk_of_another_property_is_not_there(desk: Desk) -> None:
    foreign, client = add_kiosk(desk, "other"), desk.client()
    assert client.get(f"/admin/kiosks/{foreign}").status_code == 404
    for action in ("", "/pair", "/pin", "/out-of-order", "/revoke", "/hints"):
        assert post(client, f"/admin/kiosks/{foreign}{action}", **FORM).status_code == 404, action
    assert stored(desk, foreign).revoked_at is None


def test_in_a_demo_one_press_makes_this_browser_the_kiosk(desk: Desk) -> None:
    kiosk_id, client = add_kiosk(desk, token_hash=None), desk.client()
    assert "Open this kiosk here" in client.get("/admin/kiosks").text
    answer = post(client, f"/admin/kiosks/{kiosk_id}/here")
    assert answer.headers["Location"] == "/kiosk"
    assert client.get("/kiosk").status_code == 200
    assert client.get("/").status_code == 200  # the browser also stays signed in as the desk
    assert ("kiosk.paired", f"staff:{desk.ids['desk']}") in recorded(desk)


def test_the_closed_window_of_a_demo_is_no_matter_for_managers(desk: Desk) -> None:
    kiosk_id, client = add_kiosk(desk, seen_at=NOON - timedelta(minutes=4)), desk.client()
    assert "Kiosk Lobby is silent" in client.get("/board.json").text
    post(client, f"/admin/kiosks/{kiosk_id}/here")
    assert "Kiosk Lobby is silent" not in client.get("/board.json").text
    with desk.services.db.write() as s:  # with a pairing code it is like any other kiosk
        kiosks.make_pairing_code(s.get_one(Kiosk, kiosk_id), desk.ids["desk"], NOON)
    assert "Kiosk Lobby is silent" in client.get("/board.json").text


def test_no_property_outside_a_demo_pairs_a_browser_by_a_press(desk: Desk) -> None:
    kiosk_id, client = add_kiosk(desk, token_hash=None), desk.client()
    object.__setattr__(desk.services.settings, "mode", "live")
    assert "Open this kiosk here" not in client.get("/admin/kiosks").text
    assert post(client, f"/admin/kiosks/{kiosk_id}/here").status_code == 404
    assert stored(desk, kiosk_id).token_hash is None


def test_a_kiosk_that_can_not_book_is_not_shown_as_well(desk: Desk) -> None:
    kiosk_id, client = add_kiosk(desk, mm_per_px=0.25, pin_hash="x"), desk.client()
    for address in ("/admin/kiosks", f"/admin/kiosks/{kiosk_id}"):
        assert "Alive" in client.get(address).text
    with desk.services.db.write() as s:
        s.get_one(Property, desk.ids["desk.property"]).pickup_lat = None
        for account in accounts_of(s, desk.ids["desk.property"]):
            account.state = "removed"
    for address in ("/admin/kiosks", f"/admin/kiosks/{kiosk_id}"):
        page = client.get(address).text
        for words in ("Can&#39;t book", "It has no pickup point", "It has no ride account"):
            assert words in page, (address, words)
        assert "Alive" not in page
