"""What staff open, by mouse and by key, and where the letters that they type next have to go.

The table and its walk are the same in each browser: test_hands_browser.py has Chromium,
tests/engines/test_hands.py has Firefox and WebKit.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ridedash.fits import Capacity
from ridedash.geo import LatLng
from ridedash.places import SandboxPlaces
from ridedash.rides.accounts.tokens import NeedsReconnect
from ridedash.service.client import RideClient
from ridedash.service.transport.http import Http
from ridedash.store.capacities import set_capacities
from ridedash.store.models.people import Property, Staff
from ridedash.store.properties import add_staff, set_favourite
from tests.engines.engine import Engine
from tests.views.fake_service import FakeService
from tests.views.kiosk.devices import code_of, new_device
from tests.views.ride_pages import HASH, PASSWORD, Desk, make_desk
from tests.views.served import on_a_port

# each letter is a single key of the desk; each is typed so many ms after the control was used
TYPED: Final = (("r", 0), ("5", 50), ("d", 250), ("x", 1000))
LOOKS_MS: Final = 600
LANDS_S: Final = 10.0  # an upper bound for the focus on a busy machine
LETTERS: Final = "".join(letter for letter, _ in TYPED)


@dataclass(frozen=True)
class Opens:
    """A control that opens something.

    `mouse` is pressed by the mouse. `key` is pressed with the focus on `focus`, or on the page
    itself without one. Then `lands` has the focus, and with `text` the letters. `before` are
    controls that are pressed first.
    """

    page: str
    mouse: str
    focus: str
    key: str
    lands: str
    text: bool = True
    before: tuple[str, ...] = ()


LATER: Final = ".when-choice:has([value=later])"
LATER_RADIO: Final = "[name=when][value=later]"
BACK: Final = ".when-toggle:has([name=back])"
REPEAT: Final = ".series > summary"
EXACT: Final = ".when-exact > summary"
MORE: Final = ".more > summary"
IN_FORM: Final = (
    (LATER, LATER_RADIO, " ", "[name=pickup_words]"),
    (".when-toggle:has([name=for_flight])", "[name=for_flight]", " ", "[name=flight]"),
    (BACK, "[name=back]", " ", "[name=back_words]"),
    (MORE, MORE, "Enter", "[name=note]"),
    ("#drop", "", "g", "#drop"),
    ("#guest-find", "", "n", "#guest-find"),
)
OF_FORM: Final = (
    *(Opens(page, *facts) for page in ("desk", "form") for facts in IN_FORM),
    *(
        Opens(page, REPEAT, REPEAT, "Enter", "[name=days]", text=False, before=(LATER,))
        for page in ("desk", "form")
    ),
    Opens("desk", LATER, "", "a", "[name=pickup_words]"),
    Opens("desk", EXACT, EXACT, "Enter", "[name=pickup_date]", False, (LATER,)),
    Opens("desk", "#search", "", "/", "#search"),
)
OF_RIDE: Final = tuple(
    Opens(page, f"[data-action={name}] > summary", *facts, **more)
    for page in ("pane", "ride")
    for name, facts, more in (
        ("drop", ("[data-action=drop] > summary", "Enter", "#drop-name"), {}),
        ("drop", ("", "d", "#drop-name"), {}),
        (
            "cancel",
            ("[data-action=cancel] > summary", " ", "[data-action=cancel] [data-close]"),
            {"text": False},
        ),
        ("cancel", ("", "x", "[data-action=cancel] [data-close]"), {"text": False}),
    )
)
SAY: Final = ".row-do[data-on=resolve]"
OTHERS: Final = (
    # this panel comes with the ride, which is loaded after the press
    Opens("unknown", SAY, SAY, "Enter", "#booking-id"),
    Opens("unknown", "[data-opens=kcode]", "[data-opens=kcode]", "Enter", "#code-guest"),
    Opens(
        "unknown",
        "[data-keys-button]",
        "[data-keys-button]",
        "Enter",
        "[data-keys-help] .dialog-head button",
        text=False,
        before=("[data-bar-more] > summary",),
    ),
    Opens(
        "done",
        "[data-action=feedback] > summary",
        "[data-action=feedback] > summary",
        "Enter",
        "[name=rating]",
        text=False,
        before=("[data-action=feedback] > summary",),
    ),
    Opens("staff", ".person-more > summary", ".person-more > summary", "Enter", "select", False),
    Opens(
        "accounts",
        ".person-forms > summary",
        ".person-forms > summary",
        "Enter",
        "[name=affiliate_uid]",
    ),
    Opens(
        "kiosk",
        "summary:has(+ .kiosk-hours)",
        "summary:has(+ .kiosk-hours)",
        " ",
        "[name=timed]",
        False,
    ),
    Opens(
        "kiosk", "summary:has(+ [action$=hints])", "summary:has(+ [action$=hints])", " ", "#point"
    ),
)
EACH: Final = (*OF_FORM, *OF_RIDE, *OTHERS)

# all that a letter may change: fields, choices, the address, the shown ride, panels and dialogs
STATE: Final = """
const held = {at: location.href, ride: document.querySelector("[data-ride]")?.dataset.ride ?? ""};
let focused = document.activeElement.localName;
document.querySelectorAll("input, select, textarea").forEach((each, n) => {
  const key = `${n} ${each.name || each.id}`;
  if (each === document.activeElement) focused = key;
  // the day of a ride for later is set with its time; tokens are those of the page
  else if (each.name === "pickup_date" || each.name.endsWith("_token")) return;
  held[key] = String(["radio", "checkbox"].includes(each.type) ? each.checked : each.value);
});
document.querySelectorAll("details, dialog").forEach((each, n) => {
  held[`${n} ${each.localName}`] = String(each.open);
});
return {held, focused};
"""
LANDED: Final = "return document.activeElement.matches(arguments[0]);"
SHOW: Final = "document.querySelector(arguments[0]).scrollIntoView({block: 'center'});"
KIOSK_FIELDS: Final = """
return Object.fromEntries([...document.querySelectorAll(".k-part .k-field")].map(
  (each) => [each.dataset.field, each.value]));
