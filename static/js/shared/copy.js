/** Copy a text to the clipboard; resolves to whether that worked (it needs a secure context). */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
