/**
 * Keeps what a person has typed or chosen, the focus and the caret while an answer of the server
 * replaces a part of a page.
 */

const FIELD = "input:not([type=hidden], [type=file], [type=submit]), select, textarea";

/**
 * What was typed or chosen in a part, and where the focus is. `sent`: of fields that have just been
 * sent (see sentBy), only what was changed since then.
 */
export function typedIn(part, sent = new Map()) {
  const fields = new Map();
  const open = new Set(); // the keys of those in an open panel
  const at = document.activeElement;
  for (const field of part.querySelectorAll(FIELD)) {
    const key = keyOf(field);
    if (!isChanged(field) || sent.get(key) === valueOf(field)) continue;
    fields.set(key, valueOf(field));
    if (isOpen(field)) open.add(key);
  }
  if (!part.contains(at)) return { fields, open, focus: null };
  if (isOpen(at) && !sent.has(keyOf(at))) open.add(keyOf(at));
  return { fields, open, focus: { key: keyOf(at), caret: caretOf(at) } };
}

/** The values of a form's fields as they are sent now. */
export function sentBy(form) {
  return new Map([...form.elements].map((each) => [keyOf(each), valueOf(each)]));
}

/**
 * Put it back into what has replaced the part: into fields of the same name, with their panels open
 * as they were. What has no place there is left in `fields`.
 */
export function putBack(part, { fields, open, focus }) {
  let next = null;
  for (const node of part.querySelectorAll(`${FIELD}, button, a, summary, [tabindex]`)) {
    const key = keyOf(node);
    if (!key) continue;
    if (open.has(key)) unfold(node, part);
    if (fields.has(key)) setValue(node, fields.get(key));
    fields.delete(key);
    if (key === focus?.key) next = node;
  }
  if (!next || part.contains(document.activeElement)) return;
  // what a grave action costs may have changed: no key that is on its way may press it
  const safe = next.type === "submit" && next.form?.querySelector("[data-first]");
  (safe || next).focus({ preventScroll: true });
  if (focus.caret) next.setSelectionRange(...focus.caret);
}

/** A name of a field or a control that is the same in the next answer; "" for none. */
function keyOf(node) {
  if (node.id) return `#${node.id}`;
  if (node.localName === "a") return `a ${node.getAttribute("href")}`;
  if (!node.name && node.type !== "submit") return "";
  const form = node.form?.getAttribute("action") ?? "";
  const one = isChoice(node) || node.localName === "button" ? node.value : "";
  return [form, node.name, one].join(" ");
}

function isChoice({ type }) {
  return type === "radio" || type === "checkbox";
}

function valueOf(field) {
  return isChoice(field) ? field.checked : field.value;
}

function isChanged(field) {
  if (isChoice(field)) return field.checked !== field.defaultChecked;
  if (field.localName !== "select") return field.value !== field.defaultValue;
  const options = [...field.options];
  const usual = options.findLast((each) => each.defaultSelected) ?? options[0];
  return Boolean(usual) && field.value !== usual.value;
}

/** The selection of a field of text; null for other nodes, of which browsers don't tell it. */
function caretOf(field) {
  return field.selectionStart === null || field.selectionStart === undefined
    ? null
    : [field.selectionStart, field.selectionEnd, field.selectionDirection];
}

function setValue(field, value) {
  if (isChoice(field)) field.checked = value;
  else if (field.value !== value) field.value = value; // the caret stays where it is
}

function isOpen(node) {
  return Boolean(node.closest("details[open]"));
}

function unfold(node, part) {
  for (let at = node; at !== part; at = at.parentElement)
    if (at.localName === "details" && !node.closest("summary")) at.open = true;
}
