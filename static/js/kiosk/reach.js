/**
 * Sizes in millimetres and the part of the screen that everybody reaches. CSS gets
 * them as custom properties; everything that is touched or read is a multiple of --mm.
 */

const INCH_MM = 25.4;
const GUESSED_MM = INCH_MM / 96; // a screen that nobody has measured yet
const REACH = { low: 380, top: 1220 }; // mm above the floor: EN 301 549 8.3.2, ADA 308
const LOWERED = { low: 700, top: 1100 };
const KEY_MM = 22; // with the gap to the next key
const MOST_COLUMNS = 10;
// widths from which a bar has words for all; a low screen has less room for more
const ROOMY_MM = { landscape: 420, portrait: 240 };
const ROOMY_WITH_AIDS_MM = { landscape: 600, portrait: 240 };

/**
 * What a screen of `width` by `height` px can hold: `mm` px in a millimetre, `top` and `low` px of
 * its upper and lower edge that no control may use, columns of its keyboard, and its layout.
 * `aids` are the guest's.
 */
export function measures({ width, height, mmPerPx, bottomMm, aids }) {
  const lower = aids.has("lower");
  const size = mmPerPx > 0 ? mmPerPx : GUESSED_MM;
  const band = lower ? LOWERED : REACH;
  const known = Number.isFinite(bottomMm);
  const above = (mm) => (mm - bottomMm) / size; // px above the screen's lower edge
  const layout = width >= height ? "landscape" : "portrait";
  const widthMm = width * size;
  const roomyMm = lower || aids.has("large") ? ROOMY_WITH_AIDS_MM : ROOMY_MM;
  return {
    mm: 1 / size,
    top: known ? clamp(height - above(band.top), height / 2) : 0,
    low: known ? clamp(above(band.low), height / 2) : 0,
    columns: Math.min(MOST_COLUMNS, Math.floor((widthMm - 4) / KEY_MM)),
    layout,
    roomy: widthMm >= roomyMm[layout],
    tall: height * size >= 260,
    typed: Math.min(width, height) * 0.03, // px: a large screen has larger texts than it must
  };
}

/** Nothing below 0, and never more than leaves half of the screen to use. */
function clamp(px, most) {
  return Math.round(Math.min(Math.max(px, 0), most));
}

/** Give a document these sizes and the guest's aids. */
export function apply(root, found, aids) {
  root.style.setProperty("--mm", `${found.mm}px`);
  root.style.setProperty("--reach-top", `${found.top}px`);
  root.style.setProperty("--reach-low", `${found.low}px`);
  root.style.setProperty("--columns", String(found.columns));
  root.style.setProperty("--typed", `${found.typed}px`);
  root.dataset.layout = found.layout;
  root.classList.toggle("is-small", !found.roomy);
  root.classList.toggle("is-tall", found.tall);
  for (const aid of ["large", "lower", "contrast"])
    root.classList.toggle(`is-${aid}`, aids.has(aid));
}

/** The shades of the property's colour (ridedash/face/colour.py), where it has one. */
export function paint(root, found) {
  if (!found) return;
  root.style.setProperty("--k-light", found.light);
  root.style.setProperty("--k-dark", found.dark);
  root.style.setProperty("--k-band", found.band);
  root.style.setProperty("--k-band-ink", found.ink);
}
