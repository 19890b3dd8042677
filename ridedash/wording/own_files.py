"""Exports and imports a property's own words as gettext's .po files (docs/languages.md 8)."""

import io
from collections.abc import Mapping
from typing import Final, NamedTuple

from babel.core import UnknownLocaleError
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import PoFileError, read_po, write_po

from ridedash.text import one_line
from ridedash.wording.own import LONGEST, SENTENCES, Sentence

MOST_BYTES: Final = 100_000
HEADER: Final = "# A property's own words for its guests. Empty: the words of ridedash."


class NotPoFile(ValueError):
    """The file is not a .po file for this language."""


class FileSentence(NamedTuple):
    """A sentence in a file: its words, and the English text that they replace."""

    text: str
    english: str


def written(code: str, texts: Mapping[str, str]) -> bytes:
    """A file with every sentence of the list; `texts` are own words in this language, by name."""
    catalogue = Catalog(locale=code, charset="utf-8", header_comment=HEADER, fuzzy=False)
    for sentence in SENTENCES.values():
        own = texts.get(sentence.name, "")
        note = f"at most {sentence.longest} characters"
        catalogue.add(english_of(sentence), own, [], (), [note], context=sentence.name)
    file = io.BytesIO()
    write_po(file, catalogue, width=0, omit_header=False)
    return file.getvalue()


def english_of(sentence: Sentence) -> str:
    """The English text in a file; for a sentence without one, the description of its purpose."""
    return sentence.english or f"({sentence.about})"


def lines_of(content: bytes, code: str) -> dict[str, FileSentence]:
    """The sentences of a file by their names, fuzzy ones left out. Raises NotPoFile.

    Unknown names are kept, so that the caller can report them.
    """
    if len(content) > MOST_BYTES:
        raise NotPoFile
    try:
        catalogue = read_po(io.BytesIO(content), abort_invalid=True)
    except (PoFileError, UnknownLocaleError, ValueError, LookupError, TypeError) as error:
        raise NotPoFile from error
    if str(catalogue.locale) != code:
        raise NotPoFile
    return {str(each.context): _line(each) for each in catalogue if each.context and not each.fuzzy}


def _line(message: Message) -> FileSentence:
    """A message as a FileSentence.

    A long text is cut one character above the limit, so that it is refused.
    """
    english, text = (each if isinstance(each, str) else "" for each in (message.id, message.string))
    sentence = SENTENCES.get(str(message.context))
    ours = "" if sentence is not None and not sentence.text else one_line(english, 300)
    return FileSentence(one_line(text, LONGEST + 1), ours)
