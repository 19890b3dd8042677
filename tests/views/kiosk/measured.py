"""What a kiosk's screen looks like in millimetres: read from the page, judged by tests."""

from typing import Any

from playwright.sync_api import Page

# Every control that can be pressed now, and every text with its size and what it stands out of.
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
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const node = text.parentElement;
    if (!text.data.trim() || !shown(node) || node.closest("script, noscript")) continue;
    if (node.closest(".is-small [data-look='typing'] .k-words")) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    const rects = [...range.getClientRects()];
    const inside = node.closest(".k-press, .k-words, .k-controls, .k-bar, .k-head, .k-sheet-box");
    const home = inside.getBoundingClientRect();
    const size = Number.parseFloat(getComputedStyle(node).fontSize);
    const room = size * 0.2; // the box of a line is taller than its letters
    const out = rects.some((r) => r.left < home.left - 1 || r.right > home.right + 1 ||
      r.top < home.top - room || r.bottom > home.bottom + room);
    const english = node.classList.contains("k-english"); // as large as all is without large text
    const word = /^[\\p{L}\\p{M}]+$/u.test(text.data.trim()) && !/[\\p{sc=Han}]/u.test(text.data);
    const broken = word && new Set(rects.map((r) => Math.round(r.top))).size > 1;
    texts.push({ text: text.data.trim().slice(0, 40), out, broken, size: px(size), english });
  }
  const parts = ["words", "controls"].map((part) => document.querySelector(`.k-${part}`));
  return {
    controls: controls.map((node) => ({ name: name(node), ...box(node),
      second: node.classList.contains("k-bar-button"),
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
    qr: [...document.querySelectorAll(".k-qr")].map((node) => px(
      node.getBoundingClientRect().width) / node.viewBox.baseVal.width),
  };
}"""


def faults(page: Page, mm: float, bottom: int, aids: frozenset[str]) -> list[str]:
    """What breaks a limit of the screen as it is now; each as one line."""
    found = page.evaluate(MEASURE, mm)
    low, top = (700, 1100) if "lower" in aids else (380, 1220)
    wrong = ["it scrolls"] if found["scrolls"] else []
    for each in found["controls"]:
        wrong += _control(each, found, bottom, (low, top))
    wrong += _gaps(found["controls"])
    least = 10.0 if "large" in aids else 6.6
    for text in found["texts"]:
        if text["size"] < (6.6 if text["english"] else least) - 0.05:
            wrong.append(f"{text['text']!r} has a size of {text['size']:.1f} mm")
        if text["broken"]:
            wrong.append(f"{text['text']!r} is broken")
        if text["out"]:
            wrong.append(f"{text['text']!r} stands out of its part")
    wrong += [f"a module of {side:.2f} mm" for side in found["qr"] if side < 1.0]
    return wrong


def _control(
    each: dict[str, Any], found: dict[str, Any], bottom: int, band: tuple[int, int]
) -> list[str]:
    least = 15.0 if each["second"] else 20.0
    wide, tall = each["right"] - each["left"], each["bottom"] - each["top"]
    wrong = []
    if min(wide, tall) < least - 0.05:
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
