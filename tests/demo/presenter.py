"""A person who presents a running demo over HTTP: begins stories, and steps or plays them."""

import re
import time
from typing import Any

import httpx

from ridedash.demo.stories import STORIES
from ridedash.demo.stories.model import Ask
from tests.processes.fleet import get
from tests.running import ANSWERS_S, Running

WITHIN_S = 150.0
CONTROL = {"X-Sandbox-Control": "1"}
PROBE = "the worker asks whether the ride company answers"
PRICES = "products", "POST /demo/runs/<run_id>/step, manager"  # a step asks again if it got none
OVER = ("ended", "failed", "dropped")


class Presenter:
    """A manager who is signed in. Raises AssertionError when the program refuses a request."""

    def __init__(self, demo: Running) -> None:
        self.demo = demo
        self.http = httpx.Client(base_url=demo.url, timeout=ANSWERS_S, trust_env=False)
        self.token = ""  # the CSRF token of forms, the same until a user signs in or out
        form = {"name": demo.name, "password": demo.password}
        # as a browser: a script that signs in on its page gets JSON
        assert self.press("/sign-in", page="/sign-in", accept="*/*", **form).status_code == 303
        self.token = ""

    def press(
        self, path: str, page: str = "/demo", accept: str = "application/json", **fields: object
    ) -> httpx.Response:
        """Send a form of a page."""
        if not self.token:
            found = re.search(r'name="csrf-token" content="([^"]+)"', self.http.get(page).text)
            assert found
            self.token = found[1]
        sent = {"csrf_token": self.token} | {name: str(value) for name, value in fields.items()}
        return self.http.post(path, data=sent, headers={"Accept": accept})

    def begin(self, story: str, seed: int = 1) -> dict[str, Any]:
        """Begin a story. Returns where its run stands."""
        answer = self.press(f"/demo/stories/{story}/start", seed=seed)
        assert answer.status_code == 303, answer.text
        return self.at(answer.headers["location"].rpartition("/")[2])

    def at(self, run: str) -> dict[str, Any]:
        """Where a run stands."""
        answer = self.http.get(f"/demo/runs/{run}", headers={"Accept": "application/json"})
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def step(self, moment: dict[str, Any], speed: int, **hands: str) -> dict[str, Any]:
        """Press Step once; `hands`: the screens on which the stage itself types and presses."""
        run, step = moment["run"], moment["step"]
        answer = self.press(f"/demo/runs/{run}/step", step=step, speed=speed, **hands)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def bookings(self) -> list[dict[str, Any]]:
        """The sandbox's ledger."""
        answer = get(f"{self.demo.sandbox_url}/control/ledger", CONTROL)
        found: list[dict[str, Any]] = answer.json()["bookings"]
        return found

    def calls(self) -> list[dict[str, Any]]:
        """Calls to the service in the lens, each with its ride, or the reason why it has none."""
        found: list[dict[str, Any]] = self.http.get("/demo/lens/calls.json?limit=5000").json()[
            "calls"
        ]
        return found

    def orphans(self, story: str) -> list[str]:
        """The calls that belong to no ride, except probes and some requests for prices.

        Left out are failed ones, and all of a story that also asks for prices without booking.
        """
        asks = any(isinstance(step.do, Ask) for step in STORIES[story].steps)
        untied = [each for each in self.calls() if not each["order"] and each["why"] != PROBE]
        return [
            "{operation}, {status}, {ms} ms: {why}".format(**each)
            for each in untied
            if (each["operation"], each["why"]) != PRICES or not (asks or each["failed"])
        ]

    def play(self, story: str, speed: int, seed: int = 1) -> dict[str, Any]:
        """Play a story to its end, as the page's script does. Returns where its run ended."""
        moment, end = self.begin(story, seed), time.monotonic() + WITHIN_S
        pause = 0.05
        while moment["state"] not in OVER:
            assert time.monotonic() < end, moment
            moment = self.step(moment, speed)
            if moment["again_s"]:
                time.sleep(pause)  # then ask again, as the page does
        return moment
