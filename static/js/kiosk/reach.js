/**
 * Computes sizes in millimetres, and the part of the screen that everybody can reach. CSS gets them
 * as custom properties; the sizes of controls and texts are multiples of --mm.
 */

const INCH_MM = 25.4;
const GUESSED_MM = INCH_MM / 96; // for a screen that was not measured
const REACH = { low: 380, top: 1220 }; // mm above the floor: EN 301 549 8.3.2, ADA 308
const LOWERED = { low: 700, top: 1100 };
const NARROW_MM = 230; // below this width, keys are 15 mm high
// minimum widths at which all buttons of the bar have words; a landscape screen, which is low,
// needs more
const ROOMY_MM = { landscape: 420, portrait: 240 };
const ROOMY_WITH_AIDS_MM = { landscape: 600, portrait: 240 };

/**
 * The measures of a screen of `width` by `height` px: `mm` is px per millimetre, `top` and `low`
 * are the px at its upper and lower edge that no control may use; also its layout. `aids` are the
 * guest's.
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
    narrow: widthMm < NARROW_MM,
    layout,
    roomy: widthMm >= roomyMm[layout],
    tall: height * size >= 260,
    // px; on a large screen texts are larger than the minimum
    typed: Math.min(width, height) * 0.03,
  };
}

/** Round px, limited to 0 up to `most`: neither edge takes more than half of the screen. */
function clamp(px, most) {
  return Math.round(Math.min(Math.max(px, 0), most));
}

/** Set the result of measures() and the guest's aids on a document. */
export function apply(root, found, aids) {
  root.style.setProperty("--mm", `${found.mm}px`);
  root.style.setProperty("--reach-top", `${found.top}px`);
  root.style.setProperty("--reach-low", `${found.low}px`);
  root.style.setProperty("--typed", `${found.typed}px`);
  root.dataset.layout = found.layout;
  root.classList.toggle("is-small", !found.roomy);
  root.classList.toggle("is-narrow", found.narrow);
  root.classList.toggle("is-tall", found.tall);
  for (const aid of ["large", "lower", "contrast"])
    root.classList.toggle(`is-${aid}`, aids.has(aid));
}

/**
 * Set what the property has chosen: the shades of its colour (ridedash/face/colour.py), and its
 * typeface. A picture is dark, and its words are white.
 */
export function paint(root, { shades, typeface, picture }) {
  root.classList.toggle("has-picture", Boolean(picture));
  if (typeface) root.style.setProperty("--k-display", typeface);
  if (!shades) return;
  root.style.setProperty("--k-light", shades.light);
  root.style.setProperty("--k-dark", shades.dark);
  root.style.setProperty("--k-band", shades.band);
  root.style.setProperty("--k-band-ink", shades.ink);
  root.style.setProperty("--k-deep", shades.deep);
}
