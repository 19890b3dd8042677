/** Puts the rows of the list into their groups, and counts them. */

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
  }

  /** Put each row at its place. */
  arrange(rows) {
    const focus = document.activeElement;
    for (const name of this.sections.keys()) {
      const list = this.#list(name);
      const mine = rows.filter((row) => row.group === name);
      mine.forEach((row, at) => this.#place(this.nodes.get(row.id), list, at));
      while (list.children.length > mine.length) list.lastElementChild.remove();
    }
    this.#count(rows);
    // a node that is moved loses the focus
    if (focus !== document.activeElement && focus.isConnected) focus.focus({ preventScroll: true });
  }

  #list(name) {
    return this.sections.get(name).querySelector("[data-rows]");
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

/** A group that lists only its latest rows has no slot for a count. */
function setCount(slot, n) {
  if (slot) setText(slot, String(n));
}
