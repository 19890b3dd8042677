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

/** From now on, record the fields into which a person types: scripts fill in fields too. */
export function watch(page) {
  page.addEventListener("input", touch, true);
}

function touch({ isTrusted, target }) {
  if (isTrusted) touched.add(target);
}

/** Record the present text of a field as typed by the hand. */
export function note(field) {
  ours.set(field, field.value);
}

/** Whether a field contains text that a person has typed. */
export function isTheirs(field) {
  const { value } = field;
  if (!value.trim() || ours.get(field) === value) return false;
  const isFirst = value === field.defaultValue;
  if (field.form?.id !== "book") return touched.has(field) && !isFirst;
  // in a form that was returned with an error, the initial value is what somebody typed
  return !isFirst || field.name === "drop" || field.name.startsWith("guest_");
}

/** The first field of a page with text that a person has typed; null for none. */
export function typedInto(page) {
  const fields = page?.querySelectorAll(TEXTS.join()) ?? [];
  return [...fields].find(isTheirs) ?? null;
}
