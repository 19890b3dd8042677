"""The measures of a kiosk's screen in millimetres, read from the page, and their limits."""

from typing import Any

from playwright.sync_api import Page

from tests.views.kiosk.kiosk_screens import CARS, CLICK, DESK_PHONE, PLACES, RIDE, VIEW

NARROW_MM = 230  # below this width keys are 15 mm high
LEAST_KEY_MM = 11.0  # width of one of ten keys beside each other on the narrowest screen
# Measures each control that can be pressed now, and each text: its size, and whether it stands out
# of its part.
MEASURE = """(mm) => {
  const px = (value) => value * mm;
  const box = (node) => {
    const { left, top, right, bottom } = node.getBoundingClientRect();
    return { left: px(left), top: px(top), right: px(right), bottom: px(bottom) };
  };
  const shown = (node) => node.checkVisibility({ visibilityProperty: true }) &&
    !node.closest(".visually-hidden, [inert], .is-small .k-entry .k-problem");
  const name = (node) => node.dataset.press ?? `${node.className}: ${node.textContent}`;
  const controls = [...document.querySelectorAll("[data-press]")].filter(shown);
  const texts = [];
  // where a car is met stands below the question, outside of its part, on the narrowest screen
  const placed = [...document.querySelectorAll(".k-controls .k-meet")].find(
    (node) => getComputedStyle(node).position === "absolute");
  const words = placed && document.querySelector(".k-words");
  const roomBelow = placed && { left: words.getBoundingClientRect().left,
    right: words.getBoundingClientRect().right,
    top: words.lastElementChild.getBoundingClientRect().bottom,
    bottom: document.querySelector(".k-stage").getBoundingClientRect().bottom };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const node = text.parentElement;
    if (!text.data.trim() || !shown(node) || node.closest("script, noscript")) continue;
    if (node.closest(".is-small [data-look='typing'] .k-words")) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    const rects = [...range.getClientRects()];
    const inside = node.closest(".k-press, .k-words, .k-controls, .k-bar, .k-head, .k-sheet-box");
    const home = placed?.contains(node) && !inside.matches(".k-press")
      ? roomBelow : inside.getBoundingClientRect();
    const size = Number.parseFloat(getComputedStyle(node).fontSize);
    const room = size * 0.2; // the box of a line is taller than its letters
    const out = rects.some((r) => r.left < home.left - 1 || r.right > home.right + 1 ||
      r.top < home.top - room || r.bottom > home.bottom + room);
    const english = node.classList.contains("k-english"); // as large as all is without large text
    const word = /^[\\p{L}\\p{M}]+$/u.test(text.data.trim()) && !/[\\p{sc=Han}]/u.test(text.data);
    const broken = word && new Set(rects.map((r) => Math.round(r.top))).size > 1;
    texts.push({ text: text.data.trim().slice(0, 40), out, broken, size: px(size), english,
      key: Boolean(node.closest(".k-key")) });
  }
  const parts = ["words", "controls"].map((part) => document.querySelector(`.k-${part}`));
  return {
    controls: controls.map((node) => ({ name: name(node), ...box(node),
      second: node.classList.contains("k-bar-button"),
      key: node.classList.contains("k-key"),
      cut: node.scrollWidth > node.clientWidth + 1,
      reached: document.elementFromPoint(
        (node.getBoundingClientRect().left + node.getBoundingClientRect().right) / 2,
        (node.getBoundingClientRect().top + node.getBoundingClientRect().bottom) / 2,
      )?.closest("[data-press]") === node })),
    texts,
    parts: parts.filter(Boolean).map(box),
    width: px(innerWidth),
    height: px(innerHeight),
    scrolls: document.documentElement.scrollHeight > innerHeight + 1 ||
      document.documentElement.scrollWidth > innerWidth + 1,
    qr: [...document.querySelectorAll(".k-qr")].filter(shown).map((node) => px(
      node.getBoundingClientRect().width) / node.viewBox.baseVal.width),
  };
}"""


MORE_FACTS = '[data-press="facts"]'
# Some facts read from left to right in every language. Returns each of their occurrences, with its
# characters in the order in which they are seen.
SEEN = """(facts) => {
  const seen = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    if (!text.parentElement.checkVisibility({ visibilityProperty: true })) continue;
    if (text.parentElement.closest("script, noscript")) continue;
    for (const fact of facts) {
      const at = text.data.indexOf(fact);
      if (at < 0) continue;
      const signs = [...fact].map((sign, i) => {
        const range = document.createRange();
        range.setStart(text, at + i);
        range.setEnd(text, at + i + 1);
        const { left, top } = range.getBoundingClientRect();
        return { sign, left, line: Math.round(top / 8) };
      }).filter(({ sign }) => sign.trim());
      signs.sort((one, other) => one.line - other.line || one.left - other.left);
      seen.push([fact, signs.map(({ sign }) => sign).join("")]);
    }
  }
  return seen;
}"""
FACTS = [
    *(str(car["price"]) for car in CARS),
    *(RIDE[key] for key in ("number", "pin", "short")),
    *(str(VIEW[key]) for key in ("plate", "old_plate", "car")),
    *(str(place["name"]) for place in PLACES),
    DESK_PHONE,
]


