/** Screens A and B: the start, the destination, and another place by typing or from a list. */

import { control, fact, icon, make, named } from "./el.js";
import { logo, pages } from "./frame.js";
import { Keyboard } from "./keyboard.js";

// languages for which we have no keyboard, or whose script is not that of most place names: lists
// of places come first
const LISTED = new Set(["ja", "zh", "ar", "hi"]);
const LATIN_ONLY = new Set(["ja", "zh"]);
const TABS = ["airport", "stations", "hospitals", "sights"];
const LEAST_LETTERS = 2;
const AT_ONCE = 4; // favourite places on the start screen
// the drawing of a kind of place; any other place has a pin
const SIGNS = { airport: "plane", stations: "stations", hospitals: "hospitals", sights: "sights" };

/**
 * Screen A: the start. A guest need not read anything to begin: there are a picture, one large
 * button, and the kiosk's languages. A note says if the language is translated by a machine: here
 * English is one touch away.
 */
export function start(k) {
  const { status, data } = k;
  const shut = status.open === false || Boolean(status.full);
  const facts = shut ? whyShut(k) : opening(k);
  const begin = control(
    "start",
    "k-button k-main k-begin",
    () => k.begin(),
    icon("car"),
    make("span", "", k.t("start")),
  );
  const have = control(
    "have",
    "k-button k-have",
    () => k.begin("find"),
    icon("key"),
    make("span", "", k.t("have")),
  );
  const starts = shut ? [have] : [begin, ...atOnce(k), have];
  const controls = [make("div", "stack k-starts gap-3", ...starts)];
  if (k.choices.length > 1) controls.push(languages(k));
  if (data.by_machine.includes(k.visit.language))
    controls.push(make("p", "k-small secondary k-machine", k.t("by_machine")));
  const { name } = data.property;
  const above = k.measures.roomy ? logo() : null;
  return { question: name, shown: fact(name), above, facts, controls, look: "hero" };
}

/** The first favourite places, where there is room: one touch goes on to the cars. */
function atOnce(k) {
  if (!k.measures.roomy || k.visit.aids.has("large")) return [];
  const places = k.data.favourites.slice(0, AT_ONCE);
  if (!places.length) return [];
  return [make("div", "k-at-once grid", ...places.map((each, i) => card(k, each, `once-${i}`)))];
}

/** Why no ride can be booked here now, and the desk's number. */
function whyShut(k) {
  const { open, full } = k.status;
  const why = make("p", "k-lead", k.t(open ? `full_${full}` : "closed"));
  if (k.crowded && open) return [why]; // large letters leave room for one; the bar calls the desk
  const more = pinsNote(k) ?? (open ? make("p", "k-lead", k.t("full_next")) : null);
  return [why, more, k.deskPhone].filter(Boolean);
}

/** What a guest is invited to, and how soon a car may come; or what they have to know first. */
function opening(k) {
  const { soonest, needsCode } = k.status;
  const code = needsCode ? noteOf("needs", k.t("code_first")) : null;
  const notes = [code, pinsNote(k)].filter(Boolean);
  if ((k.crowded || k.measures.narrow) && notes.length) return notes.slice(0, 1);
  if (code) return [...notes, k.measures.roomy ? k.deskPhone : null].filter(Boolean);
  const lead = make("p", "k-lead", k.t("start_lead"));
  if (notes.length || soonest === null) return [lead, ...notes];
  return [lead, noteOf("car", k.t("soonest", { n: soonest }))];
}

/** For how long wrong PINs leave each ride one try, so that a guest types with care; or null. */
function pinsNote(k) {
  const { pinsMin } = k.status;
  return pinsMin ? noteOf("needs", k.t("pins_stopped", { n: pinsMin })) : null;
}

function noteOf(sign, words) {
  return make("p", "line strong k-soon", icon(sign), make("span", "", words));
}

/** The languages, in their own scripts. */
export function languages(k) {
  const each = k.choices.map(({ tag, name, dir }) => {
    const words = make("span", "", name);
    words.lang = tag;
    words.dir = dir;
    const node = control(`lang-${tag}`, "k-button k-lang", () => k.speakIn(tag), words);
    if (tag === k.visit.language) node.setAttribute("aria-current", "true");
    return node;
  });
  const group = make("div", "k-langs grid", ...each);
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", k.t("language"));
  return group;
}

/** Screen B: up to six favourite places, or else kinds of places, and buttons for any other. */
export function where(k) {
  const favourites = (k.data.favourites ?? []).slice(0, 6);
  const cards = favourites.map((each, i) => card(k, each, `place-${i}`));
  if (!cards.length) cards.push(...TABS.map((tab) => kind(k, tab)));
  const other = control(
    "other",
    "k-button k-other",
    () => k.go("place"),
    icon("find"),
    make("span", "", k.t("other_place")),
  );
  const ways = [other];
  if (k.data.kiosk.own_phone)
    ways.push(
      control(
        "phone",
        "k-button k-other",
        () => k.booking.ownPhone(),
        icon("phone"),
        make("span", "", k.t("own_phone")),
      ),
    );
  const list = make("div", "k-places grid");
  const turn = (page) => {
    k.visit.page = page;
    k.draw();
    k.here();
  };
  return {
    question: k.t("where"),
    controls: [list, make("div", "k-ways grid", ...ways)],
    placed: () => pages(list, cards, { from: k.visit.page, turn, label: () => k.t("more") }),
  };
}

