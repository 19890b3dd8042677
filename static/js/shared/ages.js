/** How long ago, and running times: pure text from patterns that the page supplies. No DOM, no clock of its own. */

const JUST_NOW_S = 5;

/** `patterns` is {now, s, m, h} with {n} for the number, as base.html carries them in data-age-…. */
export function ageText(seconds, patterns) {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < JUST_NOW_S) return patterns.now;
  if (whole < 60) return patterns.s.replace("{n}", whole);
  if (whole < 3600) return patterns.m.replace("{n}", Math.floor(whole / 60));
  return patterns.h.replace("{n}", Math.floor(whole / 3600));
}

/** 0:42, 12:05 */
export function span(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/** A timer {pattern, since, until} at an instant (ms): {up} since, {down} until, {total} between. */
export function timerText(timer, nowMs) {
  const since = Date.parse(timer.since);
  const until = Date.parse(timer.until || "");
  return timer.pattern
    .replace("{up}", () => span((nowMs - since) / 1000))
    .replace("{down}", () => span((until - nowMs) / 1000))
    .replace("{total}", () => span((until - since) / 1000));
}

/** fresh, aging, stale or lost: the same rule as the server's (lifecycle.freshness). */
export function freshness(ageS, intervalS) {
  if (!Number.isFinite(ageS)) return "stale";
  if (ageS <= Math.max(2 * intervalS, 10)) return "fresh";
  if (ageS > 300) return "lost";
  return ageS > 60 ? "stale" : "aging";
}

/** The patterns that a page carries on its body. */
export function patternsOf(body) {
  return {
    now: body.dataset.ageNow,
    s: body.dataset.ageS,
    m: body.dataset.ageM,
    h: body.dataset.ageH,
  };
}
