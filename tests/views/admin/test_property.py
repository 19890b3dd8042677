"""The settings pages: property, places, staff, invitations, accounts, properties, own settings."""

import re
from collections.abc import Iterator
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from ridedash.store.accounts import add_account
from ridedash.store.audit import AuditRow
from ridedash.store.encryption import TokenVault, new_key
from ridedash.store.models.desk import CostCentre, Favourite, Invitation
from ridedash.store.models.orders import Order
from ridedash.store.models.people import Account, Property, SignIn, Staff
from tests.marked_words import GUESTS_ONLY, READ, marked_words
from tests.views.ride_pages import NOON, PASSWORD, Desk, compact, make_desk, token

pytestmark = pytest.mark.database

NEW = "seven herons over the lagoon"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = make_desk(tmp_path)
    made.add(lambda s: setattr(s.get(Staff, made.ids["desk"]), "role", "manager"))
    yield made
    made.close()


def post(client: FlaskClient, path: str, **form: str) -> Any:
    return client.post(path, data={"csrf_token": token(client), **form})


def recorded(desk: Desk, what: str) -> list[AuditRow]:
    with desk.services.db.read() as s:
        return list(s.query(AuditRow).filter_by(what=what).order_by(AuditRow.id))


def row(desk: Desk, table: type[Any], row_id: int) -> Any:
    with desk.services.db.read() as s:
        return s.get_one(table, row_id)


def colleague(desk: Desk, role: str = "concierge") -> int:
    from tests.views.ride_pages import HASH

    with desk.services.db.write() as s:
        made = Staff(
            property_id=desk.ids["desk.property"],
            name="Desk Wren",
            sign_in_name="wren",
            password_hash=HASH,
            role=role,
            created_at=NOON,
            disabled_at=None,
        )
        s.add(made)
        s.flush()
        return int(made.id)


FACTS = {
    "name": "Harbour House",
    "timezone": "Europe/Lisbon",
    "currency": "EUR",
    "country": "PT",
    "phone": "",
}


def test_a_manager_changes_the_property_and_the_audit_log_has_the_change(desk: Desk) -> None:
    client = desk.client()
    answer = post(client, "/admin/property", **FACTS, pickup="-38.5, -128.0")
    assert answer.headers["Location"] == "/admin/property?said=saved"
    prop = row(desk, Property, desk.ids["desk.property"])
    assert (prop.name, prop.timezone, prop.currency, prop.country) == (
        "Harbour House",
        "Europe/Lisbon",
        "EUR",
        "PT",
    )
    assert (prop.pickup_lat, prop.pickup_lng) == (-38.5, -128.0)
    assert prop.flight_margin_min == 120  # a form without this field changes nothing
    post(client, "/admin/property", **FACTS, flight_margin_min="0")
    assert row(desk, Property, desk.ids["desk.property"]).flight_margin_min == 0
    assert 'value="0"' in client.get("/admin/property").text
    assert "name" in recorded(desk, "property.changed")[0].facts["changed"]
    assert 'value="Harbour House"' in client.get("/admin/property").text
    assert row(desk, Property, desk.ids["other.property"]).name == "Other House"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("timezone", "Mars/Base"),
        ("currency", "XXXX"),
        ("country", "Nowhere"),
        ("country", "ZZ"),
        ("phone", "12"),
        ("flight_margin_min", "two hours"),
        ("flight_margin_min", "361"),
    ],
)
def test_an_invalid_field_has_a_message_and_nothing_is_saved(
    desk: Desk, field: str, value: str
) -> None:
    answer = post(desk.client(), "/admin/property", **(FACTS | {field: value}))
    assert answer.status_code == 422
    assert f'id="{field}-error"' in answer.text
    assert row(desk, Property, desk.ids["desk.property"]).name == "Grand Meridian Hotel"


