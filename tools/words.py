"""Updates the translators' files with the texts of the code, and checks them (make words).

`words.py` reads every text of ridedash/ and templates/, brings translations/ up to date and says
what is left to do. `words.py --check` writes nothing and fails if something is wrong:
docs/languages.md 2.
"""

import argparse
import io
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from babel.core import Locale
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir
from babel.messages.frontend import parse_keywords, parse_mapping_cfg
from babel.messages.pofile import PoFileError, read_po, write_po

from ridedash.wording.catalogues import FIGURES
from ridedash.wording.languages import Language, with_catalogues
from ridedash.wording.rules import faults

ROOT: Final = Path(__file__).parent.parent
FOLDER: Final = ROOT / "translations"
TEMPLATE: Final = FOLDER / "messages.pot"
TIER_1: Final = FOLDER / "tier1.txt"
CRITICAL_LIST: Final = FOLDER / "critical.txt"
GLOSSARY: Final = FOLDER / "glossary.md"
FACT: Final = re.compile(r"\{\w+\}|%\(\w+\)[a-z]|\d+")
NOT_CHECKED: Final = "–"  # in the glossary: a word whose translations are not checked
OF_DEMO: Final = "ridedash/demo/", "templates/demo/"  # texts that are only here are the demo's
KEYWORDS: Final = ["lazy", "lazy_pgettext:1c,2", "Counted:1,2", "count_forms:1,2"]
TAG: Final = "T:"  # begins a comment in the code that is meant for translators
MACHINE: Final = "machine"  # the flag of a message whose translation no person has read
CRITICAL: Final = "critical"  # the code's mark of a message about money, safety or a second booking
REVIEWED: Final = "reviewed:"  # begins the comment of a message that a native reader has read
# header lines that change with each run, or that would have only Babel's placeholders
LEFT_OUT: Final = (
    "Project-Id-Version:",
    "Report-Msgid-Bugs-To:",
    "POT-Creation-Date:",
    "PO-Revision-Date:",
    "Last-Translator:",
    "Language-Team:",
    "Generated-By:",
)
# Languages for which Babel's rule differs from CLDR's: for Arabic it has the form `other` before
# `many`, and for Hindi it takes the plural for 0. The order of the forms here is zero, one, two,
# few, many, other.
PLURALS: Final = {
    "hi": "nplurals=2; plural=(n > 1);",
    "ar": "nplurals=6; plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : "
    "n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5);",
}

Key = tuple[str, str]  # context ("" for none) and English text of a message, singular


@dataclass(frozen=True)
class Changes:
    """What an update did to a catalogue: messages that are new, gone, or have other English now."""

    new: int
    gone: int
    changed: int


def key_of(message: Message) -> Key:
    """What tells a message apart from all others."""
    text = message.id if isinstance(message.id, str) else message.id[0]
    return message.context or "", text


def forms(message: Message) -> tuple[str, ...]:
    """The translation, one text for each plural form; () while any of them is missing."""
    texts = (message.string,) if isinstance(message.string, str) else tuple(message.string or ())
    return texts if texts and all(texts) else ()


def messages(catalogue: Catalog) -> Iterator[Message]:
    """The messages without the header."""
    return (message for message in catalogue if message.id)


def extract() -> Catalog:
    """Every text of the code, in the order of files and of lines."""
    about = "# Every text of ridedash. Written by make words; change the code instead."
    template = Catalog(charset="utf-8", header_comment=about, fuzzy=False)
    with (ROOT / "babel.cfg").open() as file:
        methods, options = parse_mapping_cfg(file)
    found = extract_from_dir(
        ROOT,
        methods,
        options,
        keywords=DEFAULT_KEYWORDS | parse_keywords(KEYWORDS),
        comment_tags=(TAG,),
        strip_comment_tags=True,
    )
    for name, line, text, comments, context in sorted(found, key=lambda each: each[:2]):
        template.add(text, None, [(name, line)], auto_comments=comments, context=context)
    return template


