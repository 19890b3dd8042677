/**
 * The lens on the elements of a ride: hovering over or focusing an element outlines it, names the
 * fields of answers that it comes from, and highlights them in the drawer; a field in the drawer
 * highlights its elements. This is active while the drawer is open and its switch is on. On the
 * stage the drawer is in the desk's frame, and the pages of the phone and the kiosk are included.
 */

import { ask } from "../shared/ask.js";
import { isOpen, light, showCall } from "./drawer.js";

const NAMED = "[data-slot], [data-cell], [data-from]";
const SURFACES = [
  ["card", ".sheet[data-ride]", (root) => root.dataset.ride],
  ["receipt", ".bill[data-ride]", (root) => root.dataset.ride],
  ["ride", "[data-ride]", (root) => root.dataset.ride],
  ["board", ".row[data-id]", (root) => root.dataset.id],
  ["link", "[data-guest]", () => beside("phone")?.dataset.ride],
  ["ticket", "body[data-ticket]", (root) => ticketOf(root.dataset.ticket)],
];
const FRESH_MS = 2_000;
const WAIT_MS = 120;
const MOST_FIELDS = 6;

const lens = document.querySelector("[data-lens]");
const looks = lens.querySelector("[data-lens-elements]");
const originLine = lens.querySelector("[data-lens-origin]");
const lookSheet = document.querySelector('link[href*="demo/elements"]');
const known = new Map(); // "<surface> <order id>" -> {at: when it was fetched, elements}
const left = new AbortController(); // aborted with this page, because the other frames live longer
const watched = new WeakSet();
let lit = null;
let waits = 0;
let round = 0; // later requests make the answers of earlier ones void
let made = []; // elements that can be focused only while the lens is on

/** The frames of the stage beside this page; none on other pages. */
function frames() {
  const others = "[data-stage] [data-surface]:not([data-surface=desk]) iframe";
  return parent === window ? [] : [...parent.document.querySelectorAll(others)];
}

function beside(name) {
  return frames().find((frame) => frame.name === name);
}

/** The id of the order with this ride number at the kiosk, from its frame's list (screens.js). */
function ticketOf(number) {
  return JSON.parse(beside("kiosk")?.dataset.tickets ?? "{}")[number];
}

/** The documents whose elements are included: this one, and the frames beside it. */
function pages() {
  const others = frames().map((frame) => frame.contentDocument);
  return [document, ...others.filter((page) => page?.body)];
}

/** The named element around a node, with its name, surface and order; null if there is none. */
function elementOf(node) {
  const element = node?.closest?.(NAMED);
  if (!element || lens.contains(element)) return null;
  for (const [surface, around, orderOf] of SURFACES) {
    const root = element.closest(around);
    const order = root && orderOf(root);
    if (!order) continue;
    const { slot, cell, from } = element.dataset;
    return { element, name: slot ?? cell ?? from, surface, order: String(order) };
  }
  return null;
}

async function originsOf(surface, order) {
  const key = `${surface} ${order}`;
  const cached = known.get(key);
  if (cached && Date.now() - cached.at < FRESH_MS) return cached.elements;
  const { ok, body } = await ask(`/demo/lens/rides/${order}/elements.json`, { on: surface });
  const elements = (ok && body.elements) || {}; // no elements from an incomplete answer
  known.set(key, { at: Date.now(), elements });
  return elements;
}

/** Outline an element and show where it comes from. */
async function look(found) {
  clear();
  lit = found.element;
  lit.classList.add("is-looked-at");
  const origin = (await originsOf(found.surface, found.order))[found.name];
  if (lit !== found.element) return;
  say(found.name, origin);
  const first = origin?.fields[0];
  if (!first) return light(null);
  await showCall(first.call, first.pointer);
}

function say(name, origin) {
  originLine.replaceChildren();
  const title = document.createElement("strong");
  title.textContent = name;
  const how = document.createElement("span");
  how.textContent = origin?.how ?? lens.dataset.noOrigin;
  originLine.append(title, " ", how);
  for (const field of (origin?.fields ?? []).slice(0, MOST_FIELDS)) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "lens-field";
    button.textContent = `${field.operation} ${field.pointer} = ${JSON.stringify(field.raw)}`;
    const age = document.createElement("span");
    age.textContent = ` · ${field.age}`;
    button.append(age);
    button.addEventListener("click", () => showCall(field.call, field.pointer));
    originLine.append(button);
  }
}

