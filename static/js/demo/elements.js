/**
 * The lens on the elements of a ride: hovering or focusing one outlines it, says which fields of
 * which answers it comes from and lights them up in the drawer; a field in the drawer lights up its
 * elements. On while the drawer is open and its switch is pressed.
 */

import { ask } from "../shared/ask.js";
import { isOpen, light, ride, showCall } from "./drawer.js";

const NAMED = "[data-slot], [data-cell], [data-from]";
const SURFACES = [
  ["ride", "[data-ride]"],
  ["board", ".row[data-id]"],
];
const FRESH_MS = 2_000;
const WAIT_MS = 120;
const MOST_FIELDS = 6;

const lens = document.querySelector("[data-lens]");
const looks = lens.querySelector("[data-lens-elements]");
const said = lens.querySelector("[data-lens-origin]");
const known = new Map(); // "surface order" -> {at, elements}
let lit = null;
let waits = 0;
let made = []; // elements that the keyboard reaches only while the lens is on

/** Which element a node is in: its own node, name, surface and order; null for none. */
function elementOf(node) {
  const element = node?.closest?.(NAMED);
  if (!element || lens.contains(element)) return null;
  for (const [surface, around] of SURFACES) {
    const root = element.closest(around);
    if (!root) continue;
    const { slot, cell, from } = element.dataset;
    const order = surface === "ride" ? root.dataset.ride : root.dataset.id;
    return { element, name: slot ?? cell ?? from, surface, order };
  }
  return null;
}

async function originsOf(surface, order) {
  const key = `${surface} ${order}`;
  const kept = known.get(key);
  if (kept && Date.now() - kept.at < FRESH_MS) return kept.elements;
  const { ok, body } = await ask(`/demo/lens/rides/${order}/elements.json`, { on: surface });
  const elements = ok ? body.elements : {};
  known.set(key, { at: Date.now(), elements });
  return elements;
}

/** Outline an element and say where it comes from. */
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
  said.replaceChildren();
  const title = document.createElement("strong");
  title.textContent = name;
  const how = document.createElement("span");
  how.textContent = origin?.how ?? lens.dataset.noOrigin;
  said.append(title, " ", how);
  for (const field of (origin?.fields ?? []).slice(0, MOST_FIELDS)) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "lens-field";
    button.textContent = `${field.operation} ${field.pointer} = ${JSON.stringify(field.raw)}`;
    const age = document.createElement("span");
    age.textContent = ` · ${field.age}`;
    button.append(age);
    button.addEventListener("click", () => showCall(field.call, field.pointer));
    said.append(button);
  }
}

function clear() {
  for (const element of document.querySelectorAll(".is-looked-at"))
    element.classList.remove("is-looked-at");
  lit = null;
}

/** Outline the elements that come from a field of the call that the drawer shows. */
async function back(node) {
  const field = node.closest("[data-pointer]");
  const call = Number(field.closest("[data-number]")?.dataset.number);
  const order = ride();
  if (!call || !order) return;
  const elements = await originsOf("ride", order);
  clear();
  const { pointer } = field.dataset;
  const names = new Set(
    Object.keys(elements).filter((name) =>
      elements[name].fields.some((each) => each.call === call && each.pointer === pointer),
    ),
  );
  for (const element of document.querySelectorAll(NAMED)) {
    const found = elementOf(element);
    if (found?.surface === "ride" && names.has(found.name)) element.classList.add("is-looked-at");
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

/** While the lens is on, Tab reaches the elements too, but for those in a link or a button. */
function reach(on) {
  for (const element of made) element.removeAttribute("tabindex");
  made = [];
  if (!on) return;
  for (const element of document.querySelectorAll(NAMED)) {
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

function set(on) {
  looks.setAttribute("aria-pressed", String(on));
  document.body.classList.toggle("has-looks", isOn());
  said.hidden = !on;
  reach(isOn());
  if (!on) clear();
}

/** Point at elements, or no more; nothing while the drawer is closed. */
export function toggle() {
  if (isOpen()) looks.click();
}

looks.addEventListener("click", () => set(looks.getAttribute("aria-pressed") !== "true"));
lens.addEventListener("lens", ({ detail }) => {
  document.body.classList.toggle("has-looks", isOn());
  reach(isOn());
  if (!detail.open) clear();
});
document.addEventListener("pointerover", pointed);
document.addEventListener("focusin", pointed);
