/**
 * The Enter key in the booking form: it moves to the next empty field, then to the cars, and never
 * sends the form. Ctrl+Enter books; if that is not possible, the line beside the button says what
 * is missing. Outside of the form Ctrl+Enter books nothing: it moves the focus to the button, or,
 * while the button is disabled, to the first empty field.
 */

import { isShown } from "../shared/slots.js";

const OWN_ENTER = "a, button, input, select, textarea, summary, dialog, [contenteditable]";
const TYPED = "input:not([type=hidden]):not([type=radio]):not([type=checkbox])";

/**
 * `around` contains the form and the alerts beside it, where the same keys work. `hint` is the line
 * beside the button; it shows `words` if Enter leads to no field. `onward(field)` moves the focus
 * on; it returns true if the focus went to a field. Returns a function to call after each change of
 * the button's text: words that the line took from the button may be outdated then.
 */
export function wireKeys(around, form, bookButton, { hint, words, signal, onward }) {
  const usual = [...hint.childNodes];
  let repeated = ""; // the text of the disabled button, while the line shows it
  hint.hidden = false;
  around.addEventListener(
    "keydown",
    (event) => {
      if (event.key !== "Enter" || event.defaultPrevented || event.isComposing) return;
      const field = event.target;
      const shortcut = event.ctrlKey || event.metaKey;
      if (shortcut || (form.contains(field) && field.matches("input"))) event.preventDefault();
      if (shortcut && !bookButton.disabled) form.requestSubmit(bookButton);
      else if (shortcut) repeat();
      if (shortcut || !form.contains(field) || !field.matches("input")) return;
      if (field.matches(TYPED) && onward(field)) return;
      say(words);
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
      if (bookButton.disabled) repeat();
      else say(words);
    },
    { signal },
  );

  function say(text) {
    repeated = "";
    hint.textContent = text;
    hint.classList.add("is-said");
  }

  /** Show the text of the disabled button, which says what is missing. */
  function repeat() {
    const text = bookButton.textContent.trim();
    say(text);
    repeated = text;
  }

  return () => {
    if (!repeated || repeated === bookButton.textContent.trim()) return;
    repeated = "";
    hint.replaceChildren(...usual);
    hint.classList.remove("is-said");
  };
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
