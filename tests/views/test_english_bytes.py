"""Translations cost an English page no bytes, except where it offers the languages themselves."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ridedash.extensions import OFFERED, limiter
from ridedash.store import properties
from ridedash.wording.languages import LANGUAGES
from ridedash.wording.offered import OfferedLanguages
from tests.views.ride_pages import HASH, NOON, Desk, make_desk
from tests.views.served import Served
from tests.views.test_axe import ADDRESSES, FILES, routes

# Pages are the same with each kind of database.
pytestmark = [pytest.mark.database, pytest.mark.sqlite_only]

TOKEN = re.compile(r"[\w.-]{20,}")  # tokens of forms and scripts differ each time
CHOICES = re.compile(
    r'<nav class="guest-languages .*?</nav>|<select[^>]* name="language".*?</select>', re.DOTALL
)
# redirects to the first settings, and to the page on which a device is paired
LEADING = {"/admin", "/kiosk", "/door", "/history/views"}
# settings with a part for languages, which is left out if English is the only one
OF_LANGUAGES = {"me.show", "admin.show", "admin_languages.show"}
OF_LANGUAGES |= {"admin_own_words.show", "admin_word_reviews.show"}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = make_desk(tmp_path)
    home = made.ids["desk.property"]
    made.add(lambda s: properties.add_staff(s, home, "boss", HASH, "admin", NOON))
    yield made
    made.close()


def addresses(desk: Desk) -> dict[str, str]:
    served, order_id = Served(desk, "", None), desk.order("BOOKED", "COMPLETED")  # type: ignore[arg-type]
    found = {
        endpoint: ADDRESSES[endpoint](served, order_id)
        if endpoint in ADDRESSES
        else rule.replace("<int:order_id>", str(order_id))
        for endpoint, rule in routes(desk).items()
        if endpoint not in FILES | OF_LANGUAGES
    }
    live = desk.order("BOOKED", "CALL_DRIVER", otp="4821")
    links = {kind: served.link(live, kind) for kind in ("rider", "follower")}
    return found | links | {"live": f"/rides/{live}", "live card": f"/rides/{live}/card"}


def test_an_english_page_has_no_byte_more_with_all_catalogues_than_without_any(
    desk: Desk, tmp_path: Path
) -> None:
    client, visitor, app = desk.client(name="boss"), desk.client(signed_in=False), desk.app
    babel, all_languages = app.extensions["babel"], app.extensions[OFFERED]
    assert len(all_languages.guests) == len(LANGUAGES) - 1
    all_folders, different, rows = babel.translation_directories, [], []

    def page(path: str, offered: OfferedLanguages, folders: list[str]) -> str:
        app.extensions[OFFERED], babel.translation_directories = offered, folders
        with app.app_context():
            limiter.reset()
        reader = visitor if path.startswith("/sign-in") else client
        answer = reader.get(path)
        assert answer.status_code == (303 if path in LEADING else 200), path
        return TOKEN.sub("", answer.text)

    for endpoint, path in addresses(desk).items():
        translated = page(path, all_languages, all_folders)
        alone = page(path, OfferedLanguages({}), [str(tmp_path / "nothing")])
        rows += re.findall(r'<nav class="guest-languages .*?</nav>', translated, re.DOTALL)
        shown = [CHOICES.sub("", text).split() for text in (translated, alone)]
        if shown[0] != shown[1]:
            different.append(endpoint)
    assert different == []
    assert max(len(row.encode()) for row in rows) < 110 * len(LANGUAGES)
