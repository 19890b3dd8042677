/**
 * The parts of a ride's page that name the guest. When the guest is corrected, at any desk, those
 * of the server replace them; what is being typed in them stays.
 */

import { showCopies } from "../shared/copy.js";
import { putBack, typedIn } from "../shared/typed.js";

const SHOWN = "input[name^=shown_]"; // what the form to correct the guest was filled from

export class GuestParts {
  /** `root` is a rendered ride; `replaced(part)` is called for each new part. */
  constructor(root, replaced) {
    this.root = root;
    this.replaced = replaced;
    this.sent = new Map(partsOf(root).map((part) => [part.dataset.part, asSent(part)]));
  }

  /** Take the parts that differ from a page of this ride. */
  take(page) {
    for (const fresh of partsOf(page)) {
      const name = fresh.dataset.part;
      const old = this.root.querySelector(`[data-part="${name}"]`);
      // a refused form keeps what it says and what was typed into it
      if (!old || old.querySelector("#form-error")) continue;
      const sent = asSent(fresh);
      if (this.sent.get(name)?.isEqualNode(sent)) continue;
      this.sent.set(name, sent);
      this.#replace(old, document.adoptNode(fresh));
    }
  }

  #replace(old, fresh) {
    const typed = typedIn(old);
    const own = [...old.querySelectorAll(SHOWN)].filter(({ name }) =>
      typed.fields.has(`#${name.replace("shown_", "correct-")}`),
    );
    const wasOpen = old.querySelector("details")?.open;
    old.replaceWith(fresh);
    if (wasOpen) fresh.querySelector("details")?.setAttribute("open", "");
    putBack(fresh, typed);
    // the server asks before a word that was typed replaces one that was corrected meanwhile
    for (const { name, value } of own) {
      const shown = fresh.querySelector(`[name="${name}"]`);
      if (shown) shown.value = value;
    }
    showCopies(fresh);
    this.replaced(fresh);
  }
}

function partsOf(root) {
  return [...root.querySelectorAll("[data-part]")];
}

/** A copy of a part as the server sent it, without its tokens, which differ in every answer. */
function asSent(part) {
  const copy = part.cloneNode(true);
  for (const token of copy.querySelectorAll("[name=csrf_token]")) token.remove();
  return copy;
}
