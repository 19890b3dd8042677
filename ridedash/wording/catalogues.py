"""The compiled catalogues of translations/, from which Flask-Babel takes the words.

A wheel brings them compiled. In a checkout they are compiled when a process starts, where a
translator's text is newer or was never compiled. A catalogue that can't be read costs no page: its
language stays as it was compiled last, or English, and the log says so once.
"""

import contextlib
import logging
import os
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Final

from babel.messages.mofile import write_mo
from babel.messages.pofile import PoFileError, read_po

log = logging.getLogger(__name__)

TEXT: Final = "LC_MESSAGES/messages.po"
COMPILED: Final = "LC_MESSAGES/messages.mo"


def prepare(folder: Path, spare: Path) -> list[Path]:
    """The folders of compiled catalogues: that of the texts, or `spare` if nothing can be written
    there.
    """
    used = [folder]
    for text in sorted(folder.glob(f"*/{TEXT}")):
        language = text.parent.parent.name
        if _is_current(folder / language / COMPILED, text):
            continue
        compiled = _compiled(text)
        if compiled is None or _write(compiled, folder / language / COMPILED, text):
            continue
        if spare not in used:
            used.append(spare)
        _write(compiled, spare / language / COMPILED, text)
    return used


def _is_current(compiled: Path, text: Path) -> bool:
    """Whether a catalogue was made from its text as it is now: it then has the text's time."""
    try:
        return compiled.is_file() and compiled.stat().st_mtime_ns == text.stat().st_mtime_ns
    except OSError:
        return False


def _compiled(text: Path) -> bytes | None:
    """The catalogue of a translator's text, without what is fuzzy; None if it can't be read."""
    try:
        with text.open("rb") as file:
            catalogue = read_po(file, locale=text.parent.parent.name, abort_invalid=True)
        made = BytesIO()
        write_mo(made, catalogue)
    except (OSError, PoFileError, ValueError, LookupError) as error:
        log.error("the words of %s can't be read: %s", text.parent.parent.name, error)
        return None
    return made.getvalue()


def _write(compiled: bytes, target: Path, text: Path) -> bool:
    """Write a catalogue in one step, since several processes start at once; False if it can't be
    written.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=".messages.")
    except OSError:
        return False
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(compiled)
        made = text.stat().st_mtime_ns
        os.utime(name, ns=(made, made))
        Path(name).chmod(0o644)
        Path(name).replace(target)
    except OSError as error:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        log.warning("%s can't be written: %s", target.name, error.strerror)
        return False
    return True