"""
NOW: Final = "return performance.now();"
REACHED: Final = "return performance.now() >= arguments[0];"
FOCUS: Final = """
document.activeElement.blur();
if (arguments[0]) document.querySelector(arguments[0]).focus();
// a person leaves a form for the page by a click beside it
else document.body.dispatchEvent(new PointerEvent("pointerdown", {bubbles: true}));
"""
# as after the page was loaded
TIDY: Final = """
document.querySelectorAll("dialog[open]").forEach((each) => each.close());
document.querySelectorAll("details").forEach((each) => {
  each.open = each.matches("[data-action=feedback]");
});
document.querySelectorAll("form").forEach((each) => each.reset());
"""
READY: Final = """
return document.readyState === "complete" &&
  (!location.search || document.querySelector("[data-detail] [data-drop][data-ready]") !== null);
"""


def walk(engine: Engine, hands: "Hands", page: str) -> list[str]:
    """Use each control of a page, by mouse and by key; returns where letters went wrong."""
    faults = []
    open_page(engine, hands, page)
    for opens in (each for each in EACH if each.page == page):
        for way in ("mouse", "key"):
            # a ride that comes after the press is not there before it
            if page == "unknown":
                open_page(engine, hands, page)
            try:
                opened = used(engine, opens, way)
                if page == "unknown":
                    open_page(engine, hands, page)
                why = fault(opens, opened, used(engine, opens, way, TYPED))
            except AssertionError:
                why = f"the focus is in {engine.run(STATE)['focused']}"
            if why:
                faults.append(f"{opens.mouse} by {way} {opens.key}: {why}")
    return faults


def walk_kiosk(engine: Engine, hands: "Hands") -> dict[str, str]:
    """Type into the kiosk's details, each field chosen by mouse and by key; returns the fields."""
    engine.go(f"{hands.url}/kiosk/pair")
    engine.fill("[name=code]", code_of(hands.desk, hands.kiosk))
    engine.press("Enter")
    engine.at("/kiosk")
    for control in ("start", "place-0", "car-0"):
        engine.shows(f"[data-press={control}]")
        look(engine)
        engine.click(f"[data-press={control}]")
    engine.shows("[data-press=field-phone]")
    type_slowly(engine, TYPED)  # the first field is chosen already
    for digits, way in (("98", "mouse"), ("20", "key")):
        if way == "mouse":
            look(engine)
            engine.click("[data-press=field-phone]")
        else:
            engine.run(FOCUS, "[data-press=field-phone]")
            engine.press("Enter")
        type_slowly(engine, tuple(zip(digits, (0, 250), strict=True)))
    found = engine.run(KIOSK_FIELDS)
    return dict(found)


