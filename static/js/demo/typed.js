/**
 * What somebody has typed into a page and not sent yet. The hand of the stage takes it from nobody
 * unasked; what it has typed itself is its own.
 */

const TEXTS = [
  "input:not([type=hidden], [type=search], [type=checkbox], [type=radio], [type=submit])",
  "textarea",
].map((each) => `main ${each}`);
const ours = new WeakMap(); // the fields of the hand, with what it has put there
const touched = new WeakSet(); // fields into which a person has typed

/** Note from now on what a person types into a page: scripts fill in fields, too. */
export function watch(page) {
  page.addEventListener("input", touch, true);
}

function touch({ isTrusted, target }) {
  if (isTrusted) touched.add(target);
}

/** Note what stands in a field now: the hand has put it there. */
export function note(field) {
  ours.set(field, field.value);
}

/** Whether a field has what a person typed. */
export function isTheirs(field) {
  const { value } = field;
  if (!value.trim() || ours.get(field) === value) return false;
  const isFirst = value === field.defaultValue;
  if (field.form?.id !== "book") return touched.has(field) && !isFirst;
  // a form that was sent back has as its first value what somebody typed
  return !isFirst || field.name === "drop" || field.name.startsWith("guest_");
}

/** The first field of a page with what a person typed; null for none. */
export function typedInto(page) {
  const fields = page?.querySelectorAll(TEXTS.join()) ?? [];
  return [...fields].find(isTheirs) ?? null;
}
