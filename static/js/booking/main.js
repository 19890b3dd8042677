/** The picker's page: ties fields, map, cards and button together. Without it the page still books. */

import { RideMap } from "../map.js";
import { ask } from "./ask.js";
import { floatBreakups } from "./breakups.js";
import { Cars } from "./cars.js";
import { Combobox } from "./combobox.js";
import { wireKeys } from "./keys.js";
import { Trip } from "./trip.js";
import { When } from "./when.js";

const FAR = 5; // degrees: no ride, so no view of half the earth

const page = document.querySelector("[data-booking]");
const say = page.dataset;
const book = page.querySelector("[data-book]");
const tripForm = page.querySelector("[data-trip]");
const go = page.querySelector("[data-book-go]");
const terms = page.querySelector("[data-bar-terms]");
const zoneList = page.querySelector("[data-zone-list]");
const status = page.querySelector("[data-cars-status]");
const linked = !go.disabled;

page.classList.add("has-script", "can-pick");
const map = new RideMap(page.querySelector("[data-map]"));
const trip = new Trip(tripForm);
const when = new When(page.querySelector("[data-when]"));
const cars = new Cars(page.querySelector("[data-cars]"), {
  path: say.products,
  skeleton: document.querySelector("[data-skeleton]"),
  empty: document.querySelector("[data-no-cars]"),
  status,
  words: { loading: say.sayLoading, slow: say.saySlow, failed: say.sayFailed, signedOut: say.saySignedOut, cars: say.sayCars },
});

/* ---- cards and the button ---- */

let shownZone = "";
let shownTrip = cars.box.querySelector("[data-products]") ? trip.key : ""; // the trip that the cards are for

async function reload({ compare = false } = {}) {
  const account = book.querySelector("[name=account]")?.value;
  const asked = { pickup: trip.at("pickup"), drop: trip.at("drop") };
  const key = trip.key;
  const answering = cars.load({ ...asked, account, compare });
  button();
  const answer = await answering;
  if (!answer) return;
  const still = trip.key === key;
  for (const end of ["pickup", "drop"]) trip.told(end, asked[end], answer[end] ?? {});
  shownTrip = answer.ok && still ? trip.key : "";
  drawEnds();
  if (answer.ok) drawZone(answer.zone, answer.zone_html);
  button();
}

/** The cards belong to one trip: while the fields say another, or words without a place, nothing can be booked. */
function button() {
  const choice = trip.loose || shownTrip !== trip.key ? null : cars.choice;
  cars.box.classList.toggle("is-loose", Boolean(trip.loose));
  go.disabled = !choice || !linked || !when.ready;
  if (choice || !cars.chosen || !cars.busy) go.textContent = choice ? when.button(choice) : missing(); // else a moment's wait
  terms.textContent = choice ? when.terms(choice) : say.sayIdle;
}

function missing() {
  if (cars.busy) return say.sayLoading;
  if (trip.loose) return say.sayPlace;
  if (!trip.at("pickup")) return say.sayNoPickup;
  if (!trip.at("drop")) return say.sayNoDrop;
  return { pickup: say.sayOtherPickup, drop: say.sayOtherDrop }[trip.wrong] ?? say.sayChoose;
}

cars.addEventListener("chosen", button);
when.addEventListener("changed", button);
cars.addEventListener("old", () => reload({ compare: true }));
book.querySelector("[name=account]")?.addEventListener("change", () => reload());
page.addEventListener("click", (event) => {
  if (event.target.closest("[data-retry]")) {
    event.preventDefault();
    reload();
  }
});

/* ---- sending: by the button, or Ctrl+Enter ---- */

page.querySelector("[data-go]").remove();
wireKeys(book, go, { hint: page.querySelector("[data-keys]"), words: say.sayEnter });
floatBreakups(cars.box);
book.addEventListener("submit", (event) => {
  const name = book.querySelector("[name=guest_name]");
  if (!name.value.trim()) {
    event.preventDefault();
    name.setCustomValidity(say.sayName);
    name.reportValidity();
    name.addEventListener("input", () => name.setCustomValidity(""), { once: true });
    return;
  }
  // After the browser has read the form: a second press must not read as a second wish.
  setTimeout(() => {
    go.setAttribute("aria-busy", "true");
    go.disabled = true;
    go.textContent = say.sayBooking;
  });
});
window.addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  go.removeAttribute("aria-busy");
  button();
});

/* ---- the two ends ---- */

for (const end of ["pickup", "drop"]) {
  const fields = trip.ends[end];
  const list = tripForm.querySelector(`#${end}-list`);
  const box = new Combobox(fields.input, list, {
    find: (words) => findPlaces(words),
    chosen: (place) => trip.put(end, place),
    typed: () => trip.typed(end),
    say: (count) => {
      status.classList.add("visually-hidden");
      status.textContent = say.sayFound.replace("{n}", count);
    },
  });
  fields.input.addEventListener("focus", () => aimAt(end));
  fields.input.addEventListener("blur", () => trip.left(end));
  fields.clear.addEventListener("click", () => {
    trip.put(end, null);
    box.close();
    fields.input.focus();
  });
}

