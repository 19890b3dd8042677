/**
 * The Enter key in the booking form: it moves to the next empty field, then to the cars, and never
 * sends the form. Ctrl+Enter books; if that is not possible, the line beside the button says what
 * is missing. Outside of the form Ctrl+Enter books nothing: it moves the focus to the button, or,
 * while the button is disabled, to the first empty field.
 */

import { isShown } from "../shared/slots.js";

const OWN_ENTER = "a, button, input, select, textarea, summary, dialog, [contenteditable]";
const TYPED = "input:not([type=hidden]):not([type=radio]):not([type=checkbox])";

/** The line beside the button. Its first words say which keys book. */
class Hint {
  #repeated = ""; // the text of the disabled button, while the line shows it

  constructor(line, bookButton) {
    Object.assign(this, { line, bookButton, usual: [...line.childNodes] });
    line.hidden = false;
  }

  say(text) {
    this.#repeated = "";
    this.line.textContent = text;
    this.line.classList.add("is-said");
  }

  /** Show the text of the disabled button, which says what is missing. */
  sayMissing() {
    const text = this.bookButton.textContent.trim();
    this.say(text);
    this.#repeated = text;
  }

  /** Show the first words again if the line has a text that the button no longer has. */
  renew() {
    if (!this.#repeated || this.#repeated === this.bookButton.textContent.trim()) return;
    this.#repeated = "";
    this.line.replaceChildren(...this.usual);
    this.line.classList.remove("is-said");
  }
}

/**
 * `around` contains the form and the alerts beside it, where the same keys work. `line` is the line
 * beside the button; it shows `words` if Enter leads to no field. `onward(field)` moves the focus
 * on; it returns true if the focus went to a field. Returns the Hint, to be renewed after each
 * change of the button's text.
 */
export function wireKeys(around, form, bookButton, { line, words, signal, onward }) {
  const hint = new Hint(line, bookButton);
  around.addEventListener(
    "keydown",
    (event) => {
      if (event.key !== "Enter" || event.defaultPrevented || event.isComposing) return;
      const field = event.target;
      const shortcut = event.ctrlKey || event.metaKey;
      if (shortcut || (form.contains(field) && field.matches("input"))) event.preventDefault();
      if (shortcut && !bookButton.disabled) form.requestSubmit(bookButton);
      else if (shortcut) hint.sayMissing();
      if (shortcut || !form.contains(field) || !field.matches("input")) return;
      if (field.matches(TYPED) && onward(field)) return;
      hint.say(words);
    },
    { signal },
  );
  // outside of the form Ctrl+Enter books nothing
  document.addEventListener(
    "keydown",
    (event) => {
      const shortcut = event.key === "Enter" && (event.ctrlKey || event.metaKey);
      if (!shortcut || event.defaultPrevented || event.isComposing || !isShown(bookButton)) return;
      if (around.contains(event.target) || event.target.closest(OWN_ENTER)) return;
      event.preventDefault();
      const empty = [...form.querySelectorAll(TYPED)].filter(isShown).find((each) => !each.value);
      (bookButton.disabled && empty ? empty : bookButton).focus();
      if (bookButton.disabled) hint.sayMissing();
      else hint.say(words);
    },
    { signal },
  );
  return hint;
}

/** The next visible empty text field; for a field before the cars, none that comes after them. */
export function following(form, field, cars) {
  const fields = [...form.querySelectorAll(TYPED)].filter(isShown);
  const next = fields.slice(fields.indexOf(field) + 1).find((each) => !each.value);
  return next && isBefore(field, cars) && !isBefore(next, cars) ? undefined : next;
}

function isBefore(one, other) {
  return Boolean(one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING);
}
