"""Each request has a name, of which its answer, its error page and every line of the log speak; and is counted."""

import logging
import re
import secrets
import time
from typing import Final

from flask import Flask, Response, g, request

from ridedash.ext import services
from ridedash.observing import logs

HEADER: Final = "X-Request-Id"
NAME: Final = re.compile(r"[A-Za-z0-9._-]{4,64}")
POLLS: Final = frozenset({
    "rides.snapshot", "desk.board_json", "health.alive", "health.ready", "metrics.show", "static", "leaflet.file",
})  # fmt: skip # asked for all day by pages and machines: a line each only when asked for

log = logging.getLogger("ridedash.access")


def init_app(app: Flask) -> None:
    """Name, time and log every request. First of the extensions, so that nothing comes before the name."""
    app.before_request(_begin)
    app.after_request(_end)
    app.teardown_request(_forget)


def reference() -> str:
    """The name of this request: a trusted proxy's, else one made here when it is first wanted."""
    if "reference" not in g:
        given = request.headers.get(HEADER, "") if services().settings.trusted_proxies else ""
        g.reference = given if NAME.fullmatch(given) else secrets.token_hex(4).upper()
    return str(g.reference)


def route() -> str:
    """The rule that the address matched, never the address: it may hold a share token."""
    return request.url_rule.rule if request.url_rule is not None else "none"


def _begin() -> None:
    g.began = time.perf_counter()
    logs.request_id.set(reference())


def _end(answer: Response) -> Response:
    answer.headers[HEADER] = reference()
    seconds = time.perf_counter() - g.began if "began" in g else 0.0  # refused before anything began
    services().metrics.answered(request.method, route(), answer.status_code, seconds)
    level = logging.DEBUG if request.endpoint in POLLS else logging.INFO
    if log.isEnabledFor(level):
        log.log(level, "%s %s %s", request.method, route(), answer.status_code, extra=_facts(answer, seconds))
    return answer


def _facts(answer: Response, seconds: float) -> dict[str, object]:
    staff = getattr(g.get("_login_user"), "id", None)  # only when the page has asked who it is already
    facts = {"method": request.method, "route": route(), "status": answer.status_code, "ms": seconds * 1000}
    return facts | {"staff": staff}


def _forget(_error: BaseException | None) -> None:
    logs.request_id.set("")
