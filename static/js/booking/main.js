/** The picker's page: ties fields, map, cards and button together. Without it the page still books. */

import { RideMap } from "../map.js";
import { ask } from "./ask.js";
import { Cars } from "./cars.js";
import { Combobox } from "./combobox.js";
import { Trip } from "./trip.js";

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
const cars = new Cars(page.querySelector("[data-cars]"), {
  path: say.products,
  skeleton: document.querySelector("[data-skeleton]"),
  status,
  words: { loading: say.sayLoading, slow: say.saySlow, failed: say.sayFailed, signedOut: say.saySignedOut, cars: say.sayCars },
});

/* ---- cards and the button ---- */

let shownZone = "";

async function reload({ compare = false } = {}) {
  const account = book.querySelector("[name=account]")?.value;
  const answer = await cars.load({ pickup: trip.at("pickup"), drop: trip.at("drop"), account, compare });
  if (!answer) return;
  const moved = trip.at("pickup");
  if (answer.pickup.lat && (Number(answer.pickup.lat) !== moved?.lat || Number(answer.pickup.lng) !== moved?.lng)) {
    trip.put("pickup", { ...answer.pickup }, { quiet: true });
    drawEnds();
  }
  drawZone(answer.zone, answer.zone_html);
}

/** The cards belong to the trip in the fields; while words stand there without a place, nothing can be booked. */
function button() {
  const choice = trip.loose ? null : cars.choice;
  cars.box.classList.toggle("is-loose", Boolean(trip.loose));
  go.disabled = !choice || !linked;
  go.textContent = choice ? choice.button : trip.loose ? say.sayPlace : say.sayChoose;
  terms.textContent = choice ? choice.terms : say.sayIdle;
}

cars.addEventListener("chosen", button);
cars.addEventListener("old", () => reload({ compare: true }));
book.querySelector("[name=account]")?.addEventListener("change", () => reload());
page.addEventListener("click", (event) => {
  if (event.target.closest("[data-retry]")) {
    event.preventDefault();
    reload();
  }
});

/* ---- sending: by the button, or Ctrl+Enter; Enter alone in a field never orders a ride ---- */

page.querySelector("[data-go]").remove();
book.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.defaultPrevented) return;
  const asked = event.ctrlKey || event.metaKey;
  if (asked || event.target.matches("input:not([type=radio])")) event.preventDefault();
  if (asked && !go.disabled) book.requestSubmit(go);
});
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
  drawEnds();
  if (trip.at(detail.end)) show(detail.end);
  if (detail.end === "pickup" && !trip.at("pickup")) drawZone(null, "");
  reload();
});

/* ---- the map ---- */

const aim = page.querySelector("[data-aim]");
aim.hidden = false;
if (!trip.at("pickup")) aim.querySelector("[value=pickup]").checked = true;

function pinned(end, lat, lng) {
  const place = { lat: Number(lat.toFixed(6)), lng: Number(lng.toFixed(6)) };
  trip.put(end, { ...place, name: `${say.sayPin} (${place.lat.toFixed(5)}, ${place.lng.toFixed(5)})` });
}

map.onPick((lat, lng) => pinned(aim.querySelector(":checked").value, lat, lng));

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
}
