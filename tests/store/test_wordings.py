"""A property's own words are stored by language and name, with the English that they replace."""

import pytest

from ridedash.store.models.people import Property
from ridedash.store.wordings import (
    Own,
    mark_read,
    reviews_of,
    unmark_read,
    wordings_of,
    write_wordings,
)
from tests.views.ride_pages import NOON, Desk

pytestmark = pytest.mark.database


def write(desk: Desk, language: str, **texts: tuple[str, str]) -> list[str]:
    with desk.services.db.write() as s:
        prop = s.get_one(Property, desk.ids["desk.property"])
        own = {name: Own(*each) for name, each in texts.items()}
        return write_wordings(s, prop, language, own, (desk.ids["desk"], NOON))


def stored(desk: Desk) -> tuple[int, list[tuple[str, str, str, str]]]:
    with desk.services.db.read() as s:
        prop = s.get_one(Property, desk.ids["desk.property"])
        found = wordings_of(s, prop.id)
        return prop.words_version, sorted(
            (each.language, each.name, each.text, each.english) for each in found
        )


def test_what_differs_is_named_and_raises_the_version(desk: Desk) -> None:
    assert write(desk, "de", a=("A!", "A"), b=("", "B")) == ["a"]
    assert write(desk, "de", a=("A!", "A")) == []
    with desk.services.db.read() as s:
        [row] = wordings_of(s, desk.ids["desk.property"])
        assert (row.staff_id, row.at) == (desk.ids["desk"], NOON)
    assert stored(desk) == (1, [("de", "a", "A!", "A")])
    assert write(desk, "ar", a=("a", "A")) == ["a"]
    assert write(desk, "de", a=("A!", "A new")) == ["a"]
    assert stored(desk) == (3, [("ar", "a", "a", "A"), ("de", "a", "A!", "A new")])
    assert write(desk, "de", a=("", "A")) == ["a"]
    assert stored(desk) == (4, [("ar", "a", "a", "A")])


def test_a_mark_is_of_one_language_and_can_be_taken_back(desk: Desk) -> None:
    by = (desk.ids["desk"], NOON)
    for digest in ("one", "two"):
        with desk.services.db.write() as s:
            mark_read(s, s.get_one(Property, desk.ids["desk.property"]), "ar", digest, by)
    with desk.services.db.write() as s:
        theirs = s.get_one(Property, desk.ids["other.property"])
        for language in ("ar", "de"):
            mark_read(s, theirs, language, "three", by)
    with desk.services.db.read() as s:
        marks = reviews_of(s, desk.ids["desk.property"])
        known = {code: (row.digest, row.staff_id, row.at) for code, row in marks.items()}
        assert known == {"ar": ("two", *by)}
        assert reviews_of(s, desk.ids["other.property"]).keys() == {"ar", "de"}
    with desk.services.db.write() as s:
        unmark_read(s, s.get_one(Property, desk.ids["desk.property"]), "ar")
        unmark_read(s, s.get_one(Property, desk.ids["other.property"]), "ar")
    with desk.services.db.read() as s:
        assert reviews_of(s, desk.ids["desk.property"]) == {}
        assert reviews_of(s, desk.ids["other.property"]).keys() == {"de"}
    assert stored(desk) == (3, []), "pages are made anew after each"


def test_words_of_another_property_stay_as_they_are(desk: Desk) -> None:
    write(desk, "de", a=("A!", "A"))
    with desk.services.db.write() as s:
        other = s.get_one(Property, desk.ids["other.property"])
        by = (desk.ids["desk"], NOON)
        assert write_wordings(s, other, "de", {"a": Own("A!", "A")}, by) == ["a"]
        assert [each.property_id for each in wordings_of(s, other.id)] == [other.id]
        assert write_wordings(s, other, "de", {"a": Own("", "A")}, by) == ["a"]
    assert stored(desk) == (1, [("de", "a", "A!", "A")])
