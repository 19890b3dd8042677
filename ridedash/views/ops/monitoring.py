"""/healthz, /readyz and /metrics: for load balancers and Prometheus."""

import contextlib
import hmac
from collections.abc import Iterator
from typing import Final

from flask import Blueprint, Response, abort, jsonify, request
from sqlalchemy.exc import SQLAlchemyError

from ridedash.config import is_loopback
from ridedash.extensions import services
from ridedash.observability.metrics import CONTENT_TYPE, GaugeReading
from ridedash.rides.health import Counts, can_send, counts, heartbeat_age, is_alive
from ridedash.store.database.database import DatabaseBusy
from ridedash.views.web.permissions import OPEN, needs

bp = Blueprint("health", __name__)
metrics_bp = Blueprint("metrics", __name__)
FORWARDED: Final = (
    "Forwarded",
    "X-Forwarded-For",
    "X-Forwarded-Host",
    "X-Forwarded-Proto",
    "X-Real-Ip",
    "Via",
)


@bp.get("/healthz")
@needs(OPEN)
def alive() -> Response:
    """200 while the process answers at all, and the address by which the request arrived here.

    `ridedash doctor` compares that with RIDEDASH_PUBLIC_URL: they differ behind a proxy that passes
    on another host or scheme.
    """
    return jsonify(status="ok", address=request.host_url.rstrip("/"))


@bp.get("/readyz")
@needs(OPEN)
def ready() -> tuple[Response, int]:
    """200 when rides can be booked, else 503 with the failing checks, the first cause first.

    The database must answer, its migrations be current, and a worker run that may send.
    """
    checks = {"database": False, "migrations": False, "worker": False, "sending": False}
    s = services()
    with contextlib.suppress(SQLAlchemyError, DatabaseBusy):  # the answer says how far it came
        checks["migrations"] = s.db.revision_ok()
        checks["database"] = True
        if checks["migrations"]:  # without tables there is no heartbeat to read
            with s.db.read() as session:
                age = heartbeat_age(session, s.clock())
                checks["sending"] = can_send(session, s.clock())
            checks["worker"] = is_alive(age)
    failing = [name for name, holds in checks.items() if not holds]
    status = "not ready" if failing else "ok"
    answer = jsonify(status=status, checks=checks, failing=failing)
    return answer, 503 if failing else 200


@metrics_bp.get("/metrics")
@needs(OPEN)
def show() -> Response:
    """The metrics of all processes of this machine, and counts of orders and rides.

    Only for this machine and for a caller with the token; others get 404.
    """
    if not (_of_this_machine() or _has_token()):
        abort(404)
    s = services()
    try:
        with s.db.read() as session:
            found = counts(session, s.clock())
    except (SQLAlchemyError, DatabaseBusy):
        found = None  # the metrics of the processes are answered all the same
    answer = Response(s.metrics.text(_database_metrics(found)), content_type=CONTENT_TYPE)
    answer.headers["Cache-Control"] = "no-store"
    return answer


def _of_this_machine() -> bool:
    """Whether the caller is a process of this machine and not a proxy for someone else."""
    original = request.environ.get("werkzeug.proxy_fix.orig", request.environ)
    peer = original.get("REMOTE_ADDR") or ""
    return is_loopback(peer) and not any(name in request.headers for name in FORWARDED)


def _has_token() -> bool:
    token = services().settings.metrics_token
    given = request.headers.get("Authorization", "").encode()
    return bool(token) and hmac.compare_digest(given, f"Bearer {token}".encode())


def _database_metrics(found: Counts | None) -> Iterator[GaugeReading]:
    yield _one(
        "ridedash_database_up",
        "Whether the database answered",
        float(found is not None),
    )
    if found is None:
        return
    states: dict[tuple[str, ...], float] = {
        (state,): float(count) for state, count in found.orders.items()
    }
    yield GaugeReading("ridedash_orders_open", "Orders that are not settled", states, ("state",))
    yield _one(
        "ridedash_unknown_oldest_seconds",
        "Age of the oldest order of unknown outcome",
        found.unknown_oldest_s,
    )
    yield _one("ridedash_rides_followed", "Rides that are being followed", found.followed)
    yield _one("ridedash_rides_overdue", "Rides whose poll is due", found.overdue)
    yield _one("ridedash_poll_lag_seconds", "How late the most overdue ride is", found.late_s)
    yield _one("ridedash_workers", "Workers with a heartbeat in the last 30 s", found.workers)
    if found.worker_silent_s is not None:
        yield _one(
            "ridedash_worker_silent_seconds",
            "Since the last heartbeat of any worker",
            found.worker_silent_s,
        )
    yield _one(
        "ridedash_service_silent_seconds",
        "Time since the service last answered a worker",
        found.service_silent_s,
    )


def _one(name: str, meaning: str, value: float) -> GaugeReading:
    return GaugeReading(name, meaning, {(): float(value)})