def read(code: str) -> Catalog:
    """The catalogue of a language; an empty one if it has none yet.

    Raises babel's PoFileError for a file that is not a catalogue.
    """
    path = po_file(code)
    if not path.exists():
        catalogue = Catalog(locale=code, charset="utf-8", fuzzy=False)
        if code in PLURALS:
            catalogue.mime_headers = [("Plural-Forms", PLURALS[code])]
        return catalogue
    with path.open("rb") as file:
        return read_po(file, locale=code, abort_invalid=True)


def po_file(code: str) -> Path:
    """Where the translations of a language are."""
    return FOLDER / code / "LC_MESSAGES" / "messages.po"


def update(catalogue: Catalog, template: Catalog) -> Changes:
    """Bring a catalogue up to date with the code.

    Where the English changed a little, the translation is kept as fuzzy: nobody has read it beside
    the new English, so no page shows it. Of a demo's texts, which stay English, no such guess is
    kept.
    """
    guests = tier_1()
    before = {key_of(each) for each in messages(catalogue)}
    fuzzy_before = {key_of(each) for each in messages(catalogue) if each.fuzzy}
    catalogue.update(template)
    catalogue.obsolete.clear()
    changed = 0
    for message in messages(catalogue):
        if message.fuzzy and key_of(message) not in fuzzy_before:
            changed += 1
            message.user_comments = _without_review(message)
        if message.fuzzy and message.pluralizable and key_of(message) not in before:
            message.string = ("",) * catalogue.num_plurals  # Babel's guess may lack some forms
        if message.fuzzy and group_of(message, guests) == "demo":
            message.string = ("",) * catalogue.num_plurals if message.pluralizable else ""
        if not forms(message):
            message.flags.discard(MACHINE)
            message.flags.discard("fuzzy")
    after = {key_of(each) for each in messages(catalogue)}
    return Changes(len(after - before), len(before - after), changed)


def is_done(message: Message) -> bool:
    """Whether a message is translated, and its English has not changed since."""
    return bool(forms(message)) and not message.fuzzy


def is_reviewed(message: Message) -> bool:
    """Whether a native reader has read the present translation of a message."""
    return is_done(message) and message.user_comments != _without_review(message)


def _without_review(message: Message) -> list[str]:
    return [each for each in message.user_comments if not each.startswith(REVIEWED)]


def written(catalogue: Catalog, figures: str = "") -> bytes:
    """The bytes of a catalogue's file, in the order of the code, without the lines LEFT_OUT.

    `figures` is added as a header line.
    """
    file = io.BytesIO()
    write_po(
        file,
        catalogue,
        width=0,
        sort_by_file=True,
        ignore_obsolete=True,
        include_lineno=False,
    )
    lines = file.getvalue().decode().splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith(tuple(f'"{each}' for each in LEFT_OUT))]
    if figures:
        kept.insert(kept.index("\n"), f'"{FIGURES}: {figures}\\n"\n')
    return "".join(kept).rstrip().encode() + b"\n"


def figures_of(catalogue: Catalog) -> str:
    """How much of a catalogue is translated and reviewed, each figure as "512/520".

    "guests", "staff" and "demo" are the translated texts of these readers. "critical" and
    "reviewed" are the reviewed texts, of the critical ones and of all that guests meet.
    """
    guests = tier_1()
    names = "guests", "staff", "demo", "critical", "reviewed"
    groups: dict[str, list[bool]] = {name: [] for name in names}
    for message in messages(catalogue):
        is_first = key_of(message) in guests
        groups[group_of(message, guests)].append(is_done(message))
        if CRITICAL in message.auto_comments:
            groups["critical"].append(is_reviewed(message))
        if is_first:
            groups["reviewed"].append(is_reviewed(message))
    return " ".join(f"{name}={sum(done)}/{len(done)}" for name, done in groups.items())


def group_of(message: Message, guests: set[Key]) -> str:
    """Who reads a message: "guests", "staff", or "demo", its presenters (docs/languages.md 4)."""
    if key_of(message) in guests:
        return "guests"
    places = [path for path, _ in message.locations]
    return "demo" if places and all(each.startswith(OF_DEMO) for each in places) else "staff"


