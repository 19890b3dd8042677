/**
 * A page that comes back from the browser's memory of pages (Back, Forward) is loaded anew: it may
 * belong to an ended sign-in, and a browser restores only a part of a form. Browsers keep no page
 * with `no-store` that came over https; some keep those that came over plain http.
 */

addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  document.documentElement.hidden = true;
  // not reload(): that sends a form again, and restores what was in the fields
  location.replace(document.body.dataset.anew ?? location.pathname + location.search);
});
