/**
 * The lens: a drawer with the calls of this demo to the ride service, opened by lens.js. Its height
 * and tab are remembered in this browser. What the service answered is shown as text, never as
 * markup.
 */

import { ask } from "../shared/ask.js";
import { watchCopies } from "../shared/copy.js";
import { nodesOf } from "../shared/markup.js";
import { keep, kept } from "./lens_settings.js";

const EVERY_MS = 1_000;
const STEP = 5; // step of the height, in percent of the window
const LEAST = 20;
const MOST = 90;
const KEPT_ROWS = 400;

const lens = document.querySelector("[data-lens]");
const grip = lens.querySelector("[data-lens-grip]");
const rows = lens.querySelector("[data-lens-rows]");
const note = lens.querySelector("[data-lens-note]");
const detail = lens.querySelector("[data-lens-detail]");
const body = lens.querySelector("[data-lens-body]");
const files = lens.querySelector("[data-lens-files]");
const openers = document.querySelectorAll("[data-lens-open]");

let lastChange = 0; // number of the last change that is shown
let listed = ""; // what the list shows: a tab and a ride
let timer = 0;
let round = 0; // later requests make the answers of earlier ones void

/** The order id of the ride on this page, or else on the phone of the stage; "" for none. */
export function ride() {
  const own = document.querySelector("[data-ride]")?.dataset.ride;
  if (own || parent === window) return own ?? "";
  const phone = parent.document.querySelector("[data-stage] iframe[name=phone]");
  return phone?.dataset.ride ?? "";
}

/** Open the drawer at a call, with the field of a JSON pointer highlighted. */
export async function showCall(number, pointer = null) {
  setOpen(true);
  const shown = detail.querySelector("[data-number]");
  if (shown?.dataset.number !== String(number)) await load(`/demo/lens/calls/${number}`);
  for (const row of rows.children) mark(row, number);
  if (pointer !== null) light(pointer);
}

/** Highlight a field of the shown call; null for none. Returns whether the field exists. */
export function light(pointer) {
  for (const lit of detail.querySelectorAll(".is-lit")) lit.classList.remove("is-lit");
  if (pointer === null) return false;
  const answer = detail.querySelector("[data-answer]");
  const node = answer?.querySelector(`[data-pointer="${CSS.escape(pointer)}"]`);
  node?.classList.add("is-lit");
  node?.scrollIntoView({ block: "center" });
  return Boolean(node);
}

/** Whether the drawer is open. */
export function isOpen() {
  return !lens.hidden;
}

/** Open the drawer, or close it; without `open` an open drawer closes, and a closed one opens. */
export function setOpen(open = lens.hidden) {
  if (lens.hidden !== open) return;
  lens.hidden = !open;
  for (const button of openers) button.setAttribute("aria-expanded", String(open));
  document.body.classList.toggle("has-lens", open);
  keep({ open });
  setHeight(kept.height);
  if (open) setTab(kept.tab);
  else clearTimeout(timer);
  lens.dispatchEvent(new CustomEvent("lens", { detail: { open }, bubbles: true }));
}

function setHeight(wanted) {
  const height = Math.round(Math.min(MOST, Math.max(LEAST, Number(wanted) || LEAST)));
  document.documentElement.style.setProperty("--lens-height", `${height}vh`);
  grip.setAttribute("aria-valuenow", String(height));
  keep({ height });
}

function setTab(tab) {
  keep({ tab });
  for (const button of lens.querySelectorAll("[data-lens-tab]"))
    button.setAttribute("aria-pressed", String(button.dataset.lensTab === tab));
  body.classList.toggle("is-states", tab === "states");
  listed = "";
  refresh();
}

/** Update the list, now and every second while the drawer is open. */
async function refresh() {
  clearTimeout(timer);
  const mine = ++round;
  const { tab } = kept;
  const order = tab === "ride" || tab === "states" ? ride() : "";
  const of = `${tab} ${order}`;
  if (of !== listed) begin(of, tab);
  files.hidden = tab !== "ride" || !order;
  for (const link of files.querySelectorAll("[data-lens-file]"))
    link.href = `/demo/lens/rides/${order}/${link.dataset.lensFile}`;
  if (!order && tab !== "all" && tab !== "errors") note.textContent = lens.dataset.noRide;
  else if (tab === "states") await states(order, mine);
  else if (!document.hidden) await list(order, tab, mine);
  if (mine === round && isOpen()) timer = setTimeout(refresh, EVERY_MS);
}

function begin(of, tab) {
  listed = of;
  lastChange = 0;
  rows.replaceChildren();
  note.textContent = "";
  if (tab === "states" || detail.querySelector(".states")) detail.replaceChildren();
}

