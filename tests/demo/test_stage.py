"""The stage has frames for the demo's own pages only: desk, phone of the newest ride, kiosk."""

import re
from base64 import b64decode
from collections.abc import Iterator
from datetime import UTC, datetime
from html import unescape
from pathlib import Path

import httpx
import pytest
from flask_login import login_user
from sqlalchemy import delete, select

from ridedash.demo import sheet, stage_pages
from ridedash.demo.lens.operations import OPERATIONS
from ridedash.demo.package import STYLES
from ridedash.demo.pages import POLL_WITHIN_MS
from ridedash.demo.stories import STORIES
from ridedash.demo.stories.actions import do
from ridedash.demo.stories.model import Act, PressAction
from ridedash.demo.stories.runs import RunPhase, Runs, StoryRun
from ridedash.service_time import ServiceTime, Turn
from ridedash.store.audit import AuditRow
from ridedash.store.models.desk import Link
from ridedash.store.models.kiosks import Kiosk
from ridedash.store.models.people import SignIn, Staff
from ridedash.views.web.current_user import SignedIn
from ridedash.wording.languages import LANGUAGES
from tests.demo.stages import Stage, fill
from tests.views.kiosk.devices import pair
from tests.views.ride_pages import compact, make_desk

pytestmark = pytest.mark.database


@pytest.fixture
def in_room(tmp_path: Path) -> Iterator[Stage]:
    made = Stage(tmp_path, HOST="192.0.2.7", TRUSTED_HOSTS="localhost")
    yield made
    made.close()


def test_pages_of_a_demo_may_be_framed_by_its_own_alone(stage: Stage) -> None:
    link = stage.desk.order("BOOKED", "CALL_DRIVER")
    shown = stage.web.get("/demo/stage/newest.json").json["link"]
    signed_out = stage.desk.client(signed_in=False)
    for path in ("/", f"/rides/{link}", shown, "/sign-in", "/kiosk/pair", "/no/such/page"):
        browser = signed_out if path == "/sign-in" else stage.web  # others are sent on from there
        head = browser.get(path).headers
        assert "html" in head["Content-Type"], path
        assert "Location" not in head, path
        policy = head["Content-Security-Policy"]
        assert "frame-ancestors 'self';" in policy, path
        assert "frame-src" not in policy, path
        assert head["X-Frame-Options"] == "SAMEORIGIN", path
    policy = stage.web.get("/demo/stage").headers["Content-Security-Policy"]
    assert policy.endswith("; frame-src 'self'")
    data = stage.web.get("/board.json").headers["Content-Security-Policy"]
    assert data == "default-src 'none'; frame-ancestors 'none'"


