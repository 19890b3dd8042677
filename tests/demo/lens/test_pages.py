"""The lens shows each call of a ride with its bodies, code and paragraph, and has them as files."""

import contextlib
import html
import json
import os
import shutil
import sqlite3
import subprocess
import threading
from urllib.parse import urlsplit

import httpx
import pytest
from werkzeug.serving import make_server

from ridedash.demo.lens import scrubbing
from ridedash.demo.lens.code import curl
from ridedash.demo.lens.operations import NUMBERS
from ridedash.demo.lens.paragraphs import about
from ridedash.demo.lens.trees import tree
from ridedash.geo import LatLng
from ridedash.observability.logs import worker_step
from ridedash.service.client import RideClient
from ridedash.service.transport.http import Http
from ridedash.service.types.bookings import NewBooking
from ridedash.store.models.orders import Offer, Order
from tests.demo.lens.exchanges import exchange, poll
from tests.demo.presenter import PROBE
from tests.demo.stages import Stage
from tests.running import whole
from tests.sandbox import sandbox_desk

pytestmark = pytest.mark.database

KEY = "partner-key"


def fare_of(listed, category):
    """The fare id that locks the price of a category, or None."""
    product = next(each for each in listed.products if each.category == category)
    return product.estimate.fare_id if product.estimate else None


class Lens:
    """The lens of a stage whose client calls the stage's sandbox."""

    def __init__(self, stage):
        self.stage, self.services = stage, stage.desk.services
        self.transport = httpx.WSGITransport(stage.sandbox.app)
        self.base = self.services.settings.service_url.rstrip("/")
        self.recorder = stage.desk.app.extensions["ridedash.lens"]
        self.client = RideClient(Http(self.transport), self.base, KEY)
        self.client.traffic.hooks = self.recorder
        self.services.client = self.client
        self.token = stage.sandbox.headers["Authorization"].removeprefix("Bearer ")
        self.services.tokens.bearer = lambda _account: self.token

    def book(self):
        """Make a booking in the sandbox, with its order and all its calls. The order's id."""
        before = worker_step.set(("book", 1))
        pickup, drop = LatLng(*sandbox_desk.HOTEL), LatLng(*sandbox_desk.far_drop())
        listed = self.client.products(pickup, drop)
        fare = fare_of(listed, "mini")
        new = NewBooking(
            pickup=pickup, drop=drop, category="mini", merchant_txn_id="RD-1", fare_id=fare
        )
        made = self.client.create_booking(new, self.token)
        order = self.stage.desk.order("BOOKED", "CALL_DRIVER")
        where = {"drop_lat": drop.lat, "drop_lng": drop.lng}
        where |= {"pickup_lat": pickup.lat, "pickup_lng": pickup.lng}
        with self.services.db.write() as s:
            row = s.get_one(Order, order)
            row.booking_id, row.mtx = made.body.booking_id, "RD-1"
            offer = s.get_one(Offer, row.offer_id)
            self.recorder.offers([offer.id])
            for name, value in where.items():
                setattr(offer, name, value)
        worker_step.reset(before)
        self.booking_id = made.body.booking_id
        for _ in range(3):
            self.client.track_ride(self.token, booking_id=self.booking_id)
        self.stage.sandbox.clock.advance(240)
        self.client.track_ride(self.token, booking_id=self.booking_id)
        return order

    def calls(self, **query):
        return self.stage.web.get("/demo/lens/calls.json", query_string=query).json["calls"]

    def page(self, number):
        return self.stage.web.get(f"/demo/lens/calls/{number}").text


@pytest.fixture
def lens(stage):
    return Lens(stage)


def test_every_call_of_a_ride_is_there_in_order_and_tied_to_it(lens):
    order = lens.book()
    mine = [(each["operation"], each["result"], each["same"]) for each in lens.calls(order=order)]
    assert mine == [
        ("products", "6 categories", 1),
        ("create", lens.booking_id, 1),
        ("track_ride", "ALLOTMENT_PENDING", 3),
        ("track_ride", "CALL_DRIVER", 1),
    ]
    assert {each["order"] for each in lens.calls()} == {order}
    assert lens.calls(errors="1") == []
    turn = lens.stage.web.get("/demo/lens/calls.json").json["turn"]
    assert lens.calls(after=turn) == []
    lens.client.track_ride(lens.token, booking_id=lens.booking_id)
    assert [each["same"] for each in lens.calls(after=turn)] == [2]


def test_a_probe_of_the_worker_belongs_to_no_ride_and_says_so_in_words(lens):
    before = worker_step.set(("probe", 0))
    lens.recorder.exchange(exchange("/v1/products", {"categories": []}))
    worker_step.reset(before)
    (call,) = lens.calls()
    assert (call["order"], call["why"]) == (None, PROBE)


