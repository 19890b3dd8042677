"""A story at its own pace: a short wait runs as slowly as it may, a long one is skipped."""

import httpx
import pytest

from ridedash.demo.sandbox_control import LONGEST_WAIT_S, SandboxControl
from ridedash.service.transport.http import Http
from tests.demo.stages import Stage

pytestmark = pytest.mark.database


class Planned(SandboxControl):
    """A control of a sandbox whose only booking reaches its next phase after `ahead` seconds."""

    ahead = 0.0

    def _call(self, method: str, path: str, body: object = None) -> dict[str, object]:
        if path == "/control/clock":
            return {"now": 1_000.0, "speed": 0, "turns": [{"wall": 0.0}], "stop": None}
        phases = [{"status": "BEFORE", "at": 900.0}, {"status": "NEXT", "at": 1_000.0 + self.ahead}]
        return {"bookings": [{"merchant_txn_id": "mtx", "phases": phases}]}


@pytest.mark.parametrize(
    ("ahead", "speed"),
    [(0.0, 0), (4.0, 1), (24.0, 5), (26.0, 20), (99.0, 20), (299.0, 60), (301.0, 0)],
)
def test_a_wait_takes_five_seconds_at_most(stage: Stage, ahead: float, speed: int) -> None:
    settings = stage.desk.services.settings
    control = Planned(settings, Http(httpx.WSGITransport(stage.sandbox.app)))
    object.__setattr__(control, "ahead", ahead)  # frozen
    wait = control.wait_for("mtx")
    assert wait.speed == speed
    assert wait.seconds <= LONGEST_WAIT_S
    assert wait.seconds == (ahead / speed if speed else 0.0)


def test_a_booking_that_nobody_made_is_not_waited_for(stage: Stage) -> None:
    control = Planned(stage.desk.services.settings, Http())
    assert control.wait_for("another").speed == 0


def test_a_step_takes_its_own_pace_and_no_other_speed(stage: Stage) -> None:
    stage.press("stories/receipt/start", seed="1")
    run = stage.web.get("/demo/presenter/state.json").json["run"]["run"]
    sent = {"csrf_token": stage.csrf, "step": "0"}
    address = f"/demo/runs/{run}/step"
    assert stage.web.post(address, data=sent | {"speed": "own", "desk": "1"}).status_code != 400
    for wrong in ("-1", "7", "fast", ""):
        assert stage.web.post(address, data=sent | {"speed": wrong}).status_code == 400
