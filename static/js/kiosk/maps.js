/** The maps of a screen: shown once a picture of them has loaded, and only where there is room. */

import { fact, make, stillMap } from "./el.js";

const LEAST_MAP_MM = 40; // a map less high than this does not show where to stand

/**
 * A map with its source below; null without a map. It is hidden until one of its pictures has
 * loaded, and removed if one fails to load.
 */
export function mapBox(k, map, label) {
  if (!map) return null;
  const { visit } = k;
  const still = stillMap(map, label);
  const credit = map.credit ? fact(map.credit) : k.t("map_sandbox");
  const box = make("div", "stack k-map-box gap-1", still, make("p", "fine k-map-credit", credit));
  box.classList.toggle("is-waiting", !visit.mapped.has(map));
  const came = () => {
    visit.mapped.add(map);
    box.classList.remove("is-waiting");
  };
  still.addEventListener("load", came, true);
  still.addEventListener("error", () => box.remove(), true);
  return box;
}

/** Remove the map if the other facts leave too little space for it. */
export function fitMap(k, box) {
  if (!box) return;
  const words = box.parentElement;
  const { height } = box.querySelector(".k-map").getBoundingClientRect();
  const over = words.scrollHeight > words.clientHeight + 1;
  if (over || height < LEAST_MAP_MM * k.measures.mm) box.remove();
}
