"""Marked secrets enter in every way during a run with errors; none appears in any output."""

import contextlib
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest

from ridedash import config
from ridedash.demo.lens.code import httpx_code
from ridedash.demo.lens.exports import Origin, events, har, script
from ridedash.demo.lens.made import made_of
from ridedash.demo.lens.store import LensFile
from ridedash.service_time import REAL
from ridedash.services import build_services
from ridedash.store.models.people import Account
from tests.leaky import CODE, PHONE, Leaky, leaky
from tests.processes.fleet import filled, free_port, wait_for
from tests.running import Running, clean_environment, running

KEY = "ridedash-sandbox-canary-partner-key-51f0c7"
OAUTH = "canary-oauth-client-51f0c7"
METRICS = "canary-metrics-token-51f0c7"
PACE = 30
FAULTS = ("refusal", "failure", "page")  # those of tests/leaky.py
WORDS = "canary staff phrase 51f0c7"
WRONG = "canary wrong phrase 51f0c7"
GUEST_PHONE = "+919876051727"
GUEST = "Heron"  # the family name: a follower may see the first name
DROP = ("-38.4812345", "-127.9512345")
# to a metre: pages and files round coordinates to five or six decimals
PLACE = tuple(each[:-2] for each in DROP)
SHARED = "canaRY51f0c7canaRY51f0"  # the form of a share link's token
TRIP = {"show": "1", "drop": "Airport", "drop_lat": DROP[0], "drop_lng": DROP[1]}

# The columns that hold a guest's phone and exact places, as table.column; no other column may.
PHONE_LIVES = {"guests.phone"}
PLACES_LIVE = {
    "orders.body",  # the frozen request
    "offers.drop_lat",
    "offers.drop_lng",
    "rides.facts",
    "orders.evidence",
    "actions.payload",  # the drop of a change
}
# Pages and files that leave the program, and the data of a guest that each may hold for its
# purpose. Data that is listed for no page is personal and allowed nowhere. Keys, tokens, passwords
# and cookies are allowed nowhere.
LEAVES = {
    "history.csv": {"guest", "phone", "place"},  # a bill: the guest, the places, the contact
    "history": {"guest"},  # the guests of the rides
    "hand-over": {"guest"},  # the guests of the next shift
    "audit log": {"guest"},  # whose ride an entry is about; the entry itself has its number only
    "audit.csv": set(),  # actions of staff with ids, and no data of guests
    "ride": {"guest", "phone", "place"},  # the staff's own page: the map, and the phone to call
    "receipt": {"guest"},  # the guest who paid
    "card": {"guest", "rider's link", "start code"},  # printed for the guest
    # the guest's own ride, on the guest's phone
    "rider's page": {"place", "rider's link", "start code"},
    # only the page's own address: no surname, phone, place or start code
    "follower's page": {"follower's link"},
}
LOOKED_FOR = {
    "guest": GUEST,
    "phone": GUEST_PHONE,
    "place": PLACE[0],
    "place 2": PLACE[1],
    "driver's phone": PHONE,
}


