"""Each file and each printed page of a demo says, in every language, that no ride is real."""

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from ridedash.store.models.people import Staff
from ridedash.views.web.top_bar import demo_words
from ridedash.wording.languages import LANGUAGES
from ridedash.wording.say import in_language
from tests.views.ride_pages import Desk, make_desk, token

pytestmark = pytest.mark.database
ROOT = Path(__file__).parents[3]
BAND = "Demo: no real rides"
GERMAN = "Demo: keine echten Fahrten"
# each file that is downloaded, by the module that names it; {order} is a ride
FILES = {
    "views/history/csv_export.py": ["POST /history.csv"],
    "views/insights/csv_export.py": ["POST /insights.csv"],
    "views/admin/audit_log.py": ["POST /admin/audit/export.csv"],
    "views/admin/own_words.py": ["GET /admin/languages/words/file.po?language=de"],
    "demo/lens/pages.py": [
        f"GET /demo/lens/rides/{{order}}/{kind}" for kind in ("har", "curl", "events")
    ],
    "demo/package.py": ["GET /demo/package"],
}
# each page that is made to be printed, by its template
PAPERS = {
    "rides/handouts/card.html": "/rides/{order}/card",
    "rides/handouts/receipt.html": "/rides/{order}/receipt",
    "board/handover.html": "/handover",
    "history/page.html": "/history",
    "insights/page.html": "/insights",
    "demo/sheet.html": "/demo/sheet",
}
NOT_ALONE = {  # not tested here: they need a group of rides (the cards) or answer a POST
    *("booking/group_cards.html", "rides/handouts/link.html", "rides/handouts/message.html"),
}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    made = make_desk(tmp_path_factory.mktemp("desk"))
    made.add(lambda s: setattr(s.get(Staff, made.ids["desk"]), "role", "manager"))
    made.add(lambda s: setattr(s.get(Staff, made.ids["desk"]), "language", "de"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def web(desk: Desk) -> FlaskClient:
    return desk.client()


@pytest.fixture(scope="module")
def order(desk: Desk) -> int:
    return desk.order("BOOKED", "COMPLETED")


def test_the_lists_name_every_file_and_every_paper() -> None:
    named = {
        path.relative_to(ROOT / "ridedash").as_posix()
        for path in (ROOT / "ridedash").rglob("*.py")
        if "Content-Disposition" in path.read_text()
    }
    assert named == FILES.keys()
    printed = {
        path.relative_to(ROOT / "templates").as_posix()
        for path in (ROOT / "templates").rglob("*.html")
        if '"shared/print"' in path.read_text() or "data-print" in path.read_text()
    }
    assert printed <= PAPERS.keys() | NOT_ALONE


@pytest.mark.parametrize("file", [each for found in FILES.values() for each in found])
def test_a_file_says_that_no_ride_is_real(
    desk: Desk, web: FlaskClient, order: int, file: str
) -> None:
    method, _space, path = file.format(order=order).partition(" ")
    form = {"csrf_token": token(web)} if method == "POST" else None
    answer = web.open(path, method=method, data=form)
    assert answer.status_code == 200
    assert re.search(r"filename=\"?(ridedash-)?demo", answer.headers["Content-Disposition"])
    if path.endswith(".csv"):
        head, *rows = csv.reader(io.StringIO(answer.text))
        assert {row[-1] for row in (head, *rows)} == {BAND}  # its columns are English too
    elif path.endswith("/package"):
        assert f"<title>ridedash · {GERMAN}</title>" in answer.text
        assert re.search(rf'class="demo-band"[^>]*>{GERMAN}<', answer.text)
    elif path.endswith("/har"):
        assert GERMAN in json.loads(answer.text)["log"]["comment"]
    else:
        assert GERMAN in "".join(answer.text.splitlines()[:2])


@pytest.mark.parametrize("template", PAPERS)
def test_a_paper_says_it_in_its_title_and_on_itself(
    desk: Desk, web: FlaskClient, order: int, template: str
) -> None:
    page = web.get(PAPERS[template].format(order=order)).text
    assert re.search(rf"<title>[^<]+ · {GERMAN}</title>", page)
    on_itself = re.search(r'class="(demo-band|paper-demo|presenter-band)"[^>]*>\s*(.*?)\s*<', page)
    assert on_itself is not None
    assert on_itself[2] == GERMAN


def test_what_is_cut_apart_or_handed_out_says_it_in_the_language_of_the_guest(
    desk: Desk, web: FlaskClient, order: int
) -> None:
    for path in ("card", "receipt"):
        page = web.get(f"/rides/{order}/{path}").text
        band = re.search(r'class="paper-demo">(.*?)</p>', page, re.DOTALL)
        assert band is not None
        assert BAND in band[1]


def test_the_band_is_translated_into_every_language(desk: Desk) -> None:
    words_of = {}
    for code in LANGUAGES:
        with desk.app.test_request_context(), in_language(code):
            words_of[code] = demo_words(desk.services.settings)
    assert words_of["en"] == BAND
    assert len(set(words_of.values())) == len(LANGUAGES)
