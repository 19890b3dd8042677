/**
 * Files that a page needs only after a press: it names them in its head as <link rel="later">, with
 * what they are for, and nothing of them is loaded with the page.
 */

/**
 * Load all those for `what` (data-for) at once, then the module of `load()`, which may rely on the
 * styles.
 */
export async function later(load, what) {
  const links = [...document.head.querySelectorAll(`link[rel="later"][data-for="${what}"]`)];
  const styles = links.filter((link) => link.href.endsWith(".css")).map((link) => styled(link));
  for (const link of links) if (link.href.endsWith(".js")) link.rel = "modulepreload";
  const [module] = await Promise.all([load(), ...styles]);
  return module;
}

/** A style sheet that did not come costs the looks alone. */
function styled(link) {
  return new Promise((done) => {
    for (const end of ["load", "error"]) link.addEventListener(end, done);
    link.rel = "stylesheet";
  });
}
