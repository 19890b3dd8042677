"""How far each language has come: translations/figures.json, which the program reads at its start.

`ridedash/wording/offered.py` says what each figure decides. Written and compared by tools/words.py.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Final

from babel.messages.catalog import Catalog, Message

from ridedash.wording.offered import FILE

Key = tuple[str, str]
Counts = dict[str, list[int]]  # [how many are done, of how many]
CRITICAL: Final = "critical"  # the comment of a message in the code
REVIEWED: Final = "reviewed:"  # begins the comment of a message that a native reader has read

__all__ = ["FILE", "figures_file", "figures_of"]


def figures_of(catalogue: Catalog, guests: Iterable[Key]) -> Counts:
    """The figures of a catalogue; `guests` are the messages that guests meet."""
    tier_1 = set(guests)
    found: Counts = {"guests": [0, 0], "staff": [0, 0], "critical": [0, 0], "reviewed": [0, 0]}
    for message in catalogue:
        if not message.id:
            continue
        text = message.id if isinstance(message.id, str) else message.id[0]
        first = (message.context or "", text) in tier_1
        read = _done(message) and any(each.startswith(REVIEWED) for each in message.user_comments)
        _count(found["guests" if first else "staff"], _done(message))
        if first:
            _count(found["reviewed"], read)
        if CRITICAL in message.auto_comments:
            _count(found["critical"], read)
    return found


def figures_file(found: Mapping[str, Counts]) -> str:
    """The file with the figures of all languages, a line each."""
    lines = [f"  {json.dumps(code)}: {json.dumps(counts)}" for code, counts in found.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _done(message: Message) -> bool:
    texts = (message.string,) if isinstance(message.string, str) else tuple(message.string or ())
    return bool(texts) and all(texts) and not message.fuzzy


def _count(figure: list[int], done: bool) -> None:
    figure[0] += done
    figure[1] += 1
