/**
 * Fare breakdowns (.breakup) open below or above their card, one at a time. Escape or a click
 * elsewhere closes them.
 */

const GAP = 12; // px to the edge of the visible area

export function floatBreakups(box) {
  const opened = () => box.querySelector(".breakup[open]");
  // toggle does not bubble
  box.addEventListener("toggle", ({ target }) => target.open && place(target), true);
  document.addEventListener("keydown", (event) => {
    const open = opened();
    if (event.key !== "Escape" || event.defaultPrevented || !open) return;
    open.open = false;
    if (open.contains(document.activeElement) || document.activeElement === document.body)
      open.querySelector("summary").focus();
  });
  document.addEventListener("pointerdown", (event) => {
    const open = opened();
    if (open && !open.contains(event.target)) open.open = false;
  });
}

/**
 * Place a fare breakdown below its card, or above it when there is more room, and limit its height
 * to the room (but to no less than 160 px).
 */
function place(breakup) {
  const panel = breakup.querySelector(".breakup-panel");
  const card = breakup.closest("[data-product]").getBoundingClientRect();
  const bar = document.querySelector("[data-bar]").getBoundingClientRect();
  const top = document.querySelector(".bar")?.getBoundingClientRect().bottom ?? 0;
  const [above, below] = [card.top - Math.max(top, 0), bar.top - card.bottom].map(
    (room) => room - GAP,
  );
  const up = panel.scrollHeight > below && above > below;
  breakup.classList.toggle("opens-up", up);
  panel.style.maxBlockSize = `${Math.max(up ? above : below, 160)}px`;
}