def test_a_call_is_shown_with_pointers_code_and_its_paragraph(lens):
    lens.book()
    page = lens.page(lens.calls()[-1]["number"])
    assert 'data-pointer="/vehicle_number"' in page
    assert 'data-pointer="/pickup_location/lat"' in page
    assert "<h3>Track ride</h3>" in page
    assert "os.environ[" in page
    assert KEY not in page
    assert lens.token not in page


def test_what_a_service_answers_is_text_and_never_markup(lens):
    hostile = {"<b>x</b>": "<script>alert(1)</script>", "status": "</pre><img src=x>"}
    lens.recorder.exchange(exchange(body=hostile))
    lens.recorder.exchange(exchange(body=b"<script>\xff</script>" * 9000, status=500))
    for call in lens.calls():
        page = lens.page(call["number"])
        assert "<script>" not in page
        assert "<img" not in page
        assert "<b>x" not in page


@pytest.fixture
def served(tmp_path):
    """The lens of a stage whose sandbox listens on a port, for programs such as curl."""
    held = []
    server = make_server("127.0.0.1", 0, lambda *lines: whole(held[0].sandbox.app)(*lines))
    here = {"SERVICE_URL": f"http://127.0.0.1:{server.port}", "SANDBOX_PORT": str(server.port)}
    held.append(Stage(tmp_path, **here))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield Lens(held[0])
    server.shutdown()
    thread.join()
    server.server_close()
    held[0].close()


with_curl = pytest.mark.skipif(
    shutil.which("curl") is None and os.environ.get("RIDEDASH_TEST_SERVERS") != "required",
    reason="curl is not installed",
)


@with_curl
def test_lines_of_curl_in_a_shell_bring_the_answers_that_the_lens_shows(served):
    """The clock is held, so the service answers the same again. The real curl sends each line."""
    order = served.book()
    script = served.stage.web.get(f"/demo/lens/rides/{order}/curl").text
    assert script.splitlines()[1].startswith("# Demo: no real rides · ridedash · ride")
    lines = [line for line in script.splitlines() if line.startswith("curl ")]
    assert len(lines) == 3  # the line of create is a comment, because create changes something
    pickup, drop = LatLng(*sandbox_desk.HOTEL), LatLng(*sandbox_desk.far_drop())
    served.client.products(pickup, drop, "mini")
    served.client.feedback_options("mini", served.token)
    newest = {each["operation"]: each["number"] for each in served.calls()}
    assert newest.keys() == {"products", "create", "track_ride", "feedback_options"}
    for number in (newest[name] for name in newest if name != "create"):
        call = served.recorder.file.call(number)
        line = curl(call, served.base)
        assert line in html.unescape(served.page(number))
        assert scrubbing.body(in_a_shell(line, served)) == call.answer.body
    assert scrubbing.body(in_a_shell(lines[-1], served)) == call_of(served, "track_ride")


@with_curl
def test_what_changes_something_is_answered_in_a_shell_as_the_lens_shows(served):
    """Before a line is sent the sandbox is put back, so that it has not seen the call yet."""
    client, token = served.client, served.token
    pickup, drop = LatLng(*sandbox_desk.HOTEL), LatLng(*sandbox_desk.far_drop())
    rides = []

    def create():
        fare = fare_of(client.products(pickup, drop), "mini")
        wanted = {"pickup": pickup, "drop": drop, "category": "mini", "fare_id": fare}
        made = client.create_booking(NewBooking(merchant_txn_id="RD-7", **wanted), token)
        rides.append(made.body.booking_id)

    def done(act):
        sandbox = put_back(served)
        act()
        return sandbox

    def until(status):
        served.stage.sandbox.until(rides[-1], status)

    def shown_in_a_shell(operation, sandbox):
        number = next(n["number"] for n in reversed(served.calls()) if n["operation"] == operation)
        call = served.recorder.file.call(number)
        sandbox()
        assert scrubbing.body(in_a_shell(curl(call, served.base), served)) == call.answer.body
        assert '"SUCCESS"' in call.answer.body, operation

    shown_in_a_shell("create", done(create))
    shown_in_a_shell("abort", done(lambda: client.abort_booking(rides[-1], token)))
    create()
    until("CALL_DRIVER")
    moved = LatLng(drop.lat + 0.001, drop.lng)
    changed = done(lambda: client.update_drop_location(rides[-1], moved, token))
    shown_in_a_shell("drop_location", changed)
    cancelled = done(lambda: client.cancel_booking(rides[-1], "No longer needed", token))
    shown_in_a_shell("cancel", cancelled)
    create()
    until("COMPLETED")
    liked = done(lambda: client.submit_feedback(rides[-1], 5, token, comments='It\'s "fine"'))
    shown_in_a_shell("feedback", liked)


def put_back(lens):
    """A function that sets the sandbox's file back to what it is now."""
    backup, file = sqlite3.connect(":memory:"), lens.stage.sandbox.database
    with contextlib.closing(sqlite3.connect(file)) as now:
        now.backup(backup)

    def back():
        with contextlib.closing(sqlite3.connect(file)) as now, contextlib.closing(backup):
            backup.backup(now)

    return back


