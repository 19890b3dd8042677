"""Permissions: every route with every role and with own and foreign rows, compared to a table."""

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.routing import Rule

from ridedash.demo.stories.runs import Runs
from ridedash.extensions import limiter
from ridedash.observability.logs import worker_step
from ridedash.store.accounts import add_account
from ridedash.store.guest_lists import GuestList, NewLine, store_list
from ridedash.store.invitations import invite
from ridedash.store.kiosks import begin, new_device, revoke
from ridedash.store.models.desk import CostCentre, SavedView, ShiftNote
from ridedash.store.models.kiosks import KioskAsk, KioskKind, KioskVisit, PickupHint
from ridedash.store.models.people import Staff
from ridedash.views.web.permissions import (
    KNOWN,
    ROLES,
    may_invite,
    may_reset_password,
    need_of,
    needs,
    outranks,
)
from tests.demo.lens.exchanges import exchange
from tests.views.ride_pages import NOON, Desk, token, token_of_page

pytestmark = pytest.mark.database

# The permission of each view, stated a second time, so that no mistake opens one.
NEEDS = {
    "open": """
        auth.sign_in auth.sign_in_post staying.show health.alive health.ready metrics.show
        invitations.show invitations.accept guest.show guest.snapshot guest.start
        own_phone.begin own_phone.take own_phone.show own_phone.say
    """,
    "shared": "static faces.file kiosk.show kiosk_pairing.form kiosk_pairing.pair door.show",
    "kiosk": """
        kiosk.beat kiosk_visit.places kiosk_visit.cars kiosk_visit.ask_help kiosk_visit.end
        kiosk_orders.order kiosk_orders.ride kiosk_orders.cancel
    """,
    "door": "door.rows door.press",
    "see": """
        desk.board desk.board_json groups.show rides.show rides.snapshot rides.path
        auth.sign_out me.show me.change_password me.prefer me.choose_language me.sign_out_everywhere
        staying.stay
        outgoing.card outgoing.show_receipt
        history.show history.ask history_views.save history_views.delete
        history_views.refused_again
        search.show search.ask search_list.listed handover.show
        restored.show group_cards.show series.show demo_day.show lists.show
    """,
    "book": """
        booking.new booking.create lookups.products lookups.places lookups.find_guests
        drop_price.show pickup_times.read flights.read lookups.read_phone
        rides.stop_search rides.cancel rides.change_drop rides.give_feedback rides.withdraw
        rides.restore rides.again rides.resolve_booked rides.resolve_not_booked rides.reopen
        rides.correct
        rides.stop_following rides.acknowledge_item rides.forward_resolve rides.show_code
        rides.release rides.ordered rides.start restored.take_up
        outgoing.make_rider_link outgoing.make_follower_link outgoing.end_all_links
        outgoing.forward_links outgoing.make_card messages.prepare handover.add handover.settle
        group_stop.ask group_stop.cancel_all group_stop.restore group_cards.make
        drop_price.way_back series.preview series.ask series.cancel series.restore
        kiosk_desk.come kiosk_desk.new_code kiosk_desk.code_form kiosk_desk.answer
        kiosk_desk.hand_over
        lists.new lists.read lists.save lists.correct lists.book lists.stop lists.go_on
        lists.answer lists.delete
    """,
    "manage": """
        accounts.link accounts.callback admin.home admin.show admin.save admin_places.show
        admin_face.save admin_fits.save admin_kiosk_look.save
        admin_languages.show admin_languages.save
        admin_own_words.show admin_own_words.save admin_own_words.export admin_own_words.take_in
        admin_word_reviews.show admin_word_reviews.save
        admin_places.save admin_places.add_centre admin_places.change_centre admin_staff.show
        admin_staff.invite_somebody admin_staff.change_role admin_staff.disable admin_staff.enable
        admin_staff.sign_out admin_staff.make_password_link admin_staff.forward_change
        admin_staff.withdraw admin_accounts.show admin_accounts.connect admin_accounts.make_default
        admin_accounts.remove admin_accounts.name_affiliate admin_accounts.forward_change
        insights.show
        admin_kiosks.show admin_kiosks.form admin_kiosks.add admin_kiosks.one admin_kiosks.change
        admin_kiosk.pair admin_kiosk.set_pin admin_kiosk.set_out_of_order admin_kiosk.revoke
        admin_kiosk.open_here
        admin_hints.add admin_hints.remove
        demo.show demo.turn demo.leap demo.arm demo.break_something demo.reset
        lens_rides.states lens_rides.elements lens.calls lens.call lens.try_again lens.har
        lens.script lens.events
        demo_stories.start demo_stories.show demo_stories.step demo_stories.skip demo_stories.drop
        demo_stage.show demo_stage.newest demo_stage.partner_sheet demo_sheet.show
        demo_package.download demo_pictures.keep
        demo_presenter.show demo_presenter.state demo_presenter.press
    """,
    "export": "history_csv.export insights_csv.export",
    "audit": "admin_audit.show admin_audit.export",
    "admin": """
        admin_properties.show admin_properties.create admin_properties.look_at restored.deal
    """,
}
EXPECTED = {endpoint: need for need, endpoints in NEEDS.items() for endpoint in endpoints.split()}
MAY = {
    "concierge": {"open", "see", "book"},
    "manager": {"open", "see", "book", "export", "manage", "audit"},
    "admin": {"open", "see", "book", "export", "manage", "audit", "admin"},
}
# parts of an address that name a row, which may be foreign; an admin may look at any property
ROWS = (
    "order_id",
    "account_id",
    "centre_id",
    "staff_id",
    "invitation_id",
    "property_id",
    "note_id",
    "kiosk_id",
    "hint_id",
    "view_id",
    "ask_id",
    "visit_id",
    "number",
    "run_id",
    "list_id",
    "line",
)
ANY_PROPERTY = {"admin_properties.look_at"}
SECRETS = {"token", "filename", "name", "step"}  # secrets that can't be guessed, or public files


