/** The property's face: a file that is too large is refused before it is sent, a chosen colour is
 * meant to be used, and a new logo to be shown. */

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