def look(engine: Engine) -> None:
    """Look at a new screen, as a guest does: a kiosk takes no press before that."""
    engine.until(REACHED, engine.run(NOW) + LOOKS_MS)


def type_slowly(engine: Engine, typed: tuple[tuple[str, int], ...]) -> None:
    """Type each letter so many ms after now."""
    at = engine.run(NOW)
    for letter, after_ms in typed:
        engine.until(REACHED, at + after_ms)
        engine.press(letter)


def open_page(engine: Engine, hands: "Hands", page: str) -> None:
    engine.go(f"{hands.url}{hands.pages[page]}")
    engine.until(READY)


def used(
    engine: Engine, opens: Opens, way: str, typed: tuple[tuple[str, int], ...] = ()
) -> dict[str, Any]:
    """The state after a control was used and the letters were typed, and where the focus is."""
    engine.run(TIDY)
    for selector in opens.before:
        engine.run(SHOW, selector)
        engine.click(selector)
    engine.run(SHOW, opens.mouse)
    engine.run(FOCUS, opens.focus if way == "key" else "")
    if way == "mouse":
        engine.click(opens.mouse)
    else:
        engine.press(opens.key)
    type_slowly(engine, typed)
    engine.until(LANDED, opens.lands, within_s=LANDS_S)
    return dict(engine.run(STATE))


def fault(opens: Opens, opened: dict[str, Any], typed: dict[str, Any]) -> str:
    """What the letters did that they may not; "" for nothing."""
    before, after, focused = opened["held"], typed["held"], typed["focused"]
    changed = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    if opened["focused"] != focused:
        return f"the focus went from {opened['focused']} to {focused}"
    if changed - {focused}:
        return f"letters changed {[(key, before.get(key), after.get(key)) for key in changed]}"
    if opens.text and after[focused] != LETTERS:
        return f"{focused} has {after[focused]!r}"
    return ""


class NoTokens:
    """No account has tokens: rides are shown as they are stored."""

    def bearer(self, _account_id: int) -> str:
        raise NeedsReconnect("house")


@dataclass
class Hands:
    """A desk on a port, whose front desk is a manager, and the addresses of its pages."""

    desk: Desk
    url: str
    pages: dict[str, str]
    kiosk: int
    name: str = "desk"
    password: str = PASSWORD


@contextmanager
def hands_on(folder: Path) -> Iterator[Hands]:
    """A desk with a ride on its way, one that is over, and one of unknown outcome."""
    with closing(make_desk(folder)) as desk, on_a_port(desk.app) as url:
        http = Http(FakeService().transport())
        desk.services.client = RideClient(http, "http://127.0.0.1:9", "the key")
        desk.services.geocoder = SandboxPlaces(http, "http://127.0.0.1:9")
        desk.services.tokens = NoTokens()
        home, kiosk = desk.ids["desk.property"], new_device(desk)
        place = {"pickup_lat": -38.5, "pickup_lng": -128.0, "pickup_name": "Main door"}

        def rows(s: Any) -> None:
            s.get_one(Staff, desk.ids["desk"]).role = "manager"
            add_staff(s, home, "Colleague", HASH, "concierge", desk.now)
            s.query(Property).update(place)
            set_capacities(s, home, {"mini": "Mini"}, {"mini": Capacity(4, 2)})
            set_favourite(s, home, "drop", 5, "Departures", LatLng(-38.55, -128.06))

        desk.add(rows)
        ride, done = desk.order("BOOKED", "CALL_DRIVER"), desk.order("BOOKED", "COMPLETED")
        desk.order("UNKNOWN")
        pages = {
            "desk": "/",
            "unknown": "/",
            "form": "/rides/new",
            "pane": f"/?ride={ride}",
            "ride": f"/rides/{ride}",
            "done": f"/rides/{done}",
            "staff": "/admin/staff",
            "accounts": "/admin/accounts",
            "kiosk": f"/admin/kiosks/{kiosk}",
        }
        yield Hands(desk, url, pages, kiosk)
