"""Devices for tests: paired browsers, as test clients and as pages."""

from typing import Any

from flask.testing import FlaskClient
from playwright.sync_api import Page

from ridedash.store import kiosks
from ridedash.store.models.kiosks import KioskKind
from tests.views.ride_pages import Desk
from tests.views.served import Served


def paired(desk: Desk, kind: str, **facts: Any) -> tuple[FlaskClient, int]:
    """A browser that is paired as a device with these column values, and the id of the device."""
    with desk.services.db.write() as s:
        row = kiosks.new_device(s, desk.ids["desk.property"], KioskKind(kind), "Entrance", desk.now)
        for name, value in facts.items():
            setattr(row, name, value)
        token, number = kiosks.begin(row, desk.now), row.id
    client = desk.app.test_client()
    client.set_cookie(f"ridedash_{kind}", token)
    return client, number


def device_page(served: Served, kind: str, size: dict[str, int], **facts: Any) -> Page:
    """A blank page of a paired device in Chromium, with a screen of this size."""
    client, _device = paired(served.desk, kind, **facts)
    page = served.phone(viewport=size)
    cookie = client.get_cookie(f"ridedash_{kind}")
    assert cookie is not None
    page.context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": served.url}])
    return page
