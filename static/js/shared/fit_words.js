/**
 * What an empty field says, as far as it has room for it: all of it, the short words of its
 * `data-short`, or nothing. Half a word says less than none.
 */
export function fitWords(field) {
  const ways = [field.placeholder, field.dataset.short, ""];
  const pen = document.createElement("canvas").getContext("2d");
  new ResizeObserver(() => {
    const style = getComputedStyle(field);
    const written = getComputedStyle(field, "::placeholder");
    // not its `font`: that is empty where a part of it has no short form
    pen.font = `${written.fontWeight} ${written.fontSize} ${written.fontFamily}`;
    const padding = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight);
    const room = field.clientWidth - padding;
    const words = ways.find((each) => pen.measureText(each).width <= room) ?? "";
    if (field.placeholder !== words) field.placeholder = words;
  }).observe(field);
}
