"""Faults of a page's layout: texts that are cut off, covered, or outside of their box."""

from playwright.sync_api import Page

# A text may end in "…" (text-overflow, line-clamp): the page has the whole text elsewhere or in a
# title. Labels in maps are not checked, and a text in a scroller may be outside of the window.
FAULTS = """() => {
  const found = [];
  const shown = (node) => node.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const hidden = (node) => node.closest(".visually-hidden, .skip, .ride-map, svg, option") !== null;
  const say = (node) => node.textContent.trim().replace(/\\s+/g, " ").slice(0, 50);
  const name = (node) => `${node.localName}.${node.className} “${say(node)}”`;
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth) found.push(`the page is ${root.scrollWidth} px wide`);
  const clips = (node, side) => getComputedStyle(node)[`overflow${side}`] !== "visible";
  const words = [];
  for (const node of document.body.querySelectorAll("*")) {
    const own = [...node.childNodes].filter((n) => n.nodeType === 3 && n.data.trim());
    if (!own.length || hidden(node) || !shown(node)) continue;
    const range = document.createRange();
    const lines = (text) => (range.selectNodeContents(text), [...range.getClientRects()]);
    const rects = own.flatMap(lines).filter((rect) => rect.width > 1);
    let box = node, cut = false, scrolls = false;
    for (; box && box !== document.body; box = box.parentElement) {
      const style = getComputedStyle(box);
      if (/auto|scroll/.test(style.overflowX + style.overflowY)) scrolls = true;
      if (style.clipPath !== "none") cut = true;
      if (style.textOverflow === "ellipsis" || style.webkitLineClamp !== "none") cut = true;
    }
    if (cut) continue;
    for (const rect of rects) {
      if (!scrolls && (rect.left < -1 || rect.right > innerWidth + 1))
        found.push(`outside of the window: ${name(node)}`);
      for (box = node; box && box !== document.body && !scrolls; box = box.parentElement) {
        const bounds = box.getBoundingClientRect();
        const button = box.matches(".btn, .chip, .badge, .bar-link, .card, .alert");
        const wider = rect.left < bounds.left - 2 || rect.right > bounds.right + 2;
        if (wider && (clips(box, "X") || button))
          found.push(`wider than ${name(box)}: ${name(node)}`);
        if (clips(box, "Y") && rect.bottom > bounds.bottom + rect.height / 3)
          found.push(`cut off at the bottom: ${name(node)}`);
      }
      if (!scrolls) words.push([node, rect]);
    }
  }
  // a bar that stays in view covers what is scrolled beneath it
  const inFront = (node) => {
    for (let box = node; box; box = box.parentElement)
      if (/sticky|fixed/.test(getComputedStyle(box).position)) return box;
    return node.closest("dialog, [popover]");
  };
  for (let a = 0; a < words.length; a++)
    for (let b = a + 1; b < words.length; b++) {
      const [one, r] = words[a], [two, s] = words[b];
      if (one === two || one.contains(two) || two.contains(one)) continue;
      if (inFront(one) !== inFront(two)) continue;
      const x = Math.min(r.right, s.right) - Math.max(r.left, s.left);
      const y = Math.min(r.bottom, s.bottom) - Math.max(r.top, s.top);
      if (x > 2 && y > Math.min(r.height, s.height) / 2)
        found.push(`${name(one)} covers ${name(two)}`);
    }
  return [...new Set(found)];
}"""


def layout_faults(page: Page) -> list[str]:
    """The texts of a page that are cut off, covered by others, or outside of their box."""
    found: list[str] = page.evaluate(FAULTS)
    return found
