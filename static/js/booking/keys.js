/**
 * The Enter key in the booking form: it moves to the next empty field and never sends the form;
 * Ctrl+Enter books.
 */

import { isShown } from "../shared/slots.js";

const TYPED = "input:not([type=hidden]):not([type=radio]):not([type=checkbox])";

/**
 * `around` contains the form and the alerts beside it, where the same keys work. `hint` is the line
 * beside the button; it shows `words` when there is no next field.
 */
export function wireKeys(around, book, go, { hint, words, signal }) {
  hint.hidden = false;
  around.addEventListener(
    "keydown",
    (event) => {
      if (event.key !== "Enter" || event.defaultPrevented || event.isComposing) return;
      const asked = event.ctrlKey || event.metaKey;
      if (asked || (book.contains(event.target) && event.target.matches("input")))
        event.preventDefault();
      if (asked && !go.disabled) book.requestSubmit(go);
      if (asked || !book.contains(event.target) || !event.target.matches(TYPED)) return;
      const next = following(book, event.target);
      if (next) next.focus();
      else {
        hint.textContent = words;
        hint.classList.add("is-said");
      }
    },
    { signal },
  );
}

/** The next visible text field that is empty. */
function following(book, field) {
  const fields = [...book.querySelectorAll(TYPED)].filter(isShown);
  return fields.slice(fields.indexOf(field) + 1).find((each) => !each.value);
}
