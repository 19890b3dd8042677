/**
 * What an empty field says, as far as it has room for it: all of it, the short words of its
 * `data-short`, or nothing. Half a word says less than none.
 */
export function fitWords(field) {
  const ways = [field.placeholder, field.dataset.short, ""];
  const pen = document.createElement("canvas").getContext("2d");
  new ResizeObserver(() => {
    const style = getComputedStyle(field);
    pen.font = style.font;
    const padding = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight);
    const cross = field.type === "search" ? parseFloat(style.fontSize) : 0;
    const room = field.clientWidth - padding - cross;
    const words = ways.find((each) => pen.measureText(each).width <= room) ?? "";
    if (field.placeholder !== words) field.placeholder = words;
  }).observe(field);
}
