/**
 * The start code: requested by a press, shown for the time that the server sets, then masked again.
 */

const MASK = "••••";
let hiding = null;

export function watchCode(root) {
  const form = root.querySelector("[data-code]");
  const label = form.querySelector("[data-code-button] span");
  form.dataset.show_label = label.textContent;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (hiding) hideCode(root);
    else reveal(root, form, label);
  });
}

/** Mask the code: its time is over, or the ride has a new status. */
export function hideCode(root) {
  clearTimeout(hiding);
  hiding = null;
  const form = root.querySelector("[data-code]");
  form.querySelector("[data-code-digits]").textContent = MASK;
  form.querySelector("[data-code-button] span").textContent = form.dataset.show_label;
}

async function reveal(root, form, label) {
  const token = document.querySelector('meta[name="csrf-token"]').content;
  try {
    const answer = await fetch(form.action, {
      method: "POST",
      headers: { Accept: "application/json", "X-CSRFToken": token },
      credentials: "same-origin",
    });
    if (!answer.ok) return;
    const { code, seconds } = await answer.json();
    form.querySelector("[data-code-digits]").textContent = code;
    label.textContent = form.querySelector("[data-code-button]").dataset.hide;
    hiding = setTimeout(() => hideCode(root), seconds * 1000);
  } catch {
    hideCode(root); // no answer: the user can press again
  }
}
