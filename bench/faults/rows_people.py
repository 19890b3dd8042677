"""People: double clicks, two at once, a browser offline, an order closed before its answer came.

Rows 4, 5, 32 and 34 of the fault matrix (docs/reliability.md 2).
"""

import http.client
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlencode

import httpx
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.test import TestResponse

from bench.faults.nursery import ROOT
from bench.faults.scoreboard import POSTGRESQL, Case, Missing, Verdict, row
from bench.faults.shop import STAFF, Service, Shop, csrf_of, database_in, shop
from ridedash.extensions import limiter
from ridedash.store.audit import AuditRow
from tests.conftest import browser_path
from tests.running import clean_environment
from tests.sandbox.serving import waitress

PRESSES = 200
GUARDED = "already has a ride from here"


@row(4, "Double click, resubmit, two tabs: one form token")
def one_token_pressed_often(case: Case) -> Verdict:
    """200 POSTs of one form to a real server, 40 at a time: one order, booking and page."""
    service = Service()
    rounds, doubled, other, lost = case.size(10, 1), 0, 0, 0
    with shop(case.folder, service.handle) as desk, waitress(desk.app, threads=12) as url:
        port, browser = int(url.rsplit(":", 1)[1]), desk.browser()
        page = browser.get("/rides/new").text
        for number in range(rounds):
            with desk.app.app_context():
                # Otherwise the rounds would exceed the limit of 60 orders a minute, and get 429.
                limiter.reset()
            form = desk.form(page, offer=desk.offer())
            answers = _pressed(port, cookie_of(browser), form, PRESSES)
            desk.worker.step()
            other += (
                PRESSES - answers.most_common(1)[0][1] + (answers.most_common(1)[0][0][0] != 303)
            )
            doubled += max(len(desk.orders()), len(service.bookings)) - number - 1
            lost += number + 1 - len(service.bookings)
    note = f"{rounds} x {PRESSES} presses, {other} answers other than 303 to the one page"
    return Verdict(
        rounds * PRESSES, lost=max(0, lost), doubled=max(0, doubled), ok=other == 0, note=note
    )


def cookie_of(browser: FlaskClient) -> str:
    """The Cookie header of a test browser, for a request over a real socket."""
    return "; ".join(f"{each.key}={each.value}" for each in browser._cookies.values())


