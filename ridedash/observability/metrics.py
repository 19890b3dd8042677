"""Metrics for Prometheus; the only module that uses its client library.

No label contains anything about a person, a place or a ride. The processes of one machine share a
folder of metrics files (PROMETHEUS_MULTIPROC_DIR, set by observability.process before this module
is imported), so that each of them can answer /metrics for all.
"""

import contextlib
import hmac
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import prometheus_client
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.registry import Collector

from ridedash.config import is_loopback
from ridedash.observability.process import FOLDER, ended

CONTENT_TYPE: Final = prometheus_client.CONTENT_TYPE_LATEST
CALL_S: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
PAGE_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)
IN_VAIN: Final = frozenset({"5xx", "not_sent", "unanswered", "unreadable"})
METHODS: Final = frozenset({"GET", "HEAD", "POST", "OPTIONS", "PUT", "PATCH", "DELETE"})
VISIT_S: Final = (5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300)
LATE_S: Final = (0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300)
# headers that a proxy adds, as WSGI spells them
FORWARDED: Final = (
    "HTTP_FORWARDED",
    "HTTP_X_FORWARDED_FOR",
    "HTTP_X_FORWARDED_HOST",
    "HTTP_X_FORWARDED_PROTO",
    "HTTP_X_REAL_IP",
    "HTTP_VIA",
)
# without the extra `_created` series: Prometheus detects a restart by the counter's reset
prometheus_client.disable_created_metrics()


class GaugeReading(NamedTuple):
    """A gauge that is read when /metrics is requested, with one value for each set of labels."""

    name: str
    meaning: str
    values: Mapping[tuple[str, ...], float]
    labels: tuple[str, ...] = ()


