/**
 * Files that a page needs only after a press: its head lists them as <link rel="later"> with their
 * purpose, and they are not loaded with the page.
 */

/**
 * Load all files for `what` (data-for) at once, then the module of `load()`, which may rely on the
 * styles.
 */
export async function later(load, what) {
  const links = [...document.head.querySelectorAll(`link[rel="later"][data-for="${what}"]`)];
  const styles = links.filter((link) => link.href.endsWith(".css")).map((link) => styled(link));
  for (const link of links) if (link.href.endsWith(".js")) link.rel = "modulepreload";
  const [module] = await Promise.all([load(), ...styles]);
  return module;
}

/** Load a style sheet; a missing one only affects the appearance. */
function styled(link) {
  return new Promise((done) => {
    for (const end of ["load", "error"]) link.addEventListener(end, done);
    link.rel = "stylesheet";
  });
}
