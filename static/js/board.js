/** The ride list, kept live: only changed text is touched, and nothing moves under a pointer or the focus. */

import { timerText } from "./ages.js";
import { showBar } from "./bar.js";
import { clockOffset, Poller } from "./poller.js";
import { setIcon, setText } from "./ride_slots.js";

const EVERY_MS = 2_500;
const TICK_MS = 1_000;
const root = document.querySelector("[data-board]");
const pattern = root.querySelector("template[data-row]").content.firstElementChild;
const heldButton = root.querySelector("[data-held-button]");
let rows = [];
let offset = 0;
let held = false;

function rowNode(row) {
  const known = root.querySelector(`.row[data-id="${row.id}"]`);
  const node = known ?? pattern.cloneNode(true);
  if (!known) {
    node.dataset.id = row.id;
    node.querySelector("a").href = `/rides/${row.id}`;
  }
  return node;
}

function paint(node, row) {
  node.className = `row tone-${row.tone}`;
  for (const cell of node.querySelectorAll("[data-cell]")) {
    const name = cell.dataset.cell;
    if (name === "icon") setIcon(cell, row.icon);
    else if (name !== "timer") setText(cell, row[name] ?? "");
    if (name === "plate" || name === "room") cell.hidden = !row[name];
  }
}

/** Put the rows into their groups. While somebody points or types there, order waits and a button offers it. */
function arrange(fromButton = false) {
  const order = rows.map((row) => `${row.group}${row.id}`).join();
  const shown = [...root.querySelectorAll("[data-group] .row")].map((node) => `${node.closest("[data-group]").dataset.group}${node.dataset.id}`).join();
  const busy = root.querySelector("[data-rows]:hover, [data-rows]:focus-within");
  held = order !== shown && Boolean(busy) && !fromButton;
  for (const row of rows) {
    const node = root.querySelector(`.row[data-id="${row.id}"]`);
    if (node) paint(node, row);
  }
  if (!held && order !== shown) regroup();
  heldButton.hidden = !held;
  setText(heldButton.querySelector("span"), root.dataset.held.replace("{n}", String(moved(order, shown))));
  root.querySelector("[data-empty]").hidden = rows.length > 0;
  tick();
}

function moved(order, shown) {
  const places = shown.split(",");
  return order.split(",").filter((item) => !places.includes(item)).length || 1;
}

function regroup() {
  const nodes = new Map(rows.map((row) => [row.id, rowNode(row)]));
  for (const group of root.querySelectorAll("[data-group]")) {
    const mine = rows.filter((row) => row.group === group.dataset.group);
    mine.forEach((row) => paint(nodes.get(row.id), row));
    group.querySelector("[data-rows]").replaceChildren(...mine.map((row) => nodes.get(row.id)));
    group.hidden = mine.length === 0;
    setText(group.querySelector("[data-count]"), String(mine.length));
  }
}

function tick() {
  const now = Date.now() + offset;
  for (const row of rows) {
    const cell = root.querySelector(`.row[data-id="${row.id}"] [data-cell="timer"]`);
    if (cell) setText(cell, row.timer ? timerText(row.timer, now) : "");
  }
}

heldButton.addEventListener("click", () => arrange(true));
root.addEventListener("pointerleave", () => held && arrange());
setInterval(tick, TICK_MS);
const poller = new Poller("/board.json", {
  waitMs: EVERY_MS,
  got: (body, answer) => {
    offset = clockOffset(answer, offset);
    if (body) {
      rows = body.rows;
      showBar(body.bar);
      arrange();
    }
    return EVERY_MS;
  },
  failed: (status) => {
    if (status === 401) location.assign("/sign-in");
    return status === 401 ? "stop" : undefined;
  },
});
poller.start();
poller.now();
