"""The field of the stage that names the partner for whom a demo is shown."""

import pytest

from ridedash.demo.partner import LONGEST, partner_of
from tests.demo.stages import Stage

pytestmark = pytest.mark.database


@pytest.mark.parametrize(
    ("typed", "parts"),
    [
        ("", ("", "", "")),
        ("Bluebird Cabs", ("Bluebird Cabs", "", "")),
        ("Bluebird Cabs, #0057B8, Lisbon", ("Bluebird Cabs", "Lisbon", "#0057b8")),
        ("#0057b8 , Bluebird Cabs,,Lisbon, Porto", ("Bluebird Cabs", "Lisbon, Porto", "#0057b8")),
        ("Bluebird, blue, #12345", ("Bluebird", "blue, #12345", "")),
    ],
)
def test_one_field_has_name_city_and_colour(typed: str, parts: tuple[str, str, str]) -> None:
    found = partner_of(typed)
    assert (found.name, found.city, found.colour) == parts


def test_a_long_field_is_cut() -> None:
    assert len(partner_of("x" * 500).name) <= LONGEST


def test_the_partners_name_and_colour_stand_on_the_title_card(stage: Stage) -> None:
    field = {"partner": "<Bluebird>, #0057b8, Lisbon"}
    page = stage.web.get("/demo/stage", query_string=field).text
    assert "for &lt;Bluebird&gt;, Lisbon" in page.replace("\n", "")
    sheet = stage.web.get("/demo/stage/partner.css", query_string=field)
    assert sheet.mimetype == "text/css"
    assert "--house: #0057b8;" in sheet.text
    for wrong in ("", "Bluebird", "#0057b8;}*{display:none"):
        address = {"partner": wrong}
        assert stage.web.get("/demo/stage/partner.css", query_string=address).text == ""
