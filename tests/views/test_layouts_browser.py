"""Layouts hold in long languages and from right to left: no text is cut off, covered or outside.

Each run tests the pseudo-locales and German; RIDEDASH_TEST_LANGUAGES=all tests all languages, which
takes minutes.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from ridedash.store import properties
from ridedash.store.models.people import Staff
from ridedash.wording.languages import LANGUAGES
from tests import pseudo
from tests.face.pictures import disc
from tests.views.admin.test_face import save
from tests.views.layout import layout_faults
from tests.views.ride_pages import ENDS, HASH, NOON, ORDER_STATES, STATUSES
from tests.views.served import Served, served_desk
from tests.views.test_axe import ADDRESSES, FILES, routes

pytestmark = [pytest.mark.browser, pytest.mark.database]
ALL = os.environ.get("RIDEDASH_TEST_LANGUAGES") == "all"
SPOKEN = [pseudo.XA, pseudo.XB, *(LANGUAGES if ALL else ["de"])]
OVER = ("REJECTED", "NOT_SENT", "CLOSED_NOT_BOOKED", "FAILED")  # these have no links
HEIGHT = 900
PIN_PX = 35
TEXT_AT = """(part) => {
  const range = document.createRange();
  range.selectNodeContents(document.querySelector(part));
  const { left, right } = range.getBoundingClientRect();
  return (left + right) / 2;
}"""
# how much of the window's height fixed and sticky bars leave free, in px
COVERED = """() => {
  const bars = [...document.body.querySelectorAll("*")].filter(
    (node) => /fixed|sticky/.test(getComputedStyle(node).position) && node.checkVisibility());
  const rows = [...Array(innerHeight).keys()].filter((y) => !bars.some((bar) => {
    const { top, bottom, width } = bar.getBoundingClientRect();
    return width > innerWidth / 2 && top <= y && y < bottom;
  }));
  return rows.length;
}"""
UNKNOWN_LETTER = "\ue123"  # a character for private use, which no font has
TRANSLATIONS = Path(__file__).parents[2] / "translations"
LEFT_AND_RIGHT = """() => {
  const middle = (part) => {
    const box = document.querySelector(part).getBoundingClientRect();
    return (box.left + box.right) / 2;
  };
  const digits = (part) => {
    const texts = document.createTreeWalker(document.querySelector(part), NodeFilter.SHOW_TEXT);
    let text = texts.nextNode();
    while (!/\\d/.test(text.data)) text = texts.nextNode();
    const at = (n) => {
      const range = document.createRange();
      range.setStart(text, n);
      range.setEnd(text, n + 1);
      return range.getBoundingClientRect().left;
    };
    return at(text.data.trimEnd().length - 1) - at(text.data.search(/\\d/));
  };
  return { middle: Object.fromEntries(PARTS.map((part) => [part, middle(part)])),
           digits: DIGITS.map(digits) };
}"""

MISSING = """([lang, letters]) => {
  document.documentElement.lang = lang;
  const canvas = document.createElement("canvas"), pen = canvas.getContext("2d");
  [canvas.width, canvas.height] = [40, 40];
  const drawn = (letter) => {
    pen.clearRect(0, 0, 40, 40);
    pen.font = "24px system-ui, sans-serif";
    pen.fillText(letter, 4, 30);
    return pen.getImageData(0, 0, 40, 40).data.join();
  };
  const box = drawn("\\u{10fffd}");
  return letters.filter((letter) => drawn(letter) === box);
}"""


@pytest.fixture
def served(tmp_path: Path, browser: Browser) -> Iterator[Served]:
    with served_desk(tmp_path, browser) as found:
        home = found.desk.ids["desk.property"]
        found.desk.add(lambda s: properties.add_staff(s, home, "boss", HASH, "admin", NOON))
        yield found


def speak(served: Served, name: str, folder: Path) -> None:
    if name in pseudo.LOCALES:
        pseudo.speak(served.desk.app, name, folder)
    else:
        pseudo.use(served.desk.app, name, TRANSLATIONS)


def rides(served: Served) -> dict[str, int]:
    """A ride in each group of the board."""
    order: Any = served.desk.order
    return {
        "coming": order("BOOKED", "CALL_DRIVER", otp="4821", attention=("not_known",)),
        "shared": order("BOOKED", "CLIENT_LOCATED", "share", otp="4821"),
        "done": order("BOOKED", "COMPLETED"),
        "bill": order("BOOKED", "INVOICE", "auto"),
        "unknown": order("UNKNOWN"),
        "planned": order("SCHEDULED"),
        "waiting": order("WAITING"),
        "refused": order("REJECTED"),
    }


def faults(page: Page, path: str, *widths: int) -> list[str]:
    answer = page.goto(path)
    assert answer is not None
    assert answer.status == 200, path
    found = []
    for width in widths:
        page.set_viewport_size(ViewportSize(width=width, height=HEIGHT))
        found += [f"{path[:20]} {width}: {fault}" for fault in layout_faults(page)]
    return found


def test_each_fault_of_a_layout_is_found(browser: Browser) -> None:
    parts = {
        "width: 40px; overflow: hidden; white-space: nowrap": "cut at the side",
        "height: 12px; overflow: hidden; width: 60px": "cut at the bottom",
        "position: absolute; top: 300px; left: 9px": "beneath",
        "position: absolute; top: 304px; left: 12px": "above",
        "position: absolute; top: 400px; left: -30px": "outside",
    }
    with browser.new_page() as page:
        page.set_content("<p>whole</p>")
        assert layout_faults(page) == []
        page.set_content("".join(f"<p style='{css}'>{words}</p>" for css, words in parts.items()))
        found = layout_faults(page)
    assert found == [
        "wider than p. “cut at the side”: p. “cut at the side”",
        "cut off at the bottom: p. “cut at the bottom”",
        "outside of the window: p. “outside”",
        "p. “beneath” covers p. “above”",
    ]


def test_no_words_are_cut_off_covered_or_outside_of_a_page(served: Served, tmp_path: Path) -> None:
    ids = rides(served)
    links = [served.link(ids[name]) for name in ("coming", "bill", "waiting")]
    links.append(served.link(ids["coming"], "follower"))
    desk = ["/", "/rides/new", *(f"/rides/{ids[name]}" for name in ("coming", "unknown"))]
    papers = [f"/rides/{ids['coming']}/card", f"/rides/{ids['done']}/receipt"]
    tables = ["/history", "/insights", f"/rides/{ids['shared']}"]
    pages = ["/admin/property", "/admin/staff", "/handover", "/me", *papers]
    staff, phone = served.staff("boss"), served.phone()
    found = []
    for name in SPOKEN:
        speak(served, name, tmp_path)
        for path in desk:
            found += [f"{name} {each}" for each in faults(staff, path, 1024, 1440)]
        for path in tables:
            found += [f"{name} {each}" for each in faults(staff, path, 1024, 1280)]
        for path in pages:
            found += [f"{name} {each}" for each in faults(staff, path, 1280)]
        for path in (*links, "/sign-in"):
            found += [f"{name} {each}" for each in faults(phone, path, 320, 390)]
    assert found == []


@pytest.mark.skipif(not ALL, reason="takes minutes: RIDEDASH_TEST_LANGUAGES=all")
@pytest.mark.parametrize("name", [pseudo.XA, pseudo.XB, *LANGUAGES])
def test_no_words_are_cut_off_on_any_page_in_any_state(
    served: Served, tmp_path: Path, name: str
) -> None:
    speak(served, name, tmp_path)
    staff, phone, desk = served.staff("boss"), served.phone(), served.desk
    states = [("BOOKED", each, kind) for kind in STATUSES for each in (*STATUSES[kind], *ENDS)]
    ids = [desk.order(state, status, kind, otp="4821") for state, status, kind in states]
    linked = [*ids, *(desk.order(state) for state in ORDER_STATES if state not in OVER)]
    ids = [*linked, *map(desk.order, OVER)]
    rules, found = routes(desk), []
    for endpoint in sorted(rules.keys() - FILES - {"health.ready", "sandbox.show"}):
        path = rules[endpoint].replace("<int:order_id>", str(ids[0]))
        if endpoint in ADDRESSES:
            path = ADDRESSES[endpoint](served, ids[0])
        found += faults(staff, path, 1024, 1440)
    for order_id in ids:
        for part in ("", "/card", "/receipt"):
            found += faults(staff, f"/rides/{order_id}{part}", 1024, 1440)
    for order_id in linked:
        for kind in ("rider", "follower"):
            found += faults(phone, served.link(order_id, kind), 320, 390)
    assert found == []


def test_pages_hold_at_twice_their_size(served: Served) -> None:
    """A window of 1280 x 800 px at a zoom of 200 %: half as many pixels of twice the size."""
    ids = rides(served)
    size = ViewportSize(width=640, height=400)
    page = served.staff("boss", viewport=size, device_scale_factor=2)
    found = []
    for path in ("/", "/rides/new", f"/rides/{ids['coming']}", "/history", "/insights"):
        page.goto(path)
        found += [f"{path}: {fault}" for fault in layout_faults(page)]
        covered = page.evaluate(COVERED)
        found += [f"{path}: bars leave only {covered} px"] if covered < size["height"] / 2 else []
    assert found == []


def test_arabic_pages_mirror_english_ones_and_keep_plates_and_numbers(
    served: Served, tmp_path: Path
) -> None:
    ids, width = rides(served), 1280
    page = served.staff("boss", viewport={"width": width, "height": HEIGHT})
    parts = [".brand", ".bar-search", ".bar-nav", ".state-mark", ".step:first-child"]
    digits = [".state .plate", "bdi[data-slot='driver.phone']", ".guest-card a[href^='tel:']"]
    script = LEFT_AND_RIGHT.replace("PARTS", repr(parts)).replace("DIGITS", repr(digits))
    seen = {}
    for name in (pseudo.XA, pseudo.XB):
        speak(served, name, tmp_path)
        page.goto(f"/rides/{ids['coming']}")
        seen[name] = page.evaluate(script)
    for part in parts:
        english, arabic = (seen[name]["middle"][part] for name in (pseudo.XA, pseudo.XB))
        assert (english < width / 2) != (arabic < width / 2), (part, english, arabic)
    assert all(run > 0 for name in seen for run in seen[name]["digits"]), seen
    zoom = page.locator(".leaflet-control-zoom-in")
    assert zoom.get_attribute("title") == pseudo.from_the_right("Zoom in")


def test_a_guests_code_stands_below_its_label_in_arabic_too(served: Served, tmp_path: Path) -> None:
    link = served.link(served.desk.order("BOOKED", "CLIENT_LOCATED", otp="4821"))
    page = served.phone()
    for name in (pseudo.XA, pseudo.XB):
        speak(served, name, tmp_path)
        page.goto(link)
        expect(page.locator(".guest-digits")).to_be_visible()
        middle = page.viewport_size["width"] / 2 if page.viewport_size else 0
        sides = {
            page.evaluate(TEXT_AT, part) < middle
            for part in (".guest-digits", ".guest-code .label")
        }
        assert sides == {name == pseudo.XA}, name


def test_every_offered_script_has_its_glyphs(browser: Browser) -> None:
    """With Debian's Noto packages no letter of a translation is drawn as the missing glyph."""
    with browser.new_page() as page:
        missing = {
            language.tag: page.evaluate(
                MISSING, [language.tag, sorted({*pseudo.letters(language.code), UNKNOWN_LETTER})]
            )
            for language in LANGUAGES.values()
        }
    assert missing == {tag: [UNKNOWN_LETTER] for tag in missing}


