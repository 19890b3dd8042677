/**
 * Buttons that copy. `data-copy` is the selector of the field or text, `data-copied` and
 * `data-by-hand` are what the button then says for a moment. Safari copies only while a press is
 * handled, so a link that an answer brings has such a button beside it.
 */

const SAID_MS = 4_000;
const labels = new WeakMap(); // button -> its own words
const timers = new WeakMap(); // button -> the timer that puts them back

/**
 * Copy a field or a text; resolves to whether that worked. It is selected, so that the user can
 * copy it in another way.
 */
export async function copy(source) {
  if (source.select) source.select();
  else getSelection().selectAllChildren(source);
  if (!navigator.clipboard) return document.execCommand("copy"); // the page came over plain http
  try {
    await navigator.clipboard.writeText(source.value ?? source.textContent);
    return true;
  } catch {
    return false;
  }
}

/** Let the buttons below `root` copy, also those that come later. */
export function watchCopies(root) {
  for (const button of root.querySelectorAll("[data-copy]")) button.hidden = false;
  root.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy]");
    if (button) press(button);
  });
}

async function press(button) {
  const label = button.querySelector("span");
  if (!labels.has(button)) labels.set(button, label.textContent);
  const copied = await copy(document.querySelector(button.dataset.copy));
  label.textContent = copied ? button.dataset.copied : button.dataset.byHand;
  clearTimeout(timers.get(button)); // of an earlier press: it would end this one's words
  const back = () => (label.textContent = labels.get(button));
  timers.set(button, setTimeout(back, SAID_MS));
}
