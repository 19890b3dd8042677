/**
 * The key and the buttons of the lens. The lens itself is loaded when it is opened for the first
 * time on a page, or at once if it was left open.
 */

import { onKey } from "../shared/keys.js";
import { later } from "../shared/later.js";
import { kept } from "./lens_settings.js";

let parts = null; // the modules of the drawer and of elements, once they are requested

/** The modules of the lens; null if they did not come: the next press requests them again. */
async function loaded() {
  parts ??= later(() => Promise.all([import("./drawer.js"), import("./elements.js")]), "lens");
  try {
    return await parts;
  } catch {
    parts = null;
    return null;
  }
}

/** Open or close the drawer once the lens is loaded: see setOpen() in drawer.js. */
async function toggleDrawer(open) {
  const [drawer] = (await loaded()) ?? [];
  drawer?.setOpen(open);
}

async function point() {
  if (!parts) return;
  const [, elements] = (await loaded()) ?? [];
  elements?.toggle();
}

for (const button of document.querySelectorAll("[data-lens-open]"))
  button.addEventListener("click", () => toggleDrawer());
onKey("~", () => toggleDrawer());
onKey("e", point);
// sent by the stage: {open, at}, with a selector of the fact whose origin is to be shown, or ""
document.addEventListener("ridedash:lens", async ({ detail: { open, at } }) => {
  await toggleDrawer(open);
  const [, elements] = (at && (await loaded())) || [];
  elements?.lookAt(at);
});
if (kept.open) toggleDrawer(true);