def test_another_time_zone_needs_confirmation_once_while_rides_are_planned_in_the_old_one(
    desk: Desk,
) -> None:
    client, order_id = desk.client(), desk.order("SCHEDULED")
    with desk.services.db.write() as s:
        order = s.get_one(Order, order_id)
        order.pickup_at, order.version = NOON + timedelta(hours=4), 9  # 18:00 in Kolkata
    answer = post(client, "/admin/property", **FACTS)
    assert answer.status_code == 422
    text = unescape(answer.text)
    assert "1 planned ride keeps its moment: Mon 4 May 18:00 will read Mon 4 May 13:30." in text
    assert row(desk, Property, desk.ids["desk.property"]).timezone == "Asia/Kolkata"
    assert 'name="zone_asked" value="Europe/Lisbon"' in answer.text
    other = FACTS | {"timezone": "Asia/Calcutta", "zone_asked": "Europe/Lisbon"}
    assert post(client, "/admin/property", **other).status_code == 303, "the same clock"
    assert post(client, "/admin/property", **FACTS, zone_asked="UTC").status_code == 422
    assert post(client, "/admin/property", **FACTS, zone_asked="Europe/Lisbon").status_code == 303
    assert row(desk, Property, desk.ids["desk.property"]).timezone == "Europe/Lisbon"


def options(page: str, name: str) -> list[str]:
    """The values that a list of the form offers, without the empty one."""
    part = page.partition(f'<select id="{name}"')[2].partition("</select>")[0]
    return [value for value in re.findall(r'<option[^>]*? value="([^"]*)"', part) if value]


def test_each_place_has_one_time_zone_and_no_currency_is_of_the_past(desk: Desk) -> None:
    page = desk.client().get("/admin/property").text
    zones, money = options(page, "timezone"), options(page, "currency")
    assert {"UTC", "Asia/Kolkata", "Europe/Lisbon", "Europe/Oslo"} <= set(zones)
    older_names = {"Asia/Calcutta", "US/Eastern", "Brazil/East", "America/Buenos_Aires"}
    assert not older_names & set(zones)
    assert len(zones) == len(set(zones))
    assert {"EUR", "INR", "USD", "JPY", "CHF", "KWD"} <= set(money)
    assert not {"DEM", "XXX", "XTS", "XAU", "ADP", "USN"} & set(money)
    assert 120 < len(money) < 180


def test_what_a_property_has_stays_in_its_lists_whatever_its_age(desk: Desk) -> None:
    home = desk.ids["desk.property"]
    with desk.services.db.write() as s:
        prop = s.get_one(Property, home)
        prop.timezone, prop.currency = "Asia/Calcutta", "DEM"
    client = desk.client()
    page = client.get("/admin/property").text
    assert '<option value="Asia/Calcutta" selected>' in page
    assert '<option value="DEM" selected>' in page
    same_values = FACTS | {"timezone": "Asia/Calcutta", "currency": "DEM"}
    assert post(client, "/admin/property", **same_values).status_code == 303
    assert row(desk, Property, home).timezone == "Asia/Calcutta"


def test_the_language_says_which_ones_staff_do_not_read(desk: Desk) -> None:
    client, hint = desk.client(), "Staff read English in place of:"
    with marked_words(desk.app, ["fr"], GUESTS_ONLY):
        assert f"{hint} Français." in client.get("/admin/property").text
    with marked_words(desk.app, ["de"], READ):
        page = client.get("/admin/property").text
    assert "Deutsch" in page
    assert hint not in page


def favourites(desk: Desk) -> list[tuple[str, int, str]]:
    with desk.services.db.read() as s:
        rows = s.query(Favourite).order_by(Favourite.kind, Favourite.slot)
        return [(each.kind, each.slot, each.name) for each in rows]


def add_favourite(desk: Desk, name: str, **form: str) -> Any:
    place = {"kind": "drop", "place": "-38.48, -127.97", "place_name": name}
    return post(desk.client(), "/admin/places", **(place | form))


