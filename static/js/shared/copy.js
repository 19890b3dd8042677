/**
 * Buttons that copy. `data-copy` is the selector of the field or text. For a moment the button then
 * shows `data-copied`, or `data-by-hand` if copying failed. Safari copies only while it handles a
 * press, not after a request: a link that an answer brings is therefore shown with such a button.
 */

const SAID_MS = 4_000;
const labels = new WeakMap(); // button -> its own text
const timers = new WeakMap(); // button -> the timer that restores its text

/**
 * Copy a field or a text; resolves to whether that worked. If not, the text is selected and has the
 * focus, so that the user can copy it by hand.
 */
export async function copy(source) {
  const before = document.activeElement;
  if (source.select) source.select();
  else getSelection().selectAllChildren(source);
  const copied = await write(source);
  if (copied && document.activeElement === source) {
    source.blur();
    before.focus({ preventScroll: true });
  }
  return copied;
}

async function write(source) {
  // over plain http there is no clipboard
  if (!navigator.clipboard) return document.execCommand("copy");
  try {
    await navigator.clipboard.writeText(source.value ?? source.textContent);
    return true;
  } catch {
    return false;
  }
}

/** Show the buttons that copy: without scripts they are hidden. */
export function showCopies(root) {
  for (const button of root.querySelectorAll("[data-copy]")) button.hidden = false;
}

/** Make the buttons below `root` copy, including buttons that are added later. */
export function watchCopies(root) {
  showCopies(root);
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
  clearTimeout(timers.get(button)); // the timer of an earlier press would remove this text
  const back = () => (label.textContent = labels.get(button));
  timers.set(button, setTimeout(back, SAID_MS));
}
