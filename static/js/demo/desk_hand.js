/**
 * Requests prices and books at the desk of the stage like a person: types into its form, takes the
 * listed place with the wanted name, chooses the car and presses Book. The audience sees each
 * letter.
 */

import { PATIENCE_MS, byHand, pause, until } from "./hand.js";
import { isTheirs, note, noteForm } from "./typed.js";

const LETTER_MS = 45;
const NEWS_MS = 4_000; // how long to wait for changed prices
// how long to wait for a list of places; then the request is repeated with twice the time
const FOUND_MS = 2_000;
const TIMES = 4;
const ON_THE_WAY = new Set(["sent", "lost"]); // states of a press that has no answer yet
const NOTHING = { booked: false, refused: "" };

/**
 * Book {guest, room, drop, car, form_token}. Resolves to {booked, refused}: whether an order was
 * made, and the words of a refusal; without either, nothing was pressed, or the outcome is unknown.
 * `page()` returns the document of the desk, which may still be loading. `stands()` is called
 * before the press and resolves to whether the ride is still to be booked.
 */
export function book(page, wanted, stands) {
  return byHand(page, (desk) => booked(desk, wanted, stands), NOTHING);
}

async function booked(desk, wanted, stands) {
  const go = await filled(desk, wanted);
  if (!go || !(await stands())) return NOTHING;
  const page = desk();
  const result = pressed(page);
  go.click();
  const { state = "", words = "" } = (await result) ?? {};
  if (state === "refused") noteForm(page);
  return { booked: state === "placed", refused: state === "refused" ? words : "" };
}

/** The button of the form once it has all these values; null if it can't be filled in. */
async function filled(desk, wanted) {
  const form = await until(() => ready(desk()));
  if (!form) return null;
  form.elements.form_token.value = wanted.form_token;
  if (!(await type(desk, form.elements.guest_name, wanted.guest))) return null;
  if (!(await type(desk, form.elements.guest_room, wanted.room))) return null;
  if (!(await choose(desk, form, wanted))) return null;
  const go = form.querySelector("[data-book-go]");
  const isReady = () => desk() && /\d/.test(go.textContent) && go.ariaDisabled !== "true";
  if (!(await until(isReady))) return null;
  return form.elements.form_token.value === wanted.form_token ? go : null;
}

/**
 * Ask for the price of {drop, car}, and book nothing. If the form already has the trip, its prices
 * are requested again. Resolves to whether the car is offered; to true after a repeated request.
 */
export function ask(page, wanted) {
  return byHand(page, (desk) => answered(desk, wanted), false);
}

async function answered(desk, wanted) {
  const form = await until(() => ready(desk()));
  if (!form) return false;
  if (!leadsTo(form, wanted.drop)) return choose(desk, form, wanted);
  desk().dispatchEvent(new CustomEvent("ridedash:prices"));
  await until(() => desk() && form.querySelector("[data-changed]"), NEWS_MS);
  return true;
}

/**
 * Choose the place, unless the form has it, and the car. False if the car is not offered, the place
 * is not found, or a person types too.
 */
async function choose(desk, form, { drop, car }) {
  if (!leadsTo(form, drop)) {
    const place = form.querySelector('[data-place="drop"]');
    const field = place.querySelector("[data-place-input]");
    if (!(await type(desk, field, drop))) return false;
    const option = await listed(desk, place, field, drop);
    if (!option) return false;
    option.click();
    note(field);
  }
  const radio = () => form.querySelector(`[data-category="${car}"]:not([disabled])[name=offer]`);
  const refused = () => form.querySelector("[data-place-error]:not([hidden]), .alert-warn");
  if (!(await until(() => desk() && form.isConnected && (radio() || refused())))) return false;
  radio()?.click();
  return Boolean(radio());
}

/** The booking form of a page whose script has loaded; null before that. */
function ready(document) {
  const form = document?.querySelector("#book");
  return document?.querySelector(".has-script #book") && form.elements.guest_name ? form : null;
}

/** Whether the form has this place, and the cars for it. */
function leadsTo(form, drop) {
  const place = form.querySelector('[data-place="drop"]');
  const isNamed = place.querySelector("[data-for]").value === drop;
  return isNamed && form.querySelector("[data-product]") !== null;
}

function named(place, name) {
  return [...place.querySelectorAll("[data-place-list]:not([hidden]) [data-index]")].find((each) =>
    each.textContent.includes(name),
  );
}

/**
 * The option of the list with this name; null if none comes. A field that loses the focus closes
 * its list and ignores answers: then its words are searched again.
 */
async function listed(desk, place, field, name) {
  for (let time = 0; time < TIMES && field.isConnected && !isTheirs(field); time += 1) {
    if (time) {
      field.focus();
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
    const option = await until(() => desk() && named(place, name), FOUND_MS * 2 ** time);
    if (option) return option;
  }
  return null;
}

/** Type letter by letter. False if a person types too: their text stays. */
async function type(desk, field, words) {
  if (field.value === words) return true;
  if (isTheirs(field)) return false;
  field.focus();
  field.value = "";
  for (const letter of words) {
    field.value += letter;
    note(field);
    field.dispatchEvent(new Event("input", { bubbles: true }));
    await pause(LETTER_MS);
    desk(); // ends this work if another hand has begun, or this one was stopped
    if (isTheirs(field)) return false;
  }
  field.dispatchEvent(new Event("change", { bubbles: true }));
  return true;
}

/** The result of a press: {state, words} as the desk reports it, or null after a while. */
function pressed(document) {
  return new Promise((done) => {
    const ending = new AbortController();
    const end = (result) => {
      ending.abort();
      done(result);
    };
    const hear = ({ detail }) => ON_THE_WAY.has(detail.state) || end(detail);
    document.addEventListener("ridedash:press", hear, { signal: ending.signal });
    setTimeout(() => end(null), PATIENCE_MS);
  });
}