def test_a_new_favourite_takes_the_first_free_number_of_its_list(desk: Desk) -> None:
    for name, form in (
        ("Station", {"slot": "2"}),
        ("Airport", {}),
        ("Museum", {"slot": ""}),
        ("Kerb", {"kind": "pickup", "slot": ""}),
    ):
        assert add_favourite(desk, name, **form).status_code == 303
    assert favourites(desk) == [
        ("drop", 1, "Airport"),
        ("drop", 2, "Station"),
        ("drop", 3, "Museum"),
        ("pickup", 1, "Kerb"),
    ]
    page = desk.client().get("/admin/places").text
    slots = page.partition('<select id="slot"')[2].partition("</select>")[0]
    assert '<option value="">The next free one</option>' in slots
    assert options(page, "slot") == [str(n) for n in range(1, 10)]
    assert "selected" not in slots


def test_a_favourite_is_replaced_only_on_request(desk: Desk) -> None:
    add_favourite(desk, "Airport", slot="3")
    answer = add_favourite(desk, "Station", slot="3")
    assert answer.status_code == 422
    assert "3 is Airport. Choose another number, or replace it." in answer.text
    # what was typed and found is preserved
    assert re.search(r'name="place_name"[^>]*value="Station"', compact(answer.text))
    assert re.search(r'name="place_lat" value="-38.48"', compact(answer.text))
    assert favourites(desk) == [("drop", 3, "Airport")]
    assert 'name="replace"' in answer.text
    assert add_favourite(desk, "Station", slot="3", replace="1").status_code == 303
    assert favourites(desk) == [("drop", 3, "Station")]
    post(desk.client(), "/admin/places", kind="drop", slot="3", what="remove")
    assert favourites(desk) == []
    for slot in ("10", "0", "-1", "x"):
        assert add_favourite(desk, "Station", slot=slot).status_code == 400
    for _slot in range(9):
        add_favourite(desk, "Airport")
    assert "All nine numbers are taken." in add_favourite(desk, "Station").text
    assert len(favourites(desk)) == 9


def test_taking_a_favourite_off_the_list_can_be_undone(desk: Desk) -> None:
    add_favourite(desk, "Airport, T1", slot="3")
    client = desk.client()
    gone = post(client, "/admin/places", kind="drop", slot="3", what="remove")
    page = client.get(gone.headers["Location"]).text
    form = page[page.index("Taken off the list.") : page.index("Undo")]
    undo = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', form))
    assert undo.pop("csrf_token")
    assert post(client, "/admin/places", **undo).status_code == 303
    assert favourites(desk) == [("drop", 3, "Airport, T1")]
    assert ">Undo<" not in client.get(gone.headers["Location"]).text


def test_a_cost_centre_is_made_once_and_can_be_closed_and_reopened(desk: Desk) -> None:
    client = desk.client()
    assert post(client, "/admin/cost-centres", name="Spa").status_code == 303
    assert post(client, "/admin/cost-centres", name="SPA").status_code == 422
    with desk.services.db.read() as s:
        (centre,) = s.query(CostCentre).all()
    post(client, f"/admin/cost-centres/{centre.id}", what="close")
    assert row(desk, CostCentre, centre.id).closed_at is not None
    post(client, f"/admin/cost-centres/{centre.id}", what="open")
    assert row(desk, CostCentre, centre.id).closed_at is None


def test_a_place_is_renamed_where_it_stands(desk: Desk) -> None:
    add_favourite(desk, "Airport", slot="3")
    client = desk.client()
    place = {"kind": "drop", "slot": "3", "what": "rename"}
    answer = post(client, "/admin/places", **place, place_name=" Airport <b>T1</b> ")
    assert answer.headers["Location"] == "/admin/places?said=saved#drop-3"
    assert favourites(desk) == [("drop", 3, "Airport <b>T1</b>")]
    assert 'value="Airport &lt;b&gt;T1&lt;/b&gt;"' in client.get("/admin/places").text
    for empty in ("", " \u200b "):
        refused = post(client, "/admin/places", **place, place_name=empty)
        assert (refused.status_code, "Type a name." in refused.text) == (422, True)
    assert post(client, "/admin/places", **place | {"slot": "4"}, place_name="x").status_code == 404
    assert post(client, "/admin/places", **place | {"what": "burn"}).status_code == 400
    assert favourites(desk) == [("drop", 3, "Airport <b>T1</b>")]


