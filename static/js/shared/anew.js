/**
 * Reloads a page that the browser restores from memory (Back, Forward): it may belong to an ended
 * sign-in, and browsers restore only parts of a form. Some browsers restore even pages that were
 * sent with `no-store`.
 */

addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  document.documentElement.hidden = true;
  // not reload(), which sends a form again and restores the contents of fields
  location.replace(document.body.dataset.anew ?? location.pathname + location.search);
});
