"""A kiosk's document in a browser; a test answers its requests, in the shapes of our server."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from flask import render_template
from playwright.sync_api import Browser, Page, Route, expect

from ridedash.extensions import offered
from ridedash.face.colour import kiosk_shades
from ridedash.views.kiosk.cars import KINDS
from ridedash.views.kiosk.words import choices, words_of
from ridedash.views.rides.print_assets import qr_code
from ridedash.views.web.face import Face
from ridedash.views.web.security_headers import page_policy
from ridedash.wording import in_language
from ridedash.wording.languages import LANGUAGES
from ridedash.wording.readers import TAGS
from ridedash.wording.say import critical_shown, speak_for
from tests.views.ride_pages import NOON
from tests.views.served import Served, served_desk

# width and height in px, mm per px, mm from the floor to the lower edge of the screen
LAYOUTS = {
    "portrait": (1080, 1920, 0.369, 700),
    "landscape": (1920, 1080, 0.369, 800),
    "tablet": (1180, 820, 0.193, 900),
    "tablet-portrait": (820, 1180, 0.193, 850),
    # 217 by 136 mm: 10.1 inches, the smallest tablet
    "least": (1280, 800, 0.1695, 900),
    "least-portrait": (800, 1280, 0.1695, 850),
}
PLACES = [
    {"name": "International Airport, Terminal 2", "minutes": 38, "sign": "airport"},
    {"name": "Central Station", "minutes": 14, "sign": "stations"},
    {"name": "Old Town and City Palace", "minutes": 9, "sign": ""},
    {"name": "Convention Centre", "minutes": 21, "sign": ""},
    {"name": "General Hospital", "minutes": 12, "sign": "hospitals"},
    {"name": "Museum of Modern Art", "minutes": None, "sign": "sights"},
]
# about as long as the sentences of the catalogues
PAYS = {
    "en": "You pay the driver in cash.",
    "ar": "تدفع للسائق نقدًا.",
    "hi": "आप ड्राइवर को नकद देते हैं।",
    "de": "Sie zahlen beim Fahrer in bar.",
    "fr": "Vous payez le chauffeur en espèces.",
}
PAYS_ENGLISH = {pays: PAYS["en"] for tag, pays in PAYS.items() if tag != "en"}
FEE = "Free to cancel for 5 minutes, then ₹30."
FEES = {
    "ar": "الإلغاء مجاني لمدة 5 دقائق، ثم 30 ₹.",
    "de": "Stornieren ist 5 Min. lang kostenlos, danach kostet es 30 ₹.",
    "fr": "Annulation gratuite pendant 5 min, puis 30 ₹.",
}
CARS = [
    {
        "name": "Mini",
        "size": "Up to 4",
        "persons": 4,
        "price": "₹249",
        "minutes": 4,
        "tags": ["soonest"],
    },
    {
        "name": "Auto",
        "size": "Up to 3",
        "persons": 3,
        "price": "₹140–180",
        "minutes": 6,
        "tags": ["cheapest"],
    },
    {
        "name": "SUV",
        "size": "Up to 6",
        "persons": 6,
        "price": "₹465",
        "minutes": 9,
        "tags": ["biggest"],
    },
    {
        "name": "Prime Sedan",
        "size": "Up to 4",
        "persons": 4,
        "price": "₹310",
        "minutes": 7,
        "tags": [],
    },
    {"name": "Share", "size": "1 or 2", "price": "₹120", "minutes": 5, "tags": []},
]
DESK_PHONE = "+91 00000 00000"
MEET = {"name": "Main Entrance", "walk": "40 m", "steps": "no steps"}
POINTS = [MEET, {"name": "Car park, level 1", "walk": "about 120 m", "steps": "steps"}]
RIDE = {
    "number": "K27",
    "pin": "4821",
    "link": "/t/x",
    "short": "rides.example.com/t/7Hq2kPzV0mXa81LsB4uYcw",
}
VIEW = {
    "headline": "Your driver is here",
    "detail": "Check the plate, then get in.",
    "plate": "KA 01 AB 1234",
    "old_plate": "KA 05 MC 9912",
    "car": "White Tata Tiago",
    "minutes": 4,
    "meet": MEET,
    "code_due": True,
    "price": "₹249 · Fixed price",
    "pays": "You pay the driver in cash.",
}
CODE = "7305"
STREETS = """<svg xmlns="http://www.w3.org/2000/svg" width="256" height="256">
<rect width="256" height="256" fill="#e8e4da"/>
<path d="M0 90 256 60M0 200 256 170M70 0 90 256M190 0 210 256" stroke="#fff" stroke-width="14"/>
</svg>"""
MAP = {
    "width": 480,
    "height": 240,
    "tiles": [[f"/tiles/17/{x}/{y}.svg", x * 256 - 16, y * 256 - 8] for x in (0, 1) for y in (0,)],
    "credit": "© OpenStreetMap contributors",
}
WAY = MAP | {
    "width": 420,
    "height": 300,
    "tiles": [
        [f"/tiles/12/{x}/{y}.svg", x * 256 - 46, y * 256 - 106] for x in (0, 1) for y in (0, 1)
    ],
    "start": [70.0, 220.0],
    "end": [350.0, 80.0],
}
VOICES = """
  const voice = (lang, localService) => ({ lang, localService, name: lang, default: false });
  const voices = [voice("en-GB", true), voice("ar", true), voice("fr", false)];
  globalThis.SpeechSynthesisUtterance = class extends EventTarget {
    constructor(text) { super(); this.text = text; }
  };
  globalThis.queue = [];
  globalThis.said = [];
  Object.defineProperty(globalThis, "speechSynthesis", { value: {
    getVoices: () => voices,
    speak: (each) => { queue.push(each); said.push(each.text); },
    cancel: () => { queue.length = 0; },
    addEventListener: () => {},
  } });
