/** The panels of what staff can do: opened one at a time, replaced by the server's own when what is allowed changes. */

const COPIED_MS = 2_000;

export class ActionPanels {
  /** `address` is the page's own, `shown` the snapshot that its panels belong to; `replaced()` is called after new ones came. */
  constructor(root, address, shown, replaced, headers = {}) {
    this.root = root;
    this.address = address;
    this.shown = shown;
    this.replaced = replaced;
    this.headers = { Accept: "text/html", ...headers };
    this.asking = false;
    root.addEventListener("click", (event) => this.#click(event));
    root.addEventListener("keydown", (event) => this.#escape(event));
  }

  /** Fetch the panels again while they don't belong to what is allowed now. Called after every answer, so it tries again. */
  async follow(now) {
    if (this.asking || key(this.shown) === key(now)) return;
    this.asking = true;
    try {
      const page = await this.#page();
      const theirs = JSON.parse(page.querySelector("[data-points]").textContent).snapshot;
      this.#swap(page.querySelector("[data-actions]"), this.shown, theirs);
      this.shown = theirs;
    } catch {
      this.#switchOff(now); // no page of ours came: at least nothing is offered that can't be done
    } finally {
      this.asking = false;
    }
  }

  async #page() {
    const answer = await fetch(this.address, {
      headers: this.headers,
      credentials: "same-origin",
      cache: "no-store",
    });
    if (!answer.ok) throw new Error(String(answer.status));
    return new DOMParser().parseFromString(await answer.text(), "text/html");
  }

  /** Panels that stay as they were keep what was typed into them. */
  #swap(fresh, before, now) {
    const section = this.root.querySelector("[data-actions]");
    const was = new Map((before.actions ?? []).map((action) => [action.name, said(action)]));
    const stays = new Set(
      (now.actions ?? [])
        .filter((action) => was.get(action.name) === said(action))
        .map((action) => action.name),
    );
    const kept = new Map([...section.children].map((panel) => [panel.dataset.action, panel]));
    const focused = section.contains(document.activeElement);
    const panels = [...fresh.children].map((panel) => {
      const name = panel.dataset.action;
      return stays.has(name) && kept.has(name) ? kept.get(name) : document.adoptNode(panel);
    });
    section.replaceChildren(...panels);
    section.hidden = panels.length === 0;
    if (focused && !section.contains(document.activeElement))
      this.root.querySelector(".state-headline").closest("[role=status]").focus?.();
    this.replaced();
  }

  #switchOff(now) {
    const allowed = new Set(
      (now.actions ?? []).filter((action) => action.allowed).map((action) => action.name),
    );
    for (const panel of this.root.querySelectorAll("[data-action]"))
      panel.hidden = !allowed.has(panel.dataset.action);
  }

  #click(event) {
    const off = event.target.closest('summary[aria-disabled="true"]');
    if (off && !off.parentElement.querySelector("form")) event.preventDefault();
    const close = event.target.closest("[data-close]");
    if (close) this.#close(close.closest("details"));
    const copy = event.target.closest("[data-copy]");
    if (copy) this.#copy(copy);
  }

  #escape(event) {
    const panel = event.key === "Escape" && event.target.closest("details.action[open]");
    if (!panel || event.defaultPrevented) return;
    event.preventDefault(); // the ride itself stays open
    this.#close(panel);
  }

  #close(panel) {
    panel.open = false;
    panel.querySelector("summary").focus();
  }

  async #copy(button) {
    const label = button.querySelector("span");
    const before = label.textContent;
    await navigator.clipboard.writeText(this.root.querySelector("[data-support]").textContent);
    label.textContent = button.dataset.copied;
    setTimeout(() => (label.textContent = before), COPIED_MS);
  }
}

function key(snapshot) {
  return JSON.stringify([snapshot.order_state, (snapshot.actions ?? []).map(said)]);
}

/** An action as one text, in whatever order its parts came. */
function said({ name, label, allowed = false, note = "" }) {
  return JSON.stringify([name, label, allowed, note]);
}
