"""Marked secrets go in everywhere while a real story runs, errors included; nothing of them comes out anywhere."""

import contextlib
import itertools
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path

import httpx
import pytest

from ridedash import config
from ridedash.building import build_services
from ridedash.store.people_tables import Account
from tests.leaky import CODE, PHONE, Leaky, leaky
from tests.processes.fleet import filled, free_port, wait_for
from tests.running import Running, clean_environment, running

KEY = "canary-partner-key-51f0c7"
OAUTH = "canary-oauth-client-51f0c7"
METRICS = "canary-metrics-token-51f0c7"
WORDS = "canary staff phrase 51f0c7"
WRONG = "canary wrong phrase 51f0c7"
GUEST_PHONE = "+919876051727"
DROP = ("-38.4812345", "-127.9512345")
SHARED = "canaRY51f0c7canaRY51f0"  # the form of a share link's token
TRIP = {"show": "1", "drop": "Airport", "drop_lat": DROP[0], "drop_lng": DROP[1]}

# Where a guest's phone and exact places live by right, as table.column: nothing else of the list may.
PHONE_LIVES = {"guests.phone"}
PLACES_LIVE = {
    "orders.body",  # the frozen request
    "offers.drop_lat",
    "offers.drop_lng",
    "rides.facts",
    "orders.evidence",
}


@dataclass
class Story:
    """What ran, what was shown, and what must be found nowhere."""

    desk: Running
    service: Leaky
    web: httpx.Client
    secrets: dict[str, str] = field(default_factory=dict)
    shown: list[tuple[str, str]] = field(default_factory=list)  # address, text

    def get(self, path: str, **headers: str) -> httpx.Response:
        answer = self.web.get(self.desk.url + path, headers=headers)
        self.shown.append((path, answer.text + str(dict(answer.headers))))
        return answer

    def post(self, path: str, form: dict[str, str]) -> httpx.Response:
        answer = self.web.post(self.desk.url + path, data=form)
        self.shown.append((path, answer.text))
        return answer

    def token(self) -> dict[str, str]:
        found = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', self.get("/sign-in").text + self.get("/").text)
        assert found
        return {"csrf_token": unescape(found[1])}

    def book(self, guest: str, phone: str = "") -> int:
        page = self.web.get(self.desk.url + "/rides/new", params=TRIP)
        self.shown.append(("/rides/new", page.text))
        answer = self.post("/rides/new", filled(page.text) | {"guest_name": guest, "guest_phone": phone})
        assert answer.status_code == 303, answer.status_code
        return int(answer.headers["Location"].rsplit("/", 1)[1])

    def look(self, order: int) -> dict[str, object]:
        self.get(f"/rides/{order}")
        found: dict[str, object] = self.get(f"/rides/{order}/snapshot.json", Accept="application/json").json()
        return found

    def database(self) -> sqlite3.Connection:
        return sqlite3.connect(self.desk.instance / "ridedash.db", timeout=20)


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    """The whole story, told once."""
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
            running(instance, pace="30", stumbles=True, **settings) as desk,
            httpx.Client(trust_env=False, timeout=60) as web,
        ):
            told = Story(desk, service, web)
            told.secrets = known_secrets(instance, settings)
            add_staff(instance, settings)
            tell(told)
        yield told


def known_secrets(instance: Path, settings: dict[str, str]) -> dict[str, str]:
    """What no page, log or column may hold in the clear."""
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
    given = {"partner key": KEY, "OAuth secret": OAUTH, "metrics token": METRICS, "password": WORDS, "guess": WRONG}
    made = {"signing key": services.settings.secret_key, "token keys": services.settings.token_keys.partition(":")[2]}
    return given | made | tokens | {"start code": CODE}


def add_staff(instance: Path, settings: dict[str, str]) -> None:
    command = [
        sys.executable,
        "-m",
        "ridedash.cli",
        "staff",
        "add",
        "--property",
        "Grand Meridian Hotel",
        "--name",
        "canary",
    ]
    environ = clean_environment(RIDEDASH_INSTANCE=str(instance), **settings)
    done = subprocess.run(command, env=environ, input=WORDS, capture_output=True, text=True, check=True, timeout=60)
    assert WORDS not in done.stdout + done.stderr


def tell(story: Story) -> None:
    """Sign in, at first wrongly; book; follow; show the code; then everything goes wrong."""
    token = story.token()
    assert story.post("/sign-in", {"name": "canary", "password": WRONG} | token).status_code == 401
    assert story.post("/sign-in", {"name": "canary", "password": WORDS} | token).status_code == 303
    story.secrets["session cookie"] = story.web.cookies["ridedash_sid"]
    ride = story.book("Guest Heron", GUEST_PHONE)
    wait_for(lambda: story.look(ride).get("booking_status") == "CLIENT_LOCATED")
    page = story.token()
    code = story.web.post(f"{story.desk.url}/rides/{ride}/code", data=page, headers={"Accept": "application/json"})
    assert code.json()["code"] == CODE  # the one answer that may hold it
    go_wrong(story, ride)
    fall(story, ride)
    story.get(f"/t/{SHARED}")
    story.get("/metrics")
    story.get("/metrics", Authorization=f"Bearer {METRICS}")
    story.get("/readyz", Cookie=f"other={SHARED}")
    wait_for(lambda: story.look(ride).get("stop"))
    assert story.post("/sign-out", story.token()).status_code == 303


