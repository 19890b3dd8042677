"""Polls by CPU in one process: after an update, without the cache, or of a guest's link."""

from datetime import timedelta
from time import process_time
from typing import Final

from flask.testing import FlaskClient
from sqlalchemy import update

from bench import frame
from bench.baselines.plain import obvious_poll, plain_poll
from bench.frame import Ratio, Run, line
from bench.poll_world import World, make_world
from ridedash.rides.share_links import LinkKind, make_link
from ridedash.store.actors import by_staff
from ridedash.store.models.orders import Order, Ride
from ridedash.views.poll_cache.cache import EXTENSION

LINKS: Final = 200
UNIT: Final = "ms of CPU"


@line(
    "poll-news",
    "a poll after an update of its ride, against person and ride through the ORM and jsonify",
    aim="≤ 3",
    protects="A moving cab changes at each of its polls, however few watch it: this times the "
    "rides that are watched is what web cores are counted by (docs/scaling.md).",
)
def updates(run: Run) -> Ratio:
    """CPU time of a request in one process, through the same test client and SQLite file."""
    with frame.folder() as folder:
        world = make_world(folder, 1, POLL_LAYER="on")
        path = f"/rides/{world.rides[0]}/snapshot.json"
        ours, baseline = world.desk.client(), plain_poll(world.desk.services.db).test_client()
        times = run.of(200, 40)
        try:
            return frame.side_by_side(
                run,
                lambda: _cpu_ms(world, ours, path, times),
                lambda: _cpu_ms(world, baseline, path, times),
                UNIT,
            )
        finally:
            world.desk.close()


@line(
    "poll-off",
    "a poll with the cache switched off, nothing new, against Flask-Login, the ORM and jsonify",
    aim="≥ 1.2",
    protects="Who has to switch the cache off to find a fault must still be able to work.",
)
def without_cache(run: Run) -> Ratio:
    """Both sides read a signed cookie and the database, and answer 200."""
    with frame.folder() as folder:
        world = make_world(folder, 40, POLL_LAYER="off")  # 40, as polls of a ride are limited
        ours, baseline = world.desk.client(), obvious_poll(world.desk.services.db).test_client()
        if baseline.get("/sign-in").status_code != 200:
            raise RuntimeError("the baseline signs nobody in")
        paths = [f"/rides/{ride}/snapshot.json" for ride in world.rides]
        requests: list[tuple[str, dict[str, str]]] = [(path, {}) for path in paths] * run.of(5, 1)
        try:
            return frame.side_by_side(
                run,
                lambda: 1000 / _each_ms(ours, requests, 200),
                lambda: 1000 / _each_ms(baseline, requests, 200),
                "answers per CPU second",
            )
        finally:
            world.desk.close()


@line(
    "poll-link-cpu",
    "a poll of a guest's link, nothing new, against person and ride through the ORM and jsonify",
    aim="≤ 0.3",
    protects="A guest's poll is answered before Flask, and its link is not looked up: this times "
    "the guests who look on is the rest of what web cores are counted by (docs/scaling.md).",
)
def guest(run: Run) -> Ratio:
    """Each link is that of another ride, because one link is limited to sixty requests a minute."""
    with frame.folder() as folder:
        world = make_world(folder, LINKS, POLL_LAYER="on")
        desk = world.desk
        facts = desk.services.db, desk.now, desk.ids["desk.property"]
        staff = by_staff(desk.ids["desk"])
        links = [
            f"/t/{make_link(*facts, ride, LinkKind.RIDER, staff)}/snapshot.json"
            for ride in world.rides
        ]
        ours, baseline = desk.app.test_client(), plain_poll(desk.services.db).test_client()
        tags = {path: ours.get(path).headers["ETag"] for path in links}
        requests = [(path, {"If-None-Match": tags[path]}) for path in links]
        bare = [(f"/rides/{ride}/snapshot.json", {}) for ride in world.rides]
        try:
            return frame.side_by_side(
                run,
                lambda: _each_ms(ours, requests, 304),
                lambda: _each_ms(baseline, bare, 200),
                UNIT,
            )
        finally:
            desk.close()


def _each_ms(client: FlaskClient, requests: list[tuple[str, dict[str, str]]], status: int) -> float:
    began = process_time()
    for path, headers in requests:
        answer = client.get(path, headers=headers)
        if answer.status_code != status:
            raise RuntimeError(f"a poll answered {answer.status_code}")
    return (process_time() - began) * 1000 / len(requests)


def _cpu_ms(world: World, client: FlaskClient, path: str, times: int) -> float:
    spent, tags = 0.0, set()
    for n in range(times):
        _happens(world, n)
        began = process_time()
        answer = client.get(path)
        spent += process_time() - began
        if answer.status_code != 200:
            raise RuntimeError(f"a poll answered {answer.status_code}")
        tags.add(answer.headers["ETag"])
    if len(tags) != times:
        raise RuntimeError("an answer was remembered that should have been made anew")
    return spent * 1000 / times


def _happens(world: World, n: int) -> None:
    """An update as a worker writes it: a higher revision, and the time of the last good poll."""
    seen = {"seen_at": world.desk.now + timedelta(milliseconds=n)}
    with world.desk.services.db.write() as s:
        s.execute(update(Order).where(Order.id == world.rides[0]).values(version=Order.version + 1))
        s.execute(update(Ride).where(Ride.order_id == world.rides[0]).values(**seen))
    memory = world.desk.app.extensions[EXTENSION]
    memory.look_again()  # otherwise the cache looks every quarter of a second
