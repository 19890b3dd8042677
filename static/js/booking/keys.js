/** Enter in the booking form: alone it goes on to the next empty field and never orders a ride; Ctrl+Enter books. */

const TYPED = "input:not([type=hidden]):not([type=radio]):not([type=checkbox])";

/**
 * `around` holds the form, and what stands beside it: an alert that was read is followed by the same keys.
 * `hint` is the line beside the button, which says `words` when Enter has nowhere to go.
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
      else hint.textContent = words;
    },
    { signal },
  );
}

/** The next field that can be seen and waits for words; room and phone may stay empty, but are offered. */
function following(book, field) {
  const fields = [...book.querySelectorAll(TYPED)].filter((each) => each.checkVisibility());
  return fields.slice(fields.indexOf(field) + 1).find((each) => !each.value);
}
