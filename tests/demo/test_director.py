"""The director of a demo: its page, its presses, and what Reset deletes and leaves."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import select

from ridedash.demo import beginning, emptying, pages
from ridedash.demo.emptying import EMPTIED, empty
from ridedash.demo.sandbox_control import NotDone, NotOurs, SandboxControl
from ridedash.demo.stories import runs
from ridedash.demo.words import FAULTS, SCENARIOS
from ridedash.geo import LatLng
from ridedash.rides.journals.restore import catch_up
from ridedash.rides.journals.sent_journal import SentEntry, SentJournal
from ridedash.rides.share_links import LinkKind, make_link
from ridedash.sandbox.trips.planner import SCENARIOS as OF_SANDBOX
from ridedash.service.transport.http import Http
from ridedash.store import restores
from ridedash.store.actors import by_staff
from ridedash.store.models.desk import Favourite
from ridedash.store.models.kiosks import Kiosk
from ridedash.store.models.people import EndedSignIn, Guest, SignIn, Staff
from ridedash.store.orders import Order
from tests.demo.stages import Stage, fill
from tests.sandbox import sandbox_desk
from tests.views.ride_pages import compact, make_desk, token

pytestmark = pytest.mark.database


def refuse(_request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("refused")


def test_the_page_shows_the_clock_and_managers_find_it_in_the_band(stage: Stage) -> None:
    page = compact(stage.web.get("/demo").text)
    assert "Wed 4 Mar 12:00" in page
    assert "Normal speed" in page
    link = '<a href="/demo">Direct the demo</a>'
    assert link in compact(stage.web.get("/history").text)
    other = stage.desk.client(name="other")  # a concierge
    assert link not in compact(other.get("/history").text)
    assert other.get("/demo").status_code == 403


def test_pages_of_a_demo_poll_soon_after_a_leap(stage: Stage) -> None:
    order_id = stage.desk.order("BOOKED", "CALL_DRIVER")
    for path in ("/", f"/rides/{order_id}"):
        assert 'data-poll-within="750"' in stage.web.get(path).text


def test_the_city_is_that_of_the_property(stage: Stage) -> None:
    control = stage.desk.app.extensions[pages.EXTENSION]
    assert control.city_at(sandbox_desk.HOTEL) == "Port Meridian"
    assert control.city_at(LatLng(0.0, 0.0)) == ""


@pytest.mark.parametrize("city", [{"name": "Elsewhere"}, {"bounds": 7}, {"bounds": [[1, 2]]}, "x"])
def test_a_city_that_can_not_be_read_is_an_answer_of_no_sandbox(stage: Stage, city: Any) -> None:
    stage.reach(httpx.MockTransport(lambda _sent: httpx.Response(200, json={"cities": [city]})))
    with pytest.raises(NotDone):
        stage.desk.app.extensions[pages.EXTENSION].city_at(sandbox_desk.HOTEL)


def test_the_clock_is_held_and_runs_again(stage: Stage) -> None:
    woken: list[bool] = []
    stage.desk.services.wake = lambda: woken.append(True)
    page = stage.press("clock", speed="0")
    assert "The clock is held. All rides stand still." in page
    assert stage.sandbox.web.get("/control/clock", headers=sandbox_desk.CONTROL).json["speed"] == 0
    assert "20 times as fast" in stage.press("clock", speed="20")
    assert stage.sandbox.web.get("/control/clock", headers=sandbox_desk.CONTROL).json["speed"] == 20
    assert stage.audited() == [("demo.clock", {"speed": 0}), ("demo.clock", {"speed": 20})]
    assert woken == [True, True]


@pytest.mark.parametrize(
    ("what", "fields"),
    [("clock", {"speed": "7"}), ("scenario", {"scenario": "x"}), ("fault", {"fault": "x"})],
)
def test_what_is_no_choice_of_the_page_changes_nothing(
    stage: Stage, what: str, fields: dict[str, str]
) -> None:
    sent = fields | {"csrf_token": stage.csrf}
    assert stage.web.post(f"/demo/{what}", data=sent).status_code == 400
    assert stage.audited() == []


def test_a_press_without_the_token_of_the_page_is_refused(stage: Stage) -> None:
    stage.sandbox.book("mini")
    assert stage.web.post("/demo/reset").status_code == 400
    assert len(stage.sandbox.ledger()) == 1


def test_the_page_and_reset_need_no_file_of_stories(stage: Stage) -> None:
    """A story that can't be stored is not begun, and nothing is deleted."""
    fill(stage)
    (stage.desk.services.settings.instance / runs.FILE).mkdir()
    page = stage.press("stories/receipt/start")
    assert "Nothing was changed. Is the disk full?" in page
    assert (stage.count(Order), len(stage.sandbox.ledger())) == (2, 1)
    assert stage.web.get("/demo/stage").status_code == 200
    gone = stage.web.get("/demo/runs/abc")
    assert (gone.status_code, "The file of the stories" in gone.text) == (503, True)
    assert "The demo begins anew." in stage.press("reset")
    assert stage.count(Order) == 0


