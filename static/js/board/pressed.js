/**
 * Shows a press of Book that is not in the list yet, in a row over the bottom of the list, so that
 * the press gets an answer at once and no row moves. The form reports its progress:
 * `ridedash:press` {state, guest, room, to, n, later, words, orders}; states: "sent"; "lost" while
 * the same form is sent again; "unknown" for an unknown outcome; "placed" with the ids of the
 * orders; "refused"; "over" removes the row. It disappears when one of the orders is in the list
 * (`ridedash:rows`); the list's row of that order then slides from here to its place.
 */

import { counted } from "../shared/counts.js";
import { setIcon, setText } from "../shared/slots.js";

const LOOKS = {
  sent: ["info", "waiting"],
  lost: ["warn", "offline"],
  unknown: ["unknown", "unknown"],
  refused: ["bad", "cancelled"],
};
const MOVES_MS = 200;
const UNLISTED_MS = 20_000; // then the row disappears: a full list does not show every planned ride
const still = matchMedia("(prefers-reduced-motion: reduce)");

export class Pressed {
  /** `pattern` is an empty row; `rowOf(id)` returns the list's row of an order, or nothing. */
  constructor(list, pattern, rowOf) {
    this.list = list;
    this.texts = list.dataset;
    this.pattern = pattern;
    this.rowOf = rowOf;
    this.row = null; // the row of the last press
    this.placed = new Map(); // rows whose orders are not in the list yet -> ids of the orders
    document.addEventListener("ridedash:press", ({ detail }) => this.#take(detail));
    document.addEventListener("ridedash:rows", () => this.#follow());
    document.addEventListener("input", ({ target }) => {
      // a user who continues in the form has read it
      if (this.row?.dataset.state === "refused" && target.closest("[data-desk-form]")) this.#over();
    });
  }

  #take(press) {
    if (press.state === "over") return this.#over();
    if (press.state === "placed") return this.#placed(press.orders);
    if (press.state === "sent") this.#begin(press);
    if (this.row) this.#paint(press);
    return undefined;
  }

  #begin({ guest, room, to, n }) {
    this.#over();
    this.row = this.pattern.cloneNode(true);
    this.row.removeAttribute("data-id");
    this.row.querySelector("a").removeAttribute("href"); // there is nothing to open yet
    const car = n > 1 ? counted(JSON.parse(this.texts.several), n) : "";
    const cells = { guest, room, to, car };
    for (const [name, words] of Object.entries(cells)) {
      const cell = this.row.querySelector(`[data-cell="${name}"]`);
      cell.hidden = !words;
      setText(cell, words);
    }
    this.list.append(this.row);
    this.list.hidden = false;
  }

  #paint({ state, later, words = "" }) {
    const [tone, icon] = LOOKS[state];
    this.row.className = `row tone-${tone}`;
    this.row.dataset.state = state;
    setIcon(this.row.querySelector('[data-cell="icon"]'), icon);
    const headline = state === "sent" && later ? this.texts.planned : this.texts[state];
    setText(this.row.querySelector('[data-cell="headline"]'), headline);
    setText(this.row.querySelector('[data-cell="why"]'), words);
  }

  #placed(orders) {
    if (!this.row) return;
    const { row } = this;
    this.placed.set(row, orders);
    row.querySelector("a").href = `/rides/${orders[0]}`;
    this.row = null;
    setTimeout(() => this.#remove(row), UNLISTED_MS);
    this.#follow();
  }

  #follow() {
    for (const [row, orders] of this.placed) {
      const listed = orders.map((id) => this.rowOf(id)).filter(Boolean);
      if (!listed.length) continue;
      const from = row.getBoundingClientRect().top;
      this.#remove(row);
      for (const node of listed) slide(node, from);
    }
  }

  #over() {
    if (this.row) this.#remove(this.row);
    this.row = null;
  }

  #remove(row) {
    row.remove();
    this.placed.delete(row);
    this.list.hidden = this.list.children.length === 0;
  }
}

/** Slide a row from `from` (px in the window) to its place, to show that it is the pressed ride. */
function slide(node, from) {
  if (still.matches) return;
  const by = from - node.getBoundingClientRect().top;
  const transform = [`translateY(${by}px)`, "none"];
  node.animate({ transform, zIndex: [2, 2] }, { duration: MOVES_MS, easing: "ease-out" });
}
