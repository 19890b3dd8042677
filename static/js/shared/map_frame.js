/**
 * Makes the map of a page once the page itself is there: Leaflet and the map's own modules weigh
 * more than all other scripts together, and nothing but the map waits for them, nor for its styles.
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

/** Say in its place that a map, or what draws on it, did not come. */
export function noMap(frame, problem) {
  console.warn("There is no map:", problem);
  if (!frame?.dataset.failed || frame.querySelector(".map-none")) return;
  const words = document.createElement("p");
  words.className = "map-none";
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
