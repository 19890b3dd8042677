/**
 * The form of the property's logo and colour: refuses a file that is too large before it is sent. A
 * chosen logo unticks "remove the logo", and a chosen colour ticks "own colour".
 */

import { watchCopies } from "../shared/copy.js";

const form = document.querySelector("[data-face]");
const logo = form.querySelector("[name=logo]");

logo.addEventListener("change", () => {
  const file = logo.files[0];
  const tooLarge = file && file.size > Number(logo.dataset.most);
  logo.setCustomValidity(tooLarge ? logo.dataset.tooLarge : "");
  logo.reportValidity();
  const remove = form.querySelector("[name=remove_logo]");
  if (file && remove) {
    remove.checked = false;
  }
});
form.querySelector("[name=colour]").addEventListener("input", () => {
  form.querySelector("[name=own_colour]").checked = true;
});
watchCopies(form);
