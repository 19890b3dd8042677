/**
 * Files that are not loaded with a page, but when they are needed: its head lists them as
 * <link rel="later"> with their purpose (data-for).
 */

/**
 * Load all files for `what` (data-for) at the same time. Resolves to the module of `load()` once
 * the styles are loaded too.
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
