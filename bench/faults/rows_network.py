"""Lost connections, endless answers and redirects, over real sockets.

Rows 6, 7 and 11 of the fault matrix (docs/reliability.md 2).
"""

import contextlib
import gzip
import json
import multiprocessing
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

from bench.faults.scoreboard import Case, Verdict, row
from bench.faults.shop import APP_TOKEN, Hasty, Service, Shop, shop
from bench.faults.sockets import AFTER_THE_BOOKING, LONG_LABEL, behind_tls, deaf, refusing
from ridedash.geo import LatLng
from ridedash.rides.state.codes import NO_CONNECTION
from ridedash.service.client import RideClient
from ridedash.service.errors import NoAnswer, ServiceError, Unreadable
from ridedash.service.transport.http import Http
from ridedash.service.types.bookings import NewBooking
from tests.service.servers import Behaviour, answer, drip, serving

HERE: Final = LatLng(-38.5, -128.0)
CONNECT_S: Final = 0.1
RSS_LIMIT: Final = 20 * 1024 * 1024


@row(6, "No connection: refused, DNS, TLS, connect timeout")
def no_connection(case: Case) -> Verdict:
    """A call that never reached the service is NOT_SENT, and booking again works."""
    received: list[bytes] = []
    tries, states, again = case.size(300, 30), Counter[str](), 0
    with contextlib.ExitStack() as stack:
        without_tls = [
            stack.enter_context(serving(behave, read_first=False))
            for behave in (_hangs_up, _refuse_hello)
        ]
        urls = [
            stack.enter_context(refusing()),
            stack.enter_context(deaf()),
            f"https://{LONG_LABEL}.invalid",
            stack.enter_context(refusing()).replace("http:", "https:"),
            *(server.url.replace("http:", "https:") for server in without_tls),
            stack.enter_context(behind_tls(case.folder, received)),
        ]
        for number, url in enumerate(urls):
            with shop(
                case.folder / str(number), http=Hasty(CONNECT_S, 2), address=url, durable=False
            ) as desk:
                share = tries // len(urls) + (number < tries % len(urls))
                failed = [_failed(desk) for _ in range(share)]
                states.update(f"{desk.order(n).state} {desk.order(n).code}" for n in failed)
                again += sum(_again(desk, failed))
    reached = all(server.connections for server in without_tls)
    note = (
        f"{dict(states)}; booked again: {again}; bytes that a stranger's TLS read: "
        f"{sum(map(len, received))}"
    )
    return Verdict(
        tries,
        ok=states == {f"NOT_SENT {NO_CONNECTION}": tries}
        and again == tries
        and reached
        and not any(received),
        note=note,
    )


def _hangs_up(line: socket.socket, _stop: threading.Event) -> None:
    line.close()


def _refuse_hello(line: socket.socket, _stop: threading.Event) -> None:
    line.recv(65536)
    line.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


def _failed(desk: Shop) -> int:
    desk.forget()
    return desk.send()


def _again(desk: Shop, failed: list[int]) -> Iterator[bool]:
    """Book each failed order again, now that the service answers; yields whether that worked."""
    service, out_of_reach = Service(), desk.http
    desk.http, desk.address = Http(service.transport()), "http://127.0.0.1:9"
    for order_id in failed:
        desk.forget()
        yield desk.order(desk.send(supersedes=order_id)).state == "BOOKED"
    out_of_reach.close()


@row(7, "No answer after the service has booked")
def booked_without_an_answer(case: Case) -> Verdict:
    """Timeout, RST, close or garbage after the booking was made: UNKNOWN."""
    tries, misfiled = case.size(500, len(AFTER_THE_BOOKING)), Counter[str]()
    failures = list(AFTER_THE_BOOKING)
    ledger: list[str] = []
    current = [failures[0]]

    def behave(line: socket.socket, stop: threading.Event) -> None:
        body = json.loads(server.requests[-1].partition(b"\r\n\r\n")[2])
        ledger.append(body["merchant_txn_id"])
        AFTER_THE_BOOKING[current[0]](line, stop, body)

    with (
        serving(behave) as server,
        shop(case.folder, http=Hasty(2, 0.4), address=server.url, durable=False) as desk,
    ):
        orders = []
        # A send that times out before its first byte, on a busy machine, is not counted.
        while len(ledger) < tries:
            current[0] = failures[len(ledger) % len(failures)]
            orders.append((current[0], desk.order(_failed(desk))))
    for failure, order in orders:
        if order.state not in (("UNKNOWN",) if order.mtx in ledger else ("UNKNOWN", "NOT_SENT")):
            misfiled[f"{failure}: {order.state}"] += 1
    doubled = len(ledger) - len(set(ledger))
    note = f"{len(failures)} ways; misfiled: {dict(misfiled) or 0}"
    return Verdict(tries, false_not_booked=sum(misfiled.values()), doubled=doubled, note=note)


@row(11, "Slow drips, bombs, endless answers")
def endless(case: Case) -> Verdict:
    """Deadlines are kept and memory is bounded: nothing is decompressed or read beyond the cap."""
    total_s, late, wrong = 1.0, 0, Counter[str]()
    times = case.size(50, 5)
    with _servers_apart() as urls, Hasty(1, total_s) as http:
        for number in range(times):
            if number == times // 3:
                # The first calls have allocated their memory; from now on it must hardly grow.
                before = rss()
            took = _all_at_once(http, urls)
            late += sum(seconds > total_s + (0.5 if not case.short else 3) for seconds, _ in took)
            for (behave, expected), (seconds, error) in zip(ENDLESS.items(), took, strict=True):
                ended = _ended(error)
                if ended == DEADLINE and (expected == DEADLINE or case.short):  # a busy machine
                    right = seconds >= 0.9 * total_s
                else:
                    right = ended == expected
                if not right:
                    wrong[f"{behave.__name__}: {ended} after {seconds:.1f} s"] += 1
    grown = max(0, peak() - before)
    note = f"{times} x 5 answers; {late} late, RSS +{grown / 1e6:.1f} MB"
    note += f"; wrong: {dict(wrong.most_common(3))}" if wrong else ""
    return Verdict(5 * times, ok=not late and not wrong and grown <= RSS_LIMIT, note=note)


