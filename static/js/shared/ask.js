/** Questions to our own server. Answers never throw: {ok, status, body}. */

const PATIENCE_MS = 15_000;

/** GET a JSON route with these parameters; empty ones are left out. `signal` stops it. */
export function ask(path, params, signal) {
  return answered(`${path}?${filled(params)}`, { signal });
}

/** POST them instead, the CSRF token among them: words that name a person stand in no address. */
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

async function answered(address, { signal, ...how }) {
  const limits = [AbortSignal.timeout(PATIENCE_MS), signal].filter(Boolean);
  try {
    const answer = await fetch(address, {
      ...how,
      headers: { Accept: "application/json" },
      credentials: "same-origin",
      cache: "no-store",
      signal: AbortSignal.any ? AbortSignal.any(limits) : signal,
    });
    const body = await answer.json().catch(() => ({}));
    return { ok: answer.ok, status: answer.status, body };
  } catch (error) {
    return { ok: false, status: 0, body: {}, stopped: error.name === "AbortError" };
  }
}
