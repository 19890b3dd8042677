/** Counts the seconds in which a press that cancelled several rides can be undone. */

import { span } from "../shared/ages.js";

const form = document.querySelector("[data-undo-ms]");

function countDown() {
  const end = performance.now() + Number(form.dataset.undoMs);
  const left = form.querySelector("[data-undo-left]");
  const tick = () => {
    const seconds = Math.ceil((end - performance.now()) / 1000);
    form.hidden = seconds <= 0;
    left.textContent = seconds > 0 ? span(seconds) : "";
    if (form.hidden) clearInterval(timer);
  };
  const timer = setInterval(tick, 250);
  tick();
}

if (form) countDown();
