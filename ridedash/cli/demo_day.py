"""The rides that a new demo starts with: made by the worker's thread, before it follows rides.

The rides of the last week and of today are ordered from a sandbox in this process, whose clock the
program sets from ride to ride. This sandbox writes the file that the demo's own sandbox uses
afterwards. See ridedash/demo/day/.
"""

import contextlib
import logging
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from flask import Flask
from sqlalchemy.orm import Session

from ridedash.cli.demo import SIGN_IN_NAME
from ridedash.cli.http_server import listen, make_server
from ridedash.cli.sandbox_process import sandbox_settings
from ridedash.demo.day import plan
from ridedash.demo.day.playing import Desk, LedClock, Player, desk_of, furnish
from ridedash.demo.day.progress import EXTENSION, Progress
from ridedash.demo.emptying import delete_rides
from ridedash.demo.sandbox_control import SandboxControl
from ridedash.geo import LatLng
from ridedash.rides.journals.answer_journal import AnswerJournal
from ridedash.rides.worker import Worker
from ridedash.sandbox import create_sandbox
from ridedash.sandbox.city.city import cities
from ridedash.sandbox.clock import begin_led
from ridedash.sandbox.store import Store
from ridedash.service.client import RideClient
from ridedash.service.throttle.traffic import Traffic
from ridedash.service.transport.http import Http
from ridedash.services import Services, build_services
from ridedash.store import demo_marks, properties
from ridedash.store.actors import by_staff
from ridedash.store.models.people import Property
from ridedash.views.poll_cache.cache import polls

SEED: Final = 1
THREADS: Final = 2  # threads of the sandbox in this process
RATE: Final = 100_000  # calls in a second: high enough never to slow the making of the rides
PATIENT_S: Final = 60.0  # for a call to this sandbox: nobody waits, and a day has hundreds of them
LOOK_EVERY_S: Final = 0.2  # how often to check whether somebody has booked meanwhile

log = logging.getLogger(__name__)


class Day:
    """The rides of the last days and of today, up to now, that a start has to make."""

    def __init__(self, app: Flask, now: datetime, days: int) -> None:
        self.services: Services = app.extensions["ridedash"]
        self.progress: Progress = app.extensions[EXTENSION]
        self.app = app
        self.now = now
        self.days = days
        self.progress.begin(0)  # from now on a POST to /demo/ waits

    def make(self, worker: Worker, stop: threading.Event) -> None:
        """Make the day; meanwhile `worker` sends what people book. A failure is only logged.

        When `stop` is set before the end, the next start begins anew.
        """
        # while this is set, boards show only what is ordered from now on
        self.services.past_until = self.now
        try:
            with self._worded():
                if self._made(worker, stop):
                    self._end(demo_marks.MADE)
        except Exception as error:  # a demo without these rides still works
            log.exception("the day of the demo was not made: %s", type(error).__name__)
            self._end(demo_marks.NONE)
        finally:
            self.services.past_until = None
            self._show()
            self.progress.end()

    def _show(self) -> None:
        """Let the next poll of each page read the database instead of the poll cache."""
        with self._worded():
            cache = polls()
        if cache is not None:
            cache.forget()

    @contextlib.contextmanager
    def _worded(self) -> Iterator[None]:
        """An app context: wording prices and `polls` both need one."""
        with self.app.app_context():
            yield

    def _made(self, worker: Worker, stop: threading.Event) -> bool:
        looked = 0.0

        def go_on(ordered: int) -> bool:
            nonlocal looked
            self.progress.done = ordered
            if time.monotonic() - looked >= LOOK_EVERY_S:
                looked = time.monotonic()
                worker.send_only()
            return not stop.is_set()

        with self.services.db.write() as s:
            delete_rides(s)  # rides of a start that was interrupted
            prop = furnish(s, _home(s), self.places)
            zone = ZoneInfo(prop.timezone)
        requests = plan.ride_requests(self.now, zone, SEED, self.days)
        self.progress.begin(len(requests))
        with led(self.services, LedClock(plan.begins_at(self.now))) as player:
            return player.play(self._desk(), requests, self.now, go_on)

    @property
    def places(self) -> dict[str, LatLng]:
        """The places of the demo's city by name."""
        return {place.name: place.position for place in cities()[0].places}

    def _desk(self) -> Desk:
        with self.services.db.read() as s:
            staff = properties.find_staff(s, SIGN_IN_NAME)
            assert staff is not None
            prop = s.get_one(Property, staff.property_id)
            return desk_of(s, prop, by_staff(staff.id), self.places)

    def _end(self, day: str) -> None:
        settings = self.services.settings
        if settings.pace != 1:
            with Http() as http:
                SandboxControl(settings, http).run_at(settings.pace)
        with self.services.db.write() as s:
            demo_marks.settle(s, day)


def wanted(app: Flask, days: int = plan.DAYS) -> Day | None:
    """The rides that this start has to make: today's and those of `days` days before.

    None if the database is not marked as wanting them, or the service is not our sandbox. Otherwise
    empties the sandbox and sets its clock to before the first ride.
    """
    services: Services = app.extensions["ridedash"]
    settings = services.settings
    with services.db.read() as s:
        found = demo_marks.mark_of(s)
    if found is None or found.day != demo_marks.WANTED or not settings.sandboxed:
        return None
    now = services.clock()
    store = Store(sandbox_settings(settings).database)
    try:
        begin_led(store, plan.begins_at(now).timestamp(), settings.pace)
    finally:
        store.close()
    return Day(app, now, days)


@contextlib.contextmanager
def led(services: Services, clock: LedClock) -> Iterator[Player]:
    """Yields a Player with services and a sandbox of its own, which share the files of `services`.

    Both run on `clock`.
    """
    settings = services.settings
    sandbox = create_sandbox(replace(sandbox_settings(settings), clock=clock))
    with contextlib.ExitStack() as stack:
        stack.callback(sandbox.extensions["sandbox"].close)
        port = stack.enter_context(_served(sandbox))
        known = replace(
            settings,
            service_url=f"http://127.0.0.1:{port}",
            sandbox_port=port,
            pace=1.0,
        )
        http = stack.enter_context(Http())
        client = RideClient(http, known.service_url, known.service_app_token, traffic=Traffic(RATE))
        made = replace(build_services(known, clock), client=client)
        stack.callback(made.db.close)
        journal = AnswerJournal(settings.instance / "blackbox")
        stack.callback(journal.close)
        worker = Worker(made.runtime, journal)
        yield Player(made, worker, SandboxControl(known, http, PATIENT_S), clock)


@contextlib.contextmanager
def _served(app: Flask) -> Iterator[int]:
    """Serve an app to this machine, from a thread. Yields its port."""
    listening = listen("127.0.0.1", 0, "RIDEDASH_SANDBOX_PORT")
    server = make_server(app, listening, THREADS)
    thread = threading.Thread(target=server.run, name="led sandbox", daemon=True)
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        server.close()
        thread.join(5)


def _home(s: Session) -> Property:
    staff = properties.find_staff(s, SIGN_IN_NAME)
    assert staff is not None
    return s.get_one(Property, staff.property_id)
