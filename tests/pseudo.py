"""Two invented languages for tests, made of the texts in the code.

`en-XA` shows which words never went through a catalogue, and what a long language does to a layout:
⟦Nóó ríídéé fóóúnd⟧. `ar-XB` is written in Arabic letters, from right to left. The names are
Android's. The languages stand in for English and Arabic, so that dates and amounts have a real
locale; no page offers them, and they exist only in the folders of tests.
"""

import os
import re
from collections.abc import Callable
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from babel.messages.catalog import Catalog
from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from flask_babel import Babel

from ridedash.wording.languages import LANGUAGES

ROOT: Final = Path(__file__).parents[1]
METHODS: Final = [("ridedash/**.py", "python"), ("templates/**.html", "jinja2")]
KEYWORDS: Final = DEFAULT_KEYWORDS | {
    "lazy": None,
    "lazy_gettext": None,
    "Counted": (1, 2),
    "count_forms": (1, 2),
}
OPTIONS: Final = {"templates/**.html": {"newstyle_gettext": "true", "trimmed": "true"}}
XA, XB = "en-XA", "ar-XB"
LOCALES: Final = {XA: "en", XB: "ar"}  # whose dates, amounts and direction they borrow
# what a translator leaves as it is: {slot}, %(name)s, %%, and the brackets of an optional part
PRESERVED: Final = re.compile(r"(\{\w+\}|%\(\w+\)[\d.]*[a-z]|%%|[\[\]])")
ACCENTS: Final = str.maketrans("aceiouyzACEIOUYZ", "áçéíóúýžÁÇÉÍÓÚÝŽ")
ARABIC: Final = str.maketrans("abcdefghijklmnopqrstuvwxyz", "ابجدهفغحيژكلمنوپقرستثظوخيز", "")
SHORT: Final = 10  # letters; a shorter text doubles its length


def speak(app: Any, name: str, folder: Path) -> None:
    """Show every page of an app in a pseudo-locale, for every reader."""
    use(app, LOCALES[name], catalogues(name, folder))


def use(app: Any, locale: str, folder: Path | None = None) -> None:
    """Show every page of an app in a locale, with the compiled catalogues of a folder, if any."""
    config = app.extensions["babel"]
    config.locale_selector = lambda: locale
    if folder is not None:
        config.translation_directories = [str(folder)]
    config.instance = Babel()  # else all apps share the one of extensions.py, and its catalogues


def catalogues(name: str, folder: Path) -> Path:
    """A folder with the compiled catalogue of a pseudo-locale."""
    target = folder / name / LOCALES[name] / "LC_MESSAGES/messages.mo"
    if not target.exists():
        target.parent.mkdir(parents=True)
        target.write_bytes(_compiled(name))
    return folder / name


def lengthened(text: str) -> str:
    """The text with accents, two fifths longer (twice as long if short), in ⟦ ⟧."""
    letters = sum(map(str.isalpha, PRESERVED.sub("", text)))
    wanted = round(letters * (1 if letters < SHORT else 0.4))

    def longer(words: str) -> str:
        nonlocal wanted
        made = []
        for letter in words:
            more = 0
            if letter.lower() in "aeiou" and wanted > 0:
                more = min(wanted, 3 if letters < SHORT else 1)
            wanted -= more
            made.append(letter + letter.lower() * more)
        return "".join(made).translate(ACCENTS)

    return f"⟦{_outside_slots(longer, text)}⟧"


def from_the_right(text: str) -> str:
    """The text in Arabic letters, so that it runs from right to left and joins as Arabic does."""
    return _outside_slots(lambda words: words.lower().translate(ARABIC), text)


def _outside_slots(change: Callable[[str], str], text: str) -> str:
    parts = PRESERVED.split(text)
    return "".join(part if n % 2 else change(part) for n, part in enumerate(parts))


@lru_cache
def messages() -> tuple[tuple[str, ...], ...]:
    """All messages of the code: (text,) or (singular, plural)."""
    found = extract_from_dir(
        ROOT, METHODS, OPTIONS, KEYWORDS, directory_filter=_is_source, strip_comment_tags=True
    )
    ids = {each[2] if isinstance(each[2], tuple) else (each[2],) for each in found}
    return tuple(sorted(ids))


def _is_source(folder: str | os.PathLike[str]) -> bool:
    return Path(folder).name in {"ridedash", "templates"} or Path(folder).parent != ROOT


@lru_cache
def _compiled(name: str) -> bytes:
    change = lengthened if name == XA else from_the_right
    catalog = Catalog(locale=LOCALES[name])
    for texts in messages():
        if len(texts) == 1:
            catalog.add(texts[0], change(texts[0]))
        else:
            forms = [texts[0], *[texts[1]] * (catalog.num_plurals - 1)]
            catalog.add(texts, tuple(map(change, forms)))
    made = BytesIO()
    write_mo(made, catalog)
    return made.getvalue()


def letters(code: str) -> str:
    """The letters of a language's translations, and of its own name."""
    text = ROOT / f"translations/{code}/LC_MESSAGES/messages.po"
    written = LANGUAGES[code].own_name
    if text.exists():
        with text.open("rb") as file:
            written += "".join(str(message.string) for message in read_po(file, locale=code))
    return "".join(letter for letter in written if letter.isalpha())
