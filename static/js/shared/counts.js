/** Texts with a count, whose words agree with it as the page's language has it. */

/**
 * The text for a number, from the forms of its language: {"one": "{n} car", "other": "{n} cars"}.
 * A language's own rule says which form a number takes.
 */
export function counted(forms, n, language = document.documentElement.lang) {
  const form = new Intl.PluralRules(language).select(n);
  return (forms[form] ?? forms.other).replace("{n}", n);
}
