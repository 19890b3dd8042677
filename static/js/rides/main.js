/** The tracking page of a ride: its map and its own poll. */

import { onKey } from "../shared/keys.js";
import { openMap } from "../shared/map_frame.js";
import { Poller } from "../shared/poller.js";
import { rideKeys } from "./keys.js";
import { RideView } from "./view.js";

const root = document.querySelector("[data-ride]");
const headline = root.querySelector("#headline").textContent.trim();
// the rest of the title: the guest, and that it is a demo
const restOfTitle = document.title.slice(headline.length);
document.documentElement.classList.add("scripted");

const view = new RideView(root, {
  changed: (snapshot) => (document.title = snapshot.headline + restOfTitle),
});
// so that a reload shows the page instead of sending a form again
history.replaceState(null, "", view.address + location.hash);
const panel =
  location.hash.startsWith("#action-") && document.getElementById(location.hash.slice(1));
if (panel) panel.open = true;
view.start();
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
    if (status === 401) location.assign(`/sign-in?next=${encodeURIComponent(view.address)}`);
    return status === 401 || status === 404 ? "stop" : undefined;
  },
});
if (!view.snapshot.stop) poller.start();
document.getElementById("form-error")?.focus();
rideKeys(() => root);
onKey("m", () => view.showAll());
onKey("Escape", () => location.assign("/"));
