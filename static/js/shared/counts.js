/** Texts with a count, in the plural form of the page's language. */

/**
 * The text for a number, from the forms of its language: {"one": "{n} car", "other": "{n} cars"}.
 * The language's plural rule chooses the form.
 */
export function counted(forms, n, language = document.documentElement.lang) {
  const form = new Intl.PluralRules(language).select(n);
  return (forms[form] ?? forms.other).replace("{n}", n);
}
