"""Scripts get all plural forms of a text with a count, keyed by their names in CLDR."""

import json
from collections.abc import Iterator

import pytest
from flask import Flask

from ridedash.wording.counts import count_forms
from ridedash.wording.languages import LANGUAGES, formats_of
from ridedash.wording.say import in_language
from tests.views.ride_pages import make_desk

CAR = "%(num)d car", "%(num)d cars"
# the forms of CLDR 48; "many" in es and fr is for millions, and has the text of "other"
FORMS = {
    "en": {"one", "other"},
    "hi": {"one", "other"},
    "ar": {"zero", "one", "two", "few", "many", "other"},
    "es": {"one", "many", "other"},
    "fr": {"one", "many", "other"},
    "de": {"one", "other"},
    "ja": {"other"},
    "zh_Hans": {"other"},
}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    desk = make_desk(tmp_path_factory.mktemp("desk"))
    yield desk.app
    desk.close()


@pytest.mark.database
def test_each_language_has_its_own_forms(app: Flask) -> None:
    assert FORMS.keys() == LANGUAGES.keys()
    with app.test_request_context("/"):
        for code, forms in FORMS.items():
            with in_language(code):
                assert json.loads(count_forms(*CAR)).keys() == forms, formats_of(code)
        with in_language("ar"):
            found = json.loads(count_forms(*CAR))
    assert [found[form] for form in ("two", "few", "many", "other")] == [
        "سيارتان",
        "{n} سيارات",
        "{n} سيارة",
        "{n} سيارة",
    ]


def test_outside_of_a_request_it_is_english() -> None:
    assert json.loads(count_forms(*CAR)) == {"one": "{n} car", "other": "{n} cars"}
