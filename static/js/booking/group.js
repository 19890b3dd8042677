/** The page of a group of rides: polls its markup and replaces it when it changes. */

import { nodesOf } from "../shared/markup.js";
import { Poller } from "../shared/poller.js";

const box = document.querySelector("[data-group-cars]");
let shown = "";

new Poller(box.dataset.groupCars, {
  waitMs: Number(box.dataset.waitMs),
  got: (body) => {
    if (body && body.html !== shown) {
      shown = body.html;
      put(shown);
    }
    return body?.wait_ms ?? Number(box.dataset.waitMs);
  },
  failed: (status) => {
    if (status === 409) location.reload(); // a restored database lacks it: the page says so
    return [404, 409].includes(status) ? "stop" : "";
  },
}).start();

function put(html) {
  const links = () => [...box.querySelectorAll("a")];
  const at = links().indexOf(document.activeElement);
  box.replaceChildren(...nodesOf(html));
  links()[at]?.focus({ preventScroll: true });
}
