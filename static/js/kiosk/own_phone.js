/**
 * A guest's own phone waits for an answer to its press: the page asks again, as it does without
 * scripts. Nothing else of these pages needs one.
 */

const AGAIN_MS = 2_000;

setTimeout(() => location.reload(), AGAIN_MS);