@dataclass
class Story:
    """The processes, the pages shown, and the secrets that must appear nowhere."""

    desk: Running
    service: Leaky
    web: httpx.Client
    secrets: dict[str, str] = field(default_factory=dict)
    shown: list[tuple[str, str]] = field(default_factory=list)  # address, text
    left: list[tuple[str, bytes]] = field(default_factory=list)  # a key of LEAVES, and the body

    def get(self, path: str, **headers: str) -> httpx.Response:
        answer = self.web.get(self.desk.url + path, headers=headers)
        self.shown.append((path, answer.text + str(dict(answer.headers))))
        return answer

    def post(self, path: str, form: dict[str, str]) -> httpx.Response:
        answer = self.web.post(self.desk.url + path, data=form)
        self.shown.append((path, answer.text))
        return answer

    def take(self, name: str, path: str, form: dict[str, str] | None = None) -> str:
        """Fetch something that leaves the program."""
        url = self.desk.url + path
        answer = self.web.get(url) if form is None else self.web.post(url, data=form)
        assert answer.status_code == 200, (name, answer.status_code)
        self.left.append((name, answer.content))
        return answer.text

    def token(self) -> dict[str, str]:
        found = re.search(
            r'name="csrf_token"[^>]*value="([^"]+)"', self.get("/sign-in").text + self.get("/").text
        )
        assert found
        return {"csrf_token": unescape(found[1])}

    def sign_in(self, name: str) -> None:
        form = {"name": name, "password": WORDS} | self.token()
        assert self.post("/sign-in", form).status_code == 303
        self.secrets[f"{name}'s session cookie"] = self.web.cookies["ridedash_sid"]

    def cars(self) -> str:
        """The booking form with its cars; "" if a busy machine had no prices in time."""
        page = self.web.get(self.desk.url + "/rides/new", params=TRIP)
        self.shown.append(("/rides/new", page.text))
        return page.text if 'name="offer"' in page.text else ""

    def book(self, guest: str, phone: str = "") -> int:
        form = filled(wait_for(self.cars)) | {"guest_name": guest, "guest_phone": phone}
        answer = self.post("/rides/new", form)
        assert answer.status_code == 303, answer.status_code
        return int(answer.headers["Location"].rsplit("/", 1)[1])

    def look(self, order: int) -> dict[str, object]:
        self.get(f"/rides/{order}")
        found: dict[str, object] = self.get(
            f"/rides/{order}/snapshot.json", Accept="application/json"
        ).json()
        return found

    def steer(self, what: str, **body: float | str) -> dict[str, Any]:
        """Steer the sandbox by POST to `speed`, `advance` or `next`, or read its `clock` or
        `ledger`.
        """
        address = f"{self.service.sandbox}/control/{what}"
        headers = {"X-Sandbox-Control": "1"}
        with httpx.Client(trust_env=False, timeout=60, headers=headers) as web:
            answer = web.post(address, json=body) if body else web.get(address)
            found: dict[str, Any] = answer.raise_for_status().json()
        return found

    def arrival(self) -> float:
        """When the driver of the only booking arrives; 0.0 before there is a booking."""
        phases = [each for made in self.steer("ledger")["bookings"] for each in made["phases"]]
        return next((each["at"] for each in phases if each["status"] == "CLIENT_LOCATED"), 0.0)

    def database(self) -> sqlite3.Connection:
        return sqlite3.connect(self.desk.instance / "ridedash.db", timeout=20)


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    """The whole story, run once."""
    instance = tmp_path_factory.mktemp("canary")
    port = str(free_port())
    with leaky(f"http://127.0.0.1:{port}") as service:
        settings = {
            "RIDEDASH_SANDBOX_PORT": port,
            "RIDEDASH_SERVICE_URL": service.url,
            "RIDEDASH_SERVICE_APP_TOKEN": KEY,
            "RIDEDASH_OAUTH_CLIENT_SECRET": OAUTH,
            "RIDEDASH_METRICS_TOKEN": METRICS,
            "RIDEDASH_LOG_FORMAT": "json",
            "RIDEDASH_LOG_LEVEL": "debug",
        }
        with (
            running(instance, pace=str(PACE), stumbles=True, **settings) as desk,
            httpx.Client(trust_env=False, timeout=60) as web,
        ):
            made = Story(desk, service, web)
            made.secrets = known_secrets(instance, settings)
            add_staff("canary", "concierge", instance, settings)
            add_staff("heronry", "manager", instance, settings)
            play(made)
        yield made


def known_secrets(instance: Path, settings: dict[str, str]) -> dict[str, str]:
    """The values that no page, log or column may hold in the clear."""
    services = build_services(config.load({"RIDEDASH_INSTANCE": str(instance)} | settings))
    try:
        with services.db.read() as s:
            tokens = {
                f"access token of account {row.id}": services.vault.decrypt(
                    row.access_token_enc or "", "accounts", row.id, "access_token"
                )
                for row in s.query(Account).all()
            }
    finally:
        services.db.close()
    given = {
        "partner key": KEY,
        "OAuth secret": OAUTH,
        "metrics token": METRICS,
        "password": WORDS,
        "guess": WRONG,
    }
    made = {
        "signing key": services.settings.secret_key,
        "token keys": services.settings.token_keys.partition(":")[2],
    }
    return given | made | tokens | {"start code": CODE}


def add_staff(name: str, role: str, instance: Path, settings: dict[str, str]) -> None:
    command = [sys.executable, "-m", "ridedash.cli", "staff", "add", "--name", name, "--role", role]
    command += ["--property", "Grand Meridian Hotel"]
    environ = clean_environment(RIDEDASH_INSTANCE=str(instance), **settings)
    done = subprocess.run(
        command, env=environ, input=WORDS, capture_output=True, text=True, check=True, timeout=60
    )
    assert WORDS not in done.stdout + done.stderr


