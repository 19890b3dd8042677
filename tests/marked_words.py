"""Languages for tests: every text is marked with its language, so that a page shows in which
language each of its texts is. "Booked" is "⟨ar⟩Booked" in Arabic.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction

from babel.support import Translations
from flask import Flask

from ridedash.extensions import OFFERED, babel
from ridedash.wording.offered import CatalogueShares, OfferedLanguages

WHOLE = CatalogueShares(guests=Fraction(1), staff=Fraction(1))
GUESTS_ONLY = CatalogueShares(guests=Fraction(1), staff=Fraction(94, 100))
PARTLY = CatalogueShares(guests=Fraction(99, 100), staff=Fraction(1))
READ = CatalogueShares(Fraction(1), Fraction(1), critical=Fraction(1), reviewed=Fraction(1))


class Marked(Translations):  # type: ignore[misc]
    """The English text behind the code of a language."""

    def __init__(self, code: str) -> None:
        super().__init__()
        self.code = code

    def gettext(self, message: str) -> str:
        """One text."""
        return f"⟨{self.code}⟩{message}"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        """A text in the singular or the plural."""
        return f"⟨{self.code}⟩{msgid1 if n == 1 else msgid2}"

    ugettext, ungettext = gettext, ngettext


@contextmanager
def marked_words(
    app: Flask, codes: Sequence[str], figures: CatalogueShares = WHOLE
) -> Iterator[None]:
    """Offer an app in these languages, each of them as far translated as `figures` say."""
    with app.app_context():
        cache, before = babel.domain_instance.cache, app.extensions[OFFERED]
    cached = dict(cache)
    cache |= {(code, "messages"): Marked(code) for code in codes}
    app.extensions[OFFERED] = OfferedLanguages(dict.fromkeys(codes, figures), before.critical)
    try:
        yield
    finally:
        app.extensions[OFFERED] = before
        cache.clear()
        cache |= cached