/** A button for the list of a kind of place, shown if the property has no favourites. */
function kind(k, tab) {
  const act = () => k.booking.listKind(tab);
  return control(
    `kind-${tab}`,
    "k-button k-place full",
    act,
    signOf(tab),
    make("span", "strong k-place-name", k.t(`tab_${tab}`)),
  );
}

function card(k, to, name) {
  const { address, minutes } = to;
  const away = minutes && !address ? k.t("minutes_by_car", { n: minutes }) : "";
  const words = make("span", "k-place-words shrinks column");
  words.append(make("span", "strong k-place-name", fact(to.name)));
  if (address || away) words.append(make("span", "k-place-more", address ? fact(address) : away));
  const act = () => k.choosePlace(to);
  const node = control(name, "k-button k-place full", act, signOf(to.sign), words);
  return named(node, k.paused(to.name, address, away));
}

/** The drawing of a kind of place, as a badge. */
function signOf(sign) {
  return make("span", "k-sign centred rigid", icon(SIGNS[sign] ?? "drop"));
}

/** Screen B2: the kiosk's keyboard with at most six results, or lists by kind. */
export function place(k) {
  const { visit } = k;
  const base = visit.language.split("-")[0];
  const typing = visit.typing ?? !LISTED.has(base);
  const list = make("div", "k-results grid");
  list.setAttribute("role", "group");
  list.setAttribute("aria-label", k.t("which_place"));
  const field = make("input", "strong k-field full");
  describe(field, "query", k.t("place_typed"), visit.typed);
  field.placeholder = k.t("place_typed");
  k.booking.parts = { list, field };
  const top = typing ? [make("div", "k-entry", field)] : [tabs(k)];
  top.push(swap(k, typing, LATIN_ONLY.has(base) ? "latin_letters" : "type_place"));
  const below = [];
  if (typing) {
    const target = { value: visit.typed, kind: "text", most: 40 };
    const changed = () => {
      visit.typed = field.value = target.value;
      toEnd(field);
      k.booking.search();
    };
    // Enter on a real keyboard moves the focus to the first place, and does not choose it unseen
    const written = () => k.keys.point(list.querySelector("[data-press]"));
    k.keyboard = new Keyboard(k, target, changed, written);
    below.push(k.keyboard.node);
  }
  return {
    question: k.t("which_place"),
    controls: [make("div", "k-find", ...top), list, ...below],
    look: typing ? "typing" : "list",
    spoken: () => (typing ? [k.t("type_place"), visit.typed] : []),
    placed: () => {
      toEnd(field);
      if (typing) k.keyboard.fit();
      showPlaces(k, { list, field });
      if (visit.places) return;
      if (typing && visit.typed) k.booking.search();
      else if (!typing && visit.tab) k.booking.searchTab(visit.tab);
    },
  };
}

/** Scroll a narrow field to its end, where the text is typed. */
export function toEnd(field) {
  const { direction } = getComputedStyle(field);
  field.scrollLeft = direction === "rtl" ? -field.scrollWidth : field.scrollWidth;
}

/** Set a field's name, label and text; it is readonly, so that no device offers to fill it in. */
export function describe(field, name, label, value) {
  const set = { "aria-label": label, autocomplete: "off", inputmode: "none", spellcheck: "false" };
  for (const [key, text] of Object.entries(set)) field.setAttribute(key, text);
  field.dataset.field = name;
  field.readOnly = true;
  field.tabIndex = -1;
  field.dir = "auto";
  field.value = value;
}

/** What a refusal says beside a field: what is wrong, why, and the next step; "" without words. */
export function problemOf({ headline, why, next } = {}) {
  return [headline, why, next].filter(Boolean).join(" ");
}

/** Draw the found places, or a message in their place. */
export function showPlaces(k, { list, field }) {
  const { visit } = k;
  const found = visit.places;
  if (!found) {
    const typed = [...visit.typed.trim()].length;
    const usual = !field.isConnected || typed >= LEAST_LETTERS ? "" : k.t("two_letters");
    const words = visit.unfound || usual;
    return void list.replaceChildren(make("p", "k-note", words));
  }
  if (!found.length) return void list.replaceChildren(make("p", "k-note", k.t("nothing_found")));
  const cards = found.slice(0, 6).map((each, i) => card(k, each, `found-${i}`));
  const turn = (page) => {
    visit.page = page;
    showPlaces(k, { list, field });
    const first = list.querySelector(`[data-press="found-${page}"]`);
    first?.focus({ preventScroll: true, focusVisible: false });
    k.here();
  };
  pages(list, cards, { from: visit.page, turn, label: () => k.t("more") });
}

/** Read the result aloud: the names of places, or the message. */
export function tellPlaces(k, { list }) {
  const names = (k.visit.places ?? []).map(({ name }) => name);
  k.speak(names.length ? names : [list.textContent]);
}

function tabs(k) {
  const each = TABS.map((tab) => {
    const act = () => k.booking.searchTab(tab);
    const node = control(`tab-${tab}`, "k-button k-tab", act, k.t(`tab_${tab}`));
    node.setAttribute("aria-pressed", String(k.visit.tab === tab));
    return node;
  });
  const row = make("div", "k-tabs grid", ...each);
  row.setAttribute("role", "group");
  row.setAttribute("aria-label", k.t("which_place"));
  return row;
}

function swap(k, typing, typed) {
  const act = () => k.booking.typeOrList(!typing);
  return control("swap", "k-button k-swap", act, k.t(typing ? "by_list" : typed));
}
