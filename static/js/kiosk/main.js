/**
 * The entry of the kiosk's document: reads its JSON, and starts the kiosk once no other document of
 * the kiosk is open on this device.
 */

import { alone } from "./alone.js";
import { make } from "./el.js";
import { Kiosk } from "./kiosk.js";

const root = document.body;
const data = JSON.parse(root.querySelector("[data-kiosk]").textContent);

alone(
  () => {
    const kiosk = new Kiosk(data, root);
    kiosk.start();
    // the stage of a demo sets the visit's id and form token, so that a visit which it repeats
    // after an interruption makes no second order
    document.addEventListener("ridedash:visit", ({ detail }) => Object.assign(kiosk.visit, detail));
  },
  () => {
    const words = data.words[data.kiosk.default_language] ?? data.words.en;
    root.dataset.screen = "second";
    root
      .querySelector("[data-stage]")
      .replaceChildren(
        make(
          "div",
          "stack k-words gap-3",
          make("h1", "k-question heavy title", words.open_already),
          make("p", "k-lead", words.open_already_next),
        ),
      );
  },
);
