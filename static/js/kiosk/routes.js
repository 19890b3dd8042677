/** Which function draws which screen. */

import { car, meetAt, people } from "./cars.js";
import { asking, check, sending, sorry, unknown } from "./check.js";
import { code, find, who } from "./details.js";
import { place, start, where } from "./screens.js";
import { booked, ride } from "./ticket.js";

/** Each takes the kiosk and gives {question, facts, controls, look, spoken, placed}. */
export const SCREENS = {
  start,
  where,
  place,
  car,
  meet: meetAt,
  people,
  who,
  check,
  code,
  sending,
  asking,
  booked,
  unknown,
  sorry,
  find,
  ride,
};