def test_a_move_saves_the_name_that_was_typed_in_the_row(desk: Desk) -> None:
    for name, slot in (("Airport", "1"), ("Station", "4")):
        add_favourite(desk, name, slot=slot)
    move = {"kind": "drop", "slot": "4", "what": "up"}
    answer = post(desk.client(), "/admin/places", **move, place_name="Central Station")
    assert answer.status_code == 303
    assert favourites(desk) == [("drop", 1, "Central Station"), ("drop", 4, "Airport")]


@pytest.mark.parametrize("what", ["rename", "up"])
def test_no_two_places_of_a_list_have_one_name(desk: Desk, what: str) -> None:
    for name, slot in (("Airport", "1"), ("Station", "4")):
        add_favourite(desk, name, slot=slot)
    add_favourite(desk, "Kerb", kind="pickup", slot="4")
    client, station = desk.client(), {"kind": "drop", "slot": "4", "what": what}
    refused = post(client, "/admin/places", **station, place_name="AIRPORT ")
    assert (refused.status_code, "There is one of this name" in refused.text) == (422, True)
    assert ("drop", 4, "Station") in favourites(desk)
    assert post(client, "/admin/places", **station, place_name="Kerb").status_code == 303


def test_a_place_moves_up_and_down_its_own_list_over_free_numbers(desk: Desk) -> None:
    for name, slot in (("Airport", "1"), ("Station", "4"), ("Museum", "9")):
        add_favourite(desk, name, slot=slot)
    add_favourite(desk, "Kerb", kind="pickup", slot="2")
    client = desk.client()

    def move(slot: int, way: str) -> str:
        answer = post(client, "/admin/places", kind="drop", slot=str(slot), what=way)
        return str(answer.headers["Location"].partition("#")[2])

    def drops() -> list[tuple[int, str]]:
        return [(slot, name) for kind, slot, name in favourites(desk) if kind == "drop"]

    assert move(9, "up") == "drop-4-up"
    assert drops() == [(1, "Airport"), (4, "Museum"), (9, "Station")]
    assert move(1, "down") == "drop-4-down"
    assert drops() == [(1, "Museum"), (4, "Airport"), (9, "Station")]
    for slot, way in ((1, "up"), (9, "down"), (5, "up")):
        move(slot, way)
    assert drops() == [(1, "Museum"), (4, "Airport"), (9, "Station")]
    assert ("pickup", 2, "Kerb") in favourites(desk)
    page = compact(client.get("/admin/places").text)
    assert re.search(r'id="drop-1-up"[^>]* disabled', page)
    assert re.search(r'id="drop-9-down"[^>]* disabled', page)
    assert not re.search(r'id="drop-4-(up|down)"[^>]* disabled', page)


def test_a_cost_centre_is_renamed_and_no_two_have_one_name(desk: Desk) -> None:
    client = desk.client()
    for name in ("Spa", "Banquets"):
        post(client, "/admin/cost-centres", name=name)
    with desk.services.db.read() as s:
        spa = s.query(CostCentre).filter_by(name="Spa").one().id
    address = f"/admin/cost-centres/{spa}"
    assert post(client, address, what="rename", name="SPA ").status_code == 303
    assert row(desk, CostCentre, spa).name == "SPA"
    for name, why in (("banquets", "There is one of this name already."), (" ", "Type a name.")):
        refused = post(client, address, what="rename", name=name)
        assert (refused.status_code, why in refused.text) == (422, True)
    assert row(desk, CostCentre, spa).name == "SPA"


def link_of(text: str) -> str:
    found = re.search(r'value="http://127\.0\.0\.1:8000(/invite/[^"]+)"', text)
    assert found
    return found.group(1)