class Metrics:
    """The metrics of this process; it implements service.hooks. Safe to share between threads."""

    records = False

    def __init__(self) -> None:
        self.registry = r = CollectorRegistry()
        self._calls = Counter(
            "ridedash_service_calls",
            "Calls to the ride service that ended, by outcome",
            ("operation", "outcome"),
            registry=r,
        )
        self._call_s = Histogram(
            "ridedash_service_call_seconds",
            "Duration of calls to the ride service",
            ("operation",),
            buckets=CALL_S,
            registry=r,
        )
        self._orders = Counter(
            "ridedash_orders", "Orders that reached a state", ("state",), registry=r
        )
        self._polls = Counter(
            "ridedash_polls", "Polls of rides, by outcome", ("outcome",), registry=r
        )
        self._late_s = Histogram(
            "ridedash_poll_late_seconds",
            "Time from when a poll was due to when it was made",
            buckets=LATE_S,
            registry=r,
        )
        self._breaker = Gauge(
            "ridedash_breaker",
            "1 while the circuit breaker of these calls is open in any process",
            ("calls",),
            multiprocess_mode="livemax",
            registry=r,
        )
        self._visits = Counter(
            "ridedash_kiosk_visits",
            "Visits of guests at kiosks, by how they ended",
            ("how",),
            registry=r,
        )
        self._visit_s = Histogram(
            "ridedash_kiosk_visit_seconds",
            "Duration of visits at kiosks",
            buckets=VISIT_S,
            registry=r,
        )
        self._turns = Counter(
            "ridedash_breaker_turns",
            "Times that the circuit breaker of these calls reached a state",
            ("calls", "state"),
            registry=r,
        )
        self._pages = Histogram(
            "ridedash_http_seconds",
            "Duration of answered requests",
            ("method", "route", "status"),
            buckets=PAGE_S,
            registry=r,
        )
        self._answers = cache(
            lambda method, route, status_class: self._pages.labels(
                method, route, f"{status_class}xx"
            )
        )
        self._remembered = Counter(
            "ridedash_http_remembered", "Polls answered from the poll cache", registry=r
        )

        for calls in ("read", "write"):
            self._breaker.labels(calls).set(0)

    def exchange(self, exchange: object) -> None:
        """Do nothing: of a call, only numbers are recorded."""

    def offers(self, ids: Sequence[int]) -> None:
        """Do nothing."""

    def call(self, operation: str, outcome: str, seconds: float) -> None:
        """Count a call to the service that has ended, or that got no permit."""
        self._calls.labels(operation, outcome).inc()
        if outcome != "held":  # a throttled call got no permit, so it was not made
            self._call_s.labels(operation).observe(seconds)

    def calls_in_vain(self) -> int:
        """How many calls of this process got no answer, an unreadable one or a status of 5xx."""
        samples = (sample for metric in self._calls.collect() for sample in metric.samples)
        return int(
            sum(
                sample.value
                for sample in samples
                if sample.name.endswith("_total") and sample.labels["outcome"] in IN_VAIN
            )
        )

    def breaker(self, calls: str, state: str) -> None:
        """Record the new state of a circuit breaker."""
        self._breaker.labels(calls).set(float(state == "open"))
        self._turns.labels(calls, state).inc()

    def order(self, outcome: str) -> None:
        """Count an order's change to a new state, `outcome`."""
        self._orders.labels(outcome).inc()

    def poll(self, outcome: str, late_s: float) -> None:
        """Count a poll of a ride."""
        self._polls.labels(outcome).inc()
        self._late_s.observe(max(0.0, late_s))

    def visit(self, how: str, seconds: float | None) -> None:
        """Count an ended visit at a kiosk; `seconds` is None when its length is unknown."""
        self._visits.labels(how).inc()
        if seconds is not None:
            self._visit_s.observe(seconds)

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answered request.

        `route` is the rule, never the URL; `status` is counted by its first digit.
        """
        known = method if method in METHODS else "other"  # a client may send any word as the method
        self._answers(known, route, status // 100).observe(seconds)

    def remembered(self, polls: int) -> None:
        """Count polls that the poll cache answered; they never get to `answered()`."""
        self._remembered.inc(polls)

    def text(self, gauges: Iterable[GaugeReading] = ()) -> bytes:
        """These gauges and the metrics of all processes, in Prometheus's text format.

        Of this process only, if it has no folder of metrics files.
        """
        folder = os.environ.get(FOLDER)
        shown = CollectorRegistry()
        shown.register(_GaugeCollector(tuple(gauges)))
        if folder is None:
            return prometheus_client.generate_latest(shown) + prometheus_client.generate_latest(
                self.registry
            )
        _drop_gauges_of_ended_processes(Path(folder))
        MultiProcessCollector(shown, path=folder)
        try:
            return prometheus_client.generate_latest(shown)
        except FileNotFoundError:
            # a starting process has removed old files meanwhile: read the remaining ones
            return prometheus_client.generate_latest(shown)


def _drop_gauges_of_ended_processes(folder: Path) -> None:
    for path in folder.glob("gauge_live*.db"):
        if ended(path):
            # another process may remove it at the same time
            with contextlib.suppress(FileNotFoundError):
                mark_process_dead(int(path.stem.rpartition("_")[2]), str(folder))


class _GaugeCollector(Collector):
    """Gauges whose values were read for one answer to /metrics."""

    def __init__(self, gauges: tuple[GaugeReading, ...]) -> None:
        self._gauges = gauges

    def collect(self) -> Iterator[GaugeMetricFamily]:
        for gauge in self._gauges:
            family = GaugeMetricFamily(gauge.name, gauge.meaning, labels=gauge.labels)
            for labels, value in gauge.values.items():
                family.add_metric(labels, value)
            yield family


def may_read_metrics(environ: Mapping[str, Any], token: str) -> bool:
    """Whether a request, as its WSGI environment, may read the metrics. `token`: "" for none."""
    return _of_this_machine(environ) or _has_token(environ, token)


def _of_this_machine(environ: Mapping[str, Any]) -> bool:
    """Whether the caller is a process of this machine and not a proxy for someone else."""
    original = environ.get("werkzeug.proxy_fix.orig", environ)
    peer = original.get("REMOTE_ADDR") or ""
    return is_loopback(peer) and not any(name in environ for name in FORWARDED)


def _has_token(environ: Mapping[str, Any], token: str) -> bool:
    given = str(environ.get("HTTP_AUTHORIZATION", "")).encode("latin-1", "replace")
    return bool(token) and hmac.compare_digest(given, f"Bearer {token}".encode())
