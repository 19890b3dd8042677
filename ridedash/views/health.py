"""Whether this process is alive, and whether rides can be booked through it."""

import contextlib

from flask import Blueprint, Response, jsonify
from sqlalchemy.exc import SQLAlchemyError

from ridedash.ext import services
from ridedash.rides.heartbeats import can_send, heartbeat_age
from ridedash.store.db import DatabaseBusy
from ridedash.views.permissions import OPEN, needs

bp = Blueprint("health", __name__)

WORKER_SILENT_S = 30.0


@bp.get("/healthz")
@needs(OPEN)
def alive() -> Response:
    """200 while the process answers at all."""
    return jsonify(status="ok")


@bp.get("/readyz")
@needs(OPEN)
def ready() -> tuple[Response, int]:
    """200 when the database answers, its migrations are current and a worker lives that may send; else 503.

    `failing` names what does not hold, the first cause first.
    """
    checks = {"database": False, "migrations": False, "worker": False, "sending": False}
    s = services()
    with contextlib.suppress(SQLAlchemyError, DatabaseBusy):  # the answer says how far it came
        checks["migrations"] = s.db.revision_ok()
        checks["database"] = True
        if checks["migrations"]:  # without the tables there is nobody to hear of
            with s.db.read() as session:
                age, checks["sending"] = heartbeat_age(session, s.clock()), can_send(session, s.clock())
            checks["worker"] = age is not None and age <= WORKER_SILENT_S
    failing = [name for name, holds in checks.items() if not holds]
    return jsonify(status="not ready" if failing else "ok", checks=checks, failing=failing), 503 if failing else 200