def _pressed(
    port: int, cookie: str, form: dict[str, str], times: int
) -> Counter[tuple[int, str | None]]:
    body, go = urlencode(form), threading.Barrier(40)
    headers = {"Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded"}

    def press(_number: int) -> list[tuple[int, str | None]]:
        go.wait(30)
        return [_post(port, body, headers) for _ in range(times // 40)]

    with ThreadPoolExecutor(40) as pool:
        return Counter(answer for answers in pool.map(press, range(40)) for answer in answers)


def _post(port: int, body: str, headers: dict[str, str]) -> tuple[int, str | None]:
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        line.request("POST", "/rides/new", body, headers)
        answer = line.getresponse()
        answer.read()
        return answer.status, answer.getheader("Location")
    finally:
        line.close()


@row(5, "Two staff, the same guest (SQLite)")
def two_staff_on_sqlite(case: Case) -> Verdict:
    """The duplicate-booking guard on SQLite."""
    return _two_staff(case, "")


@row(5, "Two staff, the same guest (PostgreSQL)", database=POSTGRESQL)
def two_staff_on_postgresql(case: Case) -> Verdict:
    """The duplicate-booking guard on PostgreSQL."""
    return _two_staff(case, database_in(case.folder / "pg", POSTGRESQL))


def _two_staff(case: Case, url: str) -> Verdict:
    """Two people book for one guest at once: one order, and a question for the other person."""
    service, races, wrong, errors = Service(), case.size(50, 10), 0, 0
    with shop(case.folder, service.handle, url=url, durable=False) as desk:
        browsers = [desk.browser(name) for name in STAFF]
        pages = [browser.get("/rides/new").text for browser in browsers]
        for number in range(races):
            desk.forget()
            forms = [
                desk.form(page, offer=desk.offer(), guest_name=f"Guest of race {number}")
                for page in pages
            ]
            answers = _at_once(browsers, forms)
            errors += sum(answer.status_code >= 500 for answer in answers)
            wrong += not _one_is_refused(answers)
            beaten = next((i for i, answer in enumerate(answers) if answer.status_code != 303), 0)
            desk.worker.step()
            wrong += len(service.bookings) != 2 * number + 1
            again = browsers[beaten].post(
                "/rides/new", data={**forms[beaten], "override_guard": _named(answers[beaten])}
            )
            desk.worker.step()
            wrong += again.status_code != 303 or len(service.bookings) != 2 * number + 2
        wrong += _overrides(desk) != races
    doubled = max(0, len(service.bookings) - 2 * races)
    note = (
        f"{races} races; {wrong} went wrong; each second car was pressed on purpose and is on "
        "record"
    )
    return Verdict(2 * races, doubled=doubled, errors500=errors, ok=wrong == 0, note=note)


def _named(answer: TestResponse) -> str:
    """The value of the button that books a second car: the rides that the notice names."""
    return answer.text.partition('name="override_guard"')[2].split('"')[1]


def _one_is_refused(answers: Sequence[TestResponse]) -> bool:
    codes = sorted(answer.status_code for answer in answers)
    return codes == [303, 409] and all(GUARDED in a.text for a in answers if a.status_code == 409)


def _at_once(
    browsers: Sequence[FlaskClient], forms: Sequence[dict[str, str]]
) -> list[TestResponse]:
    go = threading.Barrier(len(browsers))

    def press(browser: FlaskClient, form: dict[str, str]) -> TestResponse:
        go.wait(30)
        return browser.post("/rides/new", data=form)

    with ThreadPoolExecutor(len(browsers)) as pool:
        return list(pool.map(press, browsers, forms))


def _overrides(desk: Shop) -> int:
    """How many orders name who overrode the guard, or how many audit entries do, if fewer."""
    with desk.s.db.read() as s:
        names_others = [
            each.facts.get("override")
            for each in s.scalars(select(AuditRow).where(AuditRow.what == "order.place"))
        ]
    named = [
        order.guard_override_by
        for order in desk.orders()
        if order.guard_override_by in desk.staff_ids
    ]
    return min(len(named), names_others.count(True))


@row(34, "A late answer after a person closed the order")
def late_answer(case: Case) -> Verdict:
    """An order is closed as not booked, then the booking comes.

    Its page shows an alarm, and offers to abort its ride.
    """
    tries, wrong, errors = case.size(30, 3), 0, 0
    service = Service()
    with shop(case.folder, service.handle, durable=False) as desk:
        browser = desk.browser()
        for _ in range(tries):
            desk.forget()
            order_id = desk.place()
            service.create.append(lambda body: _meanwhile(desk, browser, service, body))
            desk.worker.sender.send(order_id)
            page = browser.get(f"/rides/{order_id}")
            errors += page.status_code >= 500
            order = desk.order(order_id)
            wrong += (order.state, order.late_double) != ("BOOKED", True)
            wrong += (
                "Two rides may exist for this guest" not in page.text
                or "Keep both" not in page.text
            )
            wrong += not _aborted(desk, browser, service, order_id, page.text)
    note = f"{wrong} without alarm or without the abort that was pressed"
    return Verdict(tries, lost=0, errors500=errors, ok=wrong == 0, note=note)


def _meanwhile(
    desk: Shop, browser: FlaskClient, service: Service, body: dict[str, Any]
) -> httpx.Response:
    """During the call 21 s pass and a member of staff closes the order as not booked.

    Then the answer comes.
    """
    desk.clock.go(21)
    desk.worker._recurring_jobs(always=True)
    order = next(each for each in desk.orders() if each.mtx == body["merchant_txn_id"])
    token = csrf_of(browser.get(f"/rides/{order.id}").text)
    facts = {"csrf_token": token, "reason": "asked by phone"}
    answer = browser.post(f"/rides/{order.id}/resolve/not-booked", data=facts)
    assert (answer.status_code, desk.order(order.id).state) == (303, "CLOSED_NOT_BOOKED")
    return service.booked(body)


def _aborted(desk: Shop, browser: FlaskClient, service: Service, order_id: int, page: str) -> bool:
    offered = f"/rides/{order_id}/abort" in page
    answer = browser.post(f"/rides/{order_id}/abort", data={"csrf_token": csrf_of(page)})
    bodies = [body for name, body in service.calls if name == "abort"]
    return (
        offered
        and answer.status_code == 303
        and bodies[-1:] == [{"booking_id": desk.order(order_id).booking_id}]
    )


@row(32, "The browser is offline", short=False)  # CI runs its test directly
def offline(_case: Case) -> Verdict:
    """Chromium loses the network: the page says so, queues nothing and sends nothing later."""
    path = browser_path()
    if path is None:
        raise Missing("no Chromium on this machine")
    command = [sys.executable, "-m", "pytest", "-q", "tests/faults/test_offline_browser.py"]
    # Without these settings, the tests are skipped if Chromium is not on the PATH.
    env = clean_environment(RIDEDASH_TEST_CHROMIUM=path, RIDEDASH_TEST_BROWSER="required")
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=env, cwd=ROOT)
    note = run.stdout.strip().splitlines()[-1] if run.stdout.strip() else ""
    return Verdict(2, ok=run.returncode == 0 and "2 passed" in note, note=note)
