/** Questions to our own server. Answers never throw: {ok, status, body}. */

const PATIENCE_MS = 15_000;

/** GET a JSON route with these parameters; empty ones are left out. `signal` stops it. */
export async function ask(path, params, signal) {
  const query = new URLSearchParams(Object.entries(params).filter(([, value]) => value !== null && value !== undefined && value !== ""));
  const limits = [AbortSignal.timeout(PATIENCE_MS), signal].filter(Boolean);
  try {
    const answer = await fetch(`${path}?${query}`, {
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
