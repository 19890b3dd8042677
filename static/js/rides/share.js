/**
 * A press makes a link and copies it. Safari copies only during a press, not after the request: the
 * link is therefore also shown, with a button that copies it.
 */

import { patience } from "../shared/ask.js";
import { copy } from "../shared/copy.js";
import { showMessage, watchMessage } from "./message.js";

export function watchLinks(root) {
  const box = root.querySelector("[data-out]");
  box?.addEventListener("submit", (event) => {
    // the other button opens the guest's card, a page of its own
    if (!event.submitter?.dataset.linkUse) return;
    event.preventDefault();
    press(box, event.target, event.submitter);
  });
  const message = box?.querySelector("[data-message]");
  if (!message) return;
  const csrf = () => box.querySelector("[name=csrf_token]").value;
  watchMessage(message, { csrf, said: (words) => tell(box, words) });
}

async function press(box, form, button) {
  const body = new URLSearchParams({ csrf_token: form.elements.csrf_token.value });
  const focused = document.activeElement === button;
  button.disabled = true;
  try {
    const answer = await fetch(button.getAttribute("formaction") ?? form.action, {
      method: "POST",
      headers: { Accept: "application/json" },
      body,
      credentials: "same-origin",
      signal: patience(),
    });
    const answered = await answer.json();
    await show(box, answered, button.dataset.linkUse);
  } catch {
    tell(box, box.dataset.failed);
  } finally {
    button.disabled = button.dataset.full === "1";
    if (focused && document.activeElement === document.body) button.focus({ preventScroll: true });
  }
}

async function show(box, { state, url, message }, use) {
  if (!state) return tell(box, message ?? box.dataset.failed);
  showMessage(box.querySelector("[data-message]"), url ? message : null);
  const field = box.querySelector("[data-link]");
  field.closest("[data-link-row]").hidden = !url;
  if (url) {
    field.value = url;
    const words = (await copy(field)) ? box.dataset.copied : box.dataset.ready;
    tell(box, `${words} ${box.dataset[`means_${use}`]}`);
    field.closest("[data-out]").scrollIntoView({ block: "nearest" });
  } else tell(box, box.dataset.ended);
  box.querySelector("[data-links-state]").textContent = state.words;
  box.querySelector("[data-link-use=end]").hidden = !state.any;
  for (const [kind, may] of [
    ["rider", state.may_rider],
    ["follower", state.may_follow],
  ]) {
    const button = box.querySelector(`[data-link-use=${kind}]`);
    button.dataset.full = may ? "0" : "1";
    button.disabled = !may;
  }
  return undefined;
}

function tell(box, words) {
  box.querySelector("[data-links-said]").textContent = words;
}
