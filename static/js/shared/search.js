/**
 * The list below the search box: rides, guests, places, pages, what a key does on this page, and
 * buttons of the bar's menu, for the typed words; without words, pages and keys. Enter without a
 * choice opens the page of results. Loaded by top_bar.js.
 */

import { ofPage } from "./keys.js";

const LINES = "[role=option]:not([aria-disabled])";
const DEBOUNCE_MS = 160;
const form = document.querySelector("[data-search]");
const field = form.querySelector("[name=q]");
const list = form.querySelector("[data-found]");
const announcement = form.querySelector("[data-found-said]");
let timer = null;
let asking = null; // the last request: older answers are ignored
let active = -1;
const commands = new WeakMap(); // a line -> the button that it presses
let answered = null; // the words to which the list is the answer

function close() {
  clearTimeout(timer);
  asking?.abort();
  list.hidden = true;
  mark(-1);
  field.setAttribute("aria-expanded", "false");
}

function mark(index) {
  const options = list.querySelectorAll(LINES);
  options[active]?.setAttribute("aria-selected", "false");
  active = options[index] ? index : -1;
  if (active < 0) {
    field.removeAttribute("aria-activedescendant");
    return;
  }
  options[active].setAttribute("aria-selected", "true");
  options[active].scrollIntoView({ block: "nearest" });
  field.setAttribute("aria-activedescendant", options[active].id);
}

function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `${form.dataset.sprite}#${name}`);
  svg.append(use);
  return svg;
}

function piece(name, text) {
  const part = document.createElement("bdi");
  part.className = `found-${name}`;
  part.textContent = text;
  return part;
}

function destination({ plate, to }) {
  const part = piece("to", plate ? `${plate} · ` : "");
  const arrow = document.createElement("span");
  arrow.className = "to";
  const place = document.createElement("bdi");
  place.textContent = to;
  part.append(arrow, " ", place);
  return part;
}

function line(tone, ...parts) {
  const made = document.createElement("li");
  made.className = `found-ride grid small ${tone}`;
  made.setAttribute("role", "option");
  made.setAttribute("aria-selected", "false");
  made.append(...parts);
  return made;
}

function ofRide(ride) {
  const who = [ride.guest, ride.room, ride.car].filter(Boolean).join(" · ");
  const made = line(`tone-${ride.tone}`, icon(ride.icon), piece("guest", who));
  made.append(piece("state", ride.state), destination(ride), piece("at", ride.at));
  made.dataset.href = `/rides/${ride.id}`;
  return made;
}

function ofLink(link) {
  const words = [link.title, link.about].filter(Boolean).join(" · ");
  const made = line(
    "tone-muted",
    icon(link.icon),
    piece("guest", words),
    piece("state", link.kind),
  );
  made.dataset.href = link.url;
  return made;
}

/** A line for each key of the list of keys that does something here and has all typed words. */
function ofKeys(asked) {
  const words = asked.toLowerCase().split(/\s+/);
  const ride = document.querySelector("main [data-ride]");
  return [...document.querySelectorAll("[data-keys-help] [data-key]")].flatMap((each) => {
    const says = each.querySelector("dd").textContent.trim();
    const { key, ofRide: needsRide } = each.dataset;
    if (!ofPage(key) || (needsRide && !ride)) return [];
    if (!words.every((word) => says.toLowerCase().includes(word))) return [];
    const made = line("tone-muted", icon("key"), piece("guest", says));
    made.append(each.querySelector("kbd").cloneNode(true));
    Object.assign(made.dataset, { act: key, says });
    return [made];
  });
}

/** A line for each button with `data-command` that has all typed words. */
function ofCommands(asked) {
  const words = asked.toLowerCase().split(/\s+/).filter(Boolean);
  return [...document.querySelectorAll("[data-command]")].flatMap((button) => {
    const says = button.textContent.trim();
    if (!words.length || !words.every((word) => says.toLowerCase().includes(word))) return [];
    const made = line("tone-muted", icon("next"), piece("guest", says));
    commands.set(made, button);
    return [made];
  });
}