def go_wrong(story: Story, ride: int) -> None:
    """The service says its secrets aloud, in every operation and shape."""
    for fault, number in zip(("refusal", "failure", "page"), itertools.count(1), strict=False):
        story.service.faults |= {"/create": [fault], "/track_ride": [fault], "/products": [fault] * 2}
        story.web.get(story.desk.url + "/products.json", params=TRIP)
        story.service.faults["/products"] = []
        order = story.book(f"Guest Wren {number}")
        wait_for(lambda order=order: story.look(order).get("order_state") not in ("READY", "SENDING"))
        wait_for(lambda: not story.service.faults["/track_ride"])
        story.service.faults |= {"/drop_location": [fault], "/cancel": [fault], "/abort": [fault]}
        for path, form in (("drop", {"drop": "Airport"} | TRIP), ("cancel", {"reason": "other"}), ("abort", {})):
            story.post(f"/rides/{ride}/{path}", form | story.token())
        story.look(ride)


def fall(story: Story, ride: int) -> None:
    """A page of ours falls over a row that holds what it should not."""
    with contextlib.closing(story.database()) as line:
        for state in (KEY, "BOOKED"):
            with line:
                line.execute("UPDATE orders SET state = ? WHERE id = ?", (state, ride))
            story.get(f"/rides/{ride}")


def test_the_story_was_as_bad_as_it_should_be(story: Story) -> None:
    assert {each.split()[0] for each in story.service.spoken} >= {"/create", "/track_ride", "/products"}
    assert {each.split()[1] for each in story.service.spoken} == {"refusal", "failure", "page"}
    log = (story.desk.instance / "stderr.log").read_text()
    assert '"failures"' in log
    assert "/rides/<int:order_id>" in log


def test_no_log_line_holds_a_secret_a_phone_a_share_token_or_an_exact_place(story: Story) -> None:
    log = (story.desk.instance / "stderr.log").read_text()
    extra = {
        "guest's phone": GUEST_PHONE,
        "driver's phone": PHONE,
        "share": SHARED,
        "place": DROP[0],
        "place 2": DROP[1],
    }
    assert hits(log, story.secrets | extra) == []


def test_no_page_or_json_or_metric_holds_a_secret(story: Story) -> None:
    shown = {name: value for name, value in story.secrets.items() if name != "session cookie"}
    assert [(path, found) for path, text in story.shown if (found := hits(unescape(text), shown))] == []
    metrics = "".join(text for path, text in story.shown if path == "/metrics")
    assert "ridedash_http_seconds" in metrics
    assert hits(metrics, {"phone": GUEST_PHONE, "guest": "Heron", "staff": "canary", "place": DROP[0]}) == []


def test_no_text_of_the_database_holds_a_secret_and_phone_and_places_stay_in_their_columns(story: Story) -> None:
    found: dict[str, set[str]] = {}
    wanted = story.secrets | {"phone": GUEST_PHONE, "place": DROP[0], "place 2": DROP[1]}
    with contextlib.closing(story.database()) as line:
        for table, column, text in texts(line):
            for name in hits(text, wanted):
                found.setdefault(name, set()).add(f"{table}.{column}")
    assert found.pop("phone", set()) <= PHONE_LIVES
    assert found.pop("place", set()) | found.pop("place 2", set()) <= PLACES_LIVE
    assert found == {}


def test_no_file_of_the_instance_folder_holds_a_token_a_password_or_a_start_code(story: Story) -> None:
    """The database's free pages and the black box too. A demo's own secrets are in secrets.json by right."""
    for path in story.desk.instance.rglob("*"):
        ours = path.name.startswith(("ridedash.db", "answers-")) or path.parent.name == "metrics"
        if path.is_file() and ours:
            assert hits(path.read_bytes().decode("latin-1"), story.secrets) == [], path.name


def hits(text: str, secrets: dict[str, str]) -> list[str]:
    return sorted(name for name, value in secrets.items() if value in text)


def texts(line: sqlite3.Connection) -> Iterator[tuple[str, str, str]]:
    tables = [row[0] for row in line.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in tables:
        rows = line.execute(f"SELECT * FROM {table}")
        names = [each[0] for each in rows.description]
        for row in rows:
            yield from ((table, name, str(value)) for name, value in zip(names, row, strict=True))
