"""Links that give people access: a link ends when its maker loses the right to make it.

Most tests have several browsers: of the maker of a link, of the person who takes the maker's right
away, and of a stranger, who is not signed in and has the link.
"""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from ridedash.rides.kiosk.desk_codes import NewCode, make_code, open_code
from ridedash.store import properties
from ridedash.store.invitations import invite
from ridedash.store.kiosks import make_pairing_code, new_device
from ridedash.store.models.desk import Invitation
from ridedash.store.models.kiosks import KioskKind
from ridedash.store.models.people import Staff
from tests.views.admin.test_property import NEW, link_of, post
from tests.views.ride_pages import HASH, NOON, PASSWORD, Desk, make_desk, token, token_of_page

pytestmark = pytest.mark.database


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """Staff of one property: an admin, two managers and a concierge."""
    made = make_desk(tmp_path)
    made.add(lambda s: setattr(s.get(Staff, made.ids["desk"]), "role", "admin"))
    for name, role in (("heron", "manager"), ("tern", "manager"), ("wren", "concierge")):
        made.ids[name] = member(made, name, role)
    yield made
    made.close()


def member(desk: Desk, name: str, role: str) -> int:
    with desk.services.db.write() as s:
        home = desk.ids["desk.property"]
        return int(properties.add_staff(s, home, name, HASH, role, NOON).id)


def invitation(client: FlaskClient, role: str = "manager") -> str:
    return link_of(post(client, "/admin/staff", name="Somebody New", role=role).text)


def password_link(client: FlaskClient, staff_id: int) -> str:
    return link_of(post(client, f"/admin/staff/{staff_id}/password-link").text)


def use(stranger: FlaskClient, link: str, csrf: str) -> int:
    form = {"name": "back again", "password": NEW, "repeated": NEW, "csrf_token": csrf}
    return stranger.post(link, data=form).status_code


def signs_in(desk: Desk, name: str, password: str) -> bool:
    client = desk.client(signed_in=False)
    form = {"name": name, "password": password, "csrf_token": token(client)}
    return client.post("/sign-in", data=form).status_code == 303


@pytest.mark.parametrize("taken_by", ["disable", "demote", "move"])
def test_a_link_ends_when_its_maker_is_disabled_demoted_or_moved(desk: Desk, taken_by: str) -> None:
    heron, boss, stranger = desk.client(name="heron"), desk.client(), desk.client(signed_in=False)
    links = [invitation(heron), invitation(heron, "concierge")]
    links.append(password_link(heron, desk.ids["wren"]))
    csrf = token_of_page(stranger, links[0])  # this page stays open
    assert [stranger.get(link).status_code for link in links] == [200, 200, 200]
    address = f"/admin/staff/{desk.ids['heron']}"
    if taken_by == "move":
        other = desk.ids["other.property"]
        desk.add(lambda s: setattr(s.get_one(Staff, desk.ids["heron"]), "property_id", other))
    elif taken_by == "demote":
        assert post(boss, f"{address}/role", role="concierge").status_code == 303
    else:
        assert post(boss, f"{address}/disable").status_code == 303
    assert [stranger.get(link).status_code for link in links] == [404, 404, 404]
    assert [use(stranger, link, csrf) for link in links] == [404, 404, 404]
    assert not signs_in(desk, "back again", NEW)
    assert signs_in(desk, "wren", PASSWORD)
    assert "Somebody New" not in boss.get("/admin/staff").text


def test_a_link_stays_ended_when_its_maker_is_enabled_again(desk: Desk) -> None:
    heron, boss, stranger = desk.client(name="heron"), desk.client(), desk.client(signed_in=False)
    link = invitation(heron)
    for change in ("disable", "enable"):
        post(boss, f"/admin/staff/{desk.ids['heron']}/{change}")
    assert stranger.get(link).status_code == 404


def test_a_password_link_ends_when_its_person_is_disabled_or_gets_another_role(desk: Desk) -> None:
    heron, boss, stranger = desk.client(name="heron"), desk.client(), desk.client(signed_in=False)
    wren = f"/admin/staff/{desk.ids['wren']}"
    link = password_link(heron, desk.ids["wren"])
    for change in ("disable", "enable"):
        post(boss, f"{wren}/{change}")
    assert stranger.get(link).status_code == 404
    link = password_link(heron, desk.ids["wren"])
    post(boss, f"{wren}/role", role="admin")
    assert stranger.get(link).status_code == 404


def test_a_password_link_ends_when_its_person_changes_the_password(desk: Desk) -> None:
    heron, wren, stranger = desk.client(name="heron"), desk.client(name="wren"), desk.client(False)
    link = password_link(heron, desk.ids["wren"])
    another = password_link(heron, member(desk, "owl", "concierge"))
    form = {"current": PASSWORD, "password": NEW, "repeated": NEW}
    assert post(wren, "/me/password", **form).status_code == 303
    assert [stranger.get(each).status_code for each in (link, another)] == [404, 200]


