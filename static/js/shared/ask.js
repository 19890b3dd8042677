/**
 * Requests to our own server. The promises of ask() and askQuietly() never reject: they resolve to
 * {ok, status, body}, but not while a button is pressed, because showing the answer could move it.
 * Without a usable answer, status is 0; `stopped` says then whether `signal` aborted the request.
 */

import { timeLimit } from "./clocks.js";
import { tellEnded } from "./ended.js";
import { released } from "./press.js";

const PATIENCE_MS = 15_000;

/** GET a JSON route with these parameters; empty ones are left out. `signal` aborts the request. */
export function ask(path, params, signal) {
  return answered(`${path}?${filled(params)}`, { signal });
}

/**
 * POST the parameters, including the CSRF token, so that words that name a person are not in a URL.
 */
export function askQuietly(path, params, signal) {
  return answered(path, { method: "POST", body: filled(params), signal });
}

function filled(params) {
  return new URLSearchParams(
    Object.entries(params).filter(
      ([, value]) => value !== null && value !== undefined && value !== "",
    ),
  );
}

/** The fields of a form and the button that sends it; older FormData takes no button. */
export function formData(form, submitter) {
  const data = new FormData(form);
  if (submitter?.name) data.append(submitter.name, submitter.value);
  return data;
}

/**
 * The body of an answer, parsed as JSON; null if it is not JSON. Rejects if the body breaks off,
 * because its contents are unknown.
 */
export async function bodyOf(answer) {
  const text = await answer.text();
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** A signal that aborts a request after PATIENCE_MS, or when `signal` aborts, if one is given. */
export function patience(signal) {
  return timeLimit(PATIENCE_MS, signal);
}

async function answered(address, how) {
  const answer = await fetched(address, how);
  await released();
  return answer;
}

async function fetched(address, { signal, ...how }) {
  try {
    const answer = await fetch(address, {
      ...how,
      headers: { Accept: "application/json" },
      credentials: "same-origin",
      cache: "no-store",
      signal: patience(signal),
    });
    const body = await bodyOf(answer);
    if (answer.status === 401) tellEnded();
    // a proxy's page says nothing about the request, whatever its status is
    if (answer.ok && !body) return { ok: false, status: 0, body: {} };
    return { ok: answer.ok, status: answer.status, body: body ?? {} };
  } catch (error) {
    return { ok: false, status: 0, body: {}, stopped: error.name === "AbortError" };
  }
}
