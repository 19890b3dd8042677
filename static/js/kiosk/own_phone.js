/**
 * Reloads the page on a guest's own phone while it waits for the result of a press, as it does
 * without scripts. It is the only script of these pages.
 */

const AGAIN_MS = 2_000;

setTimeout(() => location.reload(), AGAIN_MS);
