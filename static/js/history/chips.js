/**
 * The open list of a chip: Escape closes it and returns to the chip, a press elsewhere closes it,
 * and there is one at a time. Each choice is a link, which needs no script.
 */

const CHIP = "[data-chip]";

const close = (but) => {
  for (const chip of document.querySelectorAll(`${CHIP}[open]`))
    if (chip !== but) chip.open = false;
};

/** The list begins where its chip does, or ends there if the window would cut it off. */
function fit(chip) {
  const { classList } = chip.querySelector("[data-chip-panel]");
  classList.remove("from-end");
  const { left, right } = chip.querySelector("[data-chip-panel]").getBoundingClientRect();
  classList.toggle("from-end", left < 0 || right > document.documentElement.clientWidth);
}

function opened({ target }) {
  if (!target.open || !target.matches(CHIP)) return;
  close(target);
  fit(target);
}

// a browser that does not know `name` of details would leave several open
document.addEventListener("toggle", opened, true);
document.addEventListener("click", ({ target }) => close(target.closest?.(CHIP)));
document.addEventListener("keydown", (event) => {
  const chip = event.key === "Escape" && event.target.closest?.(`${CHIP}[open]`);
  if (!chip) return;
  event.preventDefault();
  chip.open = false;
  chip.querySelector("summary").focus();
});