async function list(order, tab, mine) {
  const wanted = { order, errors: tab === "errors" ? "1" : "", after: lastChange || "" };
  const { ok, body: found } = await ask("/demo/lens/calls.json", wanted);
  if (mine !== round) return;
  if (!ok || !found.calls) {
    // no answer, or an incomplete one
    note.textContent = lens.dataset.silent;
    return;
  }
  const atEnd = rows.parentElement.scrollHeight - rows.parentElement.scrollTop;
  const follows = atEnd < rows.parentElement.clientHeight + 40;
  lastChange = found.turn;
  for (const call of found.calls) addOrUpdate(call);
  while (rows.children.length > KEPT_ROWS) rows.firstElementChild.remove();
  note.textContent = rows.children.length ? "" : lens.dataset.none;
  if (follows && found.calls.length) rows.parentElement.scrollTop = rows.parentElement.scrollHeight;
}

/** Add a call to the list, or update its row. */
function addOrUpdate(call) {
  const row = rowOf(call);
  const old = rows.querySelector(`[data-number="${Number(call.number)}"]`);
  if (old) {
    if (old.querySelector("[aria-current]")) mark(row, call.number);
    old.replaceWith(row);
    return;
  }
  const later = [...rows.children].find((each) => Number(each.dataset.number) > call.number);
  rows.insertBefore(row, later ?? null);
}

function rowOf(call) {
  const row = document.createElement("li");
  row.dataset.number = call.number;
  const button = document.createElement("button");
  button.type = "button";
  button.className = call.failed ? "lens-row full is-bad" : "lens-row full";
  const order = call.order && kept.tab !== "ride" ? call.order : "";
  const words = [
    ["at", call.at],
    ["operation", call.operation],
    ["status", call.status ?? "–"],
    ["ms", `${call.ms} ms`],
    ["result to", call.result || "–"],
    ["same", call.same > 1 ? `×${call.same}` : ""],
    ["why", call.why && lens.dataset.noRideWord.replace("{why}", call.why)],
    ["order", order ? lens.dataset.rideWord.replace("{n}", order) : ""],
  ];
  for (const [name, text] of words) {
    if (!text) continue;
    const part = document.createElement("span");
    part.className = `lens-${name}`; // the class "to" adds the arrow, in the direction of reading
    part.textContent = text;
    button.append(part, " ");
  }
  row.append(button);
  return row;
}

function mark(row, number) {
  const button = row.querySelector("button");
  if (row.dataset.number === String(number)) button.setAttribute("aria-current", "true");
  else button.removeAttribute("aria-current");
}

async function states(order, mine) {
  if (detail.querySelector(".states")?.dataset.turn === "done" && document.hidden) return;
  const found = await fragment(`/demo/lens/rides/${order}/states`, { "X-Part": "drawer" });
  if (mine !== round || !found) return;
  const scrolled = detail.scrollTop;
  detail.replaceChildren(...found);
  detail.scrollTop = scrolled;
}

async function load(address, how = {}) {
  const found = await fragment(address, {}, how);
  if (found) detail.replaceChildren(...found);
  else note.textContent = lens.dataset.silent;
}

/** The nodes of a part of a page; null if it did not come. */
async function fragment(address, headers, how = {}) {
  try {
    const answer = await fetch(address, { ...how, headers, credentials: "same-origin" });
    if (!answer.ok) return null;
    return nodesOf(await answer.text());
  } catch {
    return null;
  }
}

function choosePane(name) {
  for (const tab of detail.querySelectorAll("[data-tab]"))
    tab.setAttribute("aria-pressed", String(tab.dataset.tab === name));
  for (const pane of detail.querySelectorAll("[data-pane]"))
    pane.hidden = pane.dataset.pane !== name;
}

function dragged(event) {
  setHeight(((innerHeight - event.clientY) / innerHeight) * 100);
}

lens.addEventListener("click", (event) => {
  const tab = event.target.closest("[data-lens-tab]");
  if (tab) return setTab(tab.dataset.lensTab);
  if (event.target.closest("[data-lens-close]")) return setOpen(false);
  const pane = event.target.closest("[data-tab]");
  if (pane) return choosePane(pane.dataset.tab);
  const row = event.target.closest("[data-number]:is(li)");
  return row ? showCall(row.dataset.number) : undefined;
});
lens.addEventListener("submit", (event) => {
  const form = event.target.closest("[data-again]");
  if (!form) return;
  event.preventDefault();
  load(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
});
grip.addEventListener("pointerdown", (event) => {
  event.preventDefault();
  grip.setPointerCapture(event.pointerId);
  grip.addEventListener("pointermove", dragged);
});
grip.addEventListener("lostpointercapture", () => grip.removeEventListener("pointermove", dragged));
grip.addEventListener("keydown", (event) => {
  const by = { ArrowUp: STEP, ArrowDown: -STEP }[event.key];
  if (!by) return;
  event.preventDefault();
  setHeight(kept.height + by);
});
watchCopies(lens);
