"""Whether this process is alive, and whether rides can be booked through it."""

from flask import Blueprint, Response, jsonify
from sqlalchemy.exc import SQLAlchemyError

from ridedash.ext import services
from ridedash.rides.worker import heartbeat_age

bp = Blueprint("health", __name__)

WORKER_SILENT_S = 30.0


@bp.get("/healthz")
def alive() -> Response:
    """200 while the process answers at all."""
    return jsonify(status="ok")


@bp.get("/readyz")
def ready() -> tuple[Response, int]:
    """200 when the database answers, its migrations are current and a worker's heartbeat is young; else 503."""
    checks = {"database": False, "migrations": False, "worker": False}
    s = services()
    try:
        checks["migrations"] = s.db.revision_ok()
        with s.db.read() as session:
            age = heartbeat_age(session, s.clock())
        checks["database"] = True
        checks["worker"] = age is not None and age <= WORKER_SILENT_S
    except SQLAlchemyError:
        pass  # the answer says which check did not hold
    ok = all(checks.values())
    return jsonify(status="ok" if ok else "not ready", checks=checks), 200 if ok else 503
