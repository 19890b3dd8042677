"""A property's look on its kiosks: set by a manager, told to kiosks, served as safe files."""

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flask.testing import FlaskClient
from PIL import Image
from werkzeug.datastructures import FileStorage
from werkzeug.test import encode_multipart

from ridedash.face import Crop
from ridedash.face.kiosk_look import FOCUSES, PATTERNS, PLAIN, TYPEFACES, stack_of
from ridedash.store.models.people import PictureRow, Property, Staff
from ridedash.store.properties import keep_picture
from ridedash.views.admin import face
from ridedash.views.web.face import picture_of
from tests.face.pictures import disc, encoded
from tests.face.test_photo_crops import scene
from tests.views.admin.test_face import POLICY, ours
from tests.views.admin.test_face import save as save_face
from tests.views.admin.test_property import recorded
from tests.views.kiosk.test_pages import document, pair
from tests.views.ride_pages import Desk, make_desk, token

pytestmark = pytest.mark.database
PHOTO = encoded(scene(), "JPEG")


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = make_desk(tmp_path)
    made.add(lambda s: setattr(s.get(Staff, made.ids["desk"]), "role", "manager"))
    yield made
    made.close()


def save(client: FlaskClient, picture: bytes | None = None, **form: str) -> Any:
    data: dict[str, Any] = {"csrf_token": token(client), **form}
    if picture is not None:
        data["picture"] = FileStorage(io.BytesIO(picture), "lobby.html", content_type="text/plain")
    boundary, body = encode_multipart(data)  # in memory: the client would leave a file open
    kind = f"multipart/form-data; boundary={boundary}"
    return client.post("/admin/property/kiosk-look", data=body, content_type=kind)


def chosen(page: str, field: str) -> str:
    """The chosen option of a list of the form."""
    options = page.partition(f'name="{field}"')[2].partition("</select>")[0]
    found = re.search(r'value="(\w+)"\s+selected', options)
    assert found
    return found[1]


def test_a_kiosk_is_told_its_look_and_one_without_any_has_waves(desk: Desk) -> None:
    browser, _kiosk_id = pair(desk)
    home = document(browser)["property"]
    assert (home["picture"], home["pattern"], home["typeface"]) == (None, "waves", "")
    answer = save(desk.client(), PHOTO, focus="left", pattern="lattice", typeface="classic")
    assert answer.headers["Location"] == "/admin/property?said=saved#kiosk-look"
    home = document(browser)["property"]
    prop = ours(desk)
    assert home["picture"] == {
        "wide": f"/face/{prop.picture_wide}",
        "tall": f"/face/{prop.picture_tall}",
    }
    assert home["pattern"] == "lattice"
    assert home["typeface"] == '"EB Garamond 12", "EB Garamond", Georgia, serif'
    assert recorded(desk, "property.changed")[0].facts["changed"] == [
        "picture",
        "pattern",
        "typeface",
    ]


def test_both_crops_are_served_as_pictures_that_can_do_nothing(desk: Desk) -> None:
    save(desk.client(), PHOTO)
    stranger = desk.client(signed_in=False)
    sizes = []
    for name in (ours(desk).picture_wide, ours(desk).picture_tall):
        answer = stranger.get(f"/face/{name}")
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, "image/jpeg")
        assert answer.headers["Content-Security-Policy"] == POLICY
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert "Set-Cookie" not in answer.headers
        again = stranger.get(f"/face/{name}", headers={"If-None-Match": answer.headers["ETag"]})
        assert again.status_code == 304
        sizes.append(Image.open(io.BytesIO(answer.data)).size)
    assert sizes == [(1200, 750), (500, 800)]
    assert stranger.get(f"/face/{'0' * 64}.jpg").status_code == 404


def test_a_new_picture_replaces_the_old_one_and_one_press_removes_it(desk: Desk) -> None:
    client, stranger = desk.client(), desk.client(signed_in=False)
    assert "Remove the picture" not in client.get("/admin/property").text
    save(client, PHOTO)
    first = ours(desk).picture_wide
    save(client, encoded(scene(seed=2), "WEBP"), focus="top")
    second = ours(desk).picture_wide
    assert first != second
    assert stranger.get(f"/face/{first}").status_code == 404
    assert client.get("/admin/property").text.count(f'src="/face/{second}"') == 1
    save(client, focus="top", pattern="arches")  # no file: the picture stays
    assert (ours(desk).picture_wide, ours(desk).pattern) == (second, "arches")
    save(client, focus="top", pattern="arches", remove="on")
    prop = ours(desk)
    assert (prop.picture_wide, prop.picture_tall, prop.picture_focus) == (None, None, None)
    assert prop.pattern == "arches"
    assert stranger.get(f"/face/{second}").status_code == 404
    with desk.services.db.read() as s:
        assert s.query(PictureRow).count() == 0


