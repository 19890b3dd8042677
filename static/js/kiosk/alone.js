/**
 * One document at a time: a second one could show another guest's visit, or order twice. Uses Web
 * Locks if the address is secure, otherwise a BroadcastChannel.
 */

const NAME = "ridedash-kiosk";
const ANSWER_WITHIN_MS = 300;

/**
 * Call `first()` once this is the only document, and `second()` when another one is open. With Web
 * Locks `first()` is called when the other document has closed; with a channel this document stays
 * the second.
 */
export async function alone(first, second) {
  if (navigator.locks) return byLock(first, second);
  return byChannel(first, second);
}

/** The document holds the lock as long as it is open; a second document waits for it. */
async function byLock(first, second) {
  const hold = () => {
    first();
    return new Promise(() => {});
  };
  await navigator.locks.request(NAME, { ifAvailable: true }, (lock) => {
    if (lock) return hold();
    second();
    return undefined;
  });
  await navigator.locks.request(NAME, hold);
}

/**
 * Ask whether another document is open, and become the first one after a while without an answer.
 * If two documents ask at the same time, the one with the lower number is the first.
 */
function byChannel(first, second) {
  const channel = new BroadcastChannel(NAME);
  const own = Math.random();
  let state = "asking";
  const yieldToOther = () => {
    state = "second";
    clearTimeout(timer);
    second();
  };
  const send = (message) => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has none
    channel.postMessage(message);
  };
  const timer = setTimeout(() => {
    state = "first";
    first();
  }, ANSWER_WITHIN_MS);
  channel.addEventListener("message", ({ data }) => {
    if (data.what === "here" && state === "asking") yieldToOther();
    if (data.what !== "who" || state === "second") return;
    if (state === "first" || own < data.number) send({ what: "here" });
    else yieldToOther();
  });
  send({ what: "who", number: own });
}