def tier_1() -> set[Key]:
    """The messages that guests can meet: lines of tier1.txt, a tab between context and text."""
    if not TIER_1.exists():
        return set()
    lines = TIER_1.read_text().splitlines()
    return {_listed(line) for line in lines if line and not line.startswith("#")}


def listed(key: Key) -> str:
    """A message as a line of tier1.txt."""
    return "\t".join(filter(None, key))


def _listed(line: str) -> Key:
    context, _, text = line.rpartition("\t")
    return context, text


def share(part: int, whole: int) -> str:
    """A share as a whole percentage that says 100 only when nothing is missing."""
    return f"{100 * part // whole} %" if whole else "–"


def header(code: str, catalogue: Catalog) -> str:
    """The first lines of a catalogue: its language, and how much is translated and reviewed."""
    name = Locale.parse(code).english_name
    done = [each for each in messages(catalogue) if forms(each) and not each.fuzzy]
    machine = sum(MACHINE in each.flags for each in done)
    reviewed = sum(map(is_reviewed, done))
    return (
        f"# {name}. How to translate, and what the marks mean: docs/languages.md\n"
        f"# {len(done)} of {len(list(messages(catalogue)))} messages: "
        f"{machine} by a machine, {reviewed} reviewed"
    )


def report(code: str, catalogue: Catalog, changes: Changes) -> str:
    """One line about a language."""
    guests, fuzzy = tier_1(), sum(each.fuzzy for each in messages(catalogue))
    done: dict[str, list[bool]] = {"guests": [], "staff": [], "demo": []}
    for message in messages(catalogue):
        done[group_of(message, guests)].append(is_done(message))
    shares = (
        f"{name} {share(sum(each), len(each)):>5} of {len(each)}" for name, each in done.items()
    )
    return (
        f"{code:8} {', '.join(shares)}, {fuzzy} fuzzy; "
        f"{changes.new} new, {changes.gone} gone, {changes.changed} changed"
    )


def critical_list(template: Catalog) -> str:
    """The English texts that the code marks as critical, a line each, for the program to read."""
    marked = [each for each in messages(template) if CRITICAL in each.auto_comments]
    return "".join(f"{listed(key_of(each))}\n" for each in marked)


def write_all() -> list[str]:
    """Bring every file of translations/ up to date; a line about each language."""
    template, lines = extract(), []
    FOLDER.mkdir(exist_ok=True)
    TEMPLATE.write_bytes(written(template))
    CRITICAL_LIST.write_text(critical_list(template))
    for language in with_catalogues():
        catalogue = read(language.code)
        changes = update(catalogue, template)
        path = po_file(language.code)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(with_head(language.code, catalogue))
        lines.append(report(language.code, catalogue, changes))
    return lines


def with_head(code: str, catalogue: Catalog) -> bytes:
    """A catalogue as its file, with its figures."""
    catalogue.header_comment = header(code, catalogue)
    return written(catalogue, figures_of(catalogue))


def up_to_date(code: str, catalogue: Catalog, template: Catalog) -> bytes:
    """What `make words` would write."""
    update(catalogue, template)
    return with_head(code, catalogue)


def wrong() -> list[str]:
    """What is wrong in translations/, a line each."""
    template, found = extract(), []
    if not TEMPLATE.exists() or TEMPLATE.read_bytes() != written(template):
        found.append("translations/messages.pot is not what the code says: run make words")
    if not CRITICAL_LIST.exists() or CRITICAL_LIST.read_text() != critical_list(template):
        found.append("translations/critical.txt is not what the code says: run make words")
    guests = tier_1()
    for language in with_catalogues():
        found += [f"{language.code}: {each}" for each in _wrong_in(language, template, guests)]
    return found