@pytest.mark.parametrize("taken_by", ["disable", "demote"])
def test_codes_for_devices_end_with_the_permission_of_their_maker(
    desk: Desk, taken_by: str
) -> None:
    heron, boss, stranger = desk.client(name="heron"), desk.client(), desk.client(False)
    s, home = desk.services, desk.ids["desk.property"]
    with s.db.write() as db:
        lobby = new_device(db, home, KioskKind.KIOSK, "Lobby", NOON)
        door = new_device(db, home, KioskKind.DOOR, "Door", NOON)
        theirs = make_pairing_code(lobby, desk.ids["heron"], NOON)
        another = make_pairing_code(door, desk.ids["tern"], NOON)
    paying = NewCode(home, desk.ids["heron"], house_pays=True)
    code = make_code(s.db, NOON, s.settings.secret_key, paying)
    change = {"disable": {}, "demote": {"role": "concierge"}}[taken_by]
    address = f"/admin/staff/{desk.ids['heron']}/{'role' if change else 'disable'}"
    assert heron.get("/admin/kiosks").status_code == 200
    assert post(boss, address, **change).status_code == 303
    csrf = token(stranger)
    tried = [
        stranger.post("/kiosk/pair", data={"csrf_token": csrf, "code": each}).status_code
        for each in (theirs, another)
    ]
    assert tried == [422, 303]
    with s.db.read() as db:
        assert open_code(db, s.settings.secret_key, home, code, NOON) is None


def test_the_right_of_the_maker_is_checked_when_the_link_is_used(desk: Desk) -> None:
    """The maker's request may store the link only after the maker has lost the right to do so."""
    stranger = desk.client(signed_in=False)
    with desk.services.db.write() as s:
        s.get_one(Staff, desk.ids["heron"]).disabled_at = NOON
    links = {}
    for name, role in (("heron", "manager"), ("wren", "concierge"), ("tern", "admin")):
        with desk.services.db.write() as s:
            maker, prop = desk.ids[name], desk.ids["desk.property"]
            links[name] = "/invite/" + invite(s, prop, role, "X", maker, NOON)[1]
    with desk.services.db.write() as s:
        maker, prop = desk.ids["tern"], desk.ids["other.property"]
        links["elsewhere"] = "/invite/" + invite(s, prop, "concierge", "X", maker, NOON)[1]
    assert {name: stranger.get(link).status_code for name, link in links.items()} == dict.fromkeys(
        links, 404
    )


def test_links_of_the_command_line_and_of_an_admin_elsewhere_work(desk: Desk) -> None:
    stranger, prop = desk.client(signed_in=False), desk.ids["other.property"]
    with desk.services.db.write() as s:
        ours = invite(s, prop, "manager", "X", None, NOON)[1]
        admins = invite(s, prop, "manager", "X", desk.ids["desk"], NOON)[1]
    assert stranger.get(f"/invite/{ours}").status_code == 200
    assert stranger.get(f"/invite/{admins}").status_code == 200


def test_only_an_admin_makes_a_password_link_for_an_equal(desk: Desk) -> None:
    heron, boss = desk.client(name="heron"), desk.client()
    tern, wren = (f"/admin/staff/{desk.ids[name]}" for name in ("tern", "wren"))
    page = heron.get("/admin/staff").text
    assert f'"{wren}/password-link"' in page
    assert f'"{tern}/password-link"' not in page
    assert f'"{tern}/disable"' in page
    assert post(heron, f"{tern}/password-link").status_code == 403
    with desk.services.db.read() as s:
        assert s.query(Invitation).count() == 0
    second = member(desk, "owl", "admin")
    for staff_id in (desk.ids["tern"], second):
        link = password_link(boss, staff_id)
        assert desk.client(signed_in=False).get(link).status_code == 200


def test_a_manager_who_stays_keeps_the_links_that_work(desk: Desk) -> None:
    heron, boss, stranger = desk.client(name="heron"), desk.client(), desk.client(signed_in=False)
    link = invitation(heron)
    post(boss, f"/admin/staff/{desk.ids['tern']}/disable")
    post(boss, f"/admin/staff/{desk.ids['heron']}/sign-out")
    desk.now += timedelta(hours=23)
    assert use(stranger, link, token_of_page(stranger, link)) == 303
    assert signs_in(desk, "back again", NEW)


NAMES = [
    *((name, "in letters or digits") for name in (" ", "\u200d", "\u034f", "\ufeff\u3164", "…")),
    ("T\u0435rn", "letters of several alphabets"),  # a Cyrillic letter
    ("\u041e\u0441\u0430", "looks like that of Oca"),  # three
    ("Te\u034frn", "signs in with this name already"),
    ("ＴＥＲＮ\u200d", "signs in with this name already"),
    ("Tern 1", "looks like that of Tern l"),
]


@pytest.mark.parametrize(("name", "why"), NAMES)
def test_no_one_is_invited_or_joins_with_a_name_that_can_not_be_told_apart(
    desk: Desk, name: str, why: str
) -> None:
    for colleague in ("Oca", "Tern l"):
        member(desk, colleague, "concierge")
    client = desk.client()
    refused = post(client, "/admin/staff", name=name, role="concierge")
    assert refused.status_code == 422
    assert why in refused.text
    stranger, link = desk.client(signed_in=False), invitation(client, "concierge")
    form = {"name": name, "password": NEW, "repeated": NEW, "csrf_token": token(stranger)}
    refused = stranger.post(link, data=form)
    assert refused.status_code == 422
    assert why in refused.text
    assert stranger.post(link, data=form | {"name": "Jose\u0301"}).status_code == 303
    assert signs_in(desk, "JOS\u00c9", NEW)


def test_a_link_that_sets_a_password_makes_its_browser_known(desk: Desk) -> None:
    stranger = desk.client(signed_in=False)
    link = password_link(desk.client(), desk.ids["wren"])
    assert use(stranger, link, token(stranger)) == 303
    assert stranger.get_cookie("ridedash_known") is not None


def test_strangers_use_up_no_link_of_an_invitation(desk: Desk) -> None:
    link, stranger = invitation(desk.client()), desk.client(signed_in=False)
    codes = [stranger.get(f"/invite/no-such-link-{n}").status_code for n in range(62)]
    assert codes == [404] * 60 + [429] * 2
    assert stranger.get(link).status_code == 200