def new_list(desk: Desk, who: str) -> int:
    """A guest list with one line."""
    now, home = desk.now, desk.ids[f"{who}.property"]
    row = GuestList(
        property_id=home,
        staff_id=desk.ids[who],
        label="",
        state="DRAFT",
        version=0,
        created_at=now,
        changed_at=now,
        digest="d",
        form_token=f"list of {who} {next(desk.counter)}",
        group_key="g",
        sheet={"fields": ["name"]},
        trip={"account_id": 0},
    )
    with desk.services.db.write() as s:
        line = NewLine(1, ("Guest Heron",), None, f"RD-{next(desk.counter)}")
        return store_list(s, row, [line]).id


def rows_of(desk: Desk, who: str) -> dict[str, Any]:
    """One row of each kind that an address may name, all of one property."""
    property_id = desk.ids[f"{who}.property"]
    found: dict[str, Any] = {
        "order_id": desk.order("BOOKED", "CALL_DRIVER", prop=who),
        "account_id": new_account(desk, who),
        "kiosk_id": new_kiosk(desk, who),
        "list_id": new_list(desk, who),
        "line": 1,
    }
    found["number"] = new_call(desk, found["order_id"])
    runs = Runs(desk.services.settings.instance)
    found |= {"story_id": "receipt", "run_id": runs.begin("receipt", 1, property_id, NOON).id}
    with desk.services.db.write() as s:
        centre = CostCentre(property_id=property_id, name="Spa", closed_at=None)
        colleague = Staff(
            property_id=property_id,
            name="Colleague",
            sign_in_name=f"colleague {next(desk.counter)}",
            password_hash="x",
            role="concierge",
            created_at=NOON,
            disabled_at=None,
        )
        note = ShiftNote(
            property_id=property_id, staff_id=desk.ids[who], text="Call the spa", made_at=NOON
        )
        hint = PickupHint(property_id=property_id, point="Gate 2", words={})
        view = SavedView(
            property_id=property_id, staff_id=desk.ids[who], name="Bills", query="span=month"
        )
        s.add_all([centre, colleague, note, hint, view])
        visit, ask = visit_and_ask(property_id, found["kiosk_id"], next(desk.counter))
        s.add_all([visit, ask])
        s.flush()
        invitation, _ = invite(s, property_id, "concierge", "Somebody", desk.ids[who], NOON)
        found |= {
            "centre_id": centre.id,
            "staff_id": colleague.id,
            "invitation_id": invitation.id,
            "note_id": note.id,
            "hint_id": hint.id,
            "view_id": view.id,
            "visit_id": visit.id,
            "ask_id": ask.id,
        }
    return found | {"property_id": property_id}


def new_account(desk: Desk, who: str) -> int:
    with desk.services.db.write() as s:
        vault, property_id = desk.services.vault, desk.ids[f"{who}.property"]
        return add_account(s, vault, property_id, "Another account", "token", NOON).id


def new_call(desk: Desk, order_id: int) -> int:
    """Record a call to the service about an order in the lens; returns its number."""
    lens = desk.app.extensions["ridedash.lens"]
    before = worker_step.set(("send", order_id))
    lens.exchange(exchange(params={"booking_id": f"CRN{order_id}"}))
    worker_step.reset(before)
    assert lens.flush(60)
    return int(max(each.number for each in lens.file.calls(None, False, 0, 100)))


def new_kiosk(desk: Desk, who: str) -> int:
    with desk.services.db.write() as s:
        property_id = desk.ids[f"{who}.property"]
        row = new_device(s, property_id, KioskKind.KIOSK, "Lobby", NOON)
        row.attended = True
        return row.id


