/** The booking page: the form, and the map beside it, which loads later and is optional. */

import { openMap } from "../shared/map_frame.js";
import { floatBreakups } from "./breakups.js";
import { BookForm, placeOf } from "./form.js";

const page = document.querySelector("[data-booking]");
const texts = page.dataset;
page.classList.add("has-script");
const bookForm = new BookForm(page);
const { trip, form } = bookForm;
let map = null; // until it has loaded

floatBreakups(bookForm.cars.box);

/* ---- the two ends on the map ---- */

const aim = page.querySelector("[data-aim]");
if (!trip.at("pickup")) aimAt("pickup");
for (const end of ["pickup", "drop"])
  trip.ends[end].input.addEventListener("focus", () => aimAt(end));

let shown = ""; // the trip that the view shows

bookForm.addEventListener("ends", ({ detail: { end } }) => {
  drawEnds();
  if (bookForm.priced && shown !== trip.key) show();
  if (!end) return;
  if (!trip.at(end)) aimAt(end);
  else if (!trip.at(other(end))) aimAt(other(end));
});

/** Let clicks on the map set this end. */
function aimAt(end) {
  aim.querySelector(`[value=${end}]`).checked = true;
}

function other(end) {
  return end === "pickup" ? "drop" : "pickup";
}

/** Draw the pins of both ends, and a dashed line between them. */
function drawEnds() {
  if (!map) return;
  for (const [end, word] of [
    ["pickup", texts.sayPickup],
    ["drop", texts.sayDrop],
  ]) {
    const place = trip.at(end);
    if (place)
      map.pin(end, place.lat, place.lng, `${word}: ${place.name}`, (lat, lng) =>
        bookForm.pin(end, lat, lng),
      );
    else map.unpin(end);
  }
  const ends = ["pickup", "drop"].map((end) => trip.at(end)).filter(Boolean);
  map.hint(ends.length === 2 ? ends.map(({ lat, lng }) => [lat, lng]) : []);
}

/**
 * Move the view if an end is outside of it, once the service has priced the trip: outside of the
 * service area there is nothing to show.
 */
function show() {
  if (!map) return;
  shown = trip.key;
  const ends = ["pickup", "drop"].map((end) => trip.at(end)).filter(Boolean);
  if (ends.some(({ lat, lng }) => !map.shows(lat, lng)))
    map.fit(ends.map(({ lat, lng }) => [lat, lng]));
}

/* ---- the pickup points of a zone ---- */

let newZone; // the zone of the last "zone" event; null: no zone; undefined: that of the page

bookForm.addEventListener("zone", ({ detail: { zone } }) => {
  newZone = zone ?? null;
  if (map) drawZone();
});

function drawZone() {
  map.boundary(newZone?.boundary ?? []);
  marked(newZone?.points ?? [], newZone?.chosen ?? null);
}

/**
 * Draw the pickup points of the list that came with the page, as numbers on the map; folium has
 * drawn the boundary of their zone.
 */
function adoptZone() {
  const links = [...bookForm.zoneList.querySelectorAll("[data-zone-point]")];
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

bookForm.start();
openMap(page.querySelector("[data-map]")).then((made) => made && drawOn(made));

function drawOn(made) {
  map = made;
  page.classList.add("can-pick");
  aim.hidden = false;
  map.onPick((lat, lng) => bookForm.pin(aim.querySelector(":checked").value, lat, lng));
  drawEnds();
  const known = ["pickup", "drop"].map((end) => trip.at(end)).filter(Boolean);
  if (bookForm.priced && known.length === 2) {
    shown = trip.key;
    map.fit(
      known.map(({ lat, lng }) => [lat, lng]),
      { animate: false },
    );
  }
  if (newZone === undefined) adoptZone();
  else drawZone();
}

const wrong =
  form.querySelector("[aria-invalid=true]") ??
  page.querySelector(".booking-work > :is([role=alert], [data-changed], [data-filled])");
if (wrong) {
  if (!wrong.matches("input, select, textarea")) wrong.tabIndex = -1;
  wrong.focus();
  wrong.scrollIntoView({ block: "center" });
} else if (matchMedia("(hover: hover) and (pointer: fine)").matches) {
  // on a touch screen the focus would open the keyboard
  form.querySelector("[name=guest_name]").focus({ preventScroll: true });
}
