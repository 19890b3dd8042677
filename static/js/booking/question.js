/**
 * A field whose text the server reads has been left by a key: its question, if it still comes, gets
 * the focus, unless the user has gone on by then. Nobody has to wait for the answer in the field,
 * where the letters of the next one would land.
 */

const GOES_ON = ["keydown", "pointerdown", "input"];

/**
 * `asker` is what asks about the field: `settle()` resolves once its text has been read, `offered`
 * is what Enter leads to, or null.
 */
export async function leadBack(asker, signal) {
  let gone = false;
  const going = new AbortController();
  const go = () => (gone = true);
  for (const kind of GOES_ON)
    document.addEventListener(kind, go, { capture: true, signal: going.signal });
  await new Promise((left) => setTimeout(left)); // by then the field has been left
  await asker.settle();
  going.abort();
  const { offered } = asker;
  if (gone || signal?.aborted || document.activeElement === asker.field || !offered) return;
  if (!offered.parentElement.contains(document.activeElement)) offered.focus();
}
