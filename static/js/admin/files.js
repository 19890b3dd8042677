/** A file that is too large is refused before it is sent. */

/** Watch a file input; `chosen` is called with a file that may be sent. */
export function watchFile(input, chosen) {
  input.addEventListener("change", () => {
    const file = input.files[0];
    const tooLarge = file && file.size > Number(input.dataset.most);
    input.setCustomValidity(tooLarge ? input.dataset.tooLarge : "");
    input.reportValidity();
    if (file && !tooLarge) {
      chosen(file);
    }
  });
}
