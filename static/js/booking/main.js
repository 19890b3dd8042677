/** The picker's page: the booking form, and the map beside it. Without it the page still books. */

import { RideMap } from "../shared/map.js";
import { floatBreakups } from "./breakups.js";
import { BookForm, placeOf } from "./form.js";

const FAR = 5; // degrees: no ride, so no view of half the earth

const page = document.querySelector("[data-booking]");
const say = page.dataset;
const map = new RideMap(page.querySelector("[data-map]"));
page.classList.add("has-script", "can-pick");
const form = new BookForm(page);
const { trip, book } = form;

floatBreakups(form.cars.box);
window.addEventListener("pageshow", (event) => event.persisted && form.ready());

/* ---- the two ends on the map ---- */

const aim = page.querySelector("[data-aim]");
aim.hidden = false;
if (!trip.at("pickup")) aimAt("pickup");
for (const end of ["pickup", "drop"])
  trip.ends[end].input.addEventListener("focus", () => aimAt(end));

form.addEventListener("ends", ({ detail: { end } }) => {
  drawEnds();
  if (!end) return;
  if (!trip.at(end)) aimAt(end);
  else if (!trip.at(other(end))) aimAt(other(end));
  if (trip.at(end)) show(end);
});

/** From now on a click on the map sets this end. */
function aimAt(end) {
  aim.querySelector(`[value=${end}]`).checked = true;
}

function other(end) {
  return end === "pickup" ? "drop" : "pickup";
}

function pinned(end, lat, lng) {
  const place = { lat: Number(lat.toFixed(6)), lng: Number(lng.toFixed(6)) };
  trip.put(end, {
    ...place,
    name: `${say.sayPin} (${place.lat.toFixed(5)}, ${place.lng.toFixed(5)})`,
  });
}

map.onPick((lat, lng) => pinned(aim.querySelector(":checked").value, lat, lng));

/** A nameless pin asks its name of the server, together with the cars. */
function drawEnds() {
  for (const [end, word] of [
    ["pickup", say.sayPickup],
    ["drop", say.sayDrop],
  ]) {
    const place = trip.at(end);
    if (place)
      map.pin(end, place.lat, place.lng, `${word}: ${place.name}`, (lat, lng) =>
        pinned(end, lat, lng),
      );
    else map.unpin(end);
  }
  const ends = ["pickup", "drop"].map((end) => trip.at(end)).filter(Boolean);
  map.hint(ends.length === 2 ? ends.map(({ lat, lng }) => [lat, lng]) : []);
}

/** Move the view only when something that matters is out of it. */
function show(end) {
  const ends = ["pickup", "drop"].map((name) => trip.at(name)).filter(Boolean);
  const place = trip.at(end);
  if (
    ends.length === 2 &&
    Math.abs(ends[0].lat - ends[1].lat) + Math.abs(ends[0].lng - ends[1].lng) > FAR
  )
    return;
  if (!map.shows(place.lat, place.lng) || ends.some(({ lat, lng }) => !map.shows(lat, lng))) {
    map.fit(ends.map(({ lat, lng }) => [lat, lng]));
  }
}

/* ---- a hotspot's points on the map ---- */

form.addEventListener("zone", ({ detail: { zone } }) => {
  map.boundary(zone?.boundary ?? []);
  marked(zone?.points ?? [], zone?.chosen ?? null);
});

/** The server listed a hotspot's points and folium drew its edge: put numbers that can be chosen on the map. */
function adoptZone() {
  const links = [...form.zoneList.querySelectorAll("[data-zone-point]")];
  const chosen = links.findIndex((link) => link.hasAttribute("aria-current"));
  marked(
    links.map((link) => ({ ...placeOf(link), number: Number(link.dataset.zonePoint) })),
    chosen >= 0 ? chosen + 1 : null,
  );
}

function marked(points, chosen) {
  map.points(points, (point) => trip.put("pickup", point)).choose(chosen);
}

/* ---- start ---- */

drawEnds();
const known = ["pickup", "drop"].map((end) => trip.at(end)).filter(Boolean);
if (known.length === 2)
  map.fit(
    known.map(({ lat, lng }) => [lat, lng]),
    { animate: false },
  );
adoptZone();
form.start();

const wrong =
  book.querySelector("[aria-invalid=true]") ??
  page.querySelector(".booking-work > [role=alert], .booking-work > [data-filled]");
if (wrong) {
  if (!wrong.matches("input, select, textarea")) wrong.tabIndex = -1;
  wrong.focus();
  wrong.scrollIntoView({ block: "center" });
} else if (matchMedia("(hover: hover) and (pointer: fine)").matches) {
  book.querySelector("[name=guest_name]").focus({ preventScroll: true }); // a touch screen would open its keyboard
}
