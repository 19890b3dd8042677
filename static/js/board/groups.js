/**
 * Places the rows in the list. A row is always in the group of its state. While the user points at
 * or works in a row, the other rows stay in place: a row that moves to another group leaves a
 * placeholder ("mark") of its own size.
 */

import { setText } from "../shared/slots.js";

const POINTED = ":is(.row, .row-left, .call, .alert):hover";
const MARK_MS = 8_000; // how long a mark stays; longer while the user points at a row or card
const MOVED_MS = 2_500; // how long a moved row is highlighted, as in board.css

export class Groups {
  /** `root` is the board. `nodes` are the nodes of the rows by id; this module only places them. */
  constructor(root, nodes) {
    this.root = root;
    this.nodes = nodes;
    this.body = root.querySelector(".list-body");
    this.mark = root.querySelector("template[data-left]").content.firstElementChild;
    this.sections = new Map(
      [...root.querySelectorAll("[data-group]")].map((each) => [each.dataset.group, each]),
    );
    this.marks = new Map(); // id of a row that has moved -> {node, since} of its mark
    this.slid = 0; // px by which the list was scrolled to keep a row in place
    this.room = 0; // px of space above all rows that keep them in place
  }

  /** Whether the user points at a row or at a card above the rows, or works in a row. */
  get busy() {
    return this.#anchor() !== null;
  }

  /**
   * Make a change above the rows. The element that the user is about to press stays in place, or
   * otherwise the first visible row of a scrolled list.
   */
  steady(change) {
    const anchor = this.#aimed() ?? this.#inView();
    const before = anchor?.getBoundingClientRect().top;
    change();
    if (anchor?.isConnected) this.#hold(anchor, before);
  }

  /** Undo the scrolling of #hold, unless the user is about to press something. */
  release() {
    if (!this.#aimed()) this.#end();
  }

  /** Put each row at its place, and remove all marks. */
  arrange(rows) {
    const focus = document.activeElement;
    this.#unmarkAll();
    for (const name of this.sections.keys()) {
      const list = this.#list(name);
      const mine = rows.filter((row) => row.group === name);
      mine.forEach((row, at) => {
        const node = this.nodes.get(row.id);
        if (list.children[at] !== node) list.insertBefore(node, list.children[at] ?? null);
      });
      while (list.children.length > mine.length) list.lastElementChild.remove();
    }
    this.#count(rows);
    this.#refocus(focus);
    this.#end();
  }

  /**
   * Move the rows that are in a wrong group, or in none, into their groups; all others stay.
   * Returns how many rows still have to move within their groups.
   */
  correct(rows) {
    const focus = document.activeElement;
    const anchor = this.#anchor();
    const list = anchor?.parentElement;
    const before = anchor?.getBoundingClientRect().top;
    for (const [at, row] of rows.entries()) this.#correct(rows, row, at);
    this.#count(rows);
    this.#refocus(focus);
    if (anchor) {
      // if the anchor itself has moved, its mark is at its old place
      const stayed = anchor.parentElement === list;
      const there = stayed ? anchor : this.marks.get(Number(anchor.dataset.id))?.node;
      if (there) this.#hold(there, before);
    }
    return this.#misplaced(rows);
  }

  /** Remove old marks, unless the user points at a row or card; `now` is a performance.now(). */
  tick(now) {
    if (!this.marks.size || this.body.querySelector(POINTED)) return;
    const anchor = this.#anchor();
    const before = anchor?.getBoundingClientRect().top;
    for (const [id, { since }] of this.marks) if (now - since >= MARK_MS) this.#unmark(id);
    if (anchor) this.#hold(anchor, before);
  }

  #list(name) {
    return this.sections.get(name).querySelector("[data-rows]");
  }