def turned(page: Page) -> list[str]:
    """Facts whose characters the direction of the page has reordered; one line for each."""
    return [
        f"{fact!r} reads {shown!r}"
        for fact, shown in page.evaluate(SEEN, FACTS)
        if shown != "".join(fact.split())
    ]


# The facts of a screen in reading order, and which of them are shown on this page.
PAGE = """() => {
  const facts = [...document.querySelectorAll(
    ".k-words > :not(.k-question, .k-facts, .k-plates, .k-english), .k-facts > *, .k-plates > *",
  )];
  const shown = facts.filter((node) => node.checkVisibility()).map((node) => facts.indexOf(node));
  return { texts: facts.map((node) => node.textContent), shown };
}"""


def faults_of_pages(page: Page, mm: float, bottom: int, aids: frozenset[str]) -> list[str]:
    """The faults of a screen and of all its pages of facts; each fact must be on one of the pages.

    If the facts change meanwhile, as the ride goes on or a code is hidden again, it starts anew.
    """
    found = None
    while found is None:
        found = _pages(page, mm, bottom, aids)
    return found


def _pages(page: Page, mm: float, bottom: int, aids: frozenset[str]) -> list[str] | None:
    """Like faults_of_pages(), but None if the facts changed before all pages were seen."""
    first = page.evaluate(PAGE)
    while first["shown"][:1] != [0] and page.locator(MORE_FACTS).count():
        page.evaluate(CLICK, MORE_FACTS)
        first = page.evaluate(PAGE)
    wrong, seen, now = faults(page, mm, bottom, aids), list(first["shown"]), first
    while page.locator(MORE_FACTS).count():
        page.evaluate(CLICK, MORE_FACTS)
        now = page.evaluate(PAGE)
        if now["texts"] != first["texts"]:
            return None
        if now["shown"] == first["shown"]:
            break
        if set(now["shown"]) & set(seen):
            return [*wrong, "the pages of its facts do not lead round to the first one"]
        seen += now["shown"]
        wrong += [f"a page of facts: {fault}" for fault in faults(page, mm, bottom, aids)]
    if page.evaluate(PAGE)["texts"] != first["texts"]:
        return None
    return wrong + [f"{fact!r} has no page" for i, fact in enumerate(now["texts"]) if i not in seen]


def faults(page: Page, mm: float, bottom: int, aids: frozenset[str]) -> list[str]:
    """What breaks a limit on the screen as it is now; one line for each fault."""
    found = page.evaluate(MEASURE, mm)
    low, top = (700, 1100) if "lower" in aids else (380, 1220)
    wrong = ["it scrolls"] if found["scrolls"] else []
    for each in found["controls"]:
        wrong += _control(each, found, bottom, (low, top))
    wrong += _gaps(found["controls"])
    least = 10.0 if "large" in aids else 6.6
    for text in found["texts"]:
        smaller = text["english"] or (text["key"] and found["width"] < NARROW_MM)
        if text["size"] < (6.6 if smaller else least) - 0.05:
            wrong.append(f"{text['text']!r} has a size of {text['size']:.1f} mm")
        if text["broken"]:
            wrong.append(f"{text['text']!r} is broken")
        if text["out"]:
            wrong.append(f"{text['text']!r} stands out of its part")
    wrong += turned(page)
    wrong += [f"a module of {side:.2f} mm" for side in found["qr"] if side < 1.0]
    return wrong


def _control(
    each: dict[str, Any], found: dict[str, Any], bottom: int, band: tuple[int, int]
) -> list[str]:
    wide, tall = each["right"] - each["left"], each["bottom"] - each["top"]
    least_wide = least_tall = 15.0 if each["second"] else 20.0
    if each["key"] and found["width"] < NARROW_MM:
        least_wide, least_tall = LEAST_KEY_MM, 15.0
    wrong = []
    if wide < least_wide - 0.05 or tall < least_tall - 0.05:
        wrong.append(f"{each['name']} is {wide:.1f} by {tall:.1f} mm")
    lowest = bottom + found["height"] - each["bottom"]
    highest = bottom + found["height"] - each["top"]
    if lowest < band[0] - 0.5 or highest > band[1] + 0.5:
        wrong.append(f"{each['name']} is {lowest:.0f} to {highest:.0f} mm above the floor")
    if each["cut"]:
        wrong.append(f"{each['name']} is cut off")
    if not each["reached"]:
        wrong.append(f"{each['name']} is covered")
    return wrong


def _gaps(controls: list[dict[str, Any]]) -> list[str]:
    wrong = []
    for i, one in enumerate(controls):
        for other in controls[i + 1 :]:
            across = max(one["left"] - other["right"], other["left"] - one["right"])
            down = max(one["top"] - other["bottom"], other["top"] - one["bottom"])
            if max(across, down) < 2.0 - 0.1:
                gap = max(across, down)
                wrong.append(f"{one['name']} and {other['name']} are {gap:.1f} mm apart")
    return wrong
