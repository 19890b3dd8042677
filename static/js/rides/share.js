/** The links of a ride on its page: made by a press and copied at once; shown, so that a person can copy them too. */

import { copyText } from "../shared/copy.js";

export function watchLinks(root) {
  const box = root.querySelector("[data-out]");
  box?.addEventListener("submit", (event) => {
    if (!event.submitter?.dataset.linkUse) return; // the card is a page
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
    const said = await answer.json();
    await show(box, said, button.dataset.linkUse);
  } catch {
    tell(box, box.dataset.failed);
  } finally {
    button.disabled = button.dataset.full === "1";
  }
}

async function show(box, said, use) {
  if (!said.state) return tell(box, said.message ?? box.dataset.failed);
  const field = box.querySelector("[data-link]");
  field.closest("[data-link-row]").hidden = !said.url;
  if (said.url) {
    field.value = said.url;
    tell(box, (await copyText(said.url)) ? box.dataset[`copied_${use}`] : box.dataset.byHand);
    field.select();
  } else tell(box, box.dataset.ended);
  box.querySelector("[data-links-state]").textContent = said.state.words;
  box.querySelector("[data-link-use=end]").hidden = !said.state.any;
  const follow = box.querySelector("[data-link-use=follower]");
  follow.dataset.full = said.state.may_follow ? "0" : "1";
  follow.disabled = !said.state.may_follow;
  return undefined;
}

function tell(box, words) {
  box.querySelector("[data-links-said]").textContent = words;
}
