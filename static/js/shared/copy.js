/** Puts a text where it can be pasted from; says whether that worked (it needs a secure page). */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
