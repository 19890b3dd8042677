/**
 * The top bar of all staff pages and the bands below it: orders of unknown outcome, calls from
 * kiosks, a restored database, stopped updates, a silent service, an offline device. The search is
 * loaded when its field gets the focus.
 */

import { fitWords } from "./fit_words.js";
import { Poller } from "./poller.js";
import { released } from "./press.js";

// short enough to show a silent service within ten seconds, including the time to detect it
const EVERY_MS = 4_000;
const unknown = document.querySelector("[data-unknown]");
const unknownText = document.querySelector("[data-unknown-text]");
const kiosk = document.querySelector("[data-kiosk-asks]");
const stopped = document.querySelector("[data-stopped-band]");
const restored = document.querySelector("[data-restored-band]");
const clockHeld = document.querySelector("[data-clock-held-band]"); // only in a demo
const silent = document.querySelector("[data-silent-band]");
const offline = document.querySelector("[data-offline-band]");
const search = document.querySelector("[data-search]");
const more = document.querySelector("[data-bar-more]");

/**
 * Show {unknown, text, kiosk, restored, decide, held, stopped, silent}; the board, which polls the
 * same facts, calls this too.
 */
export function showBar(facts) {
  if (unknown) {
    unknown.hidden = !facts.unknown;
    if (unknownText.textContent !== facts.text) unknownText.textContent = facts.text;
  }
  showBand(kiosk, facts.kiosk);
  showBand(restored, facts.restored);
  // the link to the orders on which staff have to decide
  if (restored) restored.querySelector("a").hidden = !facts.decide;
  showBand(clockHeld, facts.held);
  showBand(stopped, facts.stopped);
  showBand(silent, facts.silent);
}

/**
 * Show the band with these words, or hide it when there are none. Unchanged words are not announced
 * again.
 */
function showBand(band, words) {
  if (!band) return;
  band.hidden = !words;
  const text = band.querySelector("span");
  if (words && text.textContent !== words) text.textContent = words;
}

/** Show the offline band, but not while a button is pressed, because the band moves the page. */
async function showOffline() {
  await released();
  const away = !navigator.onLine;
  if (offline) offline.hidden = !away;
  for (const button of document.querySelectorAll("button[data-online]")) {
    if (away) button.setAttribute("aria-disabled", "true");
    else button.removeAttribute("aria-disabled");
  }
}

/** Close the menu *More* after a press outside of it, or of one of its buttons. */
function closeMore({ target }) {
  if (!more.contains(target) || target.closest("button")) more.open = false;
}

function closeMoreByKey(event) {
  if (event.key !== "Escape" || !more.open) return;
  event.preventDefault(); // so that the page's own act of the key is not done
  more.open = false;
  more.querySelector("summary").focus();
}

function loadSearch() {
  return import("./search.js");
}

/**
 * Open the list of the search. Ctrl+K and ⌘K are commands, and no letters: they do it from a text
 * field too.
 */
async function commanded(event) {
  if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== "k") return;
  if (document.querySelector("dialog[open]")) return;
  event.preventDefault();
  search.elements.q.focus();
  search.elements.q.select();
  const { open } = await loadSearch();
  open();
}

if (search) {
  const { q: field } = search.elements;
  field.setAttribute("role", "combobox");
  field.setAttribute("aria-autocomplete", "list");
  field.setAttribute("aria-expanded", "false");
  field.setAttribute("aria-controls", search.querySelector("[data-found]").id);
  fitWords(field);
  if (document.activeElement === field) loadSearch();
  else search.addEventListener("focusin", loadSearch, { once: true });
  document.addEventListener("keydown", commanded);
}
if (more) {
  document.addEventListener("click", closeMore);
  more.addEventListener("keydown", closeMoreByKey);
}
addEventListener("online", showOffline);
addEventListener("offline", showOffline);
// While the device is offline no form is sent, so that typed text stays and no button waits for an
// answer. This listener captures, so that it runs before the scripts of forms. A form with
// method="dialog" is allowed, because it only closes its dialog.
const holdBack = (event) => {
  if (navigator.onLine || event.target.getAttribute("method") === "dialog") return;
  if (event.target.matches("[data-cover-form]")) return; // it covers the band, and says so itself
  event.preventDefault();
  event.stopImmediatePropagation();
  offline?.scrollIntoView({ block: "nearest" });
};
document.addEventListener("submit", holdBack, { capture: true });
showOffline();

if (unknown && !document.querySelector("[data-board]")) {
  new Poller("/board.json?only=bar", {
    waitMs: EVERY_MS,
    got: (body) => {
      if (body) showBar(body.bar);
      return EVERY_MS;
    },
  }).start();
}
