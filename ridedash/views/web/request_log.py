"""Request ids, access log lines and request metrics.

The id of a request is in its answer's header, on its error page and in each of its log lines.
"""

import logging
import random
import re
import time
from typing import Final

from flask import Flask, Request, Response, g, request
from werkzeug.exceptions import HTTPException

from ridedash.extensions import services
from ridedash.observability import logs
from ridedash.views.web.current_user import KNOWN_SIGN_IN

HEADER: Final = "X-Request-Id"
REQUEST_NAME: Final = re.compile(r"[A-Za-z0-9._-]{4,64}")
VISIT: Final = re.compile(r"[A-Za-z0-9_-]{16,32}")
# requested all day by pages and machines: logged at DEBUG only
POLLS: Final = frozenset(
    {
        "rides.snapshot",
        "desk.board_json",
        "health.alive",
        "health.ready",
        "metrics.show",
        "kiosk.beat",
        "door.rows",
        "static",
    }
)

log = logging.getLogger("ridedash.access")


def init_app(app: Flask) -> None:
    """Give every request an id, time it and log it. Registered before all other hooks."""
    app.before_request(_begin)
    app.after_request(_end)
    app.teardown_request(_forget)


def reference() -> str:
    """The id of this request: from a trusted proxy, or made here on first use."""
    name: str | None = g.get("reference")
    if name is None:
        name = g.reference = _given_reference() or f"{random.getrandbits(32):08X}"
    return name


def _given_reference() -> str:
    """The id from a trusted proxy; "" without a usable one."""
    if not services().settings.trusted_proxies:
        return ""
    given = request.headers.get(HEADER, "")
    if not REQUEST_NAME.fullmatch(given):
        return ""
    return given


def route() -> str:
    """The URL rule that matched, never the address itself: it may hold a share token."""
    return _rule(request)


def _rule(req: Request) -> str:
    return req.url_rule.rule if req.url_rule is not None else "none"


def _begin() -> None:
    g.began = time.perf_counter()
    logs.request_id.set(reference())


def _end(answer: Response) -> Response:
    req: Request = request._get_current_object()  # type: ignore[attr-defined] # looked up once
    answer.headers[HEADER] = reference()
    began = g.get("began")
    # None: refused before the first hook ran
    seconds = 0.0 if began is None else time.perf_counter() - began
    services().metrics.answered(req.method, _rule(req), answer.status_code, seconds)
    level = logging.DEBUG if req.endpoint in POLLS else logging.INFO
    if log.isEnabledFor(level):
        log.log(
            level,
            "%s %s %s",
            request.method,
            route(),
            answer.status_code,
            extra=_log_fields(answer, seconds),
        )
    return answer


def _log_fields(answer: Response, seconds: float) -> dict[str, object]:
    # known only if the view has read the sign-in
    staff = getattr(request.environ.get(KNOWN_SIGN_IN), "staff_id", None)
    fields = {
        "method": request.method,
        "route": route(),
        "status": answer.status_code,
        "ms": seconds * 1000,
    }
    return fields | {"staff": staff} | _of_device()


def _of_device() -> dict[str, object]:
    """The device of the request, and the id of a kiosk's visit: a random id, never typed text."""
    known = [row.id for row in g.get("devices", {}).values() if row is not None]
    if not known:
        return {}
    try:
        visit = request.values.get("visit", "")
    except HTTPException:  # the form is too large, as the answer says
        visit = ""
    return {"kiosk": known[0], "visit": visit if VISIT.fullmatch(visit) else None}


def _forget(_error: BaseException | None) -> None:
    logs.request_id.set("")
