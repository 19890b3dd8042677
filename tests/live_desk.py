"""Asks a live desk for everything that only a demo has, and prints what it finds.

This is a program that runs with the package under test: `python tests/live_desk.py <JSON>` with
{"package": its folder, "routes": addresses of the director and of the sandbox's control, "files":
names of the director's files}. It signs in as a manager, who would see most.
"""

import json
import os
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from flask import Flask
from flask.testing import FlaskClient

import ridedash
from ridedash.factory import create_app
from ridedash.service_time import real_time
from ridedash.store import properties, sign_ins
from ridedash.views.ops import static_files

DESK: Final = "https://desk.example"
OF_DEMO: Final = re.compile(rb"demo|director_|data-lens|data-stage|/control/", re.IGNORECASE)
LOADED: Final = re.compile(r"ridedash\.(demo|turns|sandbox)\b")
METHODS: Final = ("GET", "POST")


def main(request: dict[str, Any]) -> None:
    """Print a line for each trace of a demo."""
    if not str(ridedash.__file__).startswith(request["package"]):
        print(ridedash.__file__, "is another package")
    app = create_app(os.environ)
    services = app.extensions["ridedash"]
    services.db.upgrade()
    browser = _manager(app)
    _pages(app, browser)
    for path in request["routes"]:
        for method in METHODS:
            _absent(browser, method, path)
    of_demo = static_files.read(_static(app), demo=True)
    _known(request["files"], of_demo)
    for name in request["files"]:
        for digest in (f"{app.extensions['static_files'].digest}/", f"{of_demo.digest}/", ""):
            _absent(browser, "GET", f"/static/{digest}{name}")
    # live mode loads no module of a demo, records no calls, and its time has no turns
    print(*(name for name in sys.modules if LOADED.match(name)), end="")
    if services.client.traffic.hooks is not services.metrics or services.time is not real_time:
        print("calls are recorded, or time has turns")
    services.db.close()


def _manager(app: Flask) -> FlaskClient:
    services, now = app.extensions["ridedash"], datetime.now(UTC)
    with services.db.write() as s:
        prop = properties.add_property(
            s, "Grand Meridian Hotel", "Asia/Kolkata", now, country="IN", currency="INR"
        )
        staff = properties.add_staff(s, prop.id, "Concierge", "-", "manager", now)
        sid = sign_ins.open_sign_in(s, staff.id, now)
    browser = app.test_client()
    with browser.session_transaction(base_url=DESK) as session:
        session["sid"] = sid
    return browser


def _pages(app: Flask, browser: FlaskClient) -> None:
    """Open every page whose address has no parameters, and some pages that do not exist."""
    rules = (each for each in app.url_map.iter_rules() if "GET" in (each.methods or ()))
    paths = [each.rule for each in rules if not each.arguments]
    shown = 0
    for path in (*paths, "/no/such/page", "/t/nobody", "/rides/1"):
        answer = browser.get(path, base_url=DESK)
        if "html" not in answer.headers.get("Content-Type", ""):
            continue
        shown += answer.status_code == 200
        if found := OF_DEMO.search(answer.data):
            about = answer.data[max(0, found.start() - 60) : found.end() + 60]
            print(path, "names the demo:", about)
        policy = answer.headers["Content-Security-Policy"]
        frames = answer.headers["X-Frame-Options"]
        if "frame-ancestors 'none'" not in policy or "frame-src" in policy or frames != "DENY":
            print(path, frames, policy)
    if shown < 10:
        print("only", shown, "pages were shown")


def _absent(browser: FlaskClient, method: str, path: str) -> None:
    # JSON: rendering a page for each 404 would take longer
    headers = {"Accept": "application/json", "Accept-Encoding": "br"}
    answer = browser.open(path, method=method, base_url=DESK, headers=headers)
    if answer.status_code != 404:
        print(method, path, "is answered with", answer.status_code)


def _static(app: Flask) -> Path:
    files = app.extensions["static_files"].paths
    return Path(files["css/shared/base.css"]).parents[2]


def _known(names: list[str], files: static_files.StaticFiles) -> None:
    """Check that the package has these files: a wrong name would never be served either."""
    missing = {*names} - files.paths.keys()
    if missing or not names:
        print("the package lacks", *missing)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
