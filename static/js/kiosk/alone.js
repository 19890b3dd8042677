/**
 * One document at a time: a second one would show the visit of another guest, or take two orders.
 * Web Locks where the address is secure, a BroadcastChannel elsewhere.
 */

const NAME = "ridedash-kiosk";
const ANSWER_WITHIN_MS = 300;

/** Call `first()` once this is the only document, and `second()` while it is not. */
export async function alone(first, second) {
  if (navigator.locks) return byLock(first, second);
  return byChannel(first, second);
}

/** The lock is held as long as the document lives; who comes second waits for it. */
async function byLock(first, second) {
  const held = () => {
    first();
    return new Promise(() => {});
  };
  await navigator.locks.request(NAME, { ifAvailable: true }, (lock) => {
    if (lock) return held();
    second();
    return undefined;
  });
  await navigator.locks.request(NAME, held);
}

function byChannel(first, second) {
  const channel = new BroadcastChannel(NAME);
  let open = true;
  const timer = setTimeout(() => {
    if (!open) return;
    channel.addEventListener("message", ({ data }) => {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has none
      if (data === "who") channel.postMessage("here");
    });
    first();
  }, ANSWER_WITHIN_MS);
  channel.addEventListener("message", ({ data }) => {
    if (data !== "here" || !open) return;
    open = false;
    clearTimeout(timer);
    second();
  });
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has none
  channel.postMessage("who");
}