"""


HEARD = """(sentences) => {
  const ended = queue.splice(0, sentences ?? queue.length);
  for (const each of ended) each.dispatchEvent(new Event("end"));
  return said.splice(0);
}"""


def spoken(page: Page) -> list[str]:
    """The texts that VOICES were given since the last call; the guest has heard them."""
    found: list[str] = page.evaluate(HEARD)
    return found


def heard(page: Page, sentences: int) -> None:
    """The guest hears so many of the sentences that wait."""
    page.evaluate(HEARD, sentences)


class FakeKiosk:
    """What our server answers to one kiosk; a test changes the answers as it goes."""

    def __init__(self, served: Served) -> None:
        self.served = served
        self.layout = "portrait"
        self.languages = [*LANGUAGES]
        self.more: dict[str, Any] = {}  # facts of the kiosk in the document that a test changes
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.away = False  # no network
        self.failing: set[str] = set()  # routes that answer with status 500
        self.refusing: dict[str, int] = {}  # refused routes, with their status
        self.paired = True
        self.csrf = "token"  # the token in the document
        self.release = "r1"
        self.view, self.code = VIEW, CODE
        self.heartbeat: dict[str, Any] = {"open": True, "soonest_min": 4, "help": "", "trouble": ""}
        self.order: list[dict[str, Any]] = []  # answers in turn; the last one is repeated
        self.answers: dict[str, Callable[[dict[str, str]], Any]] = {
            "beat": lambda _: self.heartbeat | {"release": self.release, "csrf": self.csrf},
            "places.json": lambda given: {"results": self.found(given)},
            "cars": lambda given: self.cars(given),
            "order": lambda _: self.order.pop(0) if len(self.order) > 1 else self.order[0],
            "ride": lambda given: self.ride(given),
            "cancel": lambda _: {"state": "ok", "words": {"headline": "Ride cancelled"}},
            "help": lambda _: {"state": "asked"},
            "end": lambda _: None,
            "pair": lambda given: {"state": "ok" if given["pin"] == "246810" else "wrong"},
        }

    def document(self) -> dict[str, Any]:
        """The data in the document."""
        mm, bottom = LAYOUTS[self.layout][2:]
        with self.served.desk.app.test_request_context("/"):
            speak_for({}, dict.fromkeys(self.languages, offered().critical))
            words, english = words_of(self.languages), critical_shown()
        kiosk = {
            "id": 1,
            "name": "Lobby",
            "mm_per_px": mm,
            "bottom_mm": bottom,
            "idle_s": None,
            "printer": True,
            "rule": "driver",
            "attended": False,
            "default_language": "en",
            "desk_phone": DESK_PHONE,
        }
        return {
            "kiosk": kiosk | self.more,
            "property": {
                "name": "Grand Meridian",
                "shades": kiosk_shades("#8a5a2b")._asdict(),
                "timezone": "Asia/Kolkata",
                "picture": None,
                "pattern": "waves",
                "typeface": "",
            },
            "languages": choices(self.languages),
            "by_machine": [each["tag"] for each in choices(self.languages) if each["tag"] != "en"],
            "favourites": [each | {"lat": 1.5, "lng": 2.5} for each in PLACES],
            "words": words,
            "english": english,
            "demo": {},
            "release": self.release,
            "csrf": self.csrf,
            "clock": {"now": NOON.isoformat(), "speed": 1},
        }

    def found(self, given: dict[str, str]) -> list[dict[str, Any]]:
        word = given["q"].lower() or given["tab"][:3]
        names = [f"{word.title()} {kind}" for kind in ("Road", "Gardens", "Hotel", "Market")]
        if word.startswith("zz"):
            return []
        return [{"name": n, "address": "12 Lake Road", "lat": 1.0, "lng": 2.0} for n in names]

    def cars(self, given: dict[str, str]) -> dict[str, Any]:
        kinds = {"Auto": "about", "Share": "about"}
        fixed = {"fee": FEES.get(given["lang"], FEE), "seats": None}
        pays = PAYS.get(given["lang"], PAYS["en"])
        found = [
            fixed | each | {"offer": i, "pays": pays, "price_kind": kinds.get(each["name"], "")}
            for i, each in enumerate(CARS)
        ]
        drawings = ("hatch", "auto", "suv", "lux", "share")
        for car, drawing in zip(found, drawings, strict=True):
            car["drawing"] = drawing
        with self.served.desk.app.test_request_context("/"), in_language(TAGS[given["lang"]]):
            for car in found:
                car["kind"] = str(KINDS[car["drawing"]])
        found[2]["surge"] = "Busy now: the price is higher"
        one = {"seats": 1, "people": "1 person", "price": "₹120"}
        found[4]["seats"] = [one, {"seats": 2, "people": "2 people", "price": "₹190"}]
        meet = MEET | {"points": POINTS}
        return {
            "state": "ok",
            "cars": found,
            "shown": 3,
            "meet": meet,
            "way": WAY,
            "english": PAYS_ENGLISH,
        }

    def ride(self, given: dict[str, str]) -> dict[str, Any]:
        if given["pin"] != RIDE["pin"]:
            return {"state": "wrong"}
        answer = {"state": "ok", "view": self.view, "cancel": {"may": True, "fee_words": FEE}}
        return answer | ({"code": self.code} if given.get("code") else {})

    def booked(self) -> dict[str, Any]:
        qr = qr_code("https://ride.example/t/7Hq2kPzV0mXa81Ls")
        drawn = {"qr": {"size": qr.size, "path": qr.path}, "map": MAP}
        return {"state": "booked", "ride": RIDE | drawn}

    def page(
        self,
        layout: str = "portrait",
        voices: bool = False,
        before: Callable[[Page], None] | None = None,
        **options: Any,
    ) -> Page:
        """The document in a browser with this layout, at the start screen."""
        self.layout = layout
        width, height = LAYOUTS[layout][:2]
        size = {"width": width, "height": height}
        page = self.served.phone(**{"viewport": size, "reduced_motion": "reduce"} | options)
        if before:
            before(page)
        if voices:
            page.add_init_script(VOICES)
        page.route(f"{self.served.url}/kiosk**", self.answer)
        page.route(f"{self.served.url}/kiosk/**", self.answer)
        page.route(f"{self.served.url}/tiles/**", self.tile)
        page.goto("/kiosk")
        page.locator("[data-press]").first.wait_for()
        return page

    def answer(self, route: Route) -> None:
        """Answer a request of the document as our server would."""
        request = route.request
        name = urlsplit(request.url).path.removeprefix("/kiosk").strip("/")
        if self.away:
            route.abort("internetdisconnected")
        elif not name and not self.paired:
            route.fulfill(status=303, headers={"Location": "/kiosk/pair"})
        elif not name and "document" in self.refusing:
            route.fulfill(status=self.refusing["document"], body="of a proxy")
        elif not name:
            route.fulfill(body=self._html(), content_type="text/html", headers=self.headers())
        elif name == "pair" and request.method == "GET":
            route.fulfill(body="<h1>Pair this screen</h1>", content_type="text/html")
        else:
            query = request.post_data or urlsplit(request.url).query
            given = dict(parse_qsl(query, keep_blank_values=True))
            self.requests.append((name, given))
            status = 500 if name in self.failing else self.refusing.get(name, 200)
            if status != 200:
                route.fulfill(status=status, body="")
                return
            answer = self.answers[name](given)
            if answer is None:
                route.fulfill(status=204)
            else:
                route.fulfill(json=answer)

    def tile(self, route: Route) -> None:
        """Answer a request for a tile of the map."""
        if "tiles" in self.failing:
            route.abort()
        else:
            route.fulfill(body=STREETS, content_type="image/svg+xml")

    def headers(self) -> dict[str, str]:
        return {"Content-Security-Policy": page_policy("n", ""), "Cache-Control": "no-store"}

    def _html(self) -> str:
        face = Face("Grand Meridian", colour="#8a5a2b")
        with self.served.desk.app.test_request_context("/"):
            return render_template(
                "kiosk/page.html",
                face=face,
                document=self.document(),
                page_locale="en",
                page_dir="ltr",
                demo_words="",
                csp_nonce="n",
            )


@contextmanager
def fake_kiosk(folder: Path, browser: Browser) -> Iterator[FakeKiosk]:
    """A kiosk whose requests a test answers; checks at the end that there was no script error."""
    with served_desk(folder, browser) as served:
        yield FakeKiosk(served)


def close(page: Page) -> None:
    """Close a page; errors of requests that are still open are ignored."""
    page.unroute_all(behavior="ignoreErrors")
    page.close()


# finds and presses in one step, so that no heartbeat can draw the screen anew in between
CLICK = "(control) => [...document.querySelectorAll(control)].at(-1).click()"


def press(page: Page, *names: str) -> None:
    """Press controls by name, as a screen reader does; touches have tests of their own."""
    for name in names:
        control = f'[data-press="{name}"]'
        page.locator(control).last.wait_for(state="attached")
        page.evaluate(CLICK, control)


def type_on(page: Page, text: str) -> None:
    """Type with the kiosk's own keys."""
    for letter in text.lower():
        press(page, "key-space" if letter == " " else f"key-{letter}")


