"""/healthz, /readyz and /metrics: for load balancers and Prometheus."""

from flask import Blueprint, Response, abort, jsonify, request

from ridedash.extensions import services
from ridedash.observability.metrics import CONTENT_TYPE, may_read_metrics
from ridedash.views.web.permissions import OPEN, needs

bp = Blueprint("health", __name__)
metrics_bp = Blueprint("metrics", __name__)


@bp.get("/healthz")
@needs(OPEN)
def alive() -> Response:
    """200 while the process answers at all; `address` is the scheme and host that reached it.

    `ridedash doctor` compares `address` with RIDEDASH_PUBLIC_URL: they differ behind a proxy that
    forwards another host or scheme.
    """
    return jsonify(status="ok", address=request.host_url.rstrip("/"))


@bp.get("/readyz")
@needs(OPEN)
def ready() -> tuple[Response, int]:
    """200 if rides can be booked, else 503 with the failing checks, a cause before its effects."""
    checks = services().monitor.readiness()
    failing = [name for name, holds in checks.items() if not holds]
    if failing:
        return jsonify(status="not ready", checks=checks, failing=failing), 503
    return jsonify(status="ok", checks=checks, failing=[]), 200


@metrics_bp.get("/metrics")
@needs(OPEN)
def show() -> Response:
    """The metrics of all processes of this machine, and counts of orders and rides.

    Only for this machine and for a caller with the token; others get 404.
    """
    s = services()
    if not may_read_metrics(request.environ, s.settings.metrics_token):
        abort(404)
    answer = Response(s.monitor.metrics(), content_type=CONTENT_TYPE)
    answer.headers["Cache-Control"] = "no-store"
    return answer