function clear() {
  round += 1;
  for (const page of pages())
    for (const element of page.querySelectorAll(".is-looked-at"))
      element.classList.remove("is-looked-at");
  lit = null;
}

/** Outline the elements that come from a field of the call that the drawer shows. */
async function back(node) {
  const field = node.closest("[data-pointer]");
  const { number, order } = field.closest("[data-number]")?.dataset ?? {};
  if (!number || !order) return;
  clear();
  const mine = round;
  const { pointer } = field.dataset;
  const all = pages().flatMap((page) => [...page.querySelectorAll(NAMED)].map(elementOf));
  const ours = all.filter((found) => found?.order === order);
  for (const surface of new Set(ours.map((found) => found.surface))) {
    const elements = await originsOf(surface, order);
    if (mine !== round) return;
    for (const found of ours.filter((each) => each.surface === surface))
      if (
        elements[found.name]?.fields.some(
          (each) => each.call === Number(number) && each.pointer === pointer,
        )
      )
        found.element.classList.add("is-looked-at");
  }
}

function isOn() {
  return isOpen() && looks.getAttribute("aria-pressed") === "true";
}

function pointed({ target }) {
  if (!isOn()) return;
  clearTimeout(waits);
  const found = elementOf(target);
  if (found && found.element !== lit) waits = setTimeout(() => look(found), WAIT_MS);
  else if (target.closest?.("[data-lens] [data-pointer]"))
    waits = setTimeout(() => back(target), WAIT_MS);
}

/** While the lens is on, Tab also reaches elements, except those inside a link or a button. */
function reach(on) {
  for (const element of made) element.removeAttribute("tabindex");
  made = [];
  for (const page of pages()) page.body.classList.toggle("has-looks", on);
  if (!on) return;
  for (const element of pages().flatMap((page) => [...page.querySelectorAll(NAMED)])) {
    if (
      !elementOf(element) ||
      element.hasAttribute("tabindex") ||
      element.closest("a, button, summary")
    )
      continue;
    element.tabIndex = 0;
    made.push(element);
  }
}

/** Listen to a page: this one, or a frame beside it, which lacks the styles of the lens. */
function watch(page) {
  if (!page?.body || watched.has(page)) return;
  watched.add(page);
  for (const name of ["pointerover", "focusin"])
    page.addEventListener(name, pointed, { signal: left.signal });
  if (page === document || !page.location.href.startsWith("http")) return;
  const sheet = page.createElement("link");
  sheet.rel = "stylesheet";
  sheet.href = lookSheet.href;
  page.head.append(sheet);
  reach(isOn());
}

function set(on) {
  looks.setAttribute("aria-pressed", String(on));
  originLine.hidden = !on;
  reach(isOn());
  if (!on) clear();
}

/** Show where the first visible element with this selector comes from, as if it was pointed at. */
export async function lookAt(selector) {
  const all = pages().flatMap((page) => [...page.querySelectorAll(selector)]);
  const found = all
    .filter((each) => each.getClientRects().length)
    .map(elementOf)
    .find(Boolean);
  if (!found || found.element === lit) return;
  set(true);
  await look(found);
}

/** Press the lens's switch in the drawer; does nothing while the drawer is closed. */
export function toggle() {
  if (isOpen()) looks.click();
}

looks.addEventListener("click", () => set(looks.getAttribute("aria-pressed") !== "true"));
lens.addEventListener("lens", ({ detail }) => {
  reach(isOn());
  if (!detail.open) clear();
});
watch(document);
for (const frame of frames()) {
  frame.addEventListener("load", () => watch(frame.contentDocument), { signal: left.signal });
  watch(frame.contentDocument);
}
addEventListener("pagehide", () => {
  reach(false);
  clear();
  left.abort();
});
