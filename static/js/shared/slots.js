/** Writes the facts of a snapshot into the page, as text, never as markup. */

const FOLDED = "details:not([open]) > :not(summary)";
const PULSE_MS = 1_200;

export class RideSlots {
  constructor(root) {
    this.root = root;
    this.shown = null;
  }

  /** Show a snapshot. */
  paint(snapshot) {
    this.shown = snapshot;
    this.root.dataset.status = snapshot.booking_status ?? "";
    for (const slot of this.root.querySelectorAll("[data-slot]")) this.#fill(slot, snapshot);
    for (const part of this.root.querySelectorAll("[data-show]")) {
      part.hidden = !part.dataset.show.split(" ").some((path) => at(snapshot, path));
    }
    this.#steps(snapshot.steps ?? []);
    this.#notices(snapshot.notices ?? []);
    paintBill(this.root, snapshot.invoice);
    this.#route(snapshot.route ?? []);
  }

  #fill(slot, snapshot) {
    const value = at(snapshot, slot.dataset.slot);
    switch (slot.dataset.slot) {
      case "tone":
        return this.#tone(slot, value);
      case "icon":
        return setIcon(slot, value);
      case "timer":
        slot.hidden = !value;
        return undefined; // rides/view.js updates its text
      case "cab.plate":
        slot.hidden = !value;
        slot.setAttribute(
          "aria-label",
          slot.dataset.spoken.replace("{plate}", [...(value ?? "").replaceAll(" ", "")].join(" ")),
        );
        return setText(slot, value ?? "");
      case "driver.phone":
        if (slot.localName !== "a") return setText(slot, value ?? "");
        if (tel(value)) slot.href = tel(value);
        else slot.removeAttribute("href");
        return undefined;
      case "share_url":
        if (value) slot.href = value; // an https address: the server sends no other
        return undefined;
      case "drop.name":
        if (value) setText(slot, value);
        return undefined;
      default:
        return setText(slot, value ?? slot.dataset.usual ?? "");
    }
  }

  #tone(card, tone) {
    const current = [...card.classList].find((name) => name.startsWith("tone-"));
    if (current === `tone-${tone}`) return;
    if (current) card.classList.remove(current);
    card.classList.add(`tone-${tone}`);
    card.classList.add("is-pulse");
    setTimeout(() => card.classList.remove("is-pulse"), PULSE_MS);
  }

  #steps(steps) {
    const check = this.root.dataset.check;
    [...this.root.querySelectorAll("[data-steps] > .step")].forEach((item, i) => {
      const [state, time] = steps[i] ?? ["todo", ""];
      item.className = `step is-${state}`;
      if (state === "now") item.setAttribute("aria-current", "step");
      else item.removeAttribute("aria-current");
      setText(item.querySelector(".step-time"), time);
      const dot = item.querySelector(".step-dot");
      dot.replaceChildren(...(state === "done" && check ? [iconNode(check)] : []));
    });
  }

  #notices(list) {
    const box = this.root.querySelector("[data-notices]");
    const key = JSON.stringify(list);
    // without a key, the notices are those of the rendered page: only their number is compared
    const areShown = box.dataset.key
      ? box.dataset.key === key
      : box.children.length === list.length;
    box.dataset.key = key;
    if (areShown) return;
    const reconnect = this.root.querySelector("[data-reconnect]");
    if (reconnect) reconnect.hidden = !list.some((notice) => notice.name === "reconnect");
    const pattern = this.root.querySelector("template[data-notice]");
    box.replaceChildren(
      ...list.map((notice) => {
        const alert = pattern.content.firstElementChild.cloneNode(true);
        alert.classList.add(`tone-${notice.tone}`);
        if (notice.name === "swapped" || notice.tone === "bad") alert.setAttribute("role", "alert");
        setIcon(alert, notice.icon);
        const [title, detail] = alert.querySelectorAll("p");
        title.textContent = notice.title;
        detail.textContent = notice.detail ?? "";
        const seen = alert.querySelector("[data-seen-form]");
        seen.hidden = !notice.seen;
        seen.elements.item.value = notice.seen ?? "";
        seen.querySelector("[data-verb]").textContent = notice.verb ?? "";
        seen.querySelector("[data-stop]").hidden = !notice.stop;
        return alert;
      }),
    );
  }

  #route(stops) {
    const list = this.root.querySelector("[data-route]");
    const words = { pickup: list.dataset.pickup, drop: list.dataset.dropWord };
    list.replaceChildren(
      ...stops.map((stop) => {
        const item = element("li", `stop stop-${stop.state === "drop" ? "drop" : "pickup"}`);
        const name = element("bdi", "strong", stop.name ?? "–");
        item.append(
          element("span", "stop-dot rigid"),
          name,
          " ",
          element("span", "label", words[stop.state] ?? ""),
        );
        return item;
      }),
    );
  }
}

/** Write a ride's price, line by line, if the page has a place for it. */
export function paintBill(root, invoice) {
  const rows = root.querySelector("[data-lines] tbody");
  if (!invoice || !rows) return;
  rows.replaceChildren(
    ...invoice.lines.map((line) => {
      const row = element("tr", line.total ? "total" : "");
      row.dataset.from = `line.${line.id}`;
      const label = element("th", "", line.label);
      label.scope = "row";
      row.append(label, element("td", "", line.amount));
      return row;
    }),
  );
  root
    .querySelector("[data-invoice-notes]")
    .replaceChildren(...(invoice.notes ?? []).map((note) => element("li", "", note)));
}

/** The value at a dotted path, or undefined. */
export function at(facts, path) {
  return path.split(".").reduce((value, name) => value?.[name], facts);
}

/**
 * Set the text of a node. A node that has this text, apart from white space around it, stays
 * untouched.
 */
export function setText(node, text) {
  if (!node || node.textContent === text || node.textContent.trim() === text) return;
  node.textContent = text;
}

/** The address that dials a number, as tel() in ridedash/forms/phones.py makes it. */
export function tel(number) {
  const digits = (number ?? "").replaceAll(/[^0-9+]/g, "");
  return /\d/.test(digits) ? `tel:${digits}` : "";
}

/** Show another symbol of the sprite in the use element of `node`. */
export function setIcon(node, name) {
  const use = node.querySelector("use");
  const href = `${use.getAttribute("href").split("#")[0]}#${name}`;
  if (use.getAttribute("href") !== href) use.setAttribute("href", href);
  if (node.dataset.icon !== undefined) node.dataset.icon = name;
}

function iconNode(href) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "icon");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", href);
  svg.append(use);
  return svg;
}

/**
 * Whether an element is displayed; false for null. Safari before 17.4 lacks checkVisibility(), so
 * this looks for rectangles. In Chromium an element in a closed details element has them, too.
 */
export function isShown(node) {
  return Boolean(node?.getClientRects().length) && !node.closest(FOLDED);
}

export function element(tag, className, text = "") {
  const node = document.createElement(tag);
  node.className = className;
  node.textContent = text;
  return node;
}
