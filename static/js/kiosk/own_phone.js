/**
 * Reloads the page on a guest's own phone every two seconds while the result of a press is awaited.
 * Without scripts a meta element does so. It is the only script of these pages.
 */

const AGAIN_MS = 2_000;

setTimeout(() => location.reload(), AGAIN_MS);
