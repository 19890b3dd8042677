/**
 * The kiosk's document: reads what it holds, and starts the kiosk once it is the only one: a second
 * one would show the visit of another guest, or take two orders. Web Locks tell where the address
 * is secure, a BroadcastChannel elsewhere.
 */

import { make } from "./el.js";
import { Kiosk } from "./kiosk.js";

const NAME = "ridedash-kiosk";
const ANSWER_WITHIN_MS = 300;

const root = document.body;
const data = JSON.parse(root.querySelector("[data-kiosk]").textContent);

(navigator.locks ? byLock : byChannel)(start, wait);

function start() {
  const kiosk = new Kiosk(data, root);
  kiosk.start();
  // the stage of a demo leads a visit by references of its own: one order, however often
  document.addEventListener("ridedash:visit", ({ detail }) => Object.assign(kiosk.visit, detail));
}

/** Say that the kiosk is open already. */
function wait() {
  const words = data.words[data.kiosk.default_language] ?? data.words.en;
  root.dataset.screen = "second";
  root
    .querySelector("[data-stage]")
    .replaceChildren(
      make(
        "div",
        "k-words",
        make("h1", "k-question", words.open_already),
        make("p", "k-lead", words.open_already_next),
      ),
    );
}

/**
 * Call `first()` once this is the only document, and `second()` while it is not. The lock is held
 * as long as the document lives; who comes second waits for it.
 */
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

/** The same without a lock: whoever is there answers within ANSWER_WITHIN_MS. */
function byChannel(first, second) {
  const channel = new BroadcastChannel(NAME);
  let open = true;
  const timer = setTimeout(() => {
    if (!open) return;
    channel.addEventListener("message", (event) => {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has none
      if (event.data === "who") channel.postMessage("here");
    });
    first();
  }, ANSWER_WITHIN_MS);
  channel.addEventListener("message", (event) => {
    if (event.data !== "here" || !open) return;
    open = false;
    clearTimeout(timer);
    second();
  });
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has none
  channel.postMessage("who");
}
