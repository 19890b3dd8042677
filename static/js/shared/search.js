/**
 * The list below the search box: rides that match the typed words. Enter without a choice opens the
 * page of results. Loaded by top_bar.js.
 */

const DEBOUNCE_MS = 160;
const form = document.querySelector("[data-search]");
const field = form.querySelector("[name=q]");
const list = form.querySelector("[data-found]");
const announcement = form.querySelector("[data-found-said]");
let timer = null;
let asking = null; // the last request: older answers are ignored
let active = -1;

function close() {
  clearTimeout(timer);
  asking?.abort();
  list.hidden = true;
  mark(-1);
  field.setAttribute("aria-expanded", "false");
}

function mark(index) {
  const options = list.querySelectorAll("[data-href]");
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

function option(ride, index) {
  const line = document.createElement("li");
  line.id = `found-${index}`;
  line.className = `found-ride grid small tone-${ride.tone}`;
  line.setAttribute("role", "option");
  line.setAttribute("aria-selected", "false");
  line.dataset.href = `/rides/${ride.id}`;
  const who = [ride.guest, ride.room, ride.car].filter(Boolean).join(" · ");
  line.append(icon(ride.icon), piece("guest", who), piece("state", ride.state), destination(ride));
  line.append(piece("at", ride.at));
  return line;
}

function message(text) {
  const line = document.createElement("li");
  line.className = "secondary found-none small";
  line.setAttribute("role", "option");
  line.setAttribute("aria-disabled", "true");
  line.setAttribute("aria-selected", "false");
  line.textContent = text;
  return line;
}

function show(lines, words) {
  list.replaceChildren(...lines);
  mark(-1);
  list.hidden = false;
  field.setAttribute("aria-expanded", "true");
  announcement.textContent = words;
}

function tell(words) {
  show([message(words)], words);
}

async function ask() {
  clearTimeout(timer);
  asking?.abort();
  const words = field.value.trim();
  if (!words) return close();
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
    const { rides, more, error, message: advice } = await answer.json();
    if (mine.signal.aborted || document.activeElement !== field) return;
    // the page belongs to an earlier sign-in
    if (answer.status === 400) return tell(`${error}. ${advice}`);
    if (!answer.ok) throw new Error(String(answer.status));
    const lines = rides.map(option);
    if (more) lines.push(message(form.dataset.more));
    show(
      lines.length ? lines : [message(form.dataset.none)],
      rides.length ? String(rides.length) : form.dataset.none,
    );
  } catch (error) {
    if (error.name !== "AbortError") tell(form.dataset.failed);
  }
}

function typed() {
  clearTimeout(timer);
  timer = setTimeout(ask, DEBOUNCE_MS);
}

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const options = list.querySelectorAll("[data-href]");
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && !list.hidden && options.length) {
    event.preventDefault();
    const next = active < 0 && step < 0 ? options.length - 1 : active + step;
    mark((next + options.length) % options.length);
  } else if (event.key === "ArrowDown") {
    event.preventDefault();
    ask();
  } else if (event.key === "Enter" && active >= 0 && !list.hidden) {
    event.preventDefault();
    location.assign(options[active].dataset.href);
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
  const line = event.target.closest("[data-href]");
  if (line) location.assign(line.dataset.href);
});
form.addEventListener("submit", (event) => !field.value.trim() && event.preventDefault());
// the user may have typed while the script was loading
if (document.activeElement === field && field.value !== field.defaultValue) typed();