def call_of(lens, operation):
    """The body of the last answer to an operation, as the lens shows it."""
    number = next(n["number"] for n in reversed(lens.calls()) if n["operation"] == operation)
    return lens.recorder.file.call(number).answer.body


def in_a_shell(line, lens):
    """The output of a line in a shell that has both secrets and the address."""
    variables = {"PATH": os.environ["PATH"], "APP_TOKEN": KEY, "USER_TOKEN": lens.token}
    variables["BASE"] = lens.base  # of the lines of a file
    command = ["/bin/sh", "-c", line]
    sent = subprocess.run(command, env=variables, capture_output=True, check=True, timeout=30)
    return sent.stdout


def test_the_files_of_a_ride_say_demo_and_hold_no_secret(lens):
    order = lens.book()
    web = lens.stage.web
    har = web.get(f"/demo/lens/rides/{order}/har")
    assert har.headers["Content-Disposition"] == f'attachment; filename="demo-ride-{order}.har"'
    log = json.loads(har.text)["log"]
    assert log["version"] == "1.2"
    assert log["comment"].startswith(f"Demo: no real rides · ridedash · ride {order} · ")
    assert [
        urlsplit(each["request"]["url"]).path.rsplit("/", 1)[-1] for each in log["entries"]
    ] == [*("products", "create", "track_ride", "track_ride", "track_ride")]
    for entry in log["entries"]:
        assert set(entry) >= {"startedDateTime", "time", "request", "response", "cache", "timings"}
        assert entry["response"]["content"]["text"]
    events = [
        json.loads(line) for line in web.get(f"/demo/lens/rides/{order}/events").text.splitlines()
    ]
    assert list(events[0]) == ["demo"]
    assert [each["same"] for each in events[1:]] == [1, 1, 3, 1]
    assert [each["made"].split(".")[0] for each in events[1:]] == [
        "Cars read: 6, with a price: 4",
        "Accepted, because it names a booking id",
        "The ride is now ALLOTMENT_PENDING",
        "The ride is now CALL_DRIVER",
    ]
    for kind in ("har", "curl", "events"):
        text = web.get(f"/demo/lens/rides/{order}/{kind}").text
        assert KEY not in text
        assert lens.token not in text


def test_a_reading_call_is_made_again_and_a_changing_one_is_not(lens):
    order = lens.book()
    track, create = lens.calls(order=order)[-1], lens.calls(order=order)[1]
    csrf = {"csrf_token": lens.stage.csrf}
    page = lens.stage.web.post(f"/demo/lens/calls/{track['number']}/again", data=csrf)
    assert "This is the answer of now." in page.text
    assert lens.calls(order=order)[-1]["same"] == 2
    again = lens.stage.web.post(f"/demo/lens/calls/{create['number']}/again", data=csrf)
    assert again.status_code == 404
    products = lens.calls(order=order)[0]["number"]
    assert lens.stage.web.post(f"/demo/lens/calls/{products}/again", data=csrf).status_code == 200
    assert [each["operation"] for each in lens.calls()].count("products") == 2


def test_calls_of_another_property_are_not_there(lens):
    order = lens.stage.desk.order("BOOKED", "CALL_DRIVER", prop="other")
    with lens.services.db.write() as s:
        s.get_one(Order, order).booking_id = "CRN9"
    lens.recorder.exchange(poll("CRN9"))
    assert lens.recorder.flush(60)
    number = lens.recorder.file.calls(None, False, 0, 9)[0].number
    assert lens.calls() == []
    assert lens.calls(order=order) == []
    assert lens.stage.web.get(f"/demo/lens/calls/{number}").status_code == 404
    assert lens.stage.web.get(f"/demo/lens/rides/{order}/har").status_code == 404


def test_a_reset_forgets_the_calls(lens):
    lens.book()
    lens.stage.press("reset")
    assert lens.calls() == []


def test_a_staff_page_has_the_drawer_for_managers_alone(lens):
    page = lens.stage.web.get("/search").text
    assert "data-lens-open" in page
    assert 'class="lens-open no-print"' in page  # the button is of no use on paper
    assert "js/demo/lens.js" in page
    colleague = lens.stage.desk.client(name="other").get("/search").text
    assert "data-lens" not in colleague
    assert "drawer" not in colleague


@pytest.mark.parametrize("operation", NUMBERS)
def test_each_operation_has_its_paragraph(operation):
    found = about(operation)
    assert found is not None
    assert found.blocks


def test_a_tree_has_pointers_also_of_odd_names():
    root = tree('{"a/b": [{"~": 1.50}], "": {}}')
    assert root.inner[0].inner[0].inner[0].pointer == "/a~1b/0/~0"
    assert root.inner[0].inner[0].inner[0].text == "1.50"
    assert (root.inner[1].pointer, root.inner[1].text) == ("/", "{}")
    assert tree("no json") is None
    assert tree("[" * 100_000) is None
    assert tree(json.dumps(list(range(5000)))) is None
