/**
 * The form of the property's logo and colour. A chosen logo unticks "remove the logo", and a chosen
 * colour ticks "own colour".
 */

import { watchCopies } from "../shared/copy.js";
import { watchFile } from "./files.js";

const form = document.querySelector("[data-face]");

watchFile(form.querySelector("[name=logo]"), () => {
  const remove = form.querySelector("[name=remove_logo]");
  if (remove) {
    remove.checked = false;
  }
});
form.querySelector("[name=colour]").addEventListener("input", () => {
  form.querySelector("[name=own_colour]").checked = true;
});
watchCopies(form);
