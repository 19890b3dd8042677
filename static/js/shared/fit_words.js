/**
 * Fits the placeholder of a field to its width: the whole text, the shorter one in `data-short`, or
 * none, but never a part of a word.
 */
export function fitWords(field) {
  const ways = [field.placeholder, field.dataset.short, ""];
  const pen = document.createElement("canvas").getContext("2d");
  new ResizeObserver(() => {
    const style = getComputedStyle(field);
    const written = getComputedStyle(field, "::placeholder");
    // not `font`, which is empty if a part of it has no short form
    pen.font = `${written.fontWeight} ${written.fontSize} ${written.fontFamily}`;
    const padding = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight);
    const room = field.clientWidth - padding;
    const words = ways.find((each) => pen.measureText(each).width <= room) ?? "";
    if (field.placeholder !== words) field.placeholder = words;
  }).observe(field);
}
