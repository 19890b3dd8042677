"""Many processes, one desk: a change in one holds in all of them, on both kinds of database."""

import itertools
import json
import re

from sqlalchemy import select

from ridedash.store.models.orders import Heartbeat, Order
from ridedash.store.models.people import Staff
from ridedash.store.sign_ins import close_all_sign_ins
from tests.processes.fleet import Fleet, Person, get, wait_for

_guests = itertools.count(1)
# what the commands print for the person who starts them; all other lines of theirs are logged
PRINTED = ("ridedash worker: ", "Sandbox of the ride booking service: ")
# a failure as a line of ours, and as one of the web servers themselves
FAILED = re.compile(r'"level": "(ERROR|CRITICAL)"|\[(ERROR|CRITICAL)\]')
SEARCHED_S = 80  # a search takes 45 to 75 seconds, and the driver two minutes more to come


def guest() -> str:
    return f"Guest Heron {next(_guests)}"


def test_a_ride_booked_in_one_web_process_is_shown_by_the_others(
    running: Fleet, person: Person
) -> None:
    first, second = running.webs

    def status() -> str | None:
        shown = person.snapshot(second, order).json().get("booking_status")
        return None if shown is None else str(shown)

    def details() -> object:
        return status(), running.output("worker-1"), running.output("worker-2")

    # at full speed each state lasts for two seconds, and a busy machine may miss it
    running.steer("speed", speed=1)
    try:
        order = person.book(first, guest())
        wait_for(status, details)
        running.steer("advance", seconds=SEARCHED_S)
        wait_for(lambda: status() == "CALL_DRIVER", details)
    finally:
        running.steer("speed", speed=60)
    wait_for(lambda: status() == "COMPLETED", details)
    with running.services.db.read() as s:
        assert s.get_one(Order, order).state == "BOOKED"


def test_twenty_rides_booked_at_both_servers_are_each_sent_once_by_one_of_two_workers(
    running: Fleet, person: Person
) -> None:
    orders = [person.book(url, guest()) for _ in range(10) for url in running.webs]

    def sent() -> bool:
        with running.services.db.read() as s:
            states = s.execute(select(Order.state, Order.attempt).where(Order.id.in_(orders))).all()
        return all(tuple(each) == ("BOOKED", 1) for each in states)

    wait_for(sent)
    with running.services.db.read() as s:
        owners = set(s.scalars(select(Heartbeat.worker)))
    assert len(owners) == 2
    folder = running.folder / "instance" / "blackbox"
    assert sorted(path.name for path in folder.glob("*.box")) == ["answers-0.box", "answers-1.box"]
    assert sorted(path.name for path in folder.glob("mark-*")) == ["mark-0", "mark-1"]
    sent = [each for path in folder.glob("sent-*.log") for each in path.read_text().splitlines()]
    assert sum('"sent":' in each for each in sent) >= len(orders)


def refused_everywhere(running: Fleet, person: Person, order: int) -> bool:
    return all(
        person.snapshot(url, order).status_code == 401 for url in running.webs for _ in range(6)
    )


def test_a_sign_out_in_one_web_process_holds_in_all(running: Fleet, person: Person) -> None:
    """A sign-out holds in all processes; tests/views/poll_cache checks the limit of two seconds."""
    first, second = running.webs
    order = person.book(first, guest())
    # the second process has cached the sign-in by now
    wait_for(lambda: person.snapshot(second, order).status_code == 200)
    cookies = {"Cookie": f"ridedash_sid={person.http.cookies['ridedash_sid']}"}
    assert person.post(first, "/", "/sign-out").status_code == 303
    person.http.cookies.clear()
    person.http.headers.update(cookies)  # a copy of the cookie
    wait_for(lambda: refused_everywhere(running, person, order))


def test_disabling_and_signing_out_everywhere_hold_in_all_processes(
    running: Fleet, person: Person
) -> None:
    order = person.book(running.webs[0], guest())
    for ending in ("closed", "disabled"):
        person.http.cookies.clear()
        person.sign_in(running.webs[1])
        for url in running.webs * 3:
            assert person.snapshot(url, order).status_code == 200
        _end_sign_ins(running, ending, person.id)
        wait_for(lambda: refused_everywhere(running, person, order))


def _end_sign_ins(running: Fleet, ending: str, staff_id: int) -> None:
    with running.services.db.write() as s:
        if ending == "closed":
            close_all_sign_ins(s, staff_id)
        else:
            s.get_one(Staff, staff_id).disabled_at = running.services.clock()


def test_limits_are_counted_over_all_processes_together(running: Fleet, person: Person) -> None:
    order = person.book(running.webs[0], guest())
    answers = [
        person.post(url, "/", f"/rides/{order}/code").status_code for url in running.webs * 8
    ]
    assert answers.count(429) == 6  # ten an hour are allowed
    assert answers[-6:] == [429] * 6


def test_one_web_process_shows_the_metrics_of_all_and_of_the_workers(
    running: Fleet, person: Person
) -> None:
    person.book(running.webs[0], guest())
    person.http.get(running.webs[0] + "/")
    counted = [
        r"ridedash_workers 2\.0",
        r'ridedash_service_calls_total\{operation="/v1/bookings/track_ride",outcome="2xx"\} [1-9]',
        r'ridedash_orders_total\{state="BOOKED"\} [1-9]',
        r'ridedash_polls_total\{outcome="answered"\} [1-9]',
        r'ridedash_http_seconds_count\{method="POST",route="/rides/new",status="3xx"\} [1-9]',
    ]
    for url in running.webs:

        def lacking(metrics: str = url + "/metrics") -> list[str]:
            shown = get(metrics).text
            assert person.name not in shown
            return [pattern for pattern in counted if not re.search(pattern, shown)]

        wait_for(lambda: not lacking(), lacking)  # a worker counts a call only when it has ended
    forwarded = {"X-Forwarded-For": "198.51.100.7"}
    assert get(running.webs[0] + "/metrics", forwarded).status_code == 404


def test_every_log_line_of_our_processes_is_json_with_its_request(
    running: Fleet, person: Person
) -> None:
    name = person.http.get(running.webs[1] + "/").headers["X-Request-Id"]
    shown = wait_for(
        lambda: [line for line in running.output("gunicorn").splitlines() if name in line]
    )
    assert json.loads(shown[0])["route"] == "/"
    # the web servers themselves write lines of their own, which test_servers.py reads
    for process in ("worker-1", "worker-2", "sandbox"):
        lines = running.output(process).splitlines()
        logged = [json.loads(line) for line in lines if not line.startswith(PRINTED)]
        assert all("request" in each for each in logged)
        assert logged or process == "sandbox"
    for process in ("granian", "gunicorn", "worker-1", "worker-2", "sandbox"):
        assert "Traceback" not in running.output(process)
        wrong = FAILED.search(running.output(process))
        assert not wrong, running.output(process)
