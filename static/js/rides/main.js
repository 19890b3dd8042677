/** The tracking page of a ride: its map and its own poll. */

import { onKey } from "../shared/keys.js";
import { openMap } from "../shared/map_frame.js";
import { Poller } from "../shared/poller.js";
import { openPanel, rideKeys } from "./keys.js";
import { RideView } from "./view.js";

const root = document.querySelector("[data-ride]");
const guest = () => root.querySelector("[data-from=guest]").textContent;
// the title without the headline and the guest, with which it begins: that it is a demo
const headline = root.querySelector("#headline").textContent.trim();
const restOfTitle = document.title.slice(`${headline} · ${guest()}`.length);
document.documentElement.classList.add("scripted");

const view = new RideView(root, {
  changed: ({ headline: now }) => (document.title = `${now} · ${guest()}${restOfTitle}`),
});
// so that a reload shows the page instead of sending a form again
history.replaceState(null, "", view.address + location.hash);
view.start();
if (location.hash.startsWith("#action-")) openPanel(root, location.hash.slice("#action-".length));
openMap(root.querySelector("[data-map]")).then((map) => {
  if (!map) return;
  view.drawOn(map);
  map.onAll(() => view.showAll());
});

const poller = new Poller(`${view.address}/snapshot.json`, {
  waitMs: view.intervalMs,
  got: (body, answer) => {
    view.take(body, answer);
    return view.snapshot.stop ? null : view.snapshot.poll_ms;
  },
  failed: (status) => {
    view.miss();
    // a restored database does not have this ride: its page says so
    if (status === 409) location.assign(view.address);
    return status === 404 || status === 409 ? "stop" : undefined;
  },
});
if (!view.snapshot.stop) poller.start();
document.getElementById("form-error")?.focus();
rideKeys(() => root);
onKey("m", () => view.showAll());
onKey("Escape", () => location.assign("/"));
