/**
 * Ages and running timers as text, from patterns that the page supplies. No function reads a clock,
 * and only patternsOf() and span() read the page.
 */

const JUST_NOW_S = 5;

/**
 * `patterns` is {now, s, m, h} with {n} for the number; base.html has them in data-age-…
 * attributes.
 */
export function ageText(seconds, patterns) {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < JUST_NOW_S) return patterns.now;
  if (whole < 60) return patterns.s.replace("{n}", whole);
  if (whole < 3600) return patterns.m.replace("{n}", Math.floor(whole / 60));
  return patterns.h.replace("{n}", Math.floor(whole / 3600));
}

/** Minutes and seconds, 0:42, 12:05; from an hour on "1 h 25 min", in the words of the page. */
export function span(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const hours = document.body.dataset.ageHm;
  if (whole >= 3600 && hours)
    return hours
      .replace("{h}", Math.floor(whole / 3600))
      .replace("{m}", Math.floor((whole % 3600) / 60));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/**
 * The text of a timer {pattern, since, until, speed} at an instant in ms. In the pattern, {up} is
 * the time since the start, {down} the time until the end, {total} the time between them. A timer
 * counts `speed` seconds per second, because a demo's clock may run fast. After its end it shows
 * only the time since the start (3:12, not 3:12 of 1:30), unless the pattern has {down}, which then
 * is 0:00.
 */
export function timerText({ pattern, since, until, speed = 1 }, nowMs) {
  const began = Date.parse(since);
  const ends = Date.parse(until || "");
  const up = span(((nowMs - began) * speed) / 1000);
  if (nowMs > ends && !pattern.includes("{down}")) return up;
  return pattern
    .replace("{up}", () => up)
    .replace("{down}", () => span(((ends - nowMs) * speed) / 1000))
    .replace("{total}", () => span(((ends - began) * speed) / 1000));
}

/** fresh, aging, stale or lost, by the rule of the server (rides.tracking.intervals.freshness). */
export function freshness(ageS, intervalS) {
  if (!Number.isFinite(ageS)) return "stale";
  if (ageS <= Math.max(2 * intervalS, 10)) return "fresh";
  if (ageS > 300) return "lost";
  return ageS > 60 ? "stale" : "aging";
}

/** The patterns for ages that a page has on its body. */
export function patternsOf(body) {
  return {
    now: body.dataset.ageNow,
    s: body.dataset.ageS,
    m: body.dataset.ageM,
    h: body.dataset.ageH,
  };
}