def _wrong_in(language: Language, template: Catalog, guests: set[Key]) -> list[str]:
    path, code = po_file(language.code), language.code
    broken = [f"line {n}: a quote is missing" for n in unclosed(path.read_text())]
    if broken:
        return broken
    try:
        catalogue = read(code)
    except PoFileError as error:
        return [str(error)]
    found = []
    for message in messages(catalogue):
        found += [f"{key_of(message)[1]!r}: {each}" for each in faults_of(message)]
        readers = group_of(message, guests)
        found += [
            f"{key_of(message)[1]!r}: {readers} read it in English, for it is {why}"
            for why in left_in_english(message, readers, whole=language.whole)
        ]
    if not found and up_to_date(code, catalogue, template) != path.read_bytes():
        found.append("its file is not up to date: run make words")
    return sorted(found)


def left_in_english(message: Message, readers: str, *, whole: bool) -> list[str]:
    """Why a text is not shown in this language: it is fuzzy, or missing in a whole language.

    The texts that a demo alone says stay English.
    """
    if is_done(message) or readers == "demo":
        return []
    if message.fuzzy:
        return ["fuzzy"]
    return ["missing"] if whole else []


def faults_of(message: Message) -> list[str]:
    """What is wrong with a translation that pages show: its slots for facts, and its mark."""
    if not is_done(message):
        return []
    one, plural = (message.id, "") if isinstance(message.id, str) else tuple(message.id)
    found = [each for text in forms(message) for each in faults(one, text, plural=plural)]
    if (MACHINE in message.flags) == is_reviewed(message):
        found.append(f"it needs one mark: the flag {MACHINE}, or the comment {REVIEWED}")
    return found


def unclosed(text: str) -> list[int]:
    """The numbers of lines whose text has no closing quote, which Babel reads without an error."""
    begins = re.compile(r'(?:msg(?:id|str|ctxt|id_plural)(?:\[\d\])?\s+)?"')
    return [
        n
        for n, line in enumerate(text.splitlines(), 1)
        if begins.match(line) and not re.fullmatch(r'[^"]*"(?:[^"\\]|\\.)*"', line)
    ]


def hints() -> list[str]:
    """Translations that lack the glossary's word for an English one, a line each."""
    found = []
    for language in with_catalogues():
        agreed = glossary(language.code)
        for message in messages(read(language.code)):
            if is_done(message):
                found += [
                    f"{language.code}: {word!r} is usually {' / '.join(partners)}: {text!r}"
                    for text in [forms(message)[-1]]
                    for word, partners in missing_words(key_of(message)[1], text, agreed)
                ]
    return found


def glossary(code: str) -> dict[str, list[str]]:
    """English words of the glossary, and what each is in a language."""
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in GLOSSARY.read_text().splitlines()
        if line.startswith("|")
    ]
    column = rows[0].index(code) if code in rows[0] else 0
    words = {row[0]: row[column].split(" / ") for row in rows[2:]}
    return words if column else {}


def missing_words(
    english: str, translated: str, agreed: dict[str, list[str]]
) -> Iterator[tuple[str, list[str]]]:
    """Each glossary word of an English text whose partners are all missing in the translation.

    The longest word counts: "shared ride" is not "ride". A "#" stands for a fact or a figure:
    "about #" is an estimate, "about" alone is not. A word that stays English counts as a partner.
    """
    rest, written = FACT.sub("#", english).lower(), translated.lower()
    for word in sorted(agreed, key=len, reverse=True):
        pattern = rf"\b{re.escape(word)}s?(?!\w)"
        if re.search(pattern, rest):
            rest = re.sub(pattern, " ", rest)
            partners = [] if agreed[word] == [NOT_CHECKED] else [word, *agreed[word]]
            if partners and not any(each.lower() in written for each in partners):
                yield word, agreed[word]


def main() -> int:
    """Update, or check. Returns 1 if the check has found something wrong."""
    asked = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    asked.add_argument("--check", action="store_true", help="write nothing, fail on what is wrong")
    if asked.parse_args().check:
        found = wrong()
        print("\n".join([*hints(), *found] if found else [*hints(), "words: nothing is wrong"]))
        return int(bool(found))
    print("\n".join(write_all()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