def test_a_leap_says_what_came_and_how_many_others_moved(stage: Stage) -> None:
    assert "No ride is under way. Book one first." in stage.press("next")
    booking = stage.sandbox.book("mini")
    order_id = stage.desk.order("BOOKED", "ALLOTMENT_PENDING")
    stage.desk.add(lambda s: setattr(s.get(Order, order_id), "booking_id", booking))
    page = compact(stage.press("next"))
    assert "Other rides that moved on: 0." in page
    assert f'<a href="/rides/{order_id}"><bdi>412</bdi>' in page
    [ride] = stage.sandbox.ledger()
    assert ride["status"] == "CALL_DRIVER"
    assert [what for what, _ in stage.audited()] == ["demo.next"]


def test_what_the_address_of_a_leap_says_is_no_markup(stage: Stage) -> None:
    page = stage.web.get("/demo?said=next&status=<b>x&others=1&ride=<b>y").text
    assert "<b>" not in page
    page = stage.web.get("/demo?said=next&status=CALL_DRIVER&others=2&ride=unknown").text
    assert "Other rides that moved on: 2." in page


def test_the_scenarios_are_those_of_the_sandbox(stage: Stage) -> None:
    assert SCENARIOS.keys() == OF_SANDBOX.keys()
    page = stage.press("scenario", scenario="driver_leaves")
    assert "Set for the next booking: Auto: the driver leaves on the way" in page
    stage.sandbox.book("auto")
    assert stage.sandbox.ledger()[0]["scenario"] == "driver_leaves"


def test_each_fault_is_one_that_the_sandbox_knows(stage: Stage) -> None:
    for name, fault in FAULTS.items():
        assert f"This goes wrong next: {fault.words}" in stage.press("fault", fault=name)
    assert [facts["fault"] for _, facts in stage.audited()] == list(FAULTS)


def test_reset_deletes_rides_and_guests_and_leaves_the_property(stage: Stage) -> None:
    fill(stage)
    stage.sandbox.control("next", scenario="no_cab")
    page = stage.press("reset")
    assert "All rides and guests are deleted. The demo begins anew." in page
    assert {table.__tablename__: stage.count(table) for table in EMPTIED} == {
        table.__tablename__: 0 for table in EMPTIED
    }
    assert stage.sandbox.ledger() == []
    assert stage.sandbox.book("mini")  # without the scenario from before the reset
    assert stage.sandbox.ledger()[0]["scenario"] == "normal"
    assert [stage.count(table) for table in (Staff, SignIn, Favourite, Kiosk)] == [2, 1, 1, 1]
    assert stage.count(EndedSignIn) == 1  # the ended link: other processes may have it in memory
    with stage.desk.services.db.read() as s:
        kiosk = s.scalars(select(Kiosk)).one()
        assert (kiosk.handed_at, kiosk.code_until) == (None, None)
        assert kiosk.token_hash  # still paired
    assert [what for what, _ in stage.audited()] == ["demo.reset"]


def test_after_a_reset_the_journals_miss_no_order(stage: Stage, tmp_path: Path) -> None:
    """Otherwise the worker would take the database for one that was restored from a backup."""
    order_id, db = stage.desk.order("BOOKED", "CALL_DRIVER"), stage.desk.services.db
    with db.read() as s:
        order, name = s.get_one(Order, order_id), restores.identity(s)
    journal = SentJournal(tmp_path, 0)
    journal.sent(
        SentEntry(
            order.mtx, 1, stage.desk.now, name, order.property_id, order.account_id, order.category
        )
    )
    stage.press("reset")
    assert catch_up(db, stage.desk.services.clock, journal) == (0, None)
    journal.close()


