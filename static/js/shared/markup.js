/**
 * The one place that makes nodes of markup: of pages, and parts of pages, of our own server, which
 * escapes the facts in them. Scripts in such markup don't run.
 */

/** The document of a page, or of a file of another kind. */
export function parsed(markup, kind = "text/html") {
  return new DOMParser().parseFromString(markup, kind);
}

/** The nodes of a part of a page. */
export function nodesOf(markup) {
  return [...parsed(markup).body.childNodes];
}
