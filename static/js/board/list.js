/**
 * The list of rides. Only changed text is updated, at once; rows move when nobody is about to press
 * one (hold.js).
 */

import { ageText, timerText } from "../shared/ages.js";
import { isShown, setIcon, setText } from "../shared/slots.js";
import { Groups } from "./groups.js";
import { Hold } from "./hold.js";

const CELLS = ["headline", "guest", "room", "car", "to", "plate", "placed", "kiosk", "mark", "why"];

export class RideList {
  /** `patterns` are the texts of ages, see shared/ages.js. */
  constructor(root, patterns) {
    this.root = root;
    this.patterns = patterns;
    this.pattern = root.querySelector("template[data-row]").content.firstElementChild;
    this.nodes = new Map(
      [...root.querySelectorAll(".row[data-id]")].map((node) => [Number(node.dataset.id), node]),
    );
    this.groups = new Groups(root, this.nodes);
    this.cells = new WeakMap(); // node -> its cells, by name
    this.rows = [];
    this.ticking = [];
    this.shown = "";
    this.chosen = null;
    this.hold = new Hold(root.querySelector(".list-body"));
  }

  /** Show the rows in this order; `changed` are the ids of those that differ from before. */
  show(rows, changed) {
    const known = this.rows.length > 0;
    this.rows = rows;
    this.byId = new Map(rows.map((row) => [row.id, row]));
    for (const id of known ? changed : rows.map((row) => row.id)) this.#paint(id);
    this.ticking = rows.filter((row) => row.timer || row.seen);
    const order = rows.map((row) => `${row.group}${row.id}`).join();
    if (order === this.shown) return;
    this.shown = order;
    if (known) this.hold.change("rows", () => this.#arrange());
    else this.#arrange();
  }

  /** Make a change above the rows: not while somebody is about to press one (hold.js). */
  change(name, make) {
    this.hold.change(name, make);
  }

  #arrange() {
    this.groups.arrange(this.rows);
    for (const [id, node] of this.nodes) if (!node.isConnected) this.nodes.delete(id);
    this.root.querySelector("[data-empty]").hidden = this.rows.length > 0;
  }

  /** Highlight the ride that is shown beside the list; null for none. */
  choose(id) {
    const [before, now] = [this.chosen, id].map((each) => this.nodes.get(each));
    this.chosen = id;
    if (before) markChosen(before, false);
    if (now) markChosen(now, true);
  }

  /** Scroll to a ride's row; false while it is not in the list. */
  reveal(id) {
    const node = this.nodes.get(id);
    if (!node?.isConnected) return false;
    this.groups.unfold(this.byId.get(id)?.fold);
    node.scrollIntoView({ block: "nearest" });
    return true;
  }

  /**
   * Move the focus one row forward (1) or back (-1); without focus, from the chosen row or the
   * first (for -1 the last). Returns the ride's id, or null without any.
   */
  step(by) {
    const links = [...this.root.querySelectorAll("[data-group] .row-link")].filter(isShown);
    const at = links.findIndex((link) => link.parentElement.contains(document.activeElement));
    const current = links.findIndex((link) => link.hasAttribute("aria-current"));
    const from = at >= 0 ? at : current;
    const end = by > 0 ? 0 : links.length - 1;
    const next = from >= 0 ? from + by : end;
    this.#focus(links[Math.min(Math.max(next, 0), links.length - 1)]);
    return this.focused();
  }

  /** Move the focus to a ride's row. */
  focus(id) {
    this.#focus(this.nodes.get(id)?.querySelector(".row-link"));
  }

  /** The id of the ride whose row has the focus, or null. */
  focused() {
    const row = document.activeElement?.closest?.(".row[data-id]");
    return row && this.root.contains(row) ? Number(row.dataset.id) : null;
  }

  /** Update the timers and ages, at an instant of the server's clock in ms. */
  tick(now) {
    for (const row of this.ticking) {
      const cells = this.#cellsOf(this.nodes.get(row.id));
      if (row.timer) setText(cells.timer, timerText(row.timer, now));
      if (!row.seen) continue;
      const age = ageText((now - Date.parse(row.seen)) / 1000, this.patterns);
      setText(cells.old, this.root.dataset.old.replace("{age}", age));
    }
  }

  #focus(link) {
    link?.focus({ preventScroll: true });
    link?.scrollIntoView({ block: "nearest" });
  }

  #cellsOf(node) {
    let cells = this.cells.get(node);
    if (!cells) {
      cells = Object.fromEntries(
        [...node.querySelectorAll("[data-cell]")].map((cell) => [cell.dataset.cell, cell]),
      );
      cells.ask = node.querySelector("[data-ask]");
      this.cells.set(node, cells);
    }
    return cells;
  }

  #paint(id) {
    const row = this.byId.get(id);
    if (!row) return;
    const node = this.nodes.get(id) ?? this.#addRow(id);
    if (row.do && !node.querySelector("[data-ask]")) this.#addAsk(node);
    const cells = this.#cellsOf(node);
    node.className = `row tone-${row.tone}`;
    node.classList.toggle("is-stale", Boolean(row.seen));
    markChosen(node, id === this.chosen);
    setIcon(cells.icon, row.icon);
    for (const name of CELLS) setText(cells[name], row[name] ?? "");
    cells.room.hidden = !row.room;
    cells.car.hidden = !row.car;
    cells.plate.hidden = !row.plate;
    cells.placed.hidden = Boolean(row.plate);
    if (!row.timer) setText(cells.timer, "");
    if (!row.seen) setText(cells.old, "");
    if (cells.ask) cells.ask.hidden = !row.do;
    if (row.do) this.#offer(cells, row);
  }

  /** A row that was rendered with the page has a button only if there was something to do. */
  #addAsk(node) {
    node.append(this.pattern.querySelector("[data-ask]").cloneNode(true));
    this.cells.delete(node);
  }

  #offer(cells, { do: offered, guest }) {
    const link = cells.do;
    if (link.getAttribute("href") !== offered.href) link.setAttribute("href", offered.href);
    Object.assign(link.dataset, { what: offered.what, on: offered.on ?? "" });
    if (link.firstChild.nodeType !== Node.TEXT_NODE) link.prepend("");
    if (link.firstChild.data !== offered.label) link.firstChild.data = offered.label;
    setText(cells["do-for"], ` · ${guest}`);
  }

  #addRow(id) {
    const node = this.pattern.cloneNode(true);
    node.dataset.id = id;
    node.querySelector(".row-link").href = `/rides/${id}`;
    this.nodes.set(id, node);
    return node;
  }
}

function markChosen(node, chosen) {
  node.classList.toggle("is-chosen", chosen);
  const link = node.querySelector(".row-link");
  if (chosen) link.setAttribute("aria-current", "true");
  else link.removeAttribute("aria-current");
}
