"""The device of a request, for the views of kiosks and door displays."""

from typing import Final

from flask import Response, abort, current_app, request, session

from ridedash.__about__ import __version__
from ridedash.inputs import whole_number
from ridedash.store.kiosks import kind_of
from ridedash.store.models.kiosks import Kiosk, KioskKind
from ridedash.store.models.people import Property
from ridedash.views.ops.static_files import EXTENSION
from ridedash.views.web import devices
from ridedash.views.web.own_words import languages_for
from ridedash.views.web.permissions import DEVICES, need_of
from ridedash.wording.languages import ENGLISH

HOME: Final = {KioskKind.KIOSK: "/kiosk", KioskKind.DOOR: "/door"}  # the page of each kind
MOST_LANGUAGES: Final = 8  # languages on the first screen
MOST_PX: Final = 20_000  # of a side of a screen
SHORT: Final = 8  # characters of a digest that are used


def the_kiosk() -> Kiosk:
    """The paired device of this request, as stored now; 404 for any other browser.

    It must be of the kind that the view needs, or a kiosk if the view is open to all. A page sends
    the id of its device in the field `kiosk`: 404 if its browser has become another device. The row
    is detached: read it, never change it.
    """
    need = need_of(current_app, request.endpoint or "") or ""
    row = devices.device(DEVICES.get(need, KioskKind.KIOSK)) or abort(404)
    if request.values.get("kiosk", str(row.id)) != str(row.id):
        abort(404)
    return row


def release() -> str:
    """The release of a document; when it changes, the page is reloaded."""
    return f"{__version__}-{current_app.extensions[EXTENSION].digest[:SHORT]}"


def pixels() -> tuple[int, int] | None:
    """The width and height of the page that sends this request, in px; None if it states none."""
    wide, high = (
        whole_number(request.form.get(name, ""), 1, MOST_PX) for name in ("width_px", "height_px")
    )
    if wide is None or high is None:
        return None
    return wide, high


def pair_browser(answer: Response, kiosk: Kiosk, token: str) -> None:
    """Give the answer a device's token (store/kiosks.py): its browser is now that device.

    The device no longer ends with the next sign-out, as the kiosk on a demo's stage does.
    """
    session.pop(devices.ENDS_AT_SIGN_OUT, None)
    devices.give(answer, kind_of(kiosk), token)


def unpair_browser(answer: Response, kiosk: Kiosk) -> None:
    """Let the browser that receives this answer forget that it is this device."""
    devices.take(answer, kind_of(kiosk))


def languages_of(kiosk: Kiosk, home: Property) -> list[str]:
    """The codes of a kiosk's languages, its default first; at most eight."""
    offered = [ENGLISH, *languages_for(home)]
    chosen = [code for code in kiosk.languages if code in offered] or offered
    own = kiosk.default_language or home.language or ENGLISH
    first = own if own in chosen else chosen[0]
    return list(dict.fromkeys([first, *chosen]))[:MOST_LANGUAGES]