  /**
   * The element that stays in place while rows move: the row or card under the pointer, else the
   * row with the focus.
   */
  #anchor() {
    return this.body.querySelector(POINTED) ?? this.body.querySelector(".row:focus-within");
  }

  /** The element that the user is about to press: under the pointer, or focused by keys. */
  #aimed() {
    const focus = document.activeElement;
    const reached = this.body.contains(focus) && focus.matches(":focus-visible");
    return this.body.querySelector(POINTED) ?? (reached ? focus.closest(".row, .call") : null);
  }

  /** The first visible row of a scrolled list; null if the list is not scrolled. */
  #inView() {
    if (!this.#scroller().scrollTop) return null;
    const top = Math.max(0, this.body.getBoundingClientRect().top);
    const rows = [...this.body.querySelectorAll(".row")];
    return rows.find((row) => row.getBoundingClientRect().bottom > top) ?? null;
  }

  #correct(rows, row, at) {
    const node = this.nodes.get(row.id);
    const list = this.#list(row.group);
    if (node.parentElement === list) return;
    const back = this.marks.get(row.id)?.node;
    let next = back;
    if (back?.parentElement !== list) {
      const later = rows.slice(at + 1).map((each) => this.nodes.get(each.id));
      next = later.find((each) => each.parentElement === list);
    }
    if (node.isConnected) this.#leave(node, row);
    list.insertBefore(node, next ?? null);
    if (back && next === back) this.#unmark(row.id);
    node.classList.add("is-moved");
    setTimeout(() => node.classList.remove("is-moved"), MOVED_MS);
  }

  /** Put a mark at the place of a row that moves; the mark opens the same ride. */
  #leave(node, row) {
    if (this.marks.has(row.id)) return;
    const mark = this.mark.cloneNode(true);
    mark.dataset.id = row.id;
    mark.style.blockSize = `${node.getBoundingClientRect().height}px`;
    const link = mark.querySelector("a");
    link.href = `/rides/${row.id}`;
    setText(mark.querySelector("[data-who]"), row.guest);
    setText(mark.querySelector("[data-where]"), this.sections.get(row.group).dataset.title);
    node.before(mark);
    this.marks.set(row.id, { node: mark, since: performance.now() });
  }

  #unmark(id) {
    this.marks.get(id)?.node.remove();
    this.marks.delete(id);
  }

  #unmarkAll() {
    for (const id of this.marks.keys()) this.#unmark(id);
  }

  /** Scroll the list so that a node is where it was before, at `before` px. */
  #hold(node, before) {
    const by = node.getBoundingClientRect().top - before;
    if (!by) return;
    const scroller = this.#scroller();
    // space at the end, because a short list could not scroll that far
    if (by > 0) this.body.style.paddingBlockEnd = `${scroller.clientHeight}px`;
    const at = scroller.scrollTop;
    scroller.scrollTop += by;
    this.slid += scroller.scrollTop - at;
    const lacks = before - node.getBoundingClientRect().top;
    if (lacks < 1) return; // scroll positions are whole pixels
    this.room += lacks; // at its beginning a list can't scroll further back
    this.body.style.paddingBlockStart = `${this.room}px`;
  }

  /** Remove the extra space, and scroll to the top a list that was only scrolled by #hold. */
  #end() {
    const scroller = this.#scroller();
    if (this.slid && scroller.scrollTop <= this.slid) scroller.scrollTop = 0;
    this.slid = this.room = 0;
    this.body.style.paddingBlock = "";
  }

  #scroller() {
    return getComputedStyle(this.body).overflowY === "visible"
      ? document.scrollingElement
      : this.body;
  }

  #count(rows) {
    for (const [name, section] of this.sections) {
      const n = rows.filter((row) => row.group === name).length;
      section.hidden = n === 0 && this.#list(name).children.length === 0;
      setCount(section.querySelector("[data-count]"), n);
      const jump = this.root.querySelector(`[data-jump="${name}"]`);
      if (!jump) continue;
      jump.hidden = n === 0;
      setCount(jump.querySelector("[data-jump-count]"), n);
    }
  }

  /** Give the focus back to a row that was moved: moving a node takes it away. */
  #refocus(focus) {
    if (focus !== document.activeElement && focus.isConnected) focus.focus({ preventScroll: true });
  }

  /** How many rows have to move within their groups. */
  #misplaced(rows) {
    let wrong = 0;
    for (const name of this.sections.keys()) {
      const mine = rows.filter((row) => row.group === name);
      const places = new Map(mine.map((row, at) => [row.id, at]));
      const shown = [...this.#list(name).querySelectorAll(".row")];
      const known = shown.map((node) => places.get(Number(node.dataset.id)));
      wrong += shown.length - longestIncrease(known.filter((place) => place !== undefined));
    }
    return wrong;
  }
}

/** A group that lists only its latest rows has no slot for a count. */
function setCount(slot, n) {
  if (slot) setText(slot, String(n));
}

/**
 * The length of the longest increasing subsequence: the number of rows that can stay in place when
 * the list is sorted.
 */
function longestIncrease(numbers) {
  const ends = []; // at index n: the smallest number that ends such a subsequence of length n + 1
  for (const number of numbers) {
    const at = ends.findIndex((end) => end >= number);
    ends[at < 0 ? ends.length : at] = number;
  }
  return ends.length;
}
