"""The poll route of open pages, with sign-in, ownership and updates, against bare Flask."""

import contextlib
import threading
from collections.abc import Iterator
from http import HTTPStatus
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final
from urllib.error import HTTPError
from urllib.request import urlopen

from bench import frame
from bench.frame import Absent, Ratio, Result, Run, line
from bench.poll_load import Load, Poll, load, missing, polled, warm
from bench.poll_world import World, make_world
from bench.serving import START_S

RIDES: Final = 20
UNIT: Final = "answers per CPU second"
PROTECTS: Final = (
    "Watching rides must cost next to nothing: it is what every open page does all day."
)


@line("poll", "poll route behind granian, against bare Flask", aim="≥ 8", protects=PROTECTS)
def behind_granian(run: Run) -> Result:
    """A thousand people, twenty rides."""
    return _against_bare(run, "granian", run.of(1000, 200))


@line(
    "poll-gunicorn",
    "poll route behind gunicorn gthread, against bare Flask",
    aim="≥ 2",
    protects=PROTECTS,
)
def behind_gunicorn(run: Run) -> Result:
    """The same behind gunicorn."""
    return _against_bare(run, "gunicorn", run.of(1000, 200))


@line(
    "poll-guest",
    "poll of a guest's link behind granian, against bare Flask",
    aim="≥ 8",
    protects=PROTECTS,
)
def of_a_link(run: Run) -> Result:
    """A thousand links, twenty rides, no update: both sides answer 304. No cookie is sent."""
    return _against_bare(run, "granian", run.of(1000, 200), page="link")


@line(
    "poll-board",
    "idle poll of the board behind granian, against bare Flask",
    aim="≥ 8",
    protects=PROTECTS,
)
def of_the_board(run: Run) -> Result:
    """A thousand people, twenty rides, no update: both sides answer 304."""
    return _against_bare(run, "granian", run.of(1000, 200), page="board")


@line(
    "poll-many",
    "the three polls of many viewers, against bare Flask with as many cookies or links",
    aim="≥ 8",
    protects="What is stored of each viewer must hold for a whole chain's desks and guests, "
    "not for one that a bench repeats.",
    minutes=30,
)
def many_viewers(run: Run) -> list[Result]:
    """20,000 and 100,000 viewers, each with another session or link."""
    sizes = [run.of(20_000, 2_000), run.of(100_000, 10_000)]
    return [
        _against_bare(run, "granian", size, page=page, label=f"{page}, {size:,} {viewers}")
        for page, viewers in (("ride", "sign-ins"), ("link", "links"), ("board", "sign-ins"))
        for size in sizes
    ]


@line(
    "poll-connections",
    "poll route with 4,000 open connections, against bare Flask with as many",
    aim="≥ 6",
    protects="Browsers keep their connections open: thousands of them at once must lose no answer.",
)
def many_connections(run: Run) -> Result:
    """An answer that fails on either side is an error of the bench, not a slow answer."""
    return _against_bare(run, "granian", run.of(4000, 1000), connections=run.of(4000, 1000))


@line(
    "poll-body",
    "size of a snapshot, kB",
    aim="≤ 1.5",
    protects="A phone on a poor line follows its cab.",
    minutes=1,
)
def body(_run: Run) -> list[Result]:
    """The answer for a ride of each kind with a driver on the way; then one without an update."""
    with frame.folder() as folder:
        desk = make_world(folder, 0).desk
        client = desk.client()
        found: list[Result] = []
        for kind in ("point_to_point", "share", "auto"):
            path = f"/rides/{desk.order('BOOKED', 'CALL_DRIVER', kind)}/snapshot.json"
            first = client.get(path)
            again = client.get(path, headers={"If-None-Match": first.headers["ETag"]})
            if (first.status_code, again.status_code, again.data) != (
                200,
                304,
                b"",
            ) or not first.data:
                raise RuntimeError(
                    f"{kind}: {first.status_code}, then {again.status_code}, {len(again.data)} "
                    "bytes"
                )
            sizes = {
                kind.replace("_", " "): len(first.data),
                f"{kind.replace('_', ' ')}, 304": len(again.data),
            }
            found += [
                Ratio(n / 1000, None, n / 1000, (n / 1000,) * 2, "kB", label=label)
                for label, n in sizes.items()
            ]
        desk.close()
        return found


