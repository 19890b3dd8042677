/** Posts a booking form, once or more: the same bytes, so the same form token, and at most one order. No page here. */

const PATIENCE_MS = 15_000;
const AGAIN_AFTER_MS = [1_000, 3_000]; // a lost answer is asked for again, twice

/**
 * What became of it: {kind: "made", order, html}, {kind: "before", order, html} for a form
 * that had made another order already, {kind: "form", html} with what is wrong, {kind: "limited"},
 * {kind: "out"} for who is signed out, {kind: "refused"} for a page too old, {kind: "lost"} when nobody knows.
 * `lost()` is called before each further try.
 */
export async function send(url, data, lost = () => {}) {
  for (const wait of [...AGAIN_AFTER_MS, null]) {
    const told = await once(url, data);
    if (told.kind !== "lost" || wait === null) return told;
    lost();
    await new Promise((done) => setTimeout(done, wait));
  }
  return { kind: "lost" };
}

async function once(url, data) {
  try {
    const answer = await fetch(url, {
      method: "POST",
      body: data,
      headers: { Accept: "application/json" },
      credentials: "same-origin",
      redirect: "manual",
      keepalive: true, // who goes to another page has pressed all the same
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    return read(answer.status, await answer.json().catch(() => ({})));
  } catch {
    return { kind: "lost" };
  }
}

function read(status, body) {
  if (body.order && status === 409) return { kind: "before", ...body };
  if (body.order) return { kind: "made", ...body };
  if (body.html) return { kind: "form", ...body };
  if (status === 429) return { kind: "limited" };
  if (status === 401 || status === 0) return { kind: "out" };
  return { kind: status >= 400 && status < 500 ? "refused" : "lost" };
}