TYPED = {"en": "anna", "ar": "مها", "hi": "कगच", "ja": "anna"}


OWN_SCRIPTS = ("ar", "hi")
LATIN_TYPED = ("ja", "zh-Hans")  # guests choose places from lists


def walk(kiosk: FakeKiosk, page: Page, language: str = "en") -> Iterator[str]:
    """Go through all screens of a booking and of finding its ride again; yields each one's name."""
    word = TYPED.get(language, TYPED["en"])
    if language != "en":
        press(page, f"lang-{language}")
    yield "start"
    press(page, "start")
    yield "where"
    press(page, "other")
    if language in LATIN_TYPED:
        press(page, "tab-airport")
    else:
        if language in OWN_SCRIPTS:  # the lists of places come first
            press(page, "swap")
        type_on(page, word)
    page.locator(".k-results [data-press]").first.wait_for()
    yield "place"
    press(page, "bar-back", "place-0")
    page.locator(".k-car").first.wait_for()
    yield "car"
    press(page, "change")
    yield "meet"
    press(page, "point-0")
    page.locator(".k-car").first.wait_for()
    press(page, "car-0")
    type_on(page, word)
    yield "who"
    press(page, "next")
    yield "check"
    kiosk.order = [{"state": "sending"}, kiosk.booked()]
    press(page, "book")
    page.locator(".k-pin").wait_for()
    yield "booked"
    press(page, "done")
    if language != "en":
        press(page, f"lang-{language}")
    press(page, "have")
    type_on(page, "27")
    press(page, "field-pin")
    type_on(page, RIDE["pin"])
    yield "find"
    press(page, "next")
    page.locator(".k-plate").first.wait_for()
    press(page, "show-code")
    page.locator(".k-code[aria-label]").wait_for()
    yield "ride"


def to_check(page: Page, car: str = "car-0", name: str = "anna") -> None:
    """Go from the start to the last question before Book, with this car, for this name."""
    press(page, "start", "place-0")
    page.locator(".k-car").first.wait_for()
    if not page.locator(f'[data-press="{car}"]').count():
        press(page, "more")
    press(page, car)
    if car == "car-4":
        press(page, "seats-2")
    type_on(page, name)
    press(page, "next")


def at(page: Page, screen: str) -> None:
    """Wait until a screen is shown."""
    expect(page.locator("body")).to_have_attribute("data-screen", screen)
