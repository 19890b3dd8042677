/**
 * Posts a booking form, and repeats it when there is no answer. The same bytes have the same form
 * token, so that no order is made twice. This module does not depend on a page.
 */

import { bodyOf } from "../shared/ask.js";
import { tellEnded } from "../shared/ended.js";

const PATIENCE_MS = 15_000;
const AGAIN_AFTER_MS = [1_000, 3_000]; // waits before the two retries

/**
 * Send the form. Resolves to the result: {kind: "made", order, html}; {kind: "before", order, html}
 * for a form that made another order before; {kind: "form", html} with errors; {kind: "limited"};
 * {kind: "out"} when signed out; {kind: "refused"} for another 4xx status, such as that for an
 * outdated page; {kind: "lost"} when the outcome is unknown. `lost()` is called before each retry.
 */
export async function send(url, data, lost = () => {}) {
  let result = await once(url, data);
  for (const wait of AGAIN_AFTER_MS) {
    if (result.kind !== "lost") break;
    lost();
    await new Promise((done) => setTimeout(done, wait));
    result = await once(url, data);
  }
  return result;
}

async function once(url, data) {
  try {
    const answer = await fetch(url, {
      method: "POST",
      body: data,
      headers: { Accept: "application/json" },
      credentials: "same-origin",
      redirect: "manual",
      keepalive: true, // sent even if the user opens another page
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    return read(answer.status, (await bodyOf(answer)) ?? {});
  } catch {
    return { kind: "lost" };
  }
}

function read(status, body) {
  if (body.order && status === 409) return { kind: "before", ...body };
  if (body.order) return { kind: "made", ...body };
  if (body.html) return { kind: "form", ...body };
  if (status === 429) return { kind: "limited" };
  // 0: a redirect that was not followed; it leads to the sign-in page
  if (status === 401 || status === 0) {
    tellEnded();
    return { kind: "out" };
  }
  return { kind: status >= 400 && status < 500 ? "refused" : "lost" };
}