def accept(desk: Desk, link: str, **form: str) -> Any:
    guest = desk.client(signed_in=False)
    return guest.post(link, data={"csrf_token": token(guest), **form})


def test_an_invitation_works_once_and_gives_its_role(desk: Desk) -> None:
    link = link_of(post(desk.client(), "/admin/staff", name="Desk Heron", role="concierge").text)
    assert 'value="Desk Heron"' in desk.client(signed_in=False).get(link).text
    form = {"name": "heron", "password": NEW, "repeated": NEW, "role": "admin"}
    assert accept(desk, link, **form).headers["Location"] == "/sign-in?set=1"
    assert accept(desk, link, **form).status_code == 404
    with desk.services.db.read() as s:
        staff = s.query(Staff).filter_by(sign_in_name="heron").one()
        invitation = s.query(Invitation).one()
    assert (staff.role, staff.property_id) == ("concierge", desk.ids["desk.property"])
    assert link.rsplit("/", 1)[1] not in repr(vars(invitation))
    assert NEW not in staff.password_hash
    client = desk.client(signed_in=False)
    data = {"name": "heron", "password": NEW, "csrf_token": token(client)}
    assert client.post("/sign-in", data=data).status_code == 303
    assert [each.who for each in recorded(desk, "staff.joined")] == [f"staff:{staff.id}"]


def test_unknown_used_expired_and_withdrawn_links_get_the_same_404(desk: Desk) -> None:
    client = desk.client()
    over = link_of(post(client, "/admin/staff", name="A", role="concierge").text)
    withdrawn = link_of(post(client, "/admin/staff", name="B", role="concierge").text)
    with desk.services.db.read() as s:
        number = s.query(Invitation).filter_by(name="B").one().id
    post(client, f"/admin/invitations/{number}/withdraw")
    stranger = desk.client(signed_in=False)
    bodies = {
        without_reference(stranger.get(withdrawn)),
        without_reference(stranger.get("/invite/" + "x" * 32)),
    }
    assert stranger.get(over).status_code == 200
    desk.now += timedelta(hours=24)
    bodies |= {
        without_reference(stranger.get(over)),
        without_reference(stranger.get("/invite/" + "y" * 5000)),
    }
    assert len(bodies) == 1


def without_reference(answer: Any) -> str:
    assert answer.status_code == 404
    text = re.sub(r'class="mono"\s*>[0-9A-F]{8}<|nonce="[^"]*"|content="[^"]*"', "", answer.text)
    return str(text)


WEAK = [
    "short one",
    "Password1234",
    "ridedash-desk-2026",
    "Grand Meridian 1",
    "aaaaaaaaaaaaaa",
    "qwertyuiop123",
    "x" * 129,
]


@pytest.mark.parametrize("password", WEAK)
def test_an_easily_guessed_password_is_refused_and_the_link_still_works(
    desk: Desk, password: str
) -> None:
    link = link_of(post(desk.client(), "/admin/staff", name="Desk Heron", role="concierge").text)
    answer = accept(desk, link, name="heron", password=password, repeated=password)
    assert answer.status_code == 422
    assert 'id="password-error"' in answer.text
    assert accept(desk, link, name="heron", password=NEW, repeated=NEW).status_code == 303


def test_a_link_for_a_new_password_ends_the_sign_ins_and_an_older_link(desk: Desk) -> None:
    staff_id = colleague(desk)
    theirs, client = desk.client(name="wren"), desk.client()
    first = link_of(post(client, f"/admin/staff/{staff_id}/password-link").text)
    link = link_of(post(client, f"/admin/staff/{staff_id}/password-link").text)
    assert theirs.get("/").status_code == 200
    assert accept(desk, first, password=NEW, repeated=NEW).status_code == 404
    assert accept(desk, link, password=NEW, repeated=NEW).status_code == 303
    assert theirs.get("/").status_code == 303
    browser = desk.client(signed_in=False)
    data = {"name": "wren", "password": PASSWORD, "csrf_token": token(browser)}
    assert browser.post("/sign-in", data=data).status_code == 401


