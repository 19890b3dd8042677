/** The line that says how far the day of a new demo is: renewed every second, gone at its end. */

import { Poller } from "../shared/poller.js";

const EVERY_MS = 1_000;
const line = document.querySelector("[data-day]");

new Poller("/demo/day.json", {
  waitMs: EVERY_MS,
  got(body) {
    if (body?.words) {
      line.querySelector("[data-day-words]").textContent = body.words;
      return EVERY_MS;
    }
    line.remove();
    return null;
  },
  failed: () => "again",
}).start();
