"""The compiled catalogues of translations/, from which Flask-Babel takes the words.

A wheel contains them compiled. In a checkout a process compiles them at its start if a translator's
text is newer. If a catalogue can't be read, its language stays as it was compiled last, or English,
and the log says so once.
"""

import contextlib
import logging
import os
import re
import tempfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Final, cast

from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import PoFileError, read_po

log = logging.getLogger(__name__)

TEXT: Final = "LC_MESSAGES/messages.po"
COMPILED: Final = "LC_MESSAGES/messages.mo"
FIGURES: Final = "X-Figures"  # shares of translated and reviewed texts (docs/languages.md 4)


def prepare(folder: Path, spare: Path) -> list[Path]:
    """Compile outdated catalogues, and return the folders of compiled ones.

    These are the folder of the texts and, if one could not be written there, `spare`.
    """
    used = [folder]
    for text in sorted(folder.glob(f"*/{TEXT}")):
        language = text.parent.parent.name
        if _is_current(folder / language / COMPILED, text):
            continue
        made = _readable(text)
        if made is None or _write(made, folder / language / COMPILED, text):
            continue
        if spare not in used:
            used.append(spare)
        _write(made, spare / language / COMPILED, text)
    return used


def _is_current(made: Path, text: Path) -> bool:
    """Whether a catalogue was made from the present text: it has the text's modification time."""
    try:
        return made.is_file() and made.stat().st_mtime_ns == text.stat().st_mtime_ns
    except OSError:
        return False


def compiled(text: Path) -> bytes:
    """The catalogue of a translator's text, without fuzzy entries, with the shares in its header.

    Raises OSError, ValueError or babel's PoFileError if it can't be read.
    """
    content = text.read_bytes()
    catalogue = read_po(BytesIO(content), locale=text.parent.parent.name, abort_invalid=True)
    shares = re.search(rb'^"(%s: [^"\\]*)\\n"$' % FIGURES.encode(), content, re.MULTILINE)
    made = BytesIO()
    line = shares[1].decode() if shares else ""
    # write_mo only uses the parts of a catalogue that _WithFigures has
    write_mo(made, cast(Catalog, _WithFigures(catalogue, line)))
    return made.getvalue()


class _WithFigures:
    """A catalogue with one more header line, because Babel drops headers that it does not know."""

    def __init__(self, catalogue: Catalog, line: str) -> None:
        self.charset = catalogue.charset
        self._catalogue = catalogue
        self._line = line

    def __iter__(self) -> Iterator[Message]:
        head, *texts = self._catalogue
        if self._line:
            head.string = f"{head.string}{self._line}\n"
        return iter([head, *texts])


def _readable(text: Path) -> bytes | None:
    try:
        return compiled(text)
    except (OSError, PoFileError, ValueError, LookupError) as error:
        log.error("the words of %s can't be read: %s", text.parent.parent.name, error)
        return None


def _write(made: bytes, target: Path, text: Path) -> bool:
    """Write a catalogue in one step, because several processes may start at once; False if it can't
    be written.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=".messages.")
    except OSError:
        return False
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(made)
        written = text.stat().st_mtime_ns
        os.utime(name, ns=(written, written))
        Path(name).chmod(0o644)
        Path(name).replace(target)
    except OSError as error:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        log.warning("%s can't be written: %s", target.name, error.strerror)
        return False
    return True