def play(story: Story) -> None:
    """Sign in after a failure, book, track, show and send the code; then every operation fails."""
    assert (
        story.post("/sign-in", {"name": "canary", "password": WRONG} | story.token()).status_code
        == 401
    )
    story.sign_in("canary")
    story.steer("speed", speed=1)  # in real time the driver waits long enough for the pages below
    ride = story.book(f"Wilma {GUEST}", GUEST_PHONE)
    arrives = wait_for(story.arrival)
    story.steer("advance", seconds=max(0.0, arrives - story.steer("clock")["now"]))
    wait_for(lambda: story.look(ride).get("booking_status") == "CLIENT_LOCATED")
    page = story.token()
    code = story.web.post(
        f"{story.desk.url}/rides/{ride}/code", data=page, headers={"Accept": "application/json"}
    )
    assert code.json()["code"] == CODE  # the one answer that may hold the start code
    with httpx.Client(trust_env=False, timeout=60) as web:
        manager = replace(story, web=web)
        manager.sign_in("heronry")
        send_links(manager, ride)
        take_out(manager, ride)
        go_wrong(story, ride)
        story.steer("speed", speed=PACE)
        fall(story, ride)
        story.get(f"/t/{SHARED}")
        story.get("/metrics")
        story.get("/metrics", Authorization=f"Bearer {METRICS}")
        story.get("/readyz", Cookie=f"other={SHARED}")
        wait_for(lambda: story.look(ride).get("stop"))
        take_out(manager, ride)
    assert story.post("/sign-out", story.token()).status_code == 303


def send_links(story: Story, ride: int) -> None:
    """Make a card with a link and the start code, and a link for a follower; open both."""
    for name, path, form in (
        ("rider", "card", {"code": "1"}),
        ("follower", "links/follower", {}),
    ):
        sent = story.web.post(f"{story.desk.url}/rides/{ride}/{path}", data=form | story.token())
        found = re.search(r"/t/([\w-]{20,})", sent.text)
        assert found, name
        story.secrets[f"{name}'s link"] = found[1]
        if path == "card":
            story.left.append(("card", sent.content))
        # the browser that opens the link has no sign-in
        with httpx.Client(trust_env=False, timeout=60) as web:
            opened = replace(story, web=web)
            for end in ("", "/snapshot.json"):
                opened.take(f"{name}'s page", f"/t/{found[1]}{end}")


def take_out(story: Story, ride: int) -> None:
    """Read, print and export, as a manager, the lists of rides and the pages of one ride."""
    story.take("history.csv", "/history.csv", story.token())
    story.take("audit.csv", "/admin/audit/export.csv", story.token())
    for name, path in (
        ("history", "/history"),
        ("hand-over", "/handover"),
        ("audit log", "/admin/audit"),
    ):
        story.take(name, path)
    for name, end in (("ride", ""), ("receipt", "/receipt"), ("card", "/card")):
        story.take(name, f"/rides/{ride}{end}")


def go_wrong(story: Story, ride: int) -> None:
    """Let the service leak its secrets in each operation, by each kind of fault.

    The driver of `ride` waits. A second ride has no driver yet: only such a ride can be aborted.
    """
    story.steer("next", scenario="no_cab")
    searching = story.book("Guest Finch")
    wait_for(lambda: story.look(searching).get("order_state") == "BOOKED")
    for number, fault in enumerate(FAULTS, 1):
        story.service.faults |= {
            "/create": [fault],
            "/track_ride": [fault],
            "/products": [fault] * 2,
        }
        story.web.get(story.desk.url + "/products.json", params=TRIP)
        story.service.faults["/products"] = []
        order = story.book(f"Guest Wren {number}")
        wait_for(
            lambda order=order: story.look(order).get("order_state") not in ("READY", "SENDING")
        )
        wait_for(lambda: not story.service.faults["/track_ride"])
        story.service.faults |= {"/drop_location": [fault], "/cancel": [fault], "/abort": [fault]}
        for stopped, path, form in (
            (ride, "drop", {"name": "Airport", "lat": DROP[0], "lng": DROP[1]}),
            (ride, "cancel", {"reason": "other"}),
            (searching, "abort", {}),
        ):
            answer = story.post(f"/rides/{stopped}/{path}", form | story.token())
            assert answer.status_code == 303, (path, fault, answer.status_code)
            story.look(stopped)


def fall(story: Story, ride: int) -> None:
    """Make a page of ours fail on a row that has a secret."""
    with contextlib.closing(story.database()) as line:
        for state in (KEY, "BOOKED"):
            with line:
                line.execute("UPDATE orders SET state = ? WHERE id = ?", (state, ride))
            story.get(f"/rides/{ride}")