def test_a_printed_card_has_whole_lines_and_a_map_that_shows_its_pin(served: Served) -> None:
    """Hindi has higher lines and a demo one line more: once the line of the car was cut in half."""
    page = served.staff(viewport={"width": 794, "height": 1000})
    for code in ("", "1"):
        order_id = served.desk.order("BOOKED", "CLIENT_LOCATED", otp="4821", language="hi")
        page.emulate_media(media="screen")
        page.goto(f"/rides/{order_id}/card")
        if code:
            page.locator("button[name=code]").click()
            expect(page.locator(".sheet-code")).to_be_visible()
        page.emulate_media(media="print")
        car = page.locator(".sheet-car")
        assert car.evaluate("node => node.scrollHeight <= node.clientHeight + 1"), code
        tall = page.locator(".sheet-map").bounding_box()
        if tall is None:
            assert code, "without a code there is room for the map"
        else:
            assert tall["height"] > 2 * PIN_PX, (code, tall)


def test_a_long_logo_name_and_address_keep_apart_on_a_printed_card(served: Served) -> None:
    save(served.desk.client(name="boss"), disc(400, 50))
    order_id = served.desk.order(
        "BOOKED",
        "CLIENT_LOCATED",
        otp="4821",
        language="de",
        guest="Guest Avocet of a Very Long Family Name of Many Parts",
        pickup_name="Block C, Flat 1204, Sunrise Heights, Behind the Old Post Office, " * 3,
    )
    page = served.staff(viewport={"width": 794, "height": 1000})
    page.goto(f"/rides/{order_id}/card")
    page.get_by_role("button", name="Make the guest's link").click()
    page.locator("button[name=code]").click()
    expect(page.locator(".sheet-code")).to_be_visible()
    page.emulate_media(media="print")
    parts = [".house-logo", ".sheet-top > :last-child", ".sheet-place", ".sheet-follow"]
    boxes: list[Any] = [page.locator(f".sheet {part}").bounding_box() for part in parts]
    logo, guest, place, follow = boxes
    assert logo["x"] + logo["width"] <= guest["x"] + 1
    assert place["y"] + place["height"] <= follow["y"] + 1


def test_no_label_of_an_end_of_a_trip_is_broken_within_its_word(served: Served) -> None:
    desk = served.desk
    desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), "language", "de"))
    page = served.staff(viewport={"width": 1280, "height": HEIGHT})
    page.goto("/rides/new")
    for end, word in (("pickup", "Abholort"), ("drop", "Ziel")):
        label = page.locator(f"label[for={end}]")
        expect(label).to_have_text(word)
        lines = label.evaluate(
            """each => {
              const range = document.createRange();
              range.selectNodeContents(each.lastChild);
              return range.getClientRects().length;
            }"""
        )
        assert lines == 1, word