def test_another_part_of_a_picture_needs_its_file_and_what_was_chosen_stays(desk: Desk) -> None:
    client = desk.client()
    save(client, PHOTO, focus="left")
    kept = ours(desk).picture_wide
    answer = save(client, focus="right", pattern="arches", typeface="modern")
    assert answer.status_code == 422
    assert "Choose the file again, too" in answer.text
    shown = [chosen(answer.text, field) for field in ("focus", "pattern", "typeface")]
    assert shown == ["right", "arches", "modern"]
    assert (ours(desk).picture_wide, ours(desk).pattern) == (kept, "waves")
    assert save(client, PHOTO, focus="right").status_code == 303
    assert ours(desk).picture_tall


@pytest.mark.parametrize(
    ("picture", "words"),
    [
        (b"", "The file is empty."),
        (b"<svg/>", "The file is none of PNG, JPEG and WebP."),
        (PHOTO[:-900], "The file can&#39;t be read."),
        (b"\xff\xd8\xff" + bytes(8_000_000), "The file has more than 8 MB."),
        (disc(60, 30), "The picture is too small: 960 × 600"),
        (encoded(Image.new("RGB", (3001, 3000)), "WEBP"), "The picture is too large."),
        (encoded(Image.new("RGB", (13_000, 600)), "PNG"), "The picture is too large."),
        (encoded(Image.new("RGB", (1200, 800), "teal")), "is of one colour all over"),
        (encoded(np.asarray(scene()) // 12, "JPEG"), "is nearly black all over"),
        (encoded(Image.new("RGBA", (1200, 800))), "Nothing of the picture can be seen"),
        (
            encoded(scene(), "WEBP", save_all=True, append_images=[scene(seed=2)]),
            "The picture is animated.",
        ),
    ],
)
def test_a_file_that_is_no_picture_is_refused_in_words_and_nothing_is_saved(
    desk: Desk, picture: bytes, words: str
) -> None:
    client = desk.client()
    answer = save(client, picture, focus="top", pattern="arches", typeface="serif")
    assert answer.status_code == 422
    assert words in answer.text
    assert 'id="picture-error"' in answer.text
    shown = [chosen(answer.text, field) for field in ("focus", "pattern", "typeface")]
    assert shown == ["top", "arches", "serif"]
    assert (ours(desk).picture_wide, ours(desk).pattern) == (None, None)


def test_logos_and_pictures_are_read_one_at_a_time(desk: Desk) -> None:
    client = desk.client()
    with face.drawing:
        for answer in (save(client, PHOTO), save_face(client, disc(60, 30))):
            assert answer.status_code == 422
            assert "Another file is being read." in answer.text
    assert save(client, PHOTO).status_code == 303


def test_only_this_form_may_be_large(desk: Desk) -> None:
    client = desk.client()
    assert save(client, b"x" * 8_300_000).status_code == 413
    assert save_face(client, b"x" * 300_000).status_code == 413


def test_unknown_choices_become_the_usual_ones(desk: Desk) -> None:
    save(desk.client(), pattern="stripes", typeface="'; }", focus="nowhere")
    assert (ours(desk).pattern, ours(desk).typeface) == ("waves", "plain")


def test_a_concierge_changes_no_look(desk: Desk) -> None:
    desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), "role", "concierge"))
    assert save(desk.client(), pattern="arches").status_code == 403
    assert ours(desk).pattern is None


def test_one_picture_of_two_properties_stays_while_one_shows_it(desk: Desk) -> None:
    save(desk.client(), PHOTO)
    name = ours(desk).picture_wide
    with desk.services.db.write() as s:
        rows = {row.shape: Crop(row.name, row.content) for row in s.query(PictureRow)}
        other = s.get_one(Property, desk.ids["other.property"])
        keep_picture(s, other, rows, "centre")
        assert picture_of(other) == picture_of(ours(desk))
    save(desk.client(), remove="on")
    assert desk.client(signed_in=False).get(f"/face/{name}").status_code == 200


def test_each_typeface_ends_in_a_generic_family_and_names_its_package() -> None:
    for typeface in TYPEFACES.values():
        assert typeface.stack.rpartition(", ")[2] in ("serif", "sans-serif")
        assert typeface.package.startswith("fonts-")
        assert typeface.name in typeface.stack
    assert stack_of(None) == stack_of(PLAIN) == stack_of("a former one") == ""
    assert max(map(len, (*FOCUSES, *PATTERNS, *TYPEFACES))) <= 8, "as the columns have it"
