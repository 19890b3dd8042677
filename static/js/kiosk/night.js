/** By night a kiosk is dark, so that it does not glare in a dim lobby. */

const DARK = "(prefers-color-scheme: dark)";
const FROM_HOUR = 19;
const TO_HOUR = 7;

/** Show the dark colours at night; by day those that the device prefers. */
export function dimAt(hour) {
  const night = hour >= FROM_HOUR || hour < TO_HOUR;
  for (const media of darkMedia()) media.mediaText = night ? "all" : DARK;
}

let found = null; // the queries of the rules for dark screens, once the style sheets are loaded

function darkMedia() {
  found ??= [...document.styleSheets]
    .flatMap((sheet) => [...sheet.cssRules])
    .filter(({ media }) => media?.mediaText === DARK)
    .map(({ media }) => media);
  return found;
}