def test_a_link_of_before_shows_no_ride_that_got_its_number(tmp_path: Path) -> None:
    """Links are answered from memory, in which a link stays known for minutes."""
    stage = Stage(tmp_path, POLL_LAYER="on")
    desk, home = stage.desk, stage.desk.ids["desk.property"]
    order_id, who = desk.order("BOOKED", "CALL_DRIVER"), by_staff(desk.ids["desk"])
    link = make_link(desk.services.db, desk.now, home, order_id, LinkKind.RIDER, who)
    guest = desk.client(signed_in=False)
    for _ in range(2):
        assert guest.get(f"/t/{link}/snapshot.json").status_code == 200
    stage.press("reset")
    desk.order("BOOKED", "CALL_DRIVER")
    assert guest.get(f"/t/{link}/snapshot.json").status_code in (404, 410)
    stage.close()


@pytest.mark.parametrize("what", ["an order", "a press"])
def test_nothing_is_deleted_while_an_answer_is_outstanding(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setattr(beginning, "empty", partial(empty, waits_s=0.0))
    stage.sandbox.book("mini")
    if what == "an order":
        stage.desk.order("SENDING")
    else:
        stage.desk.order("BOOKED", "CALL_DRIVER", actions=[("cancel", "calling", {})])
    assert "Nothing was deleted: try again soon." in stage.press("reset")
    assert (stage.count(Order), len(stage.sandbox.ledger())) == (1, 1)
    assert stage.audited() == []


def test_reset_waits_for_the_answer(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    order_id, found = stage.desk.order("SENDING"), list[bool]()
    here, try_once = stage.desk.services, emptying._emptied

    def answered_later(*given: Any) -> bool:
        """One try to empty all; the answer about the order comes right after a refused one."""
        found.append(try_once(*given))
        if not found[-1]:
            stage.desk.add(lambda s: setattr(s.get(Order, order_id), "state", "BOOKED"))
        return found[-1]

    monkeypatch.setattr(emptying, "_emptied", answered_later)
    empty(here.db, here.clock, lambda: None, lambda _s: None)
    assert found == [False, True]
    assert stage.count(Order) == 0


@pytest.mark.parametrize("press", ["clock", "next", "scenario", "fault", "reset"])
def test_a_sandbox_that_is_silent_changes_nothing_here(stage: Stage, press: str) -> None:
    fill(stage)
    stage.reach(httpx.MockTransport(refuse))
    fields = {"speed": "0", "scenario": "no_cab", "fault": "down"}
    page = stage.press(press, **fields)
    assert "The sandbox does not answer. Nothing was changed." in page
    assert (stage.count(Order), stage.count(Guest)) == (2, 2)
    assert stage.audited() == []


def test_a_demo_on_another_service_has_nothing_to_direct(tmp_path: Path) -> None:
    desk = make_desk(tmp_path, SERVICE_URL="http://127.0.0.1:9/tunnel")
    desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), "role", "manager"))
    web = desk.client()
    assert web.get("/demo").status_code == 404
    sent = {"csrf_token": token(web)}
    assert web.post("/demo/reset", data=sent).status_code == 404
    page = web.get("/history").text
    assert "Direct the demo" not in page
    assert "data-poll-within" not in page
    desk.close()


CALLS: list[Callable[[SandboxControl], object]] = [
    SandboxControl.clock,
    SandboxControl.leap,
    SandboxControl.reset,
    lambda control: control.run_at(5),
    lambda control: control.set(sandbox_desk.NOON, 0),
    lambda control: control.arm("normal"),
    lambda control: control.add_fault({}),
]


@pytest.mark.parametrize("call", CALLS)
def test_the_address_is_looked_at_before_each_call(
    stage: Stage, call: Callable[[SandboxControl], object]
) -> None:
    """This holds even if the address changes while the program runs."""
    called: list[httpx.Request] = []
    elsewhere = replace(stage.desk.services.settings, service_url="http://192.0.2.1:9")
    transport = httpx.MockTransport(lambda request: called.append(request) or httpx.Response(200))
    with pytest.raises(NotOurs):
        call(SandboxControl(elsewhere, Http(transport)))
    assert called == []