def visit_and_ask(property_id: int, kiosk_id: int, n: int) -> tuple[KioskVisit, KioskAsk]:
    """A visit of a guest at a kiosk who has called for help, and their request for an approval."""
    mine = {"property_id": property_id, "kiosk_id": kiosk_id}
    visit = KioskVisit(id=f"visit-{n}", began_at=NOON, help_at=NOON, **mine)
    ask = KioskAsk(visit_id=visit.id, offer_id=1, state="waiting", asked_at=NOON, **mine)
    return visit, ask


def routes(app: Flask) -> list[tuple[str, Rule]]:
    return [
        (method, rule)
        for rule in app.url_map.iter_rules()
        for method in sorted((rule.methods or set()) & {"GET", "POST"})
    ]


def address(rule: Rule, rows: dict[str, Any]) -> str:
    path = str(rule)
    for name in rule.arguments:
        assert name in rows or name in SECRETS, f"{rule}: the table does not know what {name!r} is"
        converter = "path:" if name in SECRETS else "int:"
        if f"<{name}>" in path:
            converter = ""
        path = path.replace(f"<{converter}{name}>", str(rows.get(name, "nothing-like-it")))
    assert "<" not in path
    return path


def expected(endpoint: str, need: str, role: str | None, *, foreign: bool) -> set[str]:
    """What may happen in a cell: `reached`, `not there`, `refused`, `asked to sign in`."""
    if need in ("open", "shared"):
        return {"reached", "not there"}  # the secrets and file names don't exist
    if need in ("kiosk", "door"):
        return {"not there"}
    if role is None:
        return {"asked to sign in"}
    if need not in MAY[role]:
        return {"refused"}
    return {"not there"} if foreign and endpoint not in ANY_PROPERTY else {"reached"}


def outcome(client: FlaskClient, method: str, path: str, csrf: str) -> str:
    form = {"csrf_token": csrf, "what": "role", "role": "concierge"}
    answer = client.open(path, method=method, data=form if method == "POST" else None)
    assert answer.status_code < 500, (method, path)
    assert answer.status_code != 429, (method, path)
    if answer.status_code == 403:
        return "refused"
    if answer.status_code == 404:
        return "not there"
    if (
        answer.status_code == 401
        or answer.headers.get("Location", "").startswith("/sign-in?next")
        or (answer.status_code == 303 and answer.headers["Location"] == "/sign-in")
    ):
        return "asked to sign in"
    return "reached"


def test_the_declared_permission_of_every_view_is_that_of_the_table(desk: Desk) -> None:
    declared = {
        rule.endpoint: need_of(desk.app, rule.endpoint) for rule in desk.app.url_map.iter_rules()
    }
    assert [endpoint for endpoint, need in declared.items() if need is None] == []
    assert declared == EXPECTED


def test_roles_have_the_permissions_of_the_table_and_each_more_than_the_last() -> None:
    assert {role: set(held) | {"open"} for role, held in ROLES.items()} == MAY
    assert outranks("admin", "manager")
    assert outranks("manager", "manager")
    assert not outranks("manager", "admin")
    assert not outranks("concierge", "manager")
    assert not outranks("somebody", "concierge")
    assert not outranks("admin", "no such role")
    assert {each for held in ROLES.values() for each in held} < KNOWN


@pytest.mark.parametrize(
    ("role", "invites", "resets"),
    [
        ("concierge", [], []),
        ("manager", ["concierge", "manager"], ["concierge"]),
        ("admin", ["concierge", "manager", "admin"], ["concierge", "manager", "admin"]),
        ("gardener", [], []),
    ],
)
def test_who_may_invite_whom_and_set_whose_password(
    role: str, invites: list[str], resets: list[str]
) -> None:
    roles = ["concierge", "manager", "admin", "gardener"]
    assert [each for each in roles if may_invite(role, each)] == invites
    assert [each for each in roles if may_reset_password(role, each)] == resets


@pytest.mark.parametrize("role", [None, "concierge", "manager", "admin"])
def test_every_cell_of_the_matrix_is_as_expected(
    desk: Desk, role: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = {False: rows_of(desk, "desk"), True: rows_of(desk, "other")}
    desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), "role", role or "concierge"))
    desk.services.geocoder.search = lambda *_: []
    monkeypatch.setattr(limiter, "enabled", False)
    unexplained = []
    for method, rule in routes(desk.app):
        need = EXPECTED[rule.endpoint]
        for foreign in (False, True) if set(rule.arguments) & set(ROWS) else (False,):
            # some pages end the sign-in: a fresh one for each cell
            client = desk.client(signed_in=role is not None)
            who = "other" if foreign else "desk"
            if "account_id" in rule.arguments:  # one of the cells removes the account
                rows[foreign]["account_id"] = new_account(desk, who)
            if "kiosk_id" in rule.arguments:  # another cell removes the kiosk
                rows[foreign]["kiosk_id"] = new_kiosk(desk, who)
            path = address(rule, rows[foreign])
            csrf = token(client) if method == "POST" else ""
            came = outcome(client, method, path, csrf)
            if came not in expected(rule.endpoint, need, role, foreign=foreign):
                unexplained.append((role, method, path, "foreign" if foreign else "own", came))
    assert unexplained == []


