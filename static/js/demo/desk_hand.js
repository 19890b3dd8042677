/**
 * Asks and books at the desk of the stage as a person does: types into its form, takes the first
 * place that is found, chooses the car and presses Book. The audience sees each letter.
 */

import { PATIENCE_MS, pause, until } from "./hand.js";
import { isTheirs, note } from "./typed.js";

const LETTER_MS = 45;
const NEWS_MS = 4_000; // for prices that may be others by now

/**
 * Book {guest, room, drop, car, form_token}. Resolves to whether the form was sent; if it was not,
 * nothing was ordered. `page()` is the document of the desk, which may be on its way. `stands()`,
 * asked before the press, resolves to whether the ride is still to be booked.
 */
export async function book(page, wanted, stands) {
  const form = await until(() => ready(page()));
  if (!form) return false;
  form.elements.form_token.value = wanted.form_token;
  if (!(await type(form.elements.guest_name, wanted.guest))) return false;
  if (!(await type(form.elements.guest_room, wanted.room))) return false;
  if (!(await choose(form, wanted))) return false;
  const go = form.querySelector("[data-book-go]");
  if (!(await until(() => /\d/.test(go.textContent) && go.ariaDisabled !== "true"))) return false;
  if (form.elements.form_token.value !== wanted.form_token) return false;
  if (!(await stands())) return false;
  const booked = once(page(), "ridedash:booked");
  go.click();
  return booked;
}

/**
 * Ask for the price of {drop, car}, and book nothing. Of a trip that stands there already the
 * prices are asked for anew. Resolves to whether there is an answer: a price, or why there is none.
 */
export async function ask(page, wanted) {
  const form = await until(() => ready(page()));
  if (!form) return false;
  if (!leadsTo(form, wanted.drop)) return choose(form, wanted);
  page().dispatchEvent(new CustomEvent("ridedash:prices"));
  await until(() => form.querySelector("[data-changed]"), NEWS_MS);
  return true;
}

/** The place and the car, where the form has others. False where that car is not offered. */
async function choose(form, { drop, car }) {
  if (!leadsTo(form, drop)) {
    const place = form.querySelector('[data-place="drop"]');
    const field = place.querySelector("[data-place-input]");
    if (!(await type(field, drop))) return false;
    if (!(await until(() => named(place, drop)))) return false;
    named(place, drop).click();
    note(field);
  }
  const radio = () => form.querySelector(`[data-category="${car}"]:not([disabled])[name=offer]`);
  const refused = () => form.querySelector("[data-place-error]:not([hidden]), .alert-warn");
  if (!(await until(() => form.isConnected && (radio() || refused())))) return false;
  radio()?.click();
  return Boolean(radio());
}

/** The empty form of a page that has loaded its script. */
function ready(document) {
  const form = document?.querySelector("#book");
  return document?.querySelector(".has-script #book") && form.elements.guest_name ? form : null;
}

/** Whether the form has this place, with the cars that go there. */
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

/** Type letter by letter. False where somebody else types: what they typed stays. */
async function type(field, words) {
  if (field.value === words) return true;
  if (isTheirs(field)) return false;
  field.focus();
  field.value = "";
  for (const letter of words) {
    field.value += letter;
    note(field);
    field.dispatchEvent(new Event("input", { bubbles: true }));
    await pause(LETTER_MS);
    if (isTheirs(field)) return false;
  }
  field.dispatchEvent(new Event("change", { bubbles: true }));
  return true;
}

function once(document, name) {
  return new Promise((done) => {
    document.addEventListener(name, () => done(true), { once: true });
    setTimeout(() => done(false), PATIENCE_MS);
  });
}
