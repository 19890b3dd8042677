/** A pasted place that needs no choice: coordinates, a link to a map, a plus code. */

import { ask } from "../shared/ask.js";

/**
 * The place of an end's field that the user left without a choice; null for words, which may mean
 * several places, and if the field was changed meanwhile. All pasted places have digits.
 */
export async function surePlace(trip, end, path) {
  const { input } = trip.ends[end];
  const words = input.value.trim();
  if (!/\p{Nd}/u.test(words) || trip.at(end)) return null;
  const { body } = await ask(path, { q: words, end });
  const typedOn = input.value.trim() !== words || trip.at(end);
  return body.sure && !typedOn ? body.places[0] : null;
}
