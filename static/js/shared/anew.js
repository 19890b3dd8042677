/**
 * Reloads a page that the browser restores from memory (Back, Forward): it may belong to an ended
 * sign-in, and browsers restore only parts of a form. Over https, browsers don't keep pages with
 * `no-store`; over plain http some do.
 */

addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  document.documentElement.hidden = true;
  // not reload(), which sends a form again and restores the contents of fields
  location.replace(document.body.dataset.anew ?? location.pathname + location.search);
});
