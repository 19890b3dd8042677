/**
 * Puts the rows of the list into their groups, and counts them. Cars of one press for one guest are
 * one row, the first of them, with a button that shows the others below it.
 */

import { counted } from "../shared/counts.js";
import { setText } from "../shared/slots.js";

const MOVED_MS = 2_500; // how long a row of another group is highlighted, as in board.css

export class Groups {
  /** `root` is the board. `nodes` are the nodes of the rows by id; this module only places them. */
  constructor(root, nodes) {
    this.root = root;
    this.nodes = nodes;
    this.sections = new Map(
      [...root.querySelectorAll("[data-group]")].map((each) => [each.dataset.group, each]),
    );
    this.open = new Set(); // the folds whose cars are all shown
    this.button = root.querySelector("template[data-fold]").content.firstElementChild;
    this.forms = JSON.parse(this.button.dataset.cars);
    root.addEventListener("click", ({ target }) => {
      const button = target.closest("[data-unfold]");
      if (button) this.#toggle(button.dataset.unfold);
    });
  }

  /** Show all cars of a fold. */
  unfold(fold) {
    if (fold && !this.open.has(fold)) this.#toggle(fold);
  }

  #toggle(fold) {
    if (!this.open.delete(fold)) this.open.add(fold);
    this.arrange(this.rows);
  }

  /** Put each row at its place. */
  arrange(rows) {
    this.rows = rows;
    const focus = document.activeElement;
    for (const name of this.sections.keys()) {
      const list = this.#list(name);
      const mine = folded(rows.filter((row) => row.group === name));
      mine.forEach(([row, cars], at) => {
        const node = this.nodes.get(row.id);
        this.#place(node, list, at);
        this.#fold(node, row, cars);
      });
      while (list.children.length > mine.length) list.lastElementChild.remove();
    }
    this.#count(rows);
    // a node that is moved loses the focus
    if (focus !== document.activeElement && focus.isConnected) focus.focus({ preventScroll: true });
  }

  #list(name) {
    return this.sections.get(name).querySelector("[data-rows]");
  }

  /** The button of the first car of several; the others are hidden until it is pressed. */
  #fold(node, { fold }, cars) {
    const isOpen = this.open.has(fold);
    node.hidden = cars === 0 && !isOpen;
    let button = node.querySelector("[data-unfold]");
    if (cars < 2) return button?.remove();
    if (!button) {
      button = this.button.cloneNode(true);
      node.append(button);
    }
    button.dataset.unfold = fold;
    button.setAttribute("aria-expanded", String(isOpen));
    setText(button.querySelector("span"), counted(this.forms, cars));
    return undefined;
  }

  #place(node, list, at) {
    if (list.children[at] === node) return;
    const comes = node.isConnected && node.parentElement !== list;
    list.insertBefore(node, list.children[at] ?? null);
    if (!comes) return;
    node.classList.add("is-moved");
    setTimeout(() => node.classList.remove("is-moved"), MOVED_MS);
  }

  #count(rows) {
    for (const [name, section] of this.sections) {
      const n = rows.filter((row) => row.group === name).length;
      section.hidden = n === 0;
      setCount(section.querySelector("[data-count]"), n);
      const jump = this.root.querySelector(`[data-jump="${name}"]`);
      if (!jump) continue;
      jump.hidden = n === 0;
      setCount(jump.querySelector("[data-jump-count]"), n);
    }
  }
}

/**
 * Rows as [row, cars], those of one fold behind each other: at the first the number of them, at the
 * others 0; at a row that stands alone 1.
 */
function folded(rows) {
  const cars = new Map();
  for (const row of rows) cars.set(row.fold || row, [...(cars.get(row.fold || row) ?? []), row]);
  return [...cars.values()].flatMap((all) =>
    all.map((row, at) => [row, at === 0 ? all.length : 0]),
  );
}

/** A group that lists only its latest rows has no slot for a count. */
function setCount(slot, n) {
  if (slot) setText(slot, String(n));
}
