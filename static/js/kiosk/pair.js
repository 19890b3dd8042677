/**
 * Keys for a pairing code, on the page of a screen that has no keyboard. A real keyboard writes
 * into the same field; the device's own one, which would cover these keys, stays away.
 */

const root = document.querySelector("[data-pair]");
const field = root.querySelector("[name=code]");
const keys = root.querySelector("[data-keys]");

field.inputMode = "none";
keys.hidden = false;
// the field keeps the focus, so that a real keyboard may go on after a touch
keys.addEventListener("mousedown", (event) => event.preventDefault());
// a key acts when it is touched: of two fingers that follow each other fast, browsers report a
// click for the first alone
keys.addEventListener("pointerdown", (event) => {
  if (event.button === 0) press(event.target);
});
// a click without a touch comes from a screen reader, or from Enter on a keyboard
keys.addEventListener("click", (event) => {
  if (event.detail === 0) press(event.target);
});

function press(node) {
  const key = node.closest("button");
  if (!key) return;
  const { letter } = key.dataset;
  if (letter === undefined) field.value = field.value.slice(0, -1);
  else if (field.value.length < field.maxLength) field.value += letter;
}