def test_the_story_had_all_of_its_faults(story: Story) -> None:
    ends = ("/abort", "/cancel", "/create", "/drop_location", "/products", "/track_ride")
    spoken = {f"{end} {fault}" for end in ends for fault in FAULTS}
    assert spoken - set(story.service.spoken) == set()
    log = (story.desk.instance / "stderr.log").read_text()
    assert '"failures"' in log
    assert "/rides/<int:order_id>" in log


def test_no_log_line_holds_a_secret_a_phone_a_share_token_or_an_exact_place(story: Story) -> None:
    log = (story.desk.instance / "stderr.log").read_text()
    extra = {
        "guest's phone": GUEST_PHONE,
        "driver's phone": PHONE,
        "share": SHARED,
        "place": PLACE[0],
        "place 2": PLACE[1],
    }
    assert hits(log, story.secrets | extra) == []


def test_no_page_or_json_or_metric_holds_a_secret(story: Story) -> None:
    shown = {
        name: value for name, value in story.secrets.items() if not name.endswith("session cookie")
    }
    assert [
        (path, found) for path, text in story.shown if (found := hits(unescape(text), shown))
    ] == []
    metrics = "".join(text for path, text in story.shown if path == "/metrics")
    assert "ridedash_http_seconds" in metrics
    assert (
        hits(
            metrics, {"phone": GUEST_PHONE, "guest": "Heron", "staff": "canary", "place": PLACE[0]}
        )
        == []
    )


def test_pages_and_files_that_leave_hold_no_secret_and_only_needed_guest_data(
    story: Story,
) -> None:
    found: dict[str, set[str]] = {name: set() for name in LEAVES}
    for name, sent in story.left:
        text = sent.decode()
        found[name] |= {
            each.removesuffix(" 2")
            for each in hits(text + unescape(text), story.secrets | LOOKED_FOR)
        }
    assert {name: more for name, held in found.items() if (more := held - LEAVES[name])} == {}
    by_right = {"guest", "phone", "place", "rider's link", "follower's link", "start code"}
    # the search does find what it looks for
    assert set().union(*found.values()) == by_right
    assert [
        name for name, may in LEAVES.items() if "guest" in may and "guest" not in found[name]
    ] == []


def test_no_text_of_the_database_holds_a_secret_and_phone_and_places_stay_in_their_columns(
    story: Story,
) -> None:
    found: dict[str, set[str]] = {}
    wanted = story.secrets | {"phone": GUEST_PHONE, "place": PLACE[0], "place 2": PLACE[1]}
    with contextlib.closing(story.database()) as line:
        for table, column, text in texts(line):
            for name in hits(text, wanted):
                found.setdefault(name, set()).add(f"{table}.{column}")
    places = found.pop("place") | found.pop("place 2")
    assert (found, places) == ({"phone": PHONE_LIVES}, PLACES_LIVE)


def test_no_file_of_the_instance_folder_holds_a_token_a_password_or_a_start_code(
    story: Story,
) -> None:
    """Searches free pages of the database and the answer journal too, but not secrets.json."""
    for pattern in ("ridedash.db*", "answers-*", "lens.db*", "metrics/*"):
        paths = [path for path in story.desk.instance.rglob(pattern) if path.is_file()]
        assert paths, pattern
        for path in paths:
            assert hits(path.read_bytes().decode("latin-1"), story.secrets) == [], path.name


def test_neither_the_lens_nor_what_is_copied_from_it_holds_a_secret_or_a_phone(
    story: Story,
) -> None:
    lens = LensFile(story.desk.instance)
    calls = [lens.call(each.number) for each in lens.calls(None, False, 0, 5_000)]
    seen = [each for each in calls if each is not None]
    origin = Origin("demo", story.service.url, REAL, made_of(seen))
    texts = {"har": har(seen, origin), "sh": script(seen, origin), "log": events(seen, origin)}
    texts |= {f"httpx {each.number}": httpx_code(each, story.service.url) for each in seen}
    wanted = story.secrets | {"driver's phone": PHONE, "phone": GUEST_PHONE}
    assert [(name, found) for name, text in texts.items() if (found := hits(text, wanted))] == []
    assert {"create", "track_ride", "products"} <= {each.operation for each in seen}
    assert PLACE[0] in texts["har"]  # the search does find what it looks for


def hits(text: str, secrets: dict[str, str]) -> list[str]:
    return sorted(name for name, value in secrets.items() if value in text)


def texts(line: sqlite3.Connection) -> Iterator[tuple[str, str, str]]:
    tables = [row[0] for row in line.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in tables:
        rows = line.execute(f"SELECT * FROM {table}")
        names = [each[0] for each in rows.description]
        for row in rows:
            yield from ((table, name, str(value)) for name, value in zip(names, row, strict=True))
