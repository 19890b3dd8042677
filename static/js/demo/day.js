/** The progress of making a new demo's rides: updated every second, removed at the end. */

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
