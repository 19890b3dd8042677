/** The page of a new list: says at once that a file is too large, and takes one list at a time. */

const form = document.querySelector("[data-list-new]");
const file = form.querySelector("[type=file]");
const text = form.querySelector("textarea");

// a chosen file and a pasted text are two lists: the later one counts
file.addEventListener("change", () => {
  if (file.files.length) text.value = "";
});
text.addEventListener("input", () => {
  if (text.value) file.value = "";
});
document.getElementById("list-wrong")?.focus();