def test_the_tokens_of_this_file_are_those_that_a_page_gives(desk: Desk) -> None:
    browser, other = desk.client(), desk.client()
    own = (token(browser), token_of_page(browser, "/me"))
    of_others = (token(other), token_of_page(other, "/me"), own[0][:-1])
    for sent, status in [(each, 303) for each in own] + [(each, 400) for each in of_others]:
        data = {"csrf_token": sent, "language": "de"}
        assert browser.post("/me/language", data=data).status_code == status


# by browser: the devices that it is paired as, their property, the role of a signed-in user
DEVICES = {
    "a kiosk": (("kiosk",), "desk", None),
    "a kiosk of another property": (("kiosk",), "other", None),
    "a door display": (("door",), "desk", None),
    "both": (("kiosk", "door"), "desk", None),
    "a kiosk beside a manager": (("kiosk",), "desk", "manager"),
    "a revoked kiosk": ((), "desk", None),
}


@pytest.mark.parametrize("browser", DEVICES)
def test_a_device_reaches_exactly_its_own_routes(
    desk: Desk, browser: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """docs/security.md 9. A device that is revoked is a browser like any other."""
    kinds, _who, role = DEVICES[browser]
    rows = rows_of(desk, "desk")
    desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), "role", role or "concierge"))
    desk.services.geocoder.search = lambda *_: []
    monkeypatch.setattr(limiter, "enabled", False)
    unexplained = []
    client, csrf = become(desk, browser)
    for method, rule in routes(desk.app):
        if role is not None:  # some pages end the sign-in: a fresh one for each cell
            client, csrf = become(desk, browser)
        if "kiosk_id" in rule.arguments:
            rows["kiosk_id"] = new_kiosk(desk, "desk")
        if "account_id" in rule.arguments:
            rows["account_id"] = new_account(desk, "desk")
        need = EXPECTED[rule.endpoint]
        came = outcome(client, method, address(rule, rows), csrf)
        if need in kinds:
            wanted = {"reached"}
        elif kinds and role is None and need != "shared":
            wanted = {"not there"}
        else:
            wanted = expected(rule.endpoint, need, role, foreign=False)
        if came not in wanted:
            unexplained.append((method, rule.rule, came))
    assert unexplained == []


def become(desk: Desk, browser: str) -> tuple[FlaskClient, str]:
    """A browser of DEVICES, and a CSRF token of its session."""
    kinds, who, role = DEVICES[browser]
    client = desk.client(signed_in=role is not None)
    csrf = token(client)
    with desk.services.db.write() as s:
        for kind in kinds or ("kiosk",):
            row = new_device(s, desk.ids[f"{who}.property"], KioskKind(kind), "Lobby", NOON)
            client.set_cookie(f"ridedash_{kind}", begin(row, NOON), samesite="Strict")
            if not kinds:
                revoke(row, NOON)
    return client, csrf


def test_a_view_without_a_declaration_gets_403(desk: Desk) -> None:
    desk.app.add_url_rule("/forgotten", "forgotten", lambda: "seen")
    desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), "role", "admin"))
    assert desk.client().get("/forgotten").status_code == 403
    assert desk.client(signed_in=False).get("/forgotten").status_code == 303


def test_an_unknown_permission_can_not_be_declared() -> None:
    with pytest.raises(ValueError, match="no permission"):
        needs("everything")


def test_an_unknown_role_has_no_permissions(desk: Desk) -> None:
    desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), "role", "gardener"))
    client = desk.client()
    assert client.get("/").status_code == 403
    assert client.get("/me").status_code == 403


def test_a_refused_action_is_audited_and_a_refused_page_is_not(desk: Desk) -> None:
    client = desk.client()
    assert client.get("/admin/staff").status_code == 403
    assert recorded(desk) == []
    client.post(
        "/admin/staff",
        data={"csrf_token": token(client), "name": "Guest Wren", "role": "admin"},
    )
    assert recorded(desk) == [("route:admin_staff.invite_somebody", {"needs": "manage"})]


def recorded(desk: Desk) -> list[Any]:
    from ridedash.store.audit import AuditRow

    with desk.services.db.read() as s:
        rows = s.query(AuditRow).filter_by(what="refused")
        return [(row.subject, row.facts) for row in rows]
