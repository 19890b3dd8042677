/**
 * The links of a ride: a press makes one and copies it; it is shown too, so that the user can copy
 * it by hand.
 */

import { copyText } from "../shared/copy.js";

export function watchLinks(root) {
  const box = root.querySelector("[data-out]");
  box?.addEventListener("submit", (event) => {
    if (!event.submitter?.dataset.linkUse) return; // the guest card is a page of its own
    event.preventDefault();
    press(box, event.target, event.submitter);
  });
}

async function press(box, form, button) {
  const body = new URLSearchParams({ csrf_token: form.elements.csrf_token.value });
  button.disabled = true;
  try {
    const answer = await fetch(button.getAttribute("formaction") ?? form.action, {
      method: "POST",
      headers: { Accept: "application/json" },
      body,
      credentials: "same-origin",
    });
    const answered = await answer.json();
    await show(box, answered, button.dataset.linkUse);
  } catch {
    tell(box, box.dataset.failed);
  } finally {
    button.disabled = button.dataset.full === "1";
  }
}

async function show(box, { state, url, message }, use) {
  if (!state) return tell(box, message ?? box.dataset.failed);
  const field = box.querySelector("[data-link]");
  field.closest("[data-link-row]").hidden = !url;
  if (url) {
    field.value = url;
    tell(box, (await copyText(url)) ? box.dataset[`copied_${use}`] : box.dataset.byHand);
    field.select();
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