def test_a_demo_on_another_service_has_no_stage_and_no_frames(tmp_path: Path) -> None:
    desk = make_desk(tmp_path, SERVICE_URL="http://127.0.0.1:9/tunnel")
    desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), "role", "manager"))
    web = desk.client()
    assert web.get("/demo/stage").status_code == 404
    head = web.get("/history").headers
    assert head["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in head["Content-Security-Policy"]
    desk.close()


def test_the_phone_follows_the_newest_ride_with_one_link_each(stage: Stage) -> None:
    before = stage.web.get("/demo/stage/newest.json").json
    assert (before["order"], before["link"]) == (None, None)
    assert before["clock"]["at"] == "Wed 4 Mar 12:00"
    first = stage.desk.order("BOOKED", "CALL_DRIVER")
    links = {stage.web.get("/demo/stage/newest.json").json["link"] for _ in range(3)}
    assert len(links) == 1
    page = stage.desk.client(signed_in=False).get(links.pop())
    assert page.status_code == 200
    assert "Demo: no real rides" in page.text
    second = stage.desk.order("BOOKED", "ALLOTMENT_PENDING")
    assert stage.web.get("/demo/stage/newest.json").json["order"] == second > first
    with stage.desk.services.db.read() as s:
        assert [row.order_id for row in s.scalars(select(Link).order_by(Link.id))] == [
            first,
            second,
        ]
        made = select(AuditRow).where(AuditRow.what == "link.made")
        assert len(s.scalars(made).all()) == 2


def test_the_stage_learns_of_a_new_sign_in(stage: Stage) -> None:
    """The forms of the open stage are of the former sign-in, and would be refused."""

    def shown() -> str:
        found = re.search(r'data-sign-in="([^"]+)"', stage.web.get("/demo/stage").text)
        assert found
        return found[1]

    before = shown()
    assert stage.web.get("/demo/stage/newest.json").json["sign_in"] == before == shown()
    stage.web = stage.desk.client()
    assert stage.web.get("/demo/stage/newest.json").json["sign_in"] == shown() != before


def test_a_ride_that_never_was_has_no_phone(stage: Stage) -> None:
    order_id = stage.desk.order("REJECTED")
    found = stage.web.get("/demo/stage/newest.json").json
    assert (found["order"], found["link"]) == (order_id, None)


def test_a_ride_that_is_not_booked_yet_leaves_the_phone_as_it_is(stage: Stage) -> None:
    """Otherwise chance would decide whether the phone shows a ride that is soon refused."""
    stage.desk.order("BOOKED", "CALL_DRIVER")
    before = stage.web.get("/demo/stage/newest.json").json
    assert before["link"]
    for state in ("READY", "SENDING"):
        stage.desk.order(state)
        assert stage.web.get("/demo/stage/newest.json").json == before
    assert stage.count(Link) == 1


def test_the_phone_has_its_link_before_a_story_acts_on_the_ride(stage: Stage) -> None:
    """Otherwise chance would decide whether a ride that is stopped ever had a link."""
    desk = stage.desk
    order_id = desk.order("MATCHING", "ALLOTMENT_PENDING")
    home, now = desk.ids["desk.property"], desk.now
    run = StoryRun(
        "run", "no", 1, home, now, 0, RunPhase.DOING, now, values={"orders": {"ride": order_id}}
    )
    person = SignedIn(desk.ids["desk"], home, "Desk", "manager", None, None)
    with desk.app.test_request_context():
        login_user(person)
        do(run, Act(PressAction.ARM_CANCEL, ride="ride"))
    with desk.services.db.read() as s:
        rows = s.scalars(select(AuditRow).where(AuditRow.subject == f"orders:{order_id}"))
        assert [row.what for row in rows] == ["link.made", "ride.arm_cancel"]


def test_since_when_a_guest_has_a_link_is_shown_in_the_services_time(stage: Stage) -> None:
    evening = Turn(stage.desk.now, datetime(2026, 3, 5, 13, 12, tzinfo=UTC), 0.0)
    stage.desk.services.time = lambda: ServiceTime((evening,))
    order_id = stage.desk.order("BOOKED", "CALL_DRIVER")
    assert stage.web.get("/demo/stage/newest.json").json["link"]
    page = compact(stage.web.get(f"/rides/{order_id}").text)
    assert "The guest has a link since 18:42" in page  # the local time in India


def test_a_kiosk_is_paired_by_one_press_in_its_own_frame(stage: Stage) -> None:
    fill(stage)
    page = compact(stage.web.get("/demo/stage").text)
    form = re.search(r'<form method="post" action="(/admin/kiosks/\d+/here)" target="kiosk"', page)
    assert form is not None
    assert 'name="kiosk" title' in page
    answer = stage.web.post(form[1], data={"csrf_token": stage.csrf})
    assert answer.headers["Location"] == "/kiosk"
    page = compact(stage.web.get("/demo/stage").text)
    assert 'data-src="/kiosk"' in page
    assert "Pair this frame" not in page


@pytest.mark.parametrize("path", ["/sign-out", "/me/sign-outs"])
@pytest.mark.parametrize(("ends", "status"), [({"ends": "sign-out"}, 200), ({}, 404)])
def test_a_user_who_signs_out_of_the_stage_can_sign_in_again(
    stage: Stage, ends: dict[str, str], status: int, path: str
) -> None:
    """A frame of the stage is paired until then; a kiosk paired in the settings stays paired."""
    fill(stage)
    assert '<input type="hidden" name="ends" value="sign-out">' in stage.web.get("/demo/stage").text
    with stage.desk.services.db.read() as s:
        number = s.scalars(select(Kiosk.id)).one()
    sent = {"csrf_token": stage.csrf}
    assert stage.web.post(f"/admin/kiosks/{number}/here", data=sent | ends).status_code == 303
    assert stage.web.get("/kiosk").status_code == 200
    out = stage.web.post(path, data=sent)
    assert stage.web.get(out.headers["Location"]).status_code == status


@pytest.mark.parametrize(("ends", "status"), [({"ends": "sign-out"}, 200), ({}, 404)])
def test_who_is_signed_out_from_elsewhere_can_sign_in_on_the_stage_again(
    stage: Stage, ends: dict[str, str], status: int
) -> None:
    """So can who comes back after the twelve hours that a sign-in lasts."""
    fill(stage)
    with stage.desk.services.db.read() as s:
        number = s.scalars(select(Kiosk.id)).one()
    sent = {"csrf_token": stage.csrf}
    assert stage.web.post(f"/admin/kiosks/{number}/here", data=sent | ends).status_code == 303
    stage.desk.add(lambda s: s.execute(delete(SignIn)))
    assert stage.web.get("/demo/stage").status_code == (303 if ends else 404)
    assert stage.web.get("/demo/stage/newest.json").status_code == (401 if ends else 404)
    assert stage.web.get("/sign-in").status_code == status


def test_a_stage_that_is_paired_by_a_code_is_a_kiosk_as_any_other(stage: Stage) -> None:
    fill(stage)
    with stage.desk.services.db.read() as s:
        number = s.scalars(select(Kiosk.id)).one()
    here = {"csrf_token": stage.csrf, "ends": "sign-out"}
    assert stage.web.post(f"/admin/kiosks/{number}/here", data=here).status_code == 303
    pair(stage.desk, client=stage.web)
    stage.desk.add(lambda s: s.execute(delete(SignIn)))
    assert stage.web.get("/sign-in").status_code == 404


def test_the_code_for_a_phone_is_there_where_the_room_reaches_the_demo(in_room: Stage) -> None:
    assert "Nothing on it is real." in in_room.web.get("/demo/stage").text
    assert "qr" not in in_room.web.get("/demo/stage/newest.json").json
    in_room.desk.order("BOOKED", "CALL_DRIVER")
    code = in_room.web.get("/demo/stage/newest.json").json["qr"]
    assert code["size"] > 20
    assert code["path"].startswith("M")


def test_on_this_machine_alone_no_code_is_shown(stage: Stage) -> None:
    stage.desk.order("BOOKED", "CALL_DRIVER")
    assert "qr" not in stage.web.get("/demo/stage/newest.json").json
    assert "data-qr" not in stage.web.get("/demo/stage").text


def test_a_silent_sandbox_leaves_the_stage_standing(stage: Stage) -> None:
    def refuse(_request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    stage.reach(httpx.MockTransport(refuse))
    assert "The sandbox does not answer." in stage.web.get("/demo/stage").text
    assert stage.web.get("/demo/stage/newest.json").json["clock"] is None


def test_the_sheet_names_no_story_that_is_not_there(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(STORIES, "swap")
    page = unescape(compact(stage.web.get("/demo/sheet").text))
    assert "A ride, start to receipt." in page
    assert "Now it is your turn. You can break nothing." in page
    for cut in (sheet.FIVE, sheet.NINE, sheet.TWO):
        for line in cut.lines:
            assert (f">{line.say}<" in page) is (line.story != "swap"), line.at
    assert STORIES.keys() >= {"receipt", "unknown", "down"}


def test_the_five_minutes_of_the_sheet_are_those_of_the_story() -> None:
    """Each part stands there in the order in which the story plays it, and ends in time."""
    lines = sheet.FIVE.lines
    at = [line.at for line in lines]
    assert at == sorted(at)
    assert at[-1] < "5:00"
    said = [str(step.say) for step in STORIES["five"].steps]
    for line in lines[1:]:
        parts = {str(step.say) for step in STORIES[line.story].steps} if line.story else set()
        assert not line.story or parts & set(said), line.story


def test_what_the_sheet_lets_a_presenter_press_is_on_the_stage(stage: Stage) -> None:
    page = compact(stage.web.get("/demo/sheet").text)
    there = stage.web.get("/demo/stage").text + stage.web.get("/").text  # stage and desk
    for name in ("Play the five minutes", "Presenter", "Lens", "Play", "Reset", "End"):
        assert name in page, name
        assert re.search(rf"[>\"\s]{name}[<\"\s]", there), name


def test_the_package_has_the_proof_and_the_calls_of_each_ride(stage: Stage) -> None:
    order_id, home = stage.desk.order("BOOKED", "CALL_DRIVER"), stage.desk.ids["desk.property"]
    runs = Runs(stage.desk.services.settings.instance)
    run = runs.begin("receipt", 2, home, stage.desk.now)
    runs.update(
        run, RunPhase.ENDED, stage.desk.now, lines=[["1 booking here", True], ["Over", False]]
    )
    answer = stage.web.get("/demo/package", query_string={"partner": "<Bluebird>"})
    assert answer.headers["Content-Disposition"] == "attachment; filename=ridedash-demo.html"
    page = unescape(compact(answer.text))
    assert "Story: A ride, start to receipt. Seed 2." in page
    assert '<li class="record-holds">1 booking here</li>' in page
    assert '<li class="record-fails">Over</li>' in page
    assert "for &lt;Bluebird&gt;" in answer.text
    assert "<summary>Ride 1</summary>" in page
    band = f"Demo: no real rides · ridedash · ride {order_id} · story receipt · seed 2"
    assert f"# {band}" in page


def test_the_package_needs_nothing_but_itself(stage: Stage) -> None:
    stage.press("stories/receipt/start", seed="2")
    stage.desk.order("BOOKED", "CALL_DRIVER")
    partner = {"partner": '<script src="https://example.com/x.js">'}
    page = stage.web.get("/demo/package", query_string=partner).text
    assert "<summary>Ride 1</summary>" in page
    assert "<script" not in page
    assert not re.search(r"""(?:src|href)=["'](?!data:image/jpeg)""", page)
    assert "url(" not in page
    assert "@import" not in page
    assert "--accent: #1d4ed8" in page  # the styles stand in it as they are
    assert STYLES not in page


def test_six_pictures_of_a_presenter_go_into_the_package_until_a_reset(stage: Stage) -> None:
    head = {"X-CSRFToken": stage.csrf, "Content-Type": "image/jpeg"}
    for wrong in (b"", b"<svg/>", b"\x89PNG\r\n\x1a\n"):
        assert stage.web.post("/demo/pictures", data=wrong, headers=head).status_code == 400
    drawn = [b"\xff\xd8\xff" + bytes([n]) for n in range(7)]
    huge = drawn[0] + bytes(300_000)
    assert stage.web.post("/demo/pictures", data=huge, headers=head).status_code == 413
    messages = [
        stage.web.post("/demo/pictures", data=picture, headers=head).json["said"]
        for picture in drawn
    ]
    assert messages[0] == "Picture 1 of 6 is in the package."
    assert messages[-1] == "The picture is in the package. The oldest of 6 has gone."
    page = stage.web.get("/demo/package").text
    stored = re.findall('src="data:image/jpeg;base64,([^"]+)"', page)
    assert [b64decode(each) for each in stored] == drawn[1:]
    stage.press("reset")
    assert list((stage.desk.services.settings.instance / "pictures").iterdir()) == []


def test_before_any_story_the_package_says_so(stage: Stage) -> None:
    page = stage.web.get("/demo/package").text
    assert "Demo: no real rides" in page
    assert "No story has ended." in page


def test_a_phone_that_polls_for_a_fast_clock_is_never_refused(stage: Stage) -> None:
    stage.desk.order("BOOKED", "CALL_DRIVER")
    link = stage.web.get("/demo/stage/newest.json").json["link"]
    phone = stage.desk.client(signed_in=False)
    often = 3 * 60_000 // POLL_WITHIN_MS  # the polls of three phones in a minute
    codes = {phone.get(f"{link}/snapshot.json").status_code for _ in range(often - 1)}
    assert codes == {200}


def test_opened_cold_the_stage_says_what_ridedash_is(stage: Stage) -> None:
    page = unescape(stage.web.get("/demo/stage").text)
    card = page.partition('data-card="title"')[2].partition("</section>")[0]
    assert "hidden" not in card.partition(">")[0]
    for words in ("ridedash", "hotels, hospitals and venues", "Play the five minutes"):
        assert words in card, words
    assert re.findall(r'<dd class="num">(.*?)</dd>', card) == [
        str(len(OPERATIONS)),
        str(len(LANGUAGES)),
        "0",
    ]
    chosen = stage.web.get("/demo/stage?story=receipt").text  # whoever names a story wants that
    assert "hidden" in chosen.partition('data-card="title"')[2].partition(">")[0]


def test_the_numbers_of_the_title_card_are_those_of_the_scoreboard() -> None:
    """The two rows 2 of docs/reliability.md, section 3: nothing doubled on either database."""
    text = (Path(__file__).parents[2] / "docs/reliability.md").read_text()
    rows = re.findall(
        r"^\| 2 \| (.*?) SIGKILLs of two workers .*?([\d,]+) orders \| (.*)$", text, re.M
    )
    assert sum(int(kills) for kills, *_ in rows) == stage_pages.KILLS
    assert sum(int(orders.replace(",", "")) for _, orders, _ in rows) == stage_pages.ORDERS
    assert [counts.split(" | ")[1] for *_, counts in rows] == ["0", "0"]


def test_of_the_stage_and_its_frames_only_the_stage_says_that_nothing_is_real(
    stage: Stage,
) -> None:
    stage.desk.order("BOOKED", "CALL_DRIVER")
    stage.sandbox.control("clock", speed=0)
    link = stage.web.get("/demo/stage/newest.json").json["link"]
    for path in ("/", link):
        alone = stage.web.get(path).text
        framed = stage.web.get(path, headers={"Sec-Fetch-Dest": "iframe"}).text
        for band in ('class="demo-band"', "held"):
            assert band in alone, (path, band)
        assert 'class="demo-band"' not in framed, path
        assert "data-clock-held-band" not in framed, path
        assert 'data-slot="held"' not in framed, path
    page = stage.web.get("/demo/stage").text
    assert page.count('class="demo-band"') == 1
