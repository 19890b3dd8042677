"""A property's own words, and marks that native readers have read its critical sentences."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from ridedash.store.models.people import Property, Wording, WordReview

By = tuple[int, datetime]  # the id of the member of staff, and the time


class Own(NamedTuple):
    """Own words, and the program's English sentence that they replace."""

    text: str
    english: str


def wordings_of(s: Session, property_id: int) -> list[Wording]:
    """All own words of a property, in each language."""
    return list(s.scalars(select(Wording).where(Wording.property_id == property_id)))


def write_wordings(
    s: Session, prop: Property, language: str, texts: Mapping[str, Own], by: By
) -> list[str]:
    """Store own words by the names of their sentences; an empty text deletes the stored words.

    `by` says who wrote them, and when. Returns the names of the sentences whose words have changed.
    """
    query = select(Wording).where(Wording.property_id == prop.id, Wording.language == language)
    rows = {row.name: row for row in s.scalars(query)}
    changed = []
    for name, own in texts.items():
        row = rows.get(name)
        stored = None if row is None else Own(row.text, row.english)
        if own == stored or (stored is None and not own.text):
            continue
        changed.append(name)
        if row is not None:
            s.delete(row)
            s.flush()  # before the new row, which has the same key
        if own.text:
            facts = {"name": name, **own._asdict(), "staff_id": by[0], "at": by[1]}
            s.add(Wording(property_id=prop.id, language=language, **facts))
    if changed:
        prop.words_version += 1
    return changed


def reviews_of(s: Session, property_id: int) -> dict[str, WordReview]:
    """The marks that a native reader has read the critical sentences, by language code."""
    query = select(WordReview).where(WordReview.property_id == property_id)
    return {row.language: row for row in s.scalars(query)}


def mark_read(s: Session, prop: Property, language: str, digest: str, by: By) -> None:
    """Record that a native reader has read the critical sentences of a language.

    `digest` is that of the sentences as they were read; `by` says who sets the mark, and when.
    """
    unmark_read(s, prop, language)
    facts = {"digest": digest, "staff_id": by[0], "at": by[1]}
    s.add(WordReview(property_id=prop.id, language=language, **facts))


def unmark_read(s: Session, prop: Property, language: str) -> None:
    """Delete the mark of a language, if there is one."""
    s.execute(
        delete(WordReview).where(WordReview.property_id == prop.id, WordReview.language == language)
    )
    prop.words_version += 1