@contextlib.contextmanager
def _servers_apart() -> Iterator[list[str]]:
    """Addresses of servers in a process of their own, whose memory isn't measured."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,))
    process.start()
    try:
        yield ours.recv()
    finally:
        ours.send(None)
        process.join()


def _serve(connection: Connection) -> None:
    with contextlib.ExitStack() as stack:
        connection.send([stack.enter_context(serving(each)).url for each in ENDLESS])
        connection.recv()


def _all_at_once(http: Http, urls: list[str]) -> list[tuple[float, Exception | None]]:
    def ask(url: str) -> tuple[float, Exception | None]:
        began = time.monotonic()
        try:
            RideClient(http, url, APP_TOKEN).track_ride("good", booking_id="C1")
        except ServiceError as error:
            return time.monotonic() - began, error
        return time.monotonic() - began, None

    with ThreadPoolExecutor(len(urls)) as pool:
        return list(pool.map(ask, urls))


def _drips_head(line: socket.socket, stop: threading.Event) -> None:
    drip(line, stop, answer(b'{"status": "SUCCESS"}'), 0.4)


def _drips_body(line: socket.socket, stop: threading.Event) -> None:
    whole = answer(b'{"status": "SUCCESS"}')
    line.sendall(whole[:-21])
    drip(line, stop, whole[-21:], 0.4)


BOMB: Final = gzip.compress(b"0" * 10_000_000)


def _bomb(line: socket.socket, _stop: threading.Event) -> None:
    line.sendall(answer(BOMB, "Content-Encoding: gzip"))


def _endless(line: socket.socket, stop: threading.Event) -> None:
    line.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
    while not stop.is_set():
        line.sendall(b"[" * 65536)


def _headers(line: socket.socket, stop: threading.Event) -> None:
    line.sendall(b"HTTP/1.1 200 OK\r\n")
    while not stop.is_set():
        line.sendall(b"X-More: %b\r\n" % (b"x" * 8000))


DEADLINE: Final = "ReadTimeout"
# How a call of each must end; a server that is gone would end it otherwise.
ENDLESS: Final[dict[Behaviour, str]] = {
    _drips_head: DEADLINE,
    _drips_body: DEADLINE,
    _bomb: Unreadable.__name__,
    _endless: Unreadable.__name__,
    _headers: "RemoteProtocolError",
}


def _ended(error: Exception | None) -> str:
    """The failure of a call, in a word."""
    return error.why if isinstance(error, NoAnswer) else type(error).__name__


def rss() -> int:
    """The resident bytes of this process; resets their peak where the kernel allows it."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _memory("VmRSS:")


def peak() -> int:
    """The peak of resident bytes since the last call of rss()."""
    return _memory("VmHWM:")


def _memory(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


@row(11, "Redirects: the partner key goes to no other host")
def redirects(_case: Case) -> Verdict:
    """Each operation is redirected by each status; the other host must get no request."""
    followed, wrong, tried = 0, [], 0
    with serving(lambda line, _stop: line.sendall(answer(b"{}"))) as other:
        for status in ("301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"):
            with serving(_to(f"{other.url}/v1/products", status)) as server, Http() as http:
                for name, ask in operations(
                    RideClient(http, server.url, APP_TOKEN, pause=lambda _s: None)
                ):
                    tried += 1
                    if not _left_open(name, ask):
                        wrong.append(f"{status} {name}")
        followed = other.connections
    note = f"the other host had {followed} connections; judged wrongly: {wrong or 0}"
    return Verdict(tried, ok=not followed and not wrong, note=note)


def _to(url: str, status: str) -> Behaviour:
    return lambda line, _stop: line.sendall(
        answer(b"{}", f"Location: {url}", "Connection: close", status=status)
    )


def _left_open(name: str, ask: Callable[[], Any]) -> bool:
    """Whether a redirected call ends as it should.

    create must return the redirect's status, options our default labels; all others must raise.
    """
    try:
        got = ask()
    except ServiceError:
        return name not in ("create", "options")
    return bool(
        got.http_status // 100 == 3 if name == "create" else name == "options" and got.from_document
    )


def operations(client: RideClient) -> list[tuple[str, Callable[[], Any]]]:
    """One harmless call of each of the eight operations."""
    order = NewBooking(pickup=HERE, category="mini", merchant_txn_id="RD-1")
    return [
        ("products", lambda: client.products(HERE, token="good")),
        ("create", lambda: client.create_booking(order, "good")),
        ("abort", lambda: client.abort_booking("C1", "good")),
        ("drop_location", lambda: client.update_drop_location("C1", HERE, "good")),
        ("cancel", lambda: client.cancel_booking("C1", "changed mind", "good")),
        ("track_ride", lambda: client.track_ride("good", booking_id="C1")),
        ("feedback", lambda: client.submit_feedback("C1", 5, "good")),
        ("options", lambda: client.feedback_options("mini", "good")),
    ]