@line(
    "poll-upstream",
    "calls to the service that 1,000 viewers of one ride cause",
    aim="≤ 0",
    protects="The service's rate limit is for rides, not for people who look at them.",
    minutes=2,
)
def upstream(run: Run) -> Result:
    """The service counts its requests; every viewer has a session of their own."""
    if absent := missing():
        return Absent(_not_here(absent))
    with frame.folder() as folder, _counting() as (url, calls):
        world = make_world(folder, 1, SERVICE_URL=url)
        with contextlib.suppress(HTTPError):  # it answers 404
            urlopen(f"{url}/a-call-that-is-counted", timeout=START_S)
        if len(calls) != 1:
            raise RuntimeError("the service does not count its calls")
        calls.clear()
        with (
            _answer_file(world),
            polled("ours", "granian", world.environ | {"RIDEDASH_SERVICE_URL": url}) as server,
        ):
            warm(server, world.ask(folder, viewers := run.of(1000, 200)), viewers)
        return Ratio(
            len(calls), None, len(calls), (len(calls),) * 2, "calls", note=f"{viewers} viewers"
        )


def _against_bare(
    run: Run, server: str, viewers: int, page: str = "ride", connections: int = 32, label: str = ""
) -> Result:
    if absent := missing():
        return Absent(_not_here(absent), label)
    with frame.folder() as folder:
        world = make_world(folder, RIDES)
        ask = world.ask(folder, viewers, page)
        seconds = run.of(4, 2) * (1 if connections < 1000 else 3)
        with (
            _answer_file(world, page),
            polled("ours", server, world.environ) as our,
            polled("bare", server, world.environ) as bare,
        ):
            warm(our, ask, viewers)
            loads: dict[int, list[Load]] = {our.pid: [], bare.pid: []}

            def figure(which: Poll) -> float:
                world.record_seen()
                first = len(loads[which.pid]) * 7919
                loads[which.pid].append(_sound(load(which, ask, seconds, connections, first)))
                if page != "ride":
                    _nothing_new(which, ask)
                return loads[which.pid][-1].per_cpu_s

            return frame.side_by_side(
                run, lambda: figure(our), lambda: figure(bare), UNIT, label=label
            )


def _not_here(programs: str) -> str:
    return f"not on this machine: {programs} (Debian: apt install wrk util-linux)"


def _sound(result: Load) -> Load:
    if result.refused or result.broken or not result.answers:
        raise RuntimeError(f"polls fail: {result}")
    return result


def _nothing_new(server: Poll, ask: Path) -> None:
    """Raise RuntimeError if there is an update: then each viewer would get a new answer."""
    with ask.open() as file:
        path, cookie, tag = file.readline().rstrip("\n").split("\t")
    connection = HTTPConnection("127.0.0.1", server.port, timeout=START_S)
    connection.request("GET", path, headers={"Cookie": cookie, "If-None-Match": tag})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    if answer.status != HTTPStatus.NOT_MODIFIED:
        raise RuntimeError(f"an idle poll was answered with {answer.status}")


@contextlib.contextmanager
def _answer_file(world: World, page: str = "ride") -> Iterator[None]:
    """Write a full answer to the file that bare Flask answers with; close the desk at the end."""
    Path(world.environ["BENCH_BODY"]).write_bytes(world.body(page))
    try:
        yield
    finally:
        world.desk.close()


@contextlib.contextmanager
def _counting() -> Iterator[tuple[str, list[str]]]:
    """A service that knows no rides. Yields its URL and the paths requested so far."""
    calls: list[str] = []

    class Service(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            calls.append(self.path)
            self.send_error(404)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_args: object) -> None:
            """Don't log: requests are counted."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", calls
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
