/**
 * Detects text that a person has typed into a page and not sent yet, which the hand of the stage
 * must not remove without asking; text that the hand has typed does not count.
 */

const TEXTS = [
  "input:not([type=hidden], [type=search], [type=checkbox], [type=radio], [type=submit])",
  "textarea",
].map((each) => `main ${each}`);
const ours = new WeakMap(); // the fields that the hand has filled in, with its text
const touched = new WeakSet(); // the fields into which a person has typed
const handled = new WeakSet(); // the pages where no person has done anything since the hand typed
const ACTS = ["pointerdown", "keydown", "beforeinput"];

/** From now on, record the fields into which a person types: scripts fill in fields too. */
export function watch(page) {
  page.addEventListener("input", touch, true);
  for (const act of ACTS) page.addEventListener(act, onAct, true);
}

function touch({ isTrusted, target }) {
  if (isTrusted) touched.add(target);
}

/** A person does something: what the form contains until now counts as typed by the hand. */
function onAct({ isTrusted, currentTarget: page }) {
  if (!isTrusted || !handled.has(page)) return;
  noteForm(page);
  handled.delete(page);
}

/** Record the present text of a field as typed by the hand. */
export function note(field) {
  ours.set(field, field.value);
  handled.add(field.ownerDocument);
}

/** Record the fields of the booking form as typed by the hand, except those of a person. */
export function noteForm(page) {
  for (const field of page.forms.book?.elements ?? []) if (!touched.has(field)) note(field);
}

/** Whether a field contains text that a person has typed. */
export function isTheirs(field) {
  const { value, ownerDocument: page } = field;
  if (!value.trim() || ours.get(field) === value) return false;
  if (field.form?.id === "book" && !handled.has(page)) return isFilled(field);
  return touched.has(field) && value !== field.defaultValue;
}

/** Whether a field of the booking form contains more than it does in an empty form. */
function isFilled({ value, defaultValue, name }) {
  if (!value.trim()) return false;
  // in a form that was returned with an error, the initial value is what was typed
  return value !== defaultValue || name === "drop" || name.startsWith("guest_");
}

/** The first field of a page with text that a person has typed; null for none. */
export function typedInto(page) {
  return textsOf(page).find(isTheirs) ?? null;
}

/** Whether the booking form of a page is filled in, and none of it was typed by a person. */
export function isLeftBehind(page) {
  const fields = textsOf(page);
  const filled = fields.some((field) => field.form?.id === "book" && isFilled(field));
  return filled && !fields.some(isTheirs);
}

function textsOf(page) {
  return [...(page?.querySelectorAll(TEXTS.join()) ?? [])];
}