@pytest.mark.parametrize("action", ["disable", "sign-out", "role"])
def test_disabling_signing_out_or_another_role_ends_the_sign_ins_at_once(
    desk: Desk, action: str
) -> None:
    staff_id = colleague(desk)
    theirs = desk.client(name="wren")
    answer = post(desk.client(), f"/admin/staff/{staff_id}/{action}", role="manager")
    assert answer.status_code == 303
    assert theirs.get("/").status_code == 303
    with desk.services.db.read() as s:
        assert s.query(SignIn).filter_by(staff_id=staff_id).count() == 0


def test_managers_can_not_change_themselves_or_grant_a_higher_role(desk: Desk) -> None:
    client, staff_id, boss = desk.client(), colleague(desk), desk.ids["desk"]
    assert post(client, f"/admin/staff/{boss}/disable").status_code == 403
    assert post(client, f"/admin/staff/{staff_id}/role", role="admin").status_code == 400
    assert post(client, "/admin/staff", name="X", role="admin").status_code == 400
    desk.add(lambda s: setattr(s.get(Staff, staff_id), "role", "admin"))
    assert post(client, f"/admin/staff/{staff_id}/password-link").status_code == 403
    assert row(desk, Staff, staff_id).disabled_at is None


def test_changing_the_own_password_needs_it_and_signs_other_browsers_out(
    desk: Desk,
) -> None:
    client, elsewhere = desk.client(), desk.client()
    wrong = post(client, "/me/password", current="not it", password=NEW, repeated=NEW)
    assert (wrong.status_code, 'id="current-error"' in wrong.text) == (422, True)
    weak = post(
        client, "/me/password", current=PASSWORD, password="Password1234", repeated="Password1234"
    )
    assert 'id="password-error"' in weak.text
    differ = post(client, "/me/password", current=PASSWORD, password=NEW, repeated=NEW + "s")
    assert 'id="repeated-error"' in differ.text
    assert (
        post(client, "/me/password", current=PASSWORD, password=NEW, repeated=NEW).status_code
        == 303
    )
    assert client.get("/me?said=password").status_code == 200
    assert elsewhere.get("/").status_code == 303
    assert [each.result for each in recorded(desk, "password.changed")] == ["refused", "ok"]


def test_guessing_the_present_password_is_rate_limited(desk: Desk) -> None:
    client = desk.client()
    codes = [
        post(client, "/me/password", current=f"guess {i}", password=NEW, repeated=NEW).status_code
        for i in range(6)
    ]
    assert codes == [422] * 5 + [429]
    assert (
        post(client, "/me/password", current=PASSWORD, password=NEW, repeated=NEW).status_code
        == 429
    )


def test_signing_out_everywhere_ends_this_browser_too(desk: Desk) -> None:
    client, elsewhere = desk.client(), desk.client()
    assert post(client, "/me/sign-outs").headers["Location"] == "/sign-in?out=1"
    assert client.get("/").status_code == 303
    assert elsewhere.get("/").status_code == 303


def test_keys_and_sound_are_stored_for_each_member_of_staff(desk: Desk) -> None:
    client = desk.client()
    post(client, "/me/preferences", sound="on")
    me = row(desk, Staff, desk.ids["desk"])
    assert (me.shortcuts, me.sound) == (False, True)
    assert 'name="sound" checked' in client.get("/me").text


def test_an_account_with_unreadable_tokens_is_not_shown_as_connected(
    desk: Desk,
) -> None:
    client = desk.client()
    assert "A key is missing" not in client.get("/admin/accounts").text
    with desk.services.db.write() as s:
        add_account(
            s, TokenVault("k9:" + new_key()), desk.ids["desk.property"], "Second", "t", NOON
        )
    page = compact(client.get("/admin/accounts").text)
    assert (page.count("A key is missing"), page.count("Connected<")) == (1, 1)
    assert page.index("A key is missing") > page.index("Second")


