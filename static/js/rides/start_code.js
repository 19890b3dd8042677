/**
 * The start code: requested by a press, shown for the time that the server sets, then masked again.
 * The screen turned to the guest shows it as long as the panel does.
 */

import { patience } from "../shared/ask.js";
import { setText } from "../shared/slots.js";

const MASK = "••••";
let hiding = null;
// the press whose code has not come yet; hideCode() sets null, and its code is then ignored
let pending = null;

export function watchCode(root) {
  const form = root.querySelector("[data-code]");
  form.dataset.show_label = form.querySelector("[data-code-button] span").textContent;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (hiding) hideCode(root);
    else if (!pending) reveal(root, form);
  });
}

/** Mask the code, and ignore one that has not come yet. */
export function hideCode(root) {
  clearTimeout(hiding);
  hiding = pending = null;
  const form = root.querySelector("[data-code]");
  show(root, "", form.dataset.show_label);
}

/** Show a code, or the mask without one, and adapt the buttons. */
function show(root, code, label) {
  root.querySelector("[data-code-digits]").textContent = code || MASK;
  for (const button of root.querySelectorAll("[data-code-button] span")) button.textContent = label;
  const large = root.querySelector("[data-code-shown]");
  large.hidden = !code;
  large.querySelector(".to-guest-digits").textContent = code;
}

async function reveal(root, form) {
  const token = document.querySelector('meta[name="csrf-token"]').content;
  const mine = (pending = {});
  const line = root.querySelector("[data-key-said]");
  setText(line, "");
  try {
    const answer = await fetch(form.action, {
      method: "POST",
      headers: { Accept: "application/json", "X-CSRFToken": token },
      credentials: "same-origin",
      signal: patience(),
    });
    if (!answer.ok) throw new Error(String(answer.status));
    const { code, seconds } = await answer.json();
    if (mine !== pending) return; // hideCode() was called meanwhile
    pending = null;
    show(root, code, form.querySelector("[data-code-button]").dataset.hide);
    hiding = setTimeout(() => hideCode(root), seconds * 1000);
  } catch {
    if (mine !== pending) return;
    hideCode(root);
    setText(line, form.dataset.failed);
  }
}
