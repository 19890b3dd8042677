"""Each request has a name, of which its answer, its error page and every line of the log speak; and
is counted.
"""

import logging
import random
import re
import time
from typing import Final

from flask import Flask, Request, Response, g, request

from ridedash.extensions import services
from ridedash.observability import logs
from ridedash.views.web.current_user import KNOWN

HEADER: Final = "X-Request-Id"
NAME: Final = re.compile(r"[A-Za-z0-9._-]{4,64}")
POLLS: Final = frozenset(
    {
        "rides.snapshot",
        "desk.board_json",
        "health.alive",
        "health.ready",
        "metrics.show",
        "static",
        "leaflet.file",
    }
)  # asked for all day by pages and machines: a line each only when asked for

log = logging.getLogger("ridedash.access")


def init_app(app: Flask) -> None:
    """Name, time and log every request. First of the extensions, so that nothing comes before the
    name.
    """
    app.before_request(_begin)
    app.after_request(_end)
    app.teardown_request(_forget)


def reference() -> str:
    """The name of this request: a trusted proxy's, else one made here when it is first wanted."""
    name: str | None = g.get("reference")
    if name is None:
        given = request.headers.get(HEADER, "") if services().settings.trusted_proxies else ""
        name = g.reference = given if NAME.fullmatch(given) else f"{random.getrandbits(32):08X}"
    return name


def route() -> str:
    """The rule that the address matched, never the address: it may hold a share token."""
    return _rule(request)


def _rule(asked: Request) -> str:
    return asked.url_rule.rule if asked.url_rule is not None else "none"


def _begin() -> None:
    g.began = time.perf_counter()
    logs.request_id.set(reference())


def _end(answer: Response) -> Response:
    asked: Request = request._get_current_object()  # type: ignore[attr-defined] # looked up once, for every request
    answer.headers[HEADER] = reference()
    began = g.get("began")
    # none: refused before anything began
    seconds = 0.0 if began is None else time.perf_counter() - began
    services().metrics.answered(asked.method, _rule(asked), answer.status_code, seconds)
    level = logging.DEBUG if asked.endpoint in POLLS else logging.INFO
    if log.isEnabledFor(level):
        log.log(
            level,
            "%s %s %s",
            request.method,
            route(),
            answer.status_code,
            extra=_facts(answer, seconds),
        )
    return answer


def _facts(answer: Response, seconds: float) -> dict[str, object]:
    # only when the page has asked who it is already
    staff = getattr(request.environ.get(KNOWN), "staff_id", None)
    facts = {
        "method": request.method,
        "route": route(),
        "status": answer.status_code,
        "ms": seconds * 1000,
    }
    return facts | {"staff": staff}


def _forget(_error: BaseException | None) -> None:
    logs.request_id.set("")
