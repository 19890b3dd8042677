"""`ridedash kiosk check`: prints what each kiosk and door display lacks, one line for each."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final
from urllib.parse import urlsplit

from ridedash.__about__ import __version__
from ridedash.cli.doctor import print_report
from ridedash.cli.doctor_stores import Finding, database
from ridedash.config import is_loopback
from ridedash.rides.kiosk.health import (
    LONG_MM,
    SHORT_MM,
    can,
    is_alive,
    is_old,
    is_too_small,
    is_wrong,
    size_mm,
    skew_s,
)
from ridedash.rides.kiosk.needs import KioskNeed, needs_of
from ridedash.services import Services
from ridedash.store.kiosks import devices_of
from ridedash.store.models.kiosks import Kiosk, KioskKind
from ridedash.store.properties import properties
from ridedash.wording.languages import LANGUAGES

NEEDS: Final = {
    KioskNeed.PICKUP: "can't book: no pickup point (Settings, Kiosks or Property)",
    KioskNeed.ACCOUNT: "can't book: no ride account (Settings, Accounts or Kiosks)",
    KioskNeed.RECONNECT: "can't book: its ride account needs reconnecting (Settings, Accounts)",
}


def check(environ: Mapping[str, str]) -> int:
    """Print the report; 0 when nothing is missing, 1 otherwise."""
    return print_report(environ, examine)


def examine(services: Services) -> Iterator[Finding]:
    """The findings: about the address that devices use, then about each device.

    If the database can't be used, the findings about it stand in place of those about devices.
    """
    yield _tls(services)
    about_database, ours = database(services)
    if ours is None:
        yield from about_database
        return
    now = services.clock()
    with services.db.read() as s:
        devices = [
            (property_.name, row, needs_of(s, row, property_))
            for property_ in properties(s)
            for row in devices_of(s, property_.id)
        ]
    for property_name, row, needs in devices:
        missing = [*(NEEDS[each] for each in needs), *_missing(row, now)]
        state = "; ".join(missing) if missing else "nothing is missing"
        yield Finding("kiosk", not missing, f"{property_name}, {row.name}: {state}")
    if not devices:
        yield Finding("kiosk", True, "no property has one (Settings, Kiosks)")


def _tls(services: Services) -> Finding:
    """Whether browsers keep a device's cookie: in live mode it requires TLS (`__Host-`)."""
    url = urlsplit(services.settings.public_url)
    if url.scheme == "https":
        return Finding("tls", True, f"{url.geturl()}: devices keep their cookie")
    if services.settings.demo:
        where = "this machine" if is_loopback(url.hostname or "") else "this network"
        return Finding("tls", True, f"{url.geturl()}: a demo needs no TLS; use it on {where} only")
    advice = "pairing needs https, on a LAN address too: RIDEDASH_PUBLIC_URL"
    return Finding("tls", False, f"{url.geturl()}: {advice}")


def _missing(row: Kiosk, now: datetime) -> Iterator[str]:
    """What a person should mend, the most urgent first."""
    if row.token_hash is None:
        yield "not paired yet (Settings, Kiosks)"
        return
    if row.out_of_order:
        yield "out of order"
    if not is_alive(row, now):
        yield f"silent since {row.seen_at:%Y-%m-%d %H:%M} UTC" if row.seen_at else "never heard"
    if is_old(row):
        yield f"shows release {row.release}, this is {__version__}"
    skew = skew_s(row)
    if skew is not None and is_wrong(skew):
        yield f"its clock is wrong by {abs(skew):.0f} s"
    if row.kind == KioskKind.KIOSK:
        yield from _missing_at_kiosk(row)


def _missing_at_kiosk(row: Kiosk) -> Iterator[str]:
    if row.pin_hash is None:
        yield "no staff PIN"
    if row.mm_per_px is None:
        yield "its screen is not measured"
    size = size_mm(row)
    if size is not None and is_too_small(*size):
        wide, high = size
        yield f"its screen of {wide} x {high} mm is smaller than {LONG_MM} x {SHORT_MM} mm"
    offered = [code for code in LANGUAGES if not row.languages or code in row.languages]
    for what in ("voices", "fonts"):
        lacking = [code for code in offered if can(row, what, code) is False]
        if lacking:
            yield f"no {what} for {', '.join(lacking)}"
