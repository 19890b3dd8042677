/**
 * A guest at the kiosk of the stage: presses its buttons and keys one after the other, so that the
 * audience sees each. A press goes through the kiosk's own code, like the Enter key of a keyboard.
 */

import { byHand, pause, until } from "./hand.js";

const SEEN_MS = 900; // how long a screen is shown before the next press
const DOWN_MS = 180; // how long a button is held down
const KEY_MS = 60;
const PAGES = 4; // pages of a list, at most
const PRESSES = 3;
const CHANGE_MS = 2_000; // how long a screen may take to change
const VISITS = 3; // attempts until a visit is not interrupted
const BEFORE = new Set(["start", "trouble", "broken"]); // screens without a visit

/**
 * Book {language, drop, car, name} with the references {visit, form_token}, so that repetitions
 * make only one order. Resolves to whether the ticket is shown. `page()` returns the kiosk's
 * document, which may still be loading. `stands()` is called before the press and resolves to
 * whether the ride is still to be booked.
 */
export function book(page, wanted, stands) {
  return byHand(page, (kiosk) => bookedAtLast(kiosk, wanted, stands), false);
}

async function bookedAtLast(page, wanted, stands) {
  for (let visit = 0; visit < VISITS; visit += 1) {
    if (await booked(page, wanted, stands)) return true;
    // the kiosk still shows the screen where this stopped: the visit was not interrupted
    if (!isBefore(page)) return false;
  }
  return false;
}

async function booked(page, wanted, stands) {
  if (!(await begin(page, wanted.language))) return false;
  const detail = { id: wanted.visit, formToken: wanted.form_token };
  page().dispatchEvent(new CustomEvent("ridedash:visit", { detail }));
  if (!(await leaveStart(page, "start"))) return false;
  if (!(await choose(page, "place-", ".k-place-name", wanted.drop))) return false;
  if (!(await choose(page, "car-", ".k-car-name", wanted.car))) return false;
  if (!(await during(page, () => isAt(page, "who")))) return false;
  await type(page, wanted.name);
  if (!(await press(page, "next")) || !(await stands())) return false;
  if (!(await press(page, "book"))) return false;
  return Boolean(await during(page, () => isAt(page, "booked")));
}

/**
 * Look up a ride: {language, number, pin}; with `code`, show its start code too. Resolves to
 * whether the kiosk answered, with `code` to whether it shows the code.
 */
export function look(page, wanted) {
  return byHand(page, (kiosk) => looked(kiosk, wanted), false);
}

async function looked(page, wanted) {
  if (!(await begin(page, wanted.language)) || !(await leaveStart(page, "have"))) return false;
  await type(page, wanted.number);
  if (!(await press(page, "field-pin"))) return false;
  await type(page, wanted.pin);
  if (!(await press(page, "next"))) return false;
  const refused = () => page()?.querySelector(".k-problem")?.textContent;
  const answered = await until(() => isAt(page, "ride") || refused());
  if (!answered || !wanted.code) return Boolean(answered);
  if (!(await press(page, "show-code"))) return false;
  return Boolean(await until(() => page()?.querySelector('[data-from="code"]')));
}

/** Show the start screen in a language; ends an earlier visit, or leaves an error screen. */
async function begin(page, language) {
  const isReady = () => (isAt(page, "start") ? find(page, "bar-help") : find(page, "bar-over"));
  if (!(await until(isReady))) return false;
  if (!isAt(page, "start") && !(await press(page, "bar-over"))) return false;
  if (!(await until(() => isAt(page, "start")))) return false;
  if (!language) return true;
  if (!(await press(page, `lang-${language}`))) return false;
  return Boolean(await until(() => page()?.documentElement.lang === language));
}

/** Press a button of the start screen; again if the screen was being redrawn. */
async function leaveStart(page, name) {
  for (let pressed = 0; pressed < PRESSES; pressed += 1) {
    if (!(await press(page, name))) return false;
    if (await until(() => !isAt(page, "start"), CHANGE_MS)) return true;
  }
  return false;
}

/** Press the card with this name in a list, on another page of the list if necessary. */
async function choose(page, kind, part, name) {
  const cards = () => [...(page()?.querySelectorAll(`[data-press^="${kind}"]`) ?? [])];
  const isIt = (card) =>
    card.querySelector(part)?.textContent.trim().toLowerCase() === name.toLowerCase();
  for (let turned = 0; turned < PAGES; turned += 1) {
    if (!(await during(page, () => cards().length))) return false;
    const card = cards().find(isIt);
    if (card) return press(page, card.dataset.press);
    if (!find(page, "more") || !(await press(page, "more"))) return false;
  }
  return false;
}

/** Type a text; Latin letters are on another set of keys if the guest's language has its own. */
async function type(page, text) {
  await pause(SEEN_MS / 2);
  for (const letter of text.toLowerCase()) {
    if (!find(page, `key-${letter}`)) find(page, "key-latin")?.click();
    find(page, `key-${letter}`)?.click();
    await pause(KEY_MS);
  }
}

async function press(page, name) {
  const node = await during(page, () => {
    const found = find(page, name);
    return found && !found.disabled && found;
  });
  if (!node) return false;
  await pause(SEEN_MS);
  const now = find(page, name); // the screen may have been redrawn
  if (!now) return false;
  now.classList.add("is-down");
  await pause(DOWN_MS);
  now.classList.remove("is-down");
  // if the screen was redrawn while the button was held down, press its new button
  const last = find(page, name) ?? now;
  last.click();
  return true;
}

function find(page, name) {
  return page()?.querySelector(`[data-press="${CSS.escape(name)}"]`);
}

function isAt(page, screen) {
  return page()?.body?.dataset.screen === screen;
}

function isBefore(page) {
  return BEFORE.has(page()?.body?.dataset.screen);
}

/** Like `until`, for something that a visit shows; null at once if the visit was interrupted. */
async function during(page, shown) {
  const found = await until(() => shown() || isBefore(page));
  return found === true && !shown() ? null : found;
}