function follow(chosen) {
  if (chosen.dataset.href) return location.assign(chosen.dataset.href);
  if (commands.has(chosen)) return commands.get(chosen).click();
  close();
  field.value = "";
  field.blur();
  ofPage(chosen.dataset.act)();
}

function message(text) {
  const said = document.createElement("li");
  said.className = "secondary found-none small";
  said.setAttribute("role", "option");
  said.setAttribute("aria-disabled", "true");
  said.setAttribute("aria-selected", "false");
  said.textContent = text;
  return said;
}

function show(lines, words) {
  list.replaceChildren(...lines);
  lines.forEach((each, index) => (each.id = `found-${index}`));
  mark(-1);
  list.hidden = false;
  field.setAttribute("aria-expanded", "true");
  announcement.textContent = words;
}

function tell(words) {
  show([message(words)], words);
}

/** The lines for an answer to these words. */
function listFor({ rides, more, links }, words) {
  const keys = ofKeys(words);
  const said = new Set(keys.map((each) => each.dataset.says));
  const lines = rides.map(ofRide);
  if (more) lines.push(message(form.dataset.more));
  // a page that a key leads to is listed once, with its key
  lines.push(
    ...links.filter((each) => !said.has(each.title)).map(ofLink),
    ...keys,
    ...ofCommands(words),
  );
  if (!lines.length) return tell(form.dataset.none);
  show(lines, String(lines.length));
  // Enter opens the page of results if there are any, else the first of the others
  if (words && !rides.length) mark(0);
}

/** Show the list for what stands in the field. Resolves to false if it was asked anew meanwhile. */
export async function open() {
  clearTimeout(timer);
  asking?.abort();
  const words = field.value.trim();
  const mine = (asking = new AbortController());
  try {
    // posted, so that no URL contains a guest's name
    const body = new URLSearchParams({ q: words, csrf_token: form.elements.csrf_token.value });
    const answer = await fetch("/search.json", {
      method: "POST",
      body,
      credentials: "same-origin",
      signal: mine.signal,
    });
    const found = await answer.json();
    if (mine.signal.aborted || document.activeElement !== field) return false;
    // the page belongs to an earlier sign-in
    if (answer.status === 400) tell(`${found.error}. ${found.message}`);
    else if (answer.ok) listFor(found, words);
    else throw new Error(String(answer.status));
  } catch (error) {
    if (error.name === "AbortError") return false;
    tell(form.dataset.failed);
  }
  answered = words;
  return true;
}

/** Enter right after typing: wait for the answer, then do what Enter does with it. */
async function enter() {
  if (!(await open())) return;
  if (active < 0) form.requestSubmit();
  else follow(list.querySelectorAll(LINES)[active]);
}

function typed() {
  clearTimeout(timer);
  if (!field.value.trim()) return close();
  timer = setTimeout(open, DEBOUNCE_MS);
}

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const options = list.querySelectorAll(LINES);
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && !list.hidden && options.length) {
    event.preventDefault();
    const next = active < 0 && step < 0 ? options.length - 1 : active + step;
    mark((next + options.length) % options.length);
  } else if (event.key === "ArrowDown") {
    event.preventDefault();
    open();
  } else if (event.key === "Enter" && field.value.trim() && field.value.trim() !== answered) {
    event.preventDefault();
    enter();
  } else if (event.key === "Enter" && active >= 0 && !list.hidden) {
    event.preventDefault();
    follow(options[active]);
  } else if (event.key === "Escape" && !list.hidden) {
    event.preventDefault();
    event.stopPropagation(); // the first Escape closes the list, the second leaves the field
    close();
  }
}

field.addEventListener("input", typed);
field.addEventListener("keydown", press);
field.addEventListener("blur", close);
// the field keeps the focus
list.addEventListener("pointerdown", (event) => event.preventDefault());
list.addEventListener("click", (event) => {
  const chosen = event.target.closest(LINES);
  if (chosen) follow(chosen);
});
form.addEventListener("submit", (event) => !field.value.trim() && event.preventDefault());
// the user may have typed while the script was loading
if (document.activeElement === field && field.value !== field.defaultValue) typed();
