/**
 * What requests hear about the sign-in. On staff pages signed_in.js listens; elsewhere nobody does.
 */

/** An answer was 401: no one is signed in. Returns whether the page takes care of that. */
export function tellEnded() {
  return !document.dispatchEvent(new CustomEvent("ridedash:ended", { cancelable: true }));
}

/** A poll was answered: the sign-in holds. */
export function tellHeld() {
  document.dispatchEvent(new CustomEvent("ridedash:held"));
}

/** Run `act(csrf)` when the person of this page has signed in again; `signal` ends that. */
export function onSignedIn(act, signal) {
  const heard = ({ detail: { csrf } }) => act(csrf);
  document.addEventListener("ridedash:signed-in", heard, { signal });
}
