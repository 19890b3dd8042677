"""A poll after news of its ride, when nothing that is remembered fits: what a web core is spent on while cabs move."""

from datetime import timedelta
from time import process_time

from flask.testing import FlaskClient
from sqlalchemy import update

from bench import frame
from bench.baselines.plain_poll import plain_poll
from bench.frame import Ratio, Run, line
from bench.poll_world import World, make_world
from ridedash.store.order_tables import Order, Ride


@line(
    "poll-news",
    "a poll after news of its ride, made anew, against person and ride through the ORM and jsonify",
    aim="≤ 3",
    protects="A moving cab is news at each of its polls, however few look on: this times the rides that are watched is "
    "what web cores are counted by (docs/scaling.md).",
)
def news(run: Run) -> Ratio:
    """Server CPU of the request alone, in one process; both sides through the same test client, on one SQLite file."""
    with frame.folder() as folder:
        world = make_world(folder, 1, POLL_LAYER="on")
        path = f"/rides/{world.rides[0]}/snapshot.json"
        ours, plain = world.desk.client(), plain_poll(world.desk.services.db).test_client()
        times = run.of(200, 40)
        try:
            return frame.side_by_side(
                run, lambda: _cpu_ms(world, ours, path, times), lambda: _cpu_ms(world, plain, path, times), "ms of CPU"
            )
        finally:
            world.desk.close()


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
    """As a worker writes it: the cab moved, the service was heard."""
    seen = {"seen_at": world.desk.now + timedelta(milliseconds=n)}
    with world.desk.services.db.write() as s:
        s.execute(update(Order).where(Order.id == world.rides[0]).values(version=Order.version + 1))
        s.execute(update(Ride).where(Ride.order_id == world.rides[0]).values(**seen))
    memory = world.desk.services.polls
    assert memory is not None
    memory.look_again()  # not a quarter of a second later