async function findPlaces(words) {
  const { body, status: code } = await ask(say.places, { q: words });
  return { places: body.places ?? [], message: body.message || (code === 401 ? say.saySignedOut : code === 200 ? "" : say.sayFailed) };
}

const swap = page.querySelector("[data-swap]");
swap.hidden = false;
swap.addEventListener("click", () => trip.swap());
trip.addEventListener("loose", () => {
  drawEnds();
  button();
});
trip.addEventListener("moved", ({ detail }) => {
  const { end } = detail;
  drawEnds();
  if (!trip.at(end)) aimAt(end);
  else if (!trip.at(other(end))) aimAt(other(end));
  if (trip.at(end)) show(end);
  if (end === "pickup" && !trip.at(end)) drawZone(null, "");
  if (trip.key !== shownTrip || cars.busy) reload(); // back again while another trip's answer is on its way
});

/* ---- the map ---- */

const aim = page.querySelector("[data-aim]");
aim.hidden = false;
if (!trip.at("pickup")) aimAt("pickup");

/** From now on a click on the map sets this end. */
function aimAt(end) {
  aim.querySelector(`[value=${end}]`).checked = true;
}

function other(end) {
  return end === "pickup" ? "drop" : "pickup";
}

function pinned(end, lat, lng) {
  const place = { lat: Number(lat.toFixed(6)), lng: Number(lng.toFixed(6)) };
  trip.put(end, { ...place, name: `${say.sayPin} (${place.lat.toFixed(5)}, ${place.lng.toFixed(5)})` });
}

map.onPick((lat, lng) => pinned(aim.querySelector(":checked").value, lat, lng));

/** A nameless pin asks its name of the server, together with the cars. */
function drawEnds() {
  for (const [end, word] of [["pickup", say.sayPickup], ["drop", say.sayDrop]]) {
    const place = trip.at(end);
    if (place) map.pin(end, place.lat, place.lng, `${word}: ${place.name}`, (lat, lng) => pinned(end, lat, lng));
    else map.unpin(end);
  }
  const ends = ["pickup", "drop"].map((end) => trip.at(end)).filter(Boolean);
  map.hint(ends.length === 2 ? ends.map(({ lat, lng }) => [lat, lng]) : []);
}

/** Move the view only when something that matters is out of it. */
function show(end) {
  const ends = ["pickup", "drop"].map((name) => trip.at(name)).filter(Boolean);
  const place = trip.at(end);
  if (ends.length === 2 && Math.abs(ends[0].lat - ends[1].lat) + Math.abs(ends[0].lng - ends[1].lng) > FAR) return;
  if (!map.shows(place.lat, place.lng) || ends.some(({ lat, lng }) => !map.shows(lat, lng))) {
    map.fit(ends.map(({ lat, lng }) => [lat, lng]));
  }
}

function drawZone(zone, markup) {
  const key = JSON.stringify([zone, markup]);
  if (key === shownZone) return;
  shownZone = key;
  const fresh = new DOMParser().parseFromString(markup, "text/html");
  zoneList.replaceChildren(...fresh.body.childNodes);
  map.boundary(zone?.boundary ?? []);
  const marks = map.points(zone?.points ?? [], (point) => trip.put("pickup", point));
  marks.choose(zone?.chosen ?? null);
}

/** The server listed a hotspot's points and folium drew its edge: put numbers that can be chosen on the map. */
function adoptZone() {
  const links = [...zoneList.querySelectorAll("[data-zone-point]")];
  const points = links.map((link) => ({ ...placeOf(link), number: Number(link.dataset.zonePoint) }));
  const marks = map.points(points, (point) => trip.put("pickup", point));
  const chosen = links.findIndex((link) => link.hasAttribute("aria-current"));
  if (chosen >= 0) marks.choose(chosen + 1);
}

function placeOf(link) {
  const asked = new URL(link.href).searchParams;
  return { name: asked.get("pickup"), lat: Number(asked.get("pickup_lat")), lng: Number(asked.get("pickup_lng")) };
}

zoneList.addEventListener("click", (event) => {
  const link = event.target.closest("[data-zone-point]");
  if (!link || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  trip.put("pickup", placeOf(link));
});

/* ---- start ---- */

drawEnds();
button();
const known = ["pickup", "drop"].map((end) => trip.at(end)).filter(Boolean);
if (known.length === 2) map.fit(known.map(({ lat, lng }) => [lat, lng]), { animate: false });
adoptZone();
if (trip.at("pickup") && !trip.loose && !cars.box.querySelector("[data-products], [role=alert]")) reload();

const wrong = book.querySelector("[aria-invalid=true]") ?? page.querySelector(".booking-work > [role=alert]");
if (wrong) {
  if (!wrong.matches("input, select, textarea")) wrong.tabIndex = -1;
  wrong.focus();
  wrong.scrollIntoView({ block: "center" });
} else if (matchMedia("(hover: hover) and (pointer: fine)").matches) {
  book.querySelector("[name=guest_name]").focus({ preventScroll: true }); // a touch screen would open its keyboard
}
