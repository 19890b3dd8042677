/**
 * Books at the desk of the stage as a person does: types into its form, takes the first place that
 * is found, chooses the car and presses Book. The audience sees each letter.
 */

const LETTER_MS = 45;
const LOOK_MS = 50;
const PATIENCE_MS = 9_000;

/**
 * Book {guest, room, drop, car, form_token}. Resolves to whether the form was sent; if it was not,
 * nothing was ordered. `page()` is the document of the desk, which may be on its way.
 */
export async function book(page, wanted) {
  const form = await until(() => ready(page()));
  if (!form) return false;
  form.elements.form_token.value = wanted.form_token;
  await type(form.elements.guest_name, wanted.guest);
  await type(form.elements.guest_room, wanted.room);
  const drop = form.querySelector('[data-place="drop"]');
  const field = drop.querySelector("[data-place-input]");
  await type(field, wanted.drop);
  if (!(await until(() => named(drop, wanted.drop)))) return false;
  named(drop, wanted.drop).click();
  const car = () =>
    form.querySelector(`[data-category="${wanted.car}"]:not([disabled])[name=offer]`);
  if (!(await until(() => form.isConnected && car()))) return false;
  car().click();
  const go = form.querySelector("[data-book-go]");
  if (!(await until(() => /\d/.test(go.textContent) && go.ariaDisabled !== "true"))) return false;
  if (form.elements.form_token.value !== wanted.form_token) return false;
  const booked = once(page(), "ridedash:booked");
  go.click();
  return booked;
}

/** The empty form of a page that has loaded its script. */
function ready(document) {
  const form = document?.querySelector("#book");
  return document?.querySelector(".has-script #book") && form.elements.guest_name ? form : null;
}

function named(place, name) {
  return [...place.querySelectorAll("[data-place-list]:not([hidden]) [data-index]")].find((each) =>
    each.textContent.includes(name),
  );
}

async function type(field, words) {
  field.focus();
  field.value = "";
  for (const letter of words) {
    field.value += letter;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    await pause(LETTER_MS);
  }
  field.dispatchEvent(new Event("change", { bubbles: true }));
}

function once(document, name) {
  return new Promise((done) => {
    document.addEventListener(name, () => done(true), { once: true });
    setTimeout(() => done(false), PATIENCE_MS);
  });
}

/** What `look` finds, as soon as it does; null after a while. */
async function until(look) {
  const end = Date.now() + PATIENCE_MS;
  while (Date.now() < end) {
    const found = look();
    if (found) return found;
    await pause(LOOK_MS);
  }
  return null;
}

function pause(ms) {
  return new Promise((done) => setTimeout(done, ms));
}
