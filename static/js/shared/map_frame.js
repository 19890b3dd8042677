/**
 * Loads the map of a page after the page itself: Leaflet and the map's modules are large, so
 * nothing else waits for them, or for their styles.
 */

import { later } from "./later.js";

/**
 * The RideMap of an element that templates/booking/_map.html wrote; null when the page has none, or
 * when it could not be loaded: pages work without their map.
 */
export async function openMap(frame) {
  if (!frame) return null;
  try {
    const [{ RideMap }] = await Promise.all([
      later(() => import("./map.js"), "map"),
      library(frame.dataset.library),
    ]);
    window[frame.dataset.make]();
    return new RideMap(frame);
  } catch (problem) {
    noMap(frame, problem);
    return null;
  }
}

/** Log why there is no map, and show the text of `data-failed` in its place, if there is one. */
export function noMap(frame, problem) {
  console.warn("There is no map:", problem);
  if (!frame?.dataset.failed || frame.querySelector(".map-none")) return;
  const words = document.createElement("p");
  words.className = "map-none center grid";
  words.setAttribute("role", "status");
  words.textContent = frame.dataset.failed;
  frame.append(words);
}

function library(address) {
  return new Promise((loaded, failed) => {
    const script = document.createElement("script");
    script.src = address;
    script.addEventListener("load", loaded);
    script.addEventListener("error", () => failed(new Error(`${address} did not come`)));
    document.head.append(script);
  });
}