def test_an_account_is_made_the_default_and_removed_when_no_ride_needs_it(desk: Desk) -> None:
    with desk.services.db.write() as s:
        second = add_account(
            s, desk.services.vault, desk.ids["desk.property"], "Second", "t", NOON
        ).id
    first, client = desk.ids["desk.account"], desk.client()
    post(client, f"/admin/accounts/{second}/default")
    assert (row(desk, Account, second).is_default, row(desk, Account, first).is_default) == (
        True,
        False,
    )
    desk.order("BOOKED", "CALL_DRIVER")  # with the first account
    assert (
        post(client, f"/admin/accounts/{first}/remove").headers["Location"].endswith("said=in_use")
    )
    assert (
        post(client, f"/admin/accounts/{second}/remove").headers["Location"].endswith("said=done")
    )
    gone = row(desk, Account, second)
    assert (gone.state, gone.access_token_enc, gone.is_default) == ("removed", None, False)
    assert row(desk, Account, first).is_default
    assert "Second" not in client.get("/admin/accounts").text
    assert post(client, f"/admin/accounts/{second}/default").status_code == 404


def test_an_admin_makes_a_property_and_sees_one_at_a_time(desk: Desk) -> None:
    desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), "role", "admin"))
    client, other = desk.client(), desk.ids["other.property"]
    theirs, ours = (
        desk.order("BOOKED", "CALL_DRIVER", prop="other"),
        desk.order("BOOKED", "CALL_DRIVER"),
    )
    assert client.get(f"/rides/{theirs}").status_code == 404
    cookie = client.get_cookie("ridedash_sid")
    assert post(client, f"/admin/properties/{other}/open").status_code == 303
    assert "Other House" in client.get("/").text
    assert client.get(f"/rides/{theirs}").status_code == 200
    assert client.get(f"/rides/{ours}").status_code == 404
    stopped = post(client, f"/rides/{theirs}/stop-following")
    assert "stop-done" in stopped.headers["Location"]
    assert cookie is not None
    older = desk.client(signed_in=False)
    older.set_cookie("ridedash_sid", cookie.value)
    assert older.get("/").status_code == 303  # the sign-in before the change has ended
    desk.now += timedelta(hours=12)
    # and the new one ends when the old one would have
    assert client.get("/").status_code == 303
    assert row(desk, Staff, desk.ids["desk"]).property_id == desk.ids["desk.property"]


def test_a_new_property_needs_a_name_of_its_own(desk: Desk) -> None:
    desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), "role", "admin"))
    client = desk.client()
    assert post(client, "/admin/properties", name="Other House", timezone="UTC").status_code == 422
    assert post(client, "/admin/properties", name="Third House", timezone="UTC").status_code == 303
    assert "Third House" in client.get("/admin/properties").text


def test_an_account_has_the_affiliate_id_that_a_manager_typed_until_it_is_emptied(
    desk: Desk,
) -> None:
    account, client = desk.ids["desk.account"], desk.client()
    address = f"/admin/accounts/{account}/affiliate"
    answer = post(client, address, affiliate_uid="  guest\u202e-17<b> ")
    assert answer.headers["Location"].endswith("said=done")
    assert row(desk, Account, account).affiliate_uid == "guest-17<b>"
    page = client.get("/admin/accounts").text
    assert 'value="guest-17&lt;b&gt;"' in page
    assert "guest-17<b>" not in page
    post(client, address, affiliate_uid=" ")
    assert row(desk, Account, account).affiliate_uid is None
    log = client.get("/admin/audit").text
    assert log.count("Changed an account&#39;s affiliate id") == 3  # two entries, and the filter
    post(client, address, affiliate_uid="x" * 5000)
    assert len(row(desk, Account, account).affiliate_uid or "") == 100


def test_the_affiliate_id_of_another_propertys_account_is_not_found(desk: Desk) -> None:
    theirs = desk.ids["other.account"]
    assert (
        post(desk.client(), f"/admin/accounts/{theirs}/affiliate", affiliate_uid="x").status_code
        == 404
    )
    assert row(desk, Account, theirs).affiliate_uid is None
