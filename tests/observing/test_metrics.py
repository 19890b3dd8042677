"""What is counted, shared by the processes of one machine."""

import subprocess
import sys
from pathlib import Path

from ridedash.observing.metrics import Figure, Metrics

COUNT = """
import sys
from ridedash.observing.metrics import Metrics
m = Metrics()
for _ in range(int(sys.argv[1])):
    m.order("BOOKED")
    m.call("/v1/bookings/track_ride", "answered", 0.03)
m.breaker("read", "open")
"""
TELL = """
import sys
from ridedash.observing.metrics import Metrics
sys.stdout.buffer.write(Metrics().text())
"""


def python(code: str, *words: str, folder: Path) -> str:
    folder.mkdir(exist_ok=True)
    environ = {"PROMETHEUS_MULTIPROC_DIR": str(folder), "PATH": ""}
    command = [sys.executable, "-c", code, *words]
    root = Path(__file__).parents[2]
    return subprocess.run(command, env=environ, cwd=root, capture_output=True, text=True, check=True, timeout=60).stdout


def test_counts_of_a_process_are_told_in_the_words_of_prometheus() -> None:
    metrics = Metrics()
    metrics.order("UNKNOWN")
    metrics.poll("answered", late_s=-0.5)
    metrics.breaker("write", "open")
    metrics.answered("GET", "/rides/<int:order_id>", 404, 0.003)
    for number in range(3):
        metrics.answered(f"BREW{number}", "none", 405, 0.001)  # a stranger's words make no series of their own
    said = metrics.text([Figure("ridedash_rides_followed", "Rides", {(): 7.0})]).decode()
    for line in (
        'ridedash_http_seconds_count{method="other",route="none",status="4xx"} 3.0',
        'ridedash_orders_total{state="UNKNOWN"} 1.0',
        'ridedash_polls_total{outcome="answered"} 1.0',
        'ridedash_poll_late_seconds_bucket{le="0.1"} 1.0',
        'ridedash_breaker{calls="write"} 1.0',
        'ridedash_http_seconds_count{method="GET",route="/rides/<int:order_id>",status="4xx"} 1.0',
        "ridedash_rides_followed 7.0",
    ):
        assert line in said.splitlines()


def test_two_apps_in_one_process_count_each_for_itself() -> None:
    first, second = Metrics(), Metrics()
    first.order("BOOKED")
    assert b'state="BOOKED"' not in second.text()


def test_counts_outlive_their_processes_and_a_dead_ones_breaker_does_not(tmp_path: Path) -> None:
    folder = tmp_path / "metrics"
    for _ in range(3):
        python(COUNT, "2", folder=folder)
        said = python(TELL, folder=folder)
    assert 'ridedash_orders_total{state="BOOKED"} 6.0' in said
    assert 'ridedash_service_call_seconds_count{operation="/v1/bookings/track_ride"} 6.0' in said
    assert 'ridedash_service_call_seconds_bucket{le="0.05",operation="/v1/bookings/track_ride"} 6.0' in said
    assert 'ridedash_breaker{calls="read"} 0.0' in said  # of the process that tells; no dead one's
    assert {path.name for path in folder.glob("*.db")} >= {"counter_ended.db", "histogram_ended.db"}
    assert len(list(folder.glob("counter_*.db"))) <= 2
